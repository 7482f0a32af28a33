/**
 * Coverage: the records of a trace, counted at the points of a program, and the states, totals and
 * tables that follow. The verdict on a line is proven (verdict.ts, lines.ts): without a proof it is
 * neither covered nor not covered, but `unknown`.
 *
 * Counts mean executions. A line's count is the *largest* of its instructions, not the sum: two
 * inlined copies of one line run for different callers, and adding them would count a line that ran
 * once per call twice.
 */
import { type Addr, addrOf, byText, CoverageError, hex } from '../base/bytes.ts';
import { HOOK_PC } from '../elf/callsites.ts';
import type { Elf } from '../elf/elf.ts';
import { type Proof, proofOf } from '../trace/proof.ts';
import { KIND_CMP, KIND_EDGE, KIND_PC, type Trace, TraceBuilder } from '../trace/trace.ts';
import { callsOf, type FunctionCalls, type Hooked, hookedOf } from './calls.ts';
import { type ExactCounts, ExactVerdicts } from './exact.ts';
import { judgeLine, type LineCode, type LineState, type LineVerdict, unknownLine } from './lines.ts';
import {
  Program,
  type ProgramFile,
  type ProgramFunction,
  type ProgramOptions,
  type WholeProgram,
} from './program.ts';
import { SourceOrder } from './source-order.ts';
import { hitsByTest, type TestHits } from './tests.ts';
import { type LineJudge, Verdicts } from './verdict.ts';

export interface Share {
  covered: number;
  total: number;
}

/** `unknown` ones are in no other number, not even the total. */
export interface ProvenShare extends Share {
  unknown: number;
}

export interface Totals {
  /**
   * `covered` counts lines that ran; `partly` counts those among them with code that did not run or
   * is unknown.
   */
  lines: ProvenShare & { partly: number };
  functions: ProvenShare;
  points: Share;
}

/** A function has no `partly`: it was called, or not, or nobody knows. */
export type FunctionState = Exclude<LineState, 'partly'>;

/** Percent with two decimals; an empty denominator gives 0.00. */
export function percent({ covered, total }: Share): string {
  return (total === 0 ? 0 : (100 * covered) / total).toFixed(2);
}

export function emptyTotals(): Totals {
  return {
    lines: { covered: 0, partly: 0, unknown: 0, total: 0 },
    functions: { covered: 0, unknown: 0, total: 0 },
    points: { covered: 0, total: 0 },
  };
}

export function addTotals(into: Totals, more: Totals): void {
  into.lines.partly += more.lines.partly;
  into.lines.unknown += more.lines.unknown;
  into.functions.unknown += more.functions.unknown;
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

/** Characters of an identity that messages show, whatever a file calls one. */
const ID_SHOWN = 80;

/** An identity as far as messages and lists show it. */
export function shortId(id: string): string {
  const colon = id.indexOf(':');
  return id.slice(0, Math.min(colon < 0 ? ID_SHOWN : colon + 17, ID_SHOWN));
}

/**
 * Point of the program for each point of the trace: -1 filtered out or of another kind. Throws if a
 * PC is not a call site.
 */
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

/** Point of each identified lost record; negative for one at no point. */
const mapMissed = ({ missed }: Trace, program: Program): Int32Array =>
  Int32Array.from(missed, ({ kind, pc }) =>
    kind === (program.hooks === 'pc' ? KIND_PC : KIND_CMP) ? program.pointAt(addrOf(pc)) : -1,
  );

/** Of a trace that has only comparisons, their call sites are the denominators. */
function hooksOf(trace: Trace): 'pc' | 'cmp' {
  return trace.pointKind.includes(KIND_PC) || !trace.pointKind.includes(KIND_CMP) ? 'pc' : 'cmp';
}

/**
 * Of two traces that are compared. Errors: CoverageError if one has only comparisons, or one has
 * only edges, of which no point could count.
 */
export function hooksOfBoth(a: Trace, b: Trace): 'pc' | 'cmp' {
  for (const [i, { pointKind }] of [a, b].entries())
    if (pointKind.length > 0 && pointKind.every(kind => kind === KIND_EDGE))
      throw new CoverageError(
        `the ${i === 0 ? 'first' : 'second'} trace has only edge records, which have no place to compare: ` +
          'record it with a mode of PCs too',
      );
  const kinds = [a, b].filter(trace => trace.pointKind.length > 0).map(hooksOf);
  if (new Set(kinds).size > 1)
    throw new CoverageError(
      `the ${kinds[0] === 'cmp' ? 'first' : 'second'} trace has only comparisons, and the other has points: ` +
        'compare traces of one kind',
    );
  return kinds[0] ?? 'pc';
}

/**
 * Records by site of the hooks that count, lost ones too, NaN for the others. Sites outside a
 * selection still contribute to proofs.
 */
function siteHits(trace: Trace, program: Program): Float64Array {
  const { sites } = program;
  const isPc = program.hooks === 'pc';
  const hits = Float64Array.from(sites.hook, hook => ((hook === HOOK_PC) === isPc ? 0 : Number.NaN));
  const siteOf = Int32Array.from(trace.pointPc, (pc, i) =>
    trace.pointKind[i] === (isPc ? KIND_PC : KIND_CMP) ? sites.find(addrOf(pc)) : -1,
  );
  trace.hitsOf(siteOf, hits);
  for (const { kind, pc, count } of trace.missed) {
    const site = kind === (isPc ? KIND_PC : KIND_CMP) ? sites.find(addrOf(pc)) : -1;
    if (site >= 0) hits[site]! += count;
  }
  return hits;
}

/** A trace of comparisons shows code that ran, and nothing about code that did not. */
function proofFor(trace: Trace, program: Program): Proof {
  return program.hooks === 'pc' ? proofOf(trace) : { crossings: false, absence: false, counts: false };
}

export class Coverage {
  readonly program: Program;
  readonly trace: Trace;
  /** Records by point, identified lost ones too: executions, if `counts`. */
  readonly hits: Float64Array;
  /** The same by site, also outside of a selection; NaN for a hook that does not count. */
  readonly siteHits: Float64Array;
  /** By test, in order of first appearance. */
  readonly tests: readonly TestHits[];
  /** Program point of each trace point, or -1. */
  readonly mapped: Int32Array;
  /** The same for each identified lost record; negative for one at no point. */
  readonly missedAt: Int32Array;
  readonly verdicts: LineJudge;
  private readonly own = new Map<LineCode, LineVerdict>();
  private readonly lines = new Map<LineCode, LineVerdict>();
  private readonly calls = new Map<ProgramFunction, FunctionCalls>();
  private lazyDoubtful: Set<LineCode> | undefined;
  private lazyOrder: SourceOrder | undefined;
  private readonly countAt: ((addr: Addr) => number) | undefined;
  /** null: the image has no hooks. */
  private lazyHooked: Hooked | null | undefined;

  /** With `exact` the trace only names the run: the counts are those of retired instructions. */
  constructor(trace: Trace, program: Program, exact?: ExactCounts) {
    checkImage(trace, program.elf);
    this.program = program;
    this.trace = trace;
    if (exact) {
      const verdicts = new ExactVerdicts(program.flow, exact);
      this.mapped = new Int32Array(0);
      this.missedAt = new Int32Array(0);
      this.siteHits = Float64Array.from(program.sites.call, call => verdicts.countAt(call));
      this.hits = Float64Array.from(program.points, site => this.siteHits[site]!);
      const points = Uint32Array.from(this.hits.keys()).filter(i => this.hits[i]! > 0);
      const hits = Float64Array.from(points, point => this.hits[point]!);
      this.tests = [{ name: trace.tests[0] ?? '', points, hits }];
      this.verdicts = verdicts;
      this.countAt = addr => verdicts.countAt(addr);
      return;
    }
    this.mapped = mapPoints(trace, program);
    this.missedAt = mapMissed(trace, program);
    this.tests = hitsByTest(trace, this.mapped, program.count, this.missedAt);
    this.siteHits = siteHits(trace, program);
    this.hits = Float64Array.from(program.points, site => this.siteHits[site]!);
    this.verdicts = new Verdicts(program.flow, trace, proofFor(trace, program), site => this.siteHits[site]!);
  }

  /** True if the records of this trace count executions. */
  get counts(): boolean {
    return this.verdicts.proof.counts;
  }

  /**
   * True if lines and functions can be proven not to have run. Else only those that ran are known:
   * their share would always be 100 %.
   */
  get hasShare(): boolean {
    return this.verdicts.proof.absence;
  }

  /** Coverage of `image` by retired instructions, of a run named `test`. `whole`: as for `of`. */
  static exact(elf: Elf, exact: ExactCounts, test: string, whole?: WholeProgram): Coverage {
    const builder = new TraceBuilder({ image: elf.imageId, notes: { counted: 'retired instructions' } });
    builder.source({ test });
    const program = whole ? whole('none') : new Program(elf, { hooks: 'none' });
    return new Coverage(builder.finish(), program, exact);
  }

  /** `whole`: makes the program where nothing is selected; absent: a new one is made. */
  static of(trace: Trace, elf: Elf, options: ProgramOptions = {}, whole?: WholeProgram): Coverage {
    checkImage(trace, elf);
    const { hooks = hooksOf(trace), keep } = options;
    const program = whole && !keep ? whole(hooks) : new Program(elf, { ...options, hooks });
    return new Coverage(trace, program);
  }

  /** True if a line may have run although none of its code did. */
  private isDoubtful(code: LineCode): boolean {
    this.lazyDoubtful ??= this.program.instances.doubtful(this.verdicts);
    this.lazyOrder ??= new SourceOrder(this.program, this.verdicts, other => this.ownVerdict(other).state);
    return this.lazyDoubtful.has(code) || this.lazyOrder.isOutOfOrder(code);
  }

  /** The verdict on a line by its own code. */
  private ownVerdict(code: LineCode): LineVerdict {
    let verdict = this.own.get(code);
    if (!verdict) this.own.set(code, (verdict = judgeLine(code, this.verdicts)));
    return verdict;
  }

  /** The proven facts about a line. */
  line(code: LineCode): LineVerdict {
    let verdict = this.lines.get(code);
    if (!verdict) {
      verdict = this.ownVerdict(code);
      if (verdict.state === 'uncovered' && this.isDoubtful(code)) verdict = unknownLine(this.verdicts);
      this.lines.set(code, verdict);
    }
    return verdict;
  }

  get hooked(): Hooked | undefined {
    const { program, countAt, verdicts } = this;
    if (this.lazyHooked === undefined)
      this.lazyHooked = countAt
        ? (hookedOf(program, countAt) ?? null)
        : { sites: program.sites, hits: site => this.siteHits[site]!, graphAt: addr => verdicts.at(addr) };
    return this.lazyHooked ?? undefined;
  }

  /** The calls of a function, as far as they are proven. */
  functionCalls(fn: ProgramFunction): FunctionCalls {
    let calls = this.calls.get(fn);
    if (!calls) this.calls.set(fn, (calls = callsOf(this, fn)));
    return calls;
  }

  coveredPoints(points: readonly number[]): number {
    let count = 0;
    for (const point of points) if (this.hits[point]! > 0) count++;
    return count;
  }

  /** Whether a function ran; unknown where an inlined copy may have, or records may be missing. */
  functionState(fn: ProgramFunction): FunctionState {
    const { hits, isLeast } = this.functionCalls(fn);
    if (hits > 0) return 'covered';
    return isLeast ? 'unknown' : 'uncovered';
  }

  fileTotals(file: ProgramFile): Totals {
    const totals = emptyTotals();
    for (const code of file.lines.values()) {
      // Those that ran are known, from comparisons; counted, they would be 100 %.
      const state = this.program.hooks === 'cmp' ? 'unknown' : this.line(code).state;
      if (state === 'unknown') {
        totals.lines.unknown++;
        continue;
      }
      totals.lines.total++;
      if (state !== 'uncovered') totals.lines.covered++;
      if (state === 'partly') totals.lines.partly++;
    }
    for (const fn of file.functions) {
      const state = this.functionState(fn);
      if (state === 'unknown') {
        totals.functions.unknown++;
        continue;
      }
      totals.functions.total++;
      if (state === 'covered') totals.functions.covered++;
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
