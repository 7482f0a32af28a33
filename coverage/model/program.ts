/**
 * Everything that can be covered: the hook call sites of an image with their functions and source
 * lines. Built once per image; traces are then counted against it (`coverage.ts`).
 *
 * A line is *instrumented* if a function that has a site has machine code of it, inlined calls
 * included. Other lines have no state. verdict.ts derives facts about the code around the sites.
 */
import { type Addr, byText, CoverageError, cleanPath } from '../base/bytes.ts';
import type { Unit } from '../dwarf/die.ts';
import type { Scope, Units } from '../dwarf/dwarf.ts';
import { type Frame, Symbolizer } from '../dwarf/symbolize.ts';
import { CallSites, HOOK_PC } from '../elf/callsites.ts';
import type { Elf } from '../elf/elf.ts';
import { ImageFlow } from '../elf/flow.ts';
import { Instances, type KnownInstances } from './instances.ts';
import type { KeepPoint } from './keep.ts';
import { placeLines } from './line-code.ts';
import { type LineCode, linked, newLine } from './lines.ts';

export interface ProgramFunction {
  name: string;
  /** The place of its declaration; '' and 0 if DWARF does not have it. */
  file: string;
  line: number;
  /** Numbers of the points inside it, those of functions inlined into it included. */
  points: number[];
  /** All sites inside it, of points and outside of a selection. */
  sites: number[];
  /** Sites at the entry of an out-of-line copy. */
  entries: number[];
  /** Sites of inlined copies. */
  inlined: number[];
  /** The inlined copies, those without a point too. */
  copies: Scope[];
}

export interface ProgramFile {
  path: string;
  /** By line number. */
  lines: Map<number, LineCode>;
  functions: ProgramFunction[];
  /** Points whose innermost line is here: every point belongs to one file. */
  points: number[];
}

/**
 * Which code can be covered: basic blocks, comparisons for a trace that has only those, or all
 * instructions.
 */
export type Hooks = 'pc' | 'cmp' | 'none';

/** Makes the program of an image without a selection. */
export type WholeProgram = (hooks: Hooks) => Program;

export interface ProgramOptions {
  /**
   * The sites that are the denominators: `pc` hooks; comparison hooks for a trace that has only
   * comparisons; or, if instructions are counted, the entries of functions.
   */
  hooks?: Hooks;
  keep?: KeepPoint | undefined;
  /**
   * The lines of this file alone, which take a quarter of the time: of the units that name it. A
   * verdict that needs more throws `Undecided`. Not with `cmp` hooks, and without `keep`.
   */
  file?: string;
  /** Of the same image and hooks: what it knows of the code is not found again. */
  from?: Program | undefined;
}

/**
 * The result of analysing an image for hooks of one kind, without a selection: members of a
 * `Program`.
 */
export interface Analysis extends KnownInstances {
  readonly hooks: Hooks;
  readonly points: Uint32Array;
  readonly sites: CallSites;
  readonly flow: ImageFlow;
  readonly files: ProgramFile[];
  readonly functions: ProgramFunction[];
  readonly outerOf: Uint32Array;
  readonly outer: { name: string; start: Addr }[];
  readonly isEntry: Uint8Array;
  /** Names of the functions at a point, innermost first. */
  chain(point: number): readonly string[];
  /** Equal for instances of one function. */
  keyOf(scope: Scope): string;
  units(): Units;
}

export class Program {
  readonly elf: Elf;
  readonly sites: CallSites;
  /** Site number of each point, in order of address. */
  readonly points: Uint32Array;
  readonly files: ProgramFile[];
  readonly functions: ProgramFunction[];
  /** Function that encloses each point, by symbol: number into `outer`. */
  readonly outerOf: Uint32Array;
  readonly outer: { name: string; start: Addr }[];
  /** 1 if the point is at the entry of an out-of-line function. */
  readonly isEntry: Uint8Array;
  readonly hooks: Hooks;
  readonly count: number;
  readonly flow: ImageFlow;
  /** Its lines are those of this file; undefined: of all files. */
  readonly onlyFile: string | undefined;
  /** The units with code of them; undefined: all. */
  private readonly only: ReadonlySet<Unit> | undefined;
  /** The selection that made it. */
  readonly keep: KeepPoint | undefined;
  /** Point of each site, -1 for one that does not count. */
  readonly pointOfSite: Int32Array;
  private readonly fileByPath = new Map<string, ProgramFile>();
  /** The lines of all files, also those outside of a selection. */
  private readonly linesByPath = new Map<string, ReadonlyMap<number, LineCode>>();
  /** In order of appearance; those of one name, with the place of their declaration. */
  private readonly allFunctions: ProgramFunction[] = [];
  private readonly functionsOfName = new Map<string, ProgramFunction[]>();
  private readonly cleaned = new Map<string, string>();
  private readonly outerByStart = new Map<Addr, number>();
  private readonly loopEntries = new Map<number, boolean>();
  private lazyInstances: Instances | undefined;
  private lazySymbolizer: Symbolizer | undefined;
  private readonly known: Analysis | undefined;

  /** `known`: an analysis of the image; the options are then none. */
  constructor(elf: Elf, options: ProgramOptions = {}, known?: Analysis) {
    this.elf = elf;
    this.hooks = known?.hooks ?? options.hooks ?? 'pc';
    this.keep = options.keep;
    this.known = known;
    if (known) {
      ({ sites: this.sites, flow: this.flow, files: this.files, functions: this.functions } = known);
      ({ outerOf: this.outerOf, outer: this.outer, isEntry: this.isEntry } = known);
      this.points = known.points;
      this.count = this.points.length;
      this.pointOfSite = new Int32Array(this.sites.count).fill(-1);
      for (const [point, site] of this.points.entries()) this.pointOfSite[site] = point;
      for (const { path, lines } of this.files) this.linesByPath.set(path, lines);
      return;
    }
    const { from } = options;
    this.outer = [];
    this.lazySymbolizer = from?.symbolizer;
    if (this.symbolizer.dwarf.isEmpty) {
      throw new CoverageError(`${elf.name} has no debug information: compile with -g and do not strip it`);
    }
    this.onlyFile = options.file;
    this.only = options.file === undefined ? undefined : this.symbolizer.dwarf.unitsNaming(options.file);
    this.sites = from?.sites ?? new CallSites(elf, this.hooks === 'none' ? 'entries' : 'hooks');
    this.pointOfSite = new Int32Array(this.sites.count).fill(-1);
    const chosen: number[] = [];
    const counting: number[] = [];
    this.outerOf = new Uint32Array(this.sites.count);
    this.isEntry = new Uint8Array(this.sites.count);
    for (let site = 0; site < this.sites.count; site++) {
      if ((this.sites.hook[site] === HOOK_PC) !== (this.hooks !== 'cmp')) continue;
      const call = this.sites.call[site]!;
      const unit = this.symbolizer.dwarf.unitAt(call);
      if (this.hooks === 'none' && !unit) continue;
      if (unit ? !this.hasUnit(unit) : this.only) continue;
      const frames = this.symbolizer.frames(call);
      counting.push(site);
      if (this.isChosen(call, frames)) this.pointOfSite[site] = chosen.push(site) - 1;
      this.place(this.pointOfSite[site]!, site, frames);
    }
    this.points = Uint32Array.from(chosen);
    this.count = chosen.length;
    this.flow = from?.flow ?? new ImageFlow(this.sites);
    const shown = placeLines(
      this,
      counting,
      options.keep,
      path => this.linesOf(path),
      copy => this.addCopy(copy),
    );
    this.functions = this.allFunctions.filter(
      // Without entries there is no site to select by: addCopy() has selected.
      ({ points, sites }) => points.length > 0 || (this.hooks === 'none' && sites.length === 0),
    );
    for (const fn of this.functions) this.file(fn.file).functions.push(fn);
    for (const [path, { lines }] of this.fileByPath) this.linesByPath.set(path, linked(lines));
    if (options.keep) this.hideOthers(shown);
    this.files = [...this.fileByPath.values()].sort((a, b) => byText(a.path, b.path));
    const byLine = (a: ProgramFunction, b: ProgramFunction) => a.line - b.line || byText(a.name, b.name);
    for (const file of this.files) file.functions.sort(byLine);
  }

  get symbolizer(): Symbolizer {
    return (this.lazySymbolizer ??= new Symbolizer(this.elf, { units: this.known?.units() }));
  }

  /** Are lines of the unit among its lines? */
  hasUnit(unit: Unit): boolean {
    return this.only?.has(unit) ?? true;
  }

  /**
   * Point number of the site whose call returns to `ret`: -1 if the site is filtered out, -2 if
   * there is none.
   */
  pointAt(ret: Addr): number {
    const site = this.sites.find(ret);
    return site < 0 ? -2 : this.pointOfSite[site]!;
  }

  call(point: number): Addr {
    return this.sites.call[this.points[point]!]!;
  }

  ret(point: number): Addr {
    return this.sites.ret[this.points[point]!]!;
  }

  frames(point: number): Frame[] {
    return this.symbolizer
      .frames(this.call(point))
      .map(frame => ({ ...frame, file: this.clean(frame.file) }));
  }

  /** Names of the functions at a point, innermost first. */
  chain(point: number): readonly string[] {
    return (
      this.known?.chain(point) ?? this.symbolizer.frames(this.call(point)).map(frame => frame.function || '?')
    );
  }

  /** A path without `./` and the like. */
  clean(path: string): string {
    let clean = this.cleaned.get(path);
    if (clean === undefined) {
      clean = cleanPath(path);
      this.cleaned.set(path, clean);
    }
    return clean;
  }

  private file(path: string): ProgramFile {
    let file = this.fileByPath.get(path);
    if (!file) {
      file = { path, lines: new Map(), functions: [], points: [] };
      this.fileByPath.set(path, file);
    }
    return file;
  }

  private linesOf(path: string): (line: number) => LineCode | undefined {
    let lines: Map<number, LineCode> | undefined;
    return line => {
      if (line === 0 || path === '') return undefined;
      lines ??= this.file(path).lines;
      let code = lines.get(line);
      if (!code) lines.set(line, (code = newLine(line)));
      return code;
    };
  }

  private addLine(path: string, line: number, point: number): void {
    const points = this.linesOf(path)(line)?.points;
    if (points && points[points.length - 1] !== point) points.push(point);
  }

  /**
   * A selection chooses the lines that are shown. The verdict on each needs all of its code, so
   * nothing else is left out until here.
   */
  private hideOthers(shown: ReadonlySet<LineCode>): void {
    for (const [path, file] of this.fileByPath) {
      for (const [line, code] of file.lines)
        if (!shown.has(code) && code.points.length === 0) file.lines.delete(line);
      if (file.lines.size + file.functions.length + file.points.length === 0) this.fileByPath.delete(path);
    }
  }

  /** `point`: of the site, -1 outside of a selection. */
  private place(point: number, site: number, frames: Frame[]): void {
    const low = this.sites.blockLow[site]!;
    const symbol = this.elf.symbols.at(this.sites.call[site]!);
    const start = symbol?.addr ?? low;
    const isEntry = low === start;
    for (const frame of frames) {
      const fn = this.functionFor(frame);
      if (fn.sites[fn.sites.length - 1] !== site) fn.sites.push(site);
      if (point >= 0 && fn.points[fn.points.length - 1] !== point) fn.points.push(point);
      if (frame.inline) fn.inlined.push(site);
      else if (isEntry) fn.entries.push(site);
    }
    if (point < 0) return;
    this.isEntry[point] = isEntry ? 1 : 0;
    this.placeInOuter(point, start, frames[frames.length - 1]!.function || symbol?.name || '?');
    for (const { file, line } of frames) this.addLine(this.clean(file), line, point);
    this.file(this.clean(frames[0]!.file)).points.push(point);
  }

  private placeInOuter(point: number, start: Addr, name: string): void {
    let outer = this.outerByStart.get(start);
    if (outer === undefined) {
      outer = this.outer.length;
      this.outer.push({ name, start });
      this.outerByStart.set(start, outer);
    }
    this.outerOf[point] = outer;
  }

  /** Where instructions are counted, a function may have inlined copies alone. */
  private addCopy(copy: Scope): void {
    const { name, file, line } = this.identityOf(copy);
    const known = this.findFunction(name, file, line);
    if (known) known.copies.push(copy);
    else if (this.hooks === 'none' && this.isChosen(copy.ranges[0]!))
      this.functionAt(name, file, line).copies.push(copy);
  }

  private isChosen(call: Addr, frames?: Frame[]): boolean {
    return !this.keep || this.keep({ call, frames: frames ?? this.symbolizer.frames(call) });
  }

  private identityOf({ offset }: Scope): { name: string; file: string; line: number } {
    const { name, linkageName, declFile, declLine } = this.symbolizer.dwarf.functionName(offset);
    return { name: linkageName || name, file: this.clean(declFile), line: declLine };
  }

  /** Is the code that of a line of `onlyFile`? */
  isOwn(code: LineCode): boolean {
    return this.onlyFile !== undefined && this.findLine(this.onlyFile, code.line) === code;
  }

  /** The file that declares the function that a scope is an instance of. */
  fileOf(scope: Scope): string {
    return this.identityOf(scope).file;
  }

  /** The identity of the function that a scope is an instance of. */
  keyOf(scope: Scope): string {
    if (this.known) return this.known.keyOf(scope);
    const { name, file, line } = this.identityOf(scope);
    return functionKey(name, file, line);
  }

  /** The code of a line, also outside of a selection; undefined if it has none. */
  findLine(path: string, line: number): LineCode | undefined {
    return this.linesByPath.get(path)?.get(line);
  }

  /** Built when they are first needed. */
  get instances(): Instances {
    return (this.lazyInstances ??= new Instances(this, this.known));
  }

  /** True if the code of the copy is in one function, whose flow then has all cycles of it. */
  isWhole(copy: Scope): boolean {
    const range = this.flow.rangeAt(copy.ranges[0]!);
    return range !== undefined && copy.ranges.every(addr => addr >= range.low && addr <= range.high);
  }

  /** True if a jump of the function may go to its entry, where this site is. */
  isLoopEntry(site: number): boolean {
    let isLoop = this.loopEntries.get(site);
    if (isLoop === undefined) {
      const range = this.flow.rangeAt(this.sites.call[site]!);
      isLoop = range !== undefined && this.flow.flow(range).blocks.some(({ out }) => out.includes(0));
      this.loopEntries.set(site, isLoop);
    }
    return isLoop;
  }

  private functionFor(frame: Frame): ProgramFunction {
    return this.functionAt(frame.function, this.clean(frame.declFile || frame.file), frame.declLine);
  }

  private functionAt(name: string, file: string, line: number): ProgramFunction {
    let fn = this.findFunction(name, file, line);
    if (!fn) {
      const none = { points: [], sites: [], entries: [], inlined: [], copies: [] };
      fn = { name: name || '?', file, line, ...none };
      this.allFunctions.push(fn);
      const ofName = this.functionsOfName.get(name);
      if (ofName) ofName.push(fn);
      else this.functionsOfName.set(name, [fn]);
      this.file(file);
    }
    return fn;
  }

  private findFunction(name: string, file: string, line: number): ProgramFunction | undefined {
    for (const fn of this.functionsOfName.get(name) ?? [])
      if (fn.line === line && fn.file === file) return fn;
    return undefined;
  }
}

const functionKey = (name: string, file: string, line: number): string => `${name}\n${file}\n${line}`;
