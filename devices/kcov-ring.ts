// Records that compiled code makes for a passive listener without calling the device: it appends
// them to the guest's buffer and to a ring of the host, and the device hands them over later, many
// at a time. The ring takes only records whose origin, place and order follow from the one before;
// every other record comes to the device itself, which empties the ring first. So the listener gets
// all records in their order, as if each had come by itself.

/** Makes one record: kind of hook and halves of the return address; operands are latched. */
export type MakeRecord = (kind: number, pcLo: number, pcHi: number) => void;

/** A run of records of one kind, origin, context and buffer, one behind another. */
export interface KcovRun {
  /** 32-bit words of the host that `origin` and `at` number. */
  readonly words: Uint32Array;
  /** Where the origin lies there: the words of a context from TID to DESCRIPTOR. */
  readonly origin: number;
  /** Where the records lie there, without gaps, and their number. */
  readonly at: number;
  readonly count: number;
  /** Halves of the words of each record. */
  readonly halves: number;
  readonly context: number;
  readonly area: number;
  /** Place of the first record in the area. */
  readonly index: number;
}

/**
 * The runs that a listener expects again, and what it expects behind each: while the same comes,
 * the ring counts it and gives nothing.
 */
export interface KcovRepeats {
  /**
   * Keeps the run; its number, or 0: there is no room. `begins`: it is the first of a call, so the
   * run before it ended one.
   */
  keep(run: KcovRun, begins: boolean): number;
  /** Behind run `from` this one is expected now, and no other. */
  expect(from: number, to: number): void;
  /** Number of the last run; 0: none that is kept, so the next one is given. */
  at: number;
  /** How many calls began as expected since this was last asked. */
  takeBegun(): number;
  /** How many calls ended with this run, with the next one as expected, since this was asked. */
  takeEnded(number: number): number;
  /** Forgets all runs. */
  clear(): void;
}

/** Of runs that came as expected: the last one, and the number of records of them all. */
export type RunsFollowed = (last: KcovRun, records: number) => void;

export interface KcovRing {
  /** For compiled code: puts the record into the ring, or calls the device. */
  readonly make: MakeRecord;
  /** Number of records that wait. */
  readonly pending: number;
  readonly repeats: KcovRepeats;
  /** Takes all records that wait, in order. The object is valid during the call. */
  take(give: (run: KcovRun) => void, followed: RunsFollowed): void;
  /**
   * The ring is full: makes room. The last run may still grow, so it stays if it takes less than
   * half of the ring. A listener that compares runs gets it whole then.
   */
  makeRoom(give: (run: KcovRun) => void, followed: RunsFollowed): void;
  /** Kernel virtual = physical + this, for the tables of switches. */
  announce(kvaOffset: bigint): void;
  /**
   * The device has just appended this record to the area of the hart's current context, which is in
   * no mode that reports each value once. `block`: physical address of the hart's block. The ring
   * is empty.
   */
  follow(hart: number, block: number, context: number, words: Uint32Array, area: number, index: number): void;
  /** The next record must come to the device. The ring is empty. */
  refuse(): void;
}
