/**
 * What was covered: the records of a trace counted at the points of a program, and the states, totals and tables that follow.
 *
 * Counts mean executions of the point. A line's count is the *largest* of its points, not the sum: two inlined copies of one line
 * run for different callers, and adding them would count a line that ran once per call twice.
 */
import { addrOf, byText, CoverageError, hex } from '../base/bytes.ts';
import type { Elf } from '../elf/elf.ts';
import { KIND_CMP, KIND_EDGE, KIND_PC, type Trace } from '../trace/trace.ts';
import { Program, type ProgramFile, type ProgramFunction, type ProgramOptions } from './program.ts';

/** All points of the line ran, some did, none did. Lines without points are not instrumented and have no state. */
export type LineState = 'covered' | 'partly' | 'uncovered';

export interface Share {
  covered: number;
  total: number;
}

export interface Totals {
  /** `covered` counts lines of which some point ran; `partly` is the part of them with points that did not. */
  lines: Share & { partly: number };
  functions: Share;
  points: Share;
}

/** Percent with two decimals, as people read it; an empty denominator gives 0.00. */
export function percent({ covered, total }: Share): string {
  return (total === 0 ? 0 : (100 * covered) / total).toFixed(2);
}

export function emptyTotals(): Totals {
  const share = () => ({ covered: 0, total: 0 });
  return { lines: { covered: 0, partly: 0, total: 0 }, functions: share(), points: share() };
}

export function addTotals(into: Totals, more: Totals): void {
  into.lines.partly += more.lines.partly;
  for (const key of ['lines', 'functions', 'points'] as const) {
    into[key].covered += more[key].covered;
    into[key].total += more[key].total;
  }
}

/** Refuse to read a trace with an image it was not recorded on. */
export function checkImage(trace: Trace, elf: Elf): void {
  const recorded = trace.header.image;
  if (recorded === '') return;
  const given = recorded.startsWith('sha256:') ? elf.codeHash : elf.imageId;
  if (recorded !== given) {
    throw new CoverageError(
      `the trace was recorded on image ${shortId(recorded)}, but ${elf.name} is ${shortId(given)}: give the image that ran`,
    );
  }
}

function shortId(id: string): string {
  const [kind, hash] = id.split(':');
  return hash && hash.length > 16 ? `${kind}:${hash.slice(0, 16)}` : id;
}

/** Point of the program for each point of the trace: -1 filtered out or of another kind. Throws where a PC is no call site. */
export function mapPoints(trace: Trace, program: Program): Int32Array {
  const wanted = program.hooks === 'pc' ? KIND_PC : KIND_CMP;
  const mapped = new Int32Array(trace.pointPc.length).fill(-1);
  const unknown: number[] = [];
  for (let i = 0; i < mapped.length; i++) {
    if (trace.pointKind[i] === KIND_EDGE) continue;
    const ret = addrOf(trace.pointPc[i]!);
    const point = program.pointAt(ret);
    if (point === -2) unknown.push(ret);
    else if (trace.pointKind[i] === wanted) mapped[i] = point;
  }
  if (unknown.length > 0) {
    const others = unknown.length > 1 ? ` (and ${unknown.length - 1} more of ${mapped.length} distinct)` : '';
    throw new CoverageError(`PC ${program.sites.explainMissing(unknown[0]!)}${others}`);
  }
  return mapped;
}

/** Comparisons only? Then their call sites are what can be covered. */
function hooksOf(trace: Trace): 'pc' | 'cmp' {
  return trace.pointKind.includes(KIND_PC) || !trace.pointKind.includes(KIND_CMP) ? 'pc' : 'cmp';
}

export class Coverage {
  readonly program: Program;
  readonly trace: Trace;
  /** Executions by point, then by implied point. */
  readonly hits: Float64Array;
  /** Names of the tests, and their executions by point. */
  readonly tests: { name: string; hits: Float64Array }[];
  /** Program point of each trace point, or -1. */
  readonly mapped: Int32Array;

  constructor(trace: Trace, program: Program) {
    checkImage(trace, program.elf);
    this.program = program;
    this.trace = trace;
    this.mapped = mapPoints(trace, program);
    const size = program.count + program.implied.length;
    this.hits = new Float64Array(size);
    this.tests = trace.tests.map(name => ({ name, hits: new Float64Array(size) }));
    const testOf = trace.sources.map(source => this.tests.find(test => test.name === source.test)!);
    const { mapped } = this;
    for (const { source, from, to } of trace.runs()) {
      const mine = testOf[source]!.hits;
      for (let i = from; i < to; i++) {
        const point = mapped[trace.records[i]!]!;
        if (point >= 0) mine[point]!++;
      }
    }
    for (const { hits } of this.tests) {
      for (const [i, points] of program.implied.entries()) {
        for (const point of points) hits[program.count + i]! += hits[point]!;
      }
      for (let i = 0; i < size; i++) this.hits[i]! += hits[i]!;
    }
  }

  static of(trace: Trace, elf: Elf, options: ProgramOptions = {}): Coverage {
    checkImage(trace, elf);
    return new Coverage(trace, new Program(elf, { hooks: hooksOf(trace), ...options }));
  }

  lineState(points: readonly number[], hits = this.hits): LineState {
    let some = false;
    let all = true;
    for (const point of points) {
      if (hits[point]! > 0) some = true;
      else all = false;
    }
    return some ? (all ? 'covered' : 'partly') : 'uncovered';
  }

  lineHits(points: readonly number[]): number {
    let most = 0;
    for (const point of points) most = Math.max(most, this.hits[point]!);
    return most;
  }

  /** Calls of a function: what its entries counted, and for inlined copies the point that ran most. */
  functionHits(fn: ProgramFunction, hits = this.hits): number {
    const most = (points: number[]) => points.reduce((max, point) => Math.max(max, hits[point]!), 0);
    if (fn.entries.length === 0) return most(fn.points);
    return fn.entries.reduce((sum, point) => sum + hits[point]!, 0) + most(fn.inlined);
  }

  coveredPoints(points: readonly number[]): number {
    let count = 0;
    for (const point of points) if (this.hits[point]! > 0) count++;
    return count;
  }

  isFunctionCovered(fn: ProgramFunction): boolean {
    return fn.points.some(point => this.hits[point]! > 0);
  }

  fileTotals(file: ProgramFile): Totals {
    const totals = emptyTotals();
    for (const points of file.lines.values()) {
      const state = this.lineState(points);
      totals.lines.total++;
      if (state !== 'uncovered') totals.lines.covered++;
      if (state === 'partly') totals.lines.partly++;
    }
    for (const fn of file.functions) {
      totals.functions.total++;
      if (this.isFunctionCovered(fn)) totals.functions.covered++;
    }
    totals.points = { covered: this.coveredPoints(file.points), total: file.points.length };
    return totals;
  }

  /** The sum over all files; every line, function and point belongs to one file. */
  totals(): Totals {
    const totals = emptyTotals();
    for (const file of this.program.files) addTotals(totals, this.fileTotals(file));
    return totals;
  }

  /** Totals by directory, every directory holding all below it; '' is the whole. */
  directoryTotals(): Map<string, Totals> {
    const directories = new Map<string, Totals>();
    for (const file of this.program.files) {
      const totals = this.fileTotals(file);
      const parts = file.path.split('/');
      for (let depth = 0; depth < parts.length; depth++) {
        const path = parts.slice(0, depth).join('/') || (depth > 0 ? '/' : '');
        let sum = directories.get(path);
        if (!sum) directories.set(path, (sum = emptyTotals()));
        addTotals(sum, totals);
      }
    }
    return new Map([...directories].sort(([a], [b]) => byText(a, b)));
  }

  /** Points in order of address that ran. */
  *covered(): Generator<number> {
    for (let point = 0; point < this.program.count; point++) if (this.hits[point]! > 0) yield point;
  }

  describe(point: number): string {
    const [frame] = this.program.frames(point);
    return `${hex(this.program.call(point))} ${frame!.function} ${frame!.file}:${frame!.line}`;
  }
}
