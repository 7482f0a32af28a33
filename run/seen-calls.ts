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
  readonly origin: KcovOrigin;
  /** The records of the last run. */
  readonly words: Uint32Array;
  readonly count: number;
  readonly halves: number;
  /** A call that ended with these records; -1: none. */
  source: number;
  /**
   * Slot of the run that came behind this one when it was last looked for: mostly that comes
   * again. A number, because a chain of objects would keep all that are replaced.
   */
  next: number;
}

export class SeenCalls {
  readonly #slots: (SeenCall | undefined)[] = new Array(SLOTS).fill(undefined);

  /** The known call that goes on with this run, or begins with it. */
  find(before: SeenCall | undefined, origin: KcovOrigin, run: Run): SeenCall | undefined {
    if (run.count * run.halves > LONGEST) return undefined;
    return this.#at(slotOf(before, origin, run), before, origin, run);
  }

  /** The same behind the last run of `last`; looks first for what came there before. */
  findBehind(
    last: SeenCall,
    before: SeenCall | undefined,
    origin: KcovOrigin,
    run: Run,
  ): SeenCall | undefined {
    const guess = this.#at(last.next, before, origin, run);
    if (guess || run.count * run.halves > LONGEST) return guess;
    last.next = slotOf(before, origin, run);
    return this.#at(last.next, before, origin, run);
  }

  #at(slot: number, before: SeenCall | undefined, origin: KcovOrigin, run: Run): SeenCall | undefined {
    const seen = this.#slots[slot];
    return seen && seen.before === before && isSame(seen, origin, run) ? seen : undefined;
  }

  /** Remembers a call as far as it came; undefined if it is too long, or of several origins. */
  add(before: SeenCall | undefined, origin: KcovOrigin, run: Run): SeenCall | undefined {
    const { words, at, count, halves } = run;
    const depth = before ? before.depth + 1 : 1;
    const size = (before ? before.size : 0) + count * halves;
    if (size > LONGEST || depth > DEEPEST || (before && !isSameMaker(before.origin, origin)))
      return undefined;
    const part = words.slice(at, at + count * halves);
    const seen = { before, depth, size, origin, words: part, count, halves, source: -1, next: 0 };
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
  for (let i = 0; i < known.length; i++) if (known[i] !== words[at + i]) return false;
  return true;
}
