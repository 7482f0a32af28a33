// All input from outside the guest, with the virtual time of its arrival. Nothing else from outside
// reaches the guest. A run with the same images, options and journal is the same run.
import { HostError } from '../base/errors.ts';

/**
 * `uart`, `console`: bytes for the serial port, the virtio console. `break`: a break on the serial
 * line, without bytes. `resize`: the console's window, as rows and columns of two bytes each, low
 * byte first.
 */
export type InputPort = 'uart' | 'console' | 'break' | 'resize';

export interface JournalEntry {
  /** Virtual time, see ClockPort. */
  at: number;
  port: InputPort;
  /** Numbers from 0 to 255: an array, or a Uint8Array for the contents of a file. */
  readonly bytes: ArrayLike<number> & Iterable<number>;
}

export class Journal {
  entries: JournalEntry[] = [];
  readonly #waiting: readonly JournalEntry[];
  #taken = 0;

  /**
   * `replay`: input that arrives by itself, ordered by time. Errors: HostError if a time is not a
   * whole number of units, or is before that of the previous entry.
   */
  constructor(replay: readonly JournalEntry[] = []) {
    let last = 0;
    for (const [i, { at }] of replay.entries()) {
      if (!Number.isSafeInteger(at) || at < last)
        throw new HostError(`journal entry ${i}: time ${at} is not a whole number from ${last} on`);
      last = at;
    }
    this.#waiting = replay;
  }

  /** Entries of the replayed input that have not arrived yet. */
  get waiting(): number {
    return this.#waiting.length - this.#taken;
  }

  /** Has input arrived behind all that is replayed? */
  get isLive(): boolean {
    return this.entries.length > this.#waiting.length;
  }

  /** Time of the next replayed input; Infinity = none. */
  next(): number {
    return this.#waiting[this.#taken]?.at ?? Infinity;
  }

  /** Removes and returns the replayed input that is due. */
  take(now: number): JournalEntry | undefined {
    return this.next() <= now ? this.#waiting[this.#taken++] : undefined;
  }

  /** The input that has arrived; the same part of the replayed input. */
  restore(entries: readonly JournalEntry[]): void {
    this.entries = entries.slice();
    this.#taken = Math.min(entries.length, this.#waiting.length);
  }

  record(entry: JournalEntry): void {
    this.entries.push(entry);
  }
}
