// System calls whose records are those of an earlier call of the same thread. A program that makes
// a call a million times mostly leaves the same records each time, so the earlier one stands for
// them all. A call's records come in runs, so what is known are sequences of runs. The memory is
// bounded: a sequence replaces another one with the same slot.

import type { KcovOrigin, KcovRun } from '../emulator/index.ts';

/** Where records of one origin lie: see `KcovRun`. */
export type Run = Pick<KcovRun, 'words' | 'at' | 'count' | 'halves'>;

const SLOTS = 1024;
/** Halves of words of the longest call that is remembered: 16 KiB. */
const LONGEST = 4096;
/** Runs of a call at most. */
const DEEPEST = 64;

/** The records of a call up to the end of a run. */
export interface SeenCall {
  readonly before: SeenCall | undefined;
  readonly depth: number;
  /** Halves of the words of all its runs. */
  readonly size: number;
  /** When the last run was last found: that of another descriptor may have the same records. */
  origin: KcovOrigin;
  /** The records of the last run. */
  readonly words: Uint32Array;
  readonly count: number;
  readonly halves: number;
  /** A call that ended with these records; -1: none. */
  source: number;
}

export class SeenCalls {
  readonly #slots: (SeenCall | undefined)[] = new Array(SLOTS).fill(undefined);

  /** The known call that goes on with this run, or begins with it. */
  find(before: SeenCall | undefined, origin: KcovOrigin, run: Run): SeenCall | undefined {
    if (run.count * run.halves > LONGEST) return undefined;
    const seen = this.#slots[slotOf(before, origin, run)];
    if (!seen || seen.before !== before || !isSame(seen, origin, run)) return undefined;
    seen.origin = origin;
    return seen;
  }

  /** Remembers a call as far as it came; undefined if it is too long, or of several origins. */
  add(before: SeenCall | undefined, origin: KcovOrigin, run: Run): SeenCall | undefined {
    const { words, at, count, halves } = run;
    const depth = before ? before.depth + 1 : 1;
    const size = (before ? before.size : 0) + count * halves;
    if (size > LONGEST || depth > DEEPEST || (before && !isSameMaker(before.origin, origin)))
      return undefined;
    const part = words.slice(at, at + count * halves);
    const seen = { before, depth, size, origin, words: part, count, halves, source: -1 };
    this.#slots[slotOf(before, origin, run)] = seen;
    return seen;
  }
}

function slotOf(
  before: SeenCall | undefined,
  { tid, syscall }: KcovOrigin,
  { words, at, count, halves }: Run,
): number {
  let hash = Math.imul(tid, 31) ^ syscall ^ ((before?.depth ?? 0) << 24);
  for (let i = at; i < at + count * halves; i += 2) hash = Math.imul(hash ^ words[i]!, 0x01000193);
  return ((hash >>> 20) ^ hash) & (SLOTS - 1);
}

const isSameMaker = (a: KcovOrigin, b: KcovOrigin): boolean =>
  a === b ||
  (a.tid === b.tid &&
    a.pid === b.pid &&
    a.syscall === b.syscall &&
    a.context === b.context &&
    a.handle === b.handle);

function isSame(seen: SeenCall, origin: KcovOrigin, { words, at, count, halves }: Run): boolean {
  if (seen.count !== count || seen.halves !== halves || !isSameMaker(seen.origin, origin)) return false;
  const known = seen.words;
  // Mostly they are the same, so testing each would cost twice.
  let differ = 0;
  for (let i = 0; i < known.length; i++) differ |= known[i]! ^ words[at + i]!;
  return differ === 0;
}
