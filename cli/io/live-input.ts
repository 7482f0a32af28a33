// Input at times that the host decides: typed at a terminal (terminal.ts), or sent by a co-process
// through a pipe. It is delivered as it comes, and the journal records the time.
import type { WindowSize } from '../../host/guest.ts';
import { Waker } from './waker.ts';

export interface LiveInput {
  /** The user has asked to leave. */
  readonly quit: boolean;
  /** The input has ended, and all of it was read. */
  readonly isOver: boolean;
  /** Shows bytes unchanged. */
  readonly isExact: boolean;
  /** Bytes that came since the last call. */
  take(): Iterable<number>;
  /** The window's size, when it has changed since the last call. */
  takeSize(): WindowSize | undefined;
  /** Waits for input, at most the given milliseconds. */
  wait(ms: number): Promise<void>;
  close(): void;
}

/** Bytes after which a pipe is not read until the guest has taken some. */
const HELD_MAX = 1 << 16;

/** Standard input that is not a terminal: `--interactive`. */
export class Pipe implements LiveInput {
  readonly quit = false;
  readonly isExact = false;
  #held: Buffer[] = [];
  #length = 0;
  #ended = false;
  readonly #waker = new Waker();
  readonly #onData = (chunk: Buffer): void => {
    this.#held.push(chunk);
    this.#length += chunk.length;
    if (this.#length >= HELD_MAX) process.stdin.pause();
    this.#waker.wake();
  };
  readonly #onEnd = (): void => {
    this.#ended = true;
    this.#waker.wake();
  };

  constructor() {
    process.stdin.on('data', this.#onData).on('end', this.#onEnd).on('error', this.#onEnd);
  }

  get isOver(): boolean {
    return this.#ended && this.#length === 0;
  }

  take(): Buffer {
    const bytes = Buffer.concat(this.#held);
    this.#held = [];
    this.#length = 0;
    if (bytes.length > 0) process.stdin.resume();
    return bytes;
  }

  takeSize(): undefined {}

  async wait(ms: number): Promise<void> {
    if (!(this.#length > 0 || this.#ended)) await this.#waker.wait(ms);
  }

  close(): void {
    process.stdin.off('data', this.#onData).off('end', this.#onEnd);
    process.stdin.pause();
    process.stdin.unref?.();
  }
}
