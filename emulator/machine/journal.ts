// The only way in which something from outside reaches the guest: input, stamped with the virtual time at which it
// arrived. A run with the same images, options and journal is the same run.

/**
 * `uart`, `console`: bytes for the serial port, the virtio console. `break`: a break on the serial line, without bytes. `resize`:
 * the console's window, as rows and columns of two bytes each, low byte first.
 */
export type InputPort = 'uart' | 'console' | 'break' | 'resize';

export interface JournalEntry {
  /** Virtual time, see ClockPort. */
  at: number;
  port: InputPort;
  bytes: number[];
}

export class Journal {
  readonly entries: JournalEntry[] = [];
  readonly #waiting: JournalEntry[];

  /** `replay`: input that is to arrive by itself, ordered by time. */
  constructor(replay: readonly JournalEntry[] = []) {
    this.#waiting = [...replay];
  }

  /** Time of the next replayed input; Infinity = none. */
  next(): number {
    return this.#waiting[0]?.at ?? Infinity;
  }

  /** Takes the replayed input that is due. */
  take(now: number): JournalEntry | undefined {
    return this.next() <= now ? this.#waiting.shift() : undefined;
  }

  record(entry: JournalEntry): void {
    this.entries.push(entry);
  }
}
