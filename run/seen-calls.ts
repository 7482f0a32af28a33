// System calls whose records are those of an earlier call of the same thread. A program that makes
// a call a million times mostly leaves the same records each time, so the earlier one stands for
// them all. A call's records come in runs, so what is known are sequences of runs. The memory is
// bounded: a sequence replaces another one with the same slot.

import { type KcovOrigin, type KcovRun, ORIGIN_WORDS } from '../emulator/index.ts';

/** Where records of one origin lie: see `KcovRun`. */
export type Run = Pick<KcovRun, 'words' | 'at' | 'count' | 'halves'> & Partial<Pick<KcovRun, 'origin'>>;

const SLOTS = 1024;
/** Halves of words of the longest call that is remembered: 16 KiB. */
const LONGEST = 4096;
/** Runs of a call at most. */
const DEEPEST = 64;

const NO_WORDS = new Uint32Array(0);

/** The records of a call up to the end of a run. */
export interface SeenCall {
  readonly before: SeenCall | undefined;
  readonly depth: number;
  /** Halves of the words of all its runs. */
  readonly size: number;
  /** When the last run was last found: that of another descriptor may have the same records. */
  origin: KcovOrigin;
  /** Its words; none: the last run was a single record. */
  originWords: Uint32Array;
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

  /** The known call that goes on with this run, or begins with it, behind the run of `last`. */
  find(
    before: SeenCall | undefined,
    origin: KcovOrigin,
    run: Run,
    last: SeenCall | undefined,
  ): SeenCall | undefined {
    if (run.count * run.halves > LONGEST) return undefined;
    const slot = slotOf(before, origin, run);
    if (last) last.next = slot;
    const seen = this.#slots[slot];
    if (!seen || seen.before !== before || !isSame(seen, origin, run)) return undefined;
    seen.origin = origin;
    seen.originWords = originWordsOf(run);
    return seen;
  }

  /**
   * The run that came behind `last` earlier, if it comes again now, from the same origin in all
   * words: it goes on with that call, or, if `last` is a whole one, begins another.
   */
  repeated(last: SeenCall, { words, origin, at, count, halves }: KcovRun): SeenCall | undefined {
    const seen = this.#slots[last.next];
    if (!seen || seen.count !== count || seen.halves !== halves || seen.originWords.length === 0)
      return undefined;
    const begins = !seen.before && last.source >= 0 && seen.origin.tid === last.origin.tid;
    if (seen.before !== last && !(begins && seen.origin.syscall !== last.origin.syscall)) return undefined;
    return isAt(seen.originWords, words, origin) && isAt(seen.words, words, at) ? seen : undefined;
  }

  /** Remembers a call as far as it came; undefined if it is too long, or of several origins. */
  add(before: SeenCall | undefined, origin: KcovOrigin, run: Run): SeenCall | undefined {
    const { words, at, count, halves } = run;
    const depth = before ? before.depth + 1 : 1;
    const size = (before ? before.size : 0) + count * halves;
    if (size > LONGEST || depth > DEEPEST || (before && !isSameMaker(before.origin, origin)))
      return undefined;
    const part = words.slice(at, at + count * halves);
    const originWords = originWordsOf(run);
    const seen = {
      before,
      depth,
      size,
      origin,
      originWords,
      words: part,
      count,
      halves,
      source: -1,
      next: 0,
    };
    this.#slots[slotOf(before, origin, run)] = seen;
    return seen;
  }
}

const originWordsOf = ({ words, origin }: Run): Uint32Array =>
  origin === undefined ? NO_WORDS : words.slice(origin, origin + ORIGIN_WORDS);

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
  return isAt(seen.words, words, at);
}

/** Are the words at this place the known ones? Mostly, so testing each would cost twice. */
function isAt(known: Uint32Array, words: Uint32Array, at: number): boolean {
  let differ = 0;
  for (let i = 0; i < known.length; i++) differ |= known[i]! ^ words[at + i]!;
  return differ === 0;
}
