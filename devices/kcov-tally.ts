// Records that compiled code makes for a passive listener that only counts them: it appends them to
// the guest's buffer as without a listener, and adds 1 to a number of the host. Like the ring
// (kcov-ring.ts) it takes only records that follow from the one before; every other record comes to
// the device itself. Order and origin are lost, so memory is bounded however long the run.

import type { KcovRun } from './kcov-ring.ts';

/** The records of one hook since the last `take`. */
export interface KcovCount {
  readonly isCmp: boolean;
  /** Halves of the return address. */
  readonly lo: number;
  readonly hi: number;
  /** Records that were stored, and that found no room. */
  readonly stored: number;
  readonly lost: number;
}

/** The last record of a buffer: a run of one. */
export type LastRecord = Pick<KcovRun, 'words' | 'at' | 'count' | 'halves' | 'area' | 'index'>;

export interface KcovTally {
  /** Takes all numbers, which are 0 afterwards, in no particular order. */
  take(give: (count: KcovCount) => void): void;
  /**
   * The last record of the buffer that records go to, counted or not; none behind `refuse`, and
   * none if the first one found no room.
   */
  settle(give: (last: LastRecord) => void): void;
  /**
   * The device has just made this record in the current context of the hart, which is in no mode
   * that reports each value once; `index` is -1 for one that found no room. `settle` was called.
   */
  follow(context: number, words: Uint32Array, area: number, index: number): void;
  /** The next record must come to the device. `settle` was called. */
  refuse(): void;
}
