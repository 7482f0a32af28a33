/**
 * The code of a source line, and the verdict on the line that follows from the verdict on its code.
 * Only the line's own instructions are judged. Three kinds of code are *weak*: hook calls, the
 * jumps of blocks that the compiler created only to distinguish edges, and the code of functions
 * inlined at the line. If weak code ran, the line ran; if it did not run, nothing follows for the
 * rest of the line.
 */
import { type Addr, upperBound } from '../base/bytes.ts';
import { NOT_RUN, RAN, UNKNOWN } from './reach.ts';
import type { FunctionVerdict, LineJudge } from './verdict.ts';

/** Code of one line: addresses as low, high, low, high, ... */
export interface LineCode {
  line: number;
  /** The lines of the file with code in front of it and behind it. */
  previous: LineCode | undefined;
  next: LineCode | undefined;
  /** Where the functions with code of it begin; an address of code that is in none. */
  homes: Addr[];
  /** Points on the line: hooks in its code, and in functions inlined at it. */
  points: number[];
  own: Addr[];
  /** Hook calls. */
  hooks: Addr[];
  /** Code of functions inlined at the line. */
  calls: Addr[];
}

/** A line without code so far. */
export function newLine(line: number): LineCode {
  const [previous, next] = [undefined, undefined];
  return { line, previous, next, homes: [], points: [], own: [], hooks: [], calls: [] };
}

/** A copy of the lines of a file, once each knows its neighbours. */
export function linked(lines: ReadonlyMap<number, LineCode>): ReadonlyMap<number, LineCode> {
  const sorted = [...lines].sort(([a], [b]) => a - b);
  for (const [i, [, code]] of sorted.entries()) {
    code.previous = sorted[i - 1]?.[1];
    code.next = sorted[i + 1]?.[1];
  }
  return new Map(sorted);
}

/**
 * - `covered`: all its instructions ran.
 * - `partly`: some provably ran, others did not or are unknown.
 * - `uncovered`: none ran.
 * - `unknown`: none provably ran, and some are unknown.
 */
export type LineState = 'covered' | 'partly' | 'uncovered' | 'unknown';

/** True if some of the line provably ran. */
export const didRun = (state: LineState): boolean => state === 'covered' || state === 'partly';

export interface LineVerdict {
  readonly state: LineState;
  /** Executions of the instruction that ran most often; undefined if the trace has no counts. */
  readonly hits: number | undefined;
  /** `hits` is the least that is certain. */
  readonly isLeast: boolean;
}

/** Of most lines of a kernel. */
const IDLE: LineVerdict = { state: 'uncovered', hits: 0, isLeast: false };

class Tally {
  ran = 0;
  not = 0;
  unknown = 0;
  most = 0;
  isOpen = false;

  add(state: number, count: number): void {
    if (state === RAN) this.ran++;
    else if (state === NOT_RUN) this.not++;
    else this.unknown++;
    if (Number.isNaN(count)) this.isOpen = true;
    else this.most = Math.max(this.most, count);
  }
}

/** Number of the first block that holds code from `low` on; those behind it follow in memory. */
export function firstBlock({ blocks }: Pick<FunctionVerdict, 'blocks'>, low: Addr): number {
  return Math.max(0, upperBound(blocks.length, low, k => blocks[k]!.low) - 1);
}

/** True if a block with code of `[low, high)` may have run, as far as the verdict tells. */
export function someMayHaveRun(verdict: FunctionVerdict, low: Addr, high: Addr): boolean {
  const { blocks, states } = verdict;
  for (let i = firstBlock(verdict, low); i < blocks.length && blocks[i]!.low < high; i++)
    if (states[i] !== NOT_RUN) return true;
  return false;
}

export function* pairs(ranges: readonly Addr[]): Generator<[low: Addr, high: Addr]> {
  for (let i = 0; i < ranges.length; i += 2) yield [ranges[i]!, ranges[i + 1]!];
}

/** True unless no instruction of the ranges ran. */
export function mayHaveRun(verdicts: LineJudge, ranges: readonly Addr[]): boolean {
  for (const [low, high] of pairs(ranges)) {
    if (verdicts.neverRan(low)) continue;
    const verdict = verdicts.at(low);
    if (!verdict || verdict.blocks.length === 0 || someMayHaveRun(verdict, low, high)) return true;
  }
  return false;
}

/**
 * Adds the blocks of `[low, high)` to a tally; blocks that only represent an edge go to another.
 */
function addRange(verdict: FunctionVerdict, low: Addr, high: Addr, into: Tally, edges: Tally): void {
  const { blocks, states, counts } = verdict;
  for (let i = firstBlock(verdict, low); i < blocks.length && blocks[i]!.low < high; i++)
    (blocks[i]!.isEdge ? edges : into).add(states[i]!, counts[i]!);
}

function addRanges(ranges: readonly Addr[], verdicts: LineJudge, into: Tally, edges: Tally): void {
  for (let k = 0; k < ranges.length; k += 2) {
    const verdict = verdicts.at(ranges[k]!);
    if (verdict && verdict.blocks.length > 0) addRange(verdict, ranges[k]!, ranges[k + 1]!, into, edges);
    else into.add(UNKNOWN, Number.NaN);
  }
}

/** The verdict on a line, from its own code. Code that cannot be read counts as unknown. */
export function judgeLine(code: LineCode, verdicts: LineJudge): LineVerdict {
  // Before its addresses are asked for, because those of a kept analysis are not read yet.
  if (code.homes.every(home => verdicts.neverRan(home))) return IDLE;
  const { own, hooks, calls } = code;
  const strong = new Tally();
  const edges = new Tally();
  const inlined = new Tally();
  addRanges(own, verdicts, strong, edges);
  addRanges(hooks, verdicts, edges, edges);
  addRanges(calls, verdicts, inlined, inlined);
  const state = stateOf(strong, [edges, inlined]);
  const ran = didRun(state);
  if (state === 'unknown') return unknownLine(verdicts);
  if (!verdicts.proof.counts) return { state, hits: ran ? undefined : 0, isLeast: false };
  if (!ran) return { state, hits: 0, isLeast: false };
  // The number of calls does not follow from inlined code: it may contain loops.
  const most = Math.max(strong.most, edges.most);
  return { state, hits: Math.max(1, most), isLeast: strong.isOpen || edges.isOpen || most === 0 };
}

/** The verdict on a line that may have run, also where it has no code. */
export const unknownLine = ({ proof }: LineJudge): LineVerdict => ({
  state: 'unknown',
  hits: proof.counts ? 0 : undefined,
  isLeast: proof.counts,
});

function stateOf(strong: Tally, weak: readonly Tally[]): LineState {
  const all = strong.ran + strong.not + strong.unknown;
  const sum = (of: (tally: Tally) => number) => weak.reduce((n, tally) => n + of(tally), 0);
  const unknown = sum(tally => tally.unknown);
  if (strong.ran > 0) return strong.ran === all ? 'covered' : 'partly';
  if (sum(tally => tally.ran) > 0)
    return all === 0 && unknown + sum(tally => tally.not) === 0 ? 'covered' : 'partly';
  return strong.unknown + unknown > 0 ? 'unknown' : 'uncovered';
}

/**
 * A number for formats that have only counts: the proven count, or 1 for a line that ran an unknown
 * number of times.
 */
export function hitsOf({ state, hits }: LineVerdict): number {
  return didRun(state) ? (hits ?? 1) : 0;
}
