/**
 * A function may be compiled several times: out of line, and into its callers. A compiler leaves
 * out of one instance the code that it can compute itself, so a line may have code in some
 * instances and none in others. If an instance without code for the line ran, that the code of the
 * line did not run elsewhere proves nothing: the line is unknown.
 */
import { type Addr, upperBound } from '../base/bytes.ts';
import type { Unit } from '../dwarf/die.ts';
import type { Scope } from '../dwarf/dwarf.ts';
import { ROW_END_SEQUENCE } from '../dwarf/line.ts';
import type { Symbolizer } from '../dwarf/symbolize.ts';
import type { CallSites } from '../elf/callsites.ts';
import type { ImageFlow } from '../elf/flow.ts';
import { type LineCode, mayHaveRun } from './lines.ts';
import { Undecided } from './undecided.ts';
import type { LineJudge } from './verdict.ts';

/** A program whose lines are placed. */
interface Placed {
  readonly sites: CallSites;
  readonly flow: ImageFlow;
  readonly symbolizer: Symbolizer;
  /** Of a program of one file, its path. */
  readonly onlyFile: string | undefined;
  hasUnit(unit: Unit): boolean;
  /** The identity of the function that a scope is an instance of, and the file that declares it. */
  keyOf(scope: Scope): string;
  fileOf(scope: Scope): string;
  /** Is the code that of a line of `onlyFile`? */
  isOwn(code: LineCode): boolean;
  findLine(path: string, line: number): LineCode | undefined;
}

interface Instance {
  /** The lines of the function that have code in it. */
  readonly lines: ReadonlySet<LineCode>;
  /** The functions that are inlined into it, by the place of the call. */
  readonly calls: ReadonlyMap<string, Scope>;
}

/** Facts about instances that were found earlier. */
export interface KnownInstances {
  groups(): Scope[][];
  linesOf(scope: Scope): Set<LineCode>;
}

export class Instances {
  /** By function: the instances of one that has several. */
  readonly groups: readonly (readonly Scope[])[];
  /** Found once an instance of the same function ran. */
  readonly #instances = new Map<Scope, Instance>();
  /** By inlined call: the lines of the functions inlined there. */
  readonly #linesBelow = new Map<Scope, ReadonlySet<LineCode>>();
  readonly #program: Placed;
  readonly #known: KnownInstances | undefined;

  constructor(program: Placed, known?: KnownInstances) {
    this.#program = program;
    this.#known = known;
    if (known) {
      this.groups = known.groups();
      return;
    }
    const groups = new Map<string, Scope[]>();
    const add = (scope: Scope): void => {
      const key = program.keyOf(scope);
      const group = groups.get(key);
      if (group) group.push(scope);
      else groups.set(key, [scope]);
      for (const child of scope.children) add(child);
    };
    for (const scope of outermostOf(program)) add(scope);
    if (program.onlyFile !== undefined) this.#checkOthers([...groups.values()], program.onlyFile);
    this.groups = [...groups.values()].filter(group => group.length > 1);
  }

  /** Lines that may have run in an instance that has no code for them. */
  doubtful(verdicts: LineJudge): Set<LineCode> {
    const doubtful = new Set<LineCode>();
    for (const group of this.groups) {
      const scopes = group.filter(scope => mayHaveRun(verdicts, scope.ranges));
      if (scopes.length === 0) continue;
      const ran = scopes.map(scope => this.#instance(scope));
      const lines = counted(ran.map(instance => instance.lines));
      const calls = counted(ran.map(instance => instance.calls.keys()));
      for (const instance of group.map(scope => this.#instance(scope))) {
        for (const line of instance.lines) if (lines.get(line) !== ran.length) doubtful.add(line);
        // A call that was computed wholly may have run all that is below it.
        for (const [call, child] of instance.calls)
          if (calls.get(call) !== ran.length) for (const line of this.#below(child)) doubtful.add(line);
      }
    }
    return doubtful;
  }

  /**
   * A program of one file has all instances of its functions, but perhaps not those of the others.
   * Errors: Undecided if lines of the file depend on them.
   */
  #checkOthers(groups: readonly (readonly Scope[])[], file: string): void {
    const program = this.#program;
    for (const group of groups) {
      if (program.fileOf(group[0]!) === file) continue;
      for (const scope of group)
        for (const code of this.#below(scope))
          if (program.isOwn(code)) throw new Undecided(`${file}:${code.line} is part of another file`);
    }
  }

  /** The lines of a function that have code in this instance, those of inlined calls included. */
  linesOf(scope: Scope): Set<LineCode> {
    return this.#known?.linesOf(scope) ?? linesOf(this.#program, scope);
  }

  #instance(scope: Scope): Instance {
    let instance = this.#instances.get(scope);
    if (!instance) {
      const program = this.#program;
      instance = { lines: this.linesOf(scope), calls: callsOf(program, scope) };
      this.#instances.set(scope, instance);
    }
    return instance;
  }

  #below(scope: Scope): ReadonlySet<LineCode> {
    let lines = this.#linesBelow.get(scope);
    if (!lines) {
      const all = [this.linesOf(scope), ...scope.children.map(child => this.#below(child))];
      lines = new Set(all.flatMap(set => [...set]));
      this.#linesBelow.set(scope, lines);
    }
    return lines;
  }
}

/** How many of the collections have each member. */
function counted<T>(collections: readonly Iterable<T>[]): Map<T, number> {
  const counts = new Map<T, number>();
  for (const members of collections)
    for (const member of members) counts.set(member, (counts.get(member) ?? 0) + 1);
  return counts;
}

const callsOf = (program: Placed, { children }: Scope): Map<string, Scope> =>
  new Map(children.map(child => [`${program.keyOf(child)}\n${child.callLine}:${child.callColumn}`, child]));

/** The out-of-line functions with a hook, also of a kind that does not count here. */
function outermostOf(program: Placed): Set<Scope> {
  const {
    sites,
    flow,
    symbolizer: { dwarf },
  } = program;
  const found = new Set<Scope>();
  for (let site = 0; site < sites.count; ) {
    const range = flow.rangeAt(sites.call[site]!);
    const unit = range && dwarf.unitAt(range.low);
    const outermost = unit && program.hasUnit(unit) && dwarf.scopesAt(unit, range.low).at(-1);
    if (outermost) found.add(outermost);
    site = range ? Math.max(site + 1, sites.firstFrom(range.high)) : site + 1;
  }
  return found;
}

function linesOf(program: Placed, scope: Scope): Set<LineCode> {
  const lines = new Set<LineCode>();
  const { unit, children } = scope;
  const table = program.symbolizer.dwarf.lineTable(unit);
  if (!table) return lines;
  const add = (file: number, line: number): void => {
    const code = program.findLine(table.cleanPath(file, unit.compDir), line);
    if (code) lines.add(code);
  };
  const { address, file, line, flags } = table.rows;
  for (const [low, high] of without(
    scope.ranges,
    children.flatMap(child => child.ranges),
  )) {
    const [from, to] = table.range(low, high);
    for (let row = from; row < to; row++)
      if (!(flags[row]! & ROW_END_SEQUENCE) && address[row + 1]! > low) add(file[row]!, line[row]!);
  }
  for (const { callFile, callLine } of children) add(callFile, callLine);
  return lines;
}

/** The parts of ranges (low, high, low, high, ...) that lie outside of others. */
function* without(ranges: readonly Addr[], others: readonly Addr[]): Generator<[low: Addr, high: Addr]> {
  const holes = Array.from(
    { length: others.length / 2 },
    (_, i) => [others[2 * i]!, others[2 * i + 1]!] as const,
  );
  holes.sort(([a], [b]) => a - b);
  for (let i = 0; i < ranges.length; i += 2) {
    let low = ranges[i]!;
    const high = ranges[i + 1]!;
    let hole = upperBound(holes.length, low, k => holes[k]![1]);
    for (; hole < holes.length && holes[hole]![0] < high; hole++) {
      if (holes[hole]![0] > low) yield [low, holes[hole]![0]];
      low = Math.max(low, holes[hole]![1]);
    }
    if (low < high) yield [low, high];
  }
}
