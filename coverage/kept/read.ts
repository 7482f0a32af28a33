/**
 * An analysis that was kept (write.ts). Most lines of a kernel belong to functions that did not
 * run, so the addresses of a line are read when they are asked for, and debug information when a
 * function that ran needs it.
 */
import { type Addr, CoverageError } from '../base/bytes.ts';
import type { Unit } from '../dwarf/die.ts';
import type { Scope, Units } from '../dwarf/dwarf.ts';
import { CallSites } from '../elf/callsites.ts';
import { CodeScan } from '../elf/code.ts';
import type { Elf } from '../elf/elf.ts';
import { type CodeRange, ImageFlow } from '../elf/flow.ts';
import type { LineCode } from '../model/lines.ts';
import {
  type Analysis,
  type Hooks,
  Program,
  type ProgramFile,
  type ProgramFunction,
} from '../model/program.ts';
import { Columns, type Lists } from './columns.ts';

/**
 * The program that `writeAnalysis` made `bytes` of. `elf`: the same image.
 */
export function readAnalysis(elf: Elf, bytes: Uint8Array): Program {
  const kept = new KeptAnalysis(elf, new Columns(bytes));
  const program: Program = new Program(elf, {}, kept);
  kept.program = program;
  return program;
}

class KeptAnalysis implements Analysis {
  /** Reads debug information. */
  program: Pick<Program, 'symbolizer'> | undefined;
  readonly hooks: Hooks;
  readonly points: Uint32Array;
  readonly sites: CallSites;
  readonly flow: ImageFlow;
  readonly files: ProgramFile[];
  readonly functions: ProgramFunction[];
  readonly outerOf: Uint32Array;
  readonly outer: { name: string; start: Addr }[] = [];
  readonly isEntry: Uint8Array;
  readonly #columns: Columns;
  readonly #texts: readonly string[];
  readonly #chainOf: Uint32Array;
  readonly #chains: Lists;
  readonly #groups: Lists;
  readonly #named: (readonly string[] | undefined)[] = [];
  readonly #lines: KeptLine[] = [];
  readonly #table: ScopeTable;
  readonly #scopes: (KeptScope | undefined)[] = [];

  constructor(elf: Elf, columns: Columns) {
    this.#columns = columns;
    this.#texts = columns.texts;
    this.hooks = columns.values['hooks'] as Hooks;
    this.points = columns.u32('point.site');
    this.sites = readSites(elf, columns, this.hooks);
    this.flow = readFlow(this.sites, columns);
    this.outerOf = columns.u32('point.outer');
    this.isEntry = columns.u8('point.isEntry');
    const names = columns.u32('outer.name');
    const starts = columns.f64('outer.start');
    for (let i = 0; i < names.length; i++)
      this.outer.push({ name: this.#texts[names[i]!]!, start: starts[i]! });
    this.#chainOf = columns.u32('point.chain');
    this.#chains = columns.lists('chains');
    this.#groups = columns.lists('groups');
    this.#table = {
      offset: columns.f64('scope.offset'),
      ranges: columns.wideLists('scope.ranges'),
      callLine: columns.f64('scope.callLine'),
      callColumn: columns.f64('scope.callColumn'),
      key: columns.u32('scope.key'),
      children: columns.lists('scope.children'),
      lines: columns.lists('scope.lines'),
      scope: number => this.#scope(number),
      read: offset => this.#read(offset),
    };
    this.functions = this.#readFunctions(columns);
    this.files = this.#readFiles(columns);
  }

  chain(point: number): readonly string[] {
    const number = this.#chainOf[point]!;
    return (this.#named[number] ??= this.#chains.of(number).map(text => this.#texts[text]!));
  }

  groups(): Scope[][] {
    const groups: Scope[][] = [];
    for (let i = 0; i < this.#groups.rows; i++) groups.push(this.#groups.of(i).map(this.#table.scope));
    return groups;
  }

  keyOf(scope: KeptScope): string {
    return String(this.#table.key[scope.number]);
  }

  linesOf(scope: KeptScope): Set<LineCode> {
    return new Set(this.#table.lines.of(scope.number).map(row => this.#lines[row]!));
  }

  units(): Units {
    const units = this.#columns.values['units'] as Unit[];
    const [lows, highs] = [this.#columns.f64('unit.low'), this.#columns.f64('unit.high')];
    return { units, lows, highs, owner: Array.from(this.#columns.u32('unit.owner'), i => units[i]!) };
  }

  #scope(number: number): KeptScope {
    return (this.#scopes[number] ??= new KeptScope(number, this.#table));
  }

  /** From the debug information: the scope whose entry is at an offset. */
  #read(offset: number): Scope {
    const { dwarf } = this.program!.symbolizer;
    const all = [...dwarf.functions(dwarf.unitOf(offset))];
    for (const scope of all) {
      if (scope.offset === offset) return scope;
      all.push(...scope.children);
    }
    throw new CoverageError(`a kept analysis names no function at 0x${offset.toString(16)}`);
  }

  #readFunctions(columns: Columns): ProgramFunction[] {
    const [name, file] = [columns.u32('function.name'), columns.u32('function.file')];
    const line = columns.u32('function.line');
    const lists = (what: string) => columns.lists(`function.${what}`);
    const [points, sites, entries] = [lists('points'), lists('sites'), lists('entries')];
    const [inlined, copies] = [lists('inlined'), lists('copies')];
    const functions: ProgramFunction[] = [];
    for (let i = 0; i < name.length; i++)
      functions.push({
        name: this.#texts[name[i]!]!,
        file: this.#texts[file[i]!]!,
        line: line[i]!,
        points: points.of(i),
        sites: sites.of(i),
        entries: entries.of(i),
        inlined: inlined.of(i),
        copies: copies.of(i).map(this.#table.scope),
      });
    return functions;
  }

  #readFiles(columns: Columns): ProgramFile[] {
    const path = columns.u32('file.path');
    const [points, functions] = [columns.lists('file.points'), columns.lists('file.functions')];
    const numbers = columns.lists('file.lines');
    const code: CodeOfLines = {
      points: columns.lists('line.points'),
      homes: columns.wideLists('line.homes'),
      own: columns.wideLists('line.own'),
      hooks: columns.wideLists('line.hooks'),
      calls: columns.wideLists('line.calls'),
    };
    const files: ProgramFile[] = [];
    let row = 0;
    for (let i = 0; i < path.length; i++) {
      const lines = new Map<number, LineCode>();
      let previous: KeptLine | undefined;
      for (const number of numbers.of(i)) {
        const line: KeptLine = new KeptLine(number, row++, code, previous);
        this.#lines.push(line);
        if (previous) previous.next = line;
        lines.set(number, line);
        previous = line;
      }
      files.push({
        path: this.#texts[path[i]!]!,
        lines,
        functions: functions.of(i).map(number => this.functions[number]!),
        points: points.of(i),
      });
    }
    return files;
  }
}

function readSites(elf: Elf, columns: Columns, hooks: Hooks): CallSites {
  const sections = elf.executableSections().sort((a, b) => a.addr - b.addr);
  return new CallSites(elf, hooks === 'none' ? 'entries' : 'hooks', {
    ret: columns.f64('site.ret'),
    start: columns.f64('site.start'),
    call: columns.f64('site.call'),
    hook: columns.u8('site.hook'),
    blockLow: columns.f64('site.blockLow'),
    blockHigh: columns.f64('site.blockHigh'),
    scans: sections.map((section, i) => new CodeScan(elf, section, columns.u8(`flags.${i}`))),
  });
}

function readFlow(sites: CallSites, columns: Columns): ImageFlow {
  const [low, high] = [columns.f64('range.low'), columns.f64('range.high')];
  const ranges: CodeRange[] = [];
  for (let i = 0; i < low.length; i++) ranges.push({ low: low[i]!, high: high[i]! });
  const [returns, plain] = [columns.u8('range.returns'), columns.u8('range.plain')];
  return new ImageFlow(sites, { ranges, returns, plain, pointers: columns.f64('pointers') });
}

type CodeOfLines = Readonly<Record<'points' | 'homes' | 'own' | 'hooks' | 'calls', Lists>>;

class KeptLine implements LineCode {
  readonly line: number;
  readonly points: number[];
  previous: LineCode | undefined;
  next: LineCode | undefined;
  readonly #row: number;
  readonly #code: CodeOfLines;
  #homes: Addr[] | undefined;
  #own: Addr[] | undefined;
  #hooks: Addr[] | undefined;
  #calls: Addr[] | undefined;

  constructor(line: number, row: number, code: CodeOfLines, previous: LineCode | undefined) {
    this.line = line;
    this.points = code.points.of(row);
    this.previous = previous;
    this.next = undefined;
    this.#row = row;
    this.#code = code;
  }

  get homes(): Addr[] {
    return (this.#homes ??= this.#code.homes.of(this.#row));
  }

  get own(): Addr[] {
    return (this.#own ??= this.#code.own.of(this.#row));
  }

  get hooks(): Addr[] {
    return (this.#hooks ??= this.#code.hooks.of(this.#row));
  }

  get calls(): Addr[] {
    return (this.#calls ??= this.#code.calls.of(this.#row));
  }
}

/** Columns of all scopes, by their numbers. */
interface ScopeTable {
  readonly offset: Float64Array;
  readonly ranges: Lists;
  readonly callLine: Float64Array;
  readonly callColumn: Float64Array;
  readonly key: Uint32Array;
  readonly children: Lists;
  readonly lines: Lists;
  scope(number: number): KeptScope;
  read(offset: number): Scope;
}

class KeptScope implements Scope {
  readonly number: number;
  readonly ranges: Addr[];
  readonly #table: ScopeTable;
  #children: KeptScope[] | undefined;
  #whole: Scope | undefined;

  constructor(number: number, table: ScopeTable) {
    this.number = number;
    this.ranges = table.ranges.of(number);
    this.#table = table;
  }

  get offset(): number {
    return this.#table.offset[this.number]!;
  }

  get callLine(): number {
    return this.#table.callLine[this.number]!;
  }

  get callColumn(): number {
    return this.#table.callColumn[this.number]!;
  }

  get children(): KeptScope[] {
    return (this.#children ??= this.#table.children.of(this.number).map(this.#table.scope));
  }

  /** The members that reports rarely need. */
  get #read(): Scope {
    return (this.#whole ??= this.#table.read(this.offset));
  }

  get unit(): Unit {
    return this.#read.unit;
  }

  get isInlined(): boolean {
    return this.#read.isInlined;
  }

  get callFile(): number {
    return this.#read.callFile;
  }
}
