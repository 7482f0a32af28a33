// Standard input that nobody types: a file or a pipe. All of it belongs to the description of the run, so what the guest gets and when must
// follow from the guest and the bytes alone, not from how the host delivers them. Two rules do that:
// - a piece is always PIECE bytes or what is left; a slow pipe is waited for, while the guest stands still;
// - a piece is handed over when the guest waits, judged at multiples of WINDOW of virtual time from power-on, or at a halt.
// Run descriptions call them `idle-64k` (run/schema.ts): whoever changes a number here gives the rule another name.
import type { InputPort, Machine, RunResult } from '../emulator/index.ts';

/** Virtual time between two looks. */
const WINDOW = 20_000_000;
/** A window in which fewer instructions ran was spent waiting. */
const IDLE_UNITS = 200_000;
/** So many reads of an empty line status in a row, without a byte sent in between, are a guest that polls for input. */
const POLLS = 1000;
/** So many windows in which nobody touched the UART: a guest that takes input by interrupts and never idles, as xv6. */
const QUIET_WINDOWS = 50;

const CTRL_D = 4;
/** Bytes of a stream that are delivered at a time. */
export const PIECE = 1 << 16;

/** Where the bytes come from. */
export interface InputStream {
  /** The next PIECE bytes, or what is left; none at the end. Waits for bytes that are still to come until `isInterrupted`. */
  takePiece(isInterrupted: () => boolean): Promise<Uint8Array>;
}

export interface FeedOptions {
  /** How the guest learns that the input has ended: a break on the line, or Ctrl-D, which any terminal driver knows. */
  readonly end: 'break' | 'ctrl-d';
  /** Kernels that never idle get input, too: they poll the UART, or leave it alone for long. */
  readonly isBusyGuest: boolean;
  readonly isInterrupted: () => boolean;
}

/** What the guest is sent at the end. */
export const END_OF_INPUT: Readonly<Record<FeedOptions['end'], [number[], InputPort]>> = {
  break: [[], 'break'],
  'ctrl-d': [[CTRL_D], 'uart'],
};

export class Feed {
  readonly #machine: Machine;
  readonly #stream: InputStream;
  readonly #options: FeedOptions;
  #lookAt = WINDOW;
  #spent = 0;
  #accesses = 0;
  #quiet = 0;
  #isOver = false;

  constructor(machine: Machine, stream: InputStream, options: FeedOptions) {
    this.#machine = machine;
    this.#stream = stream;
    this.#options = options;
  }

  /** Virtual time until the next look. */
  get duration(): number {
    return this.#lookAt - this.#machine.time;
  }

  /** The guest has got everything, and knows. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Power-on again: time begins anew. */
  reset(): void {
    this.#lookAt = WINDOW;
    this.#spent = 0;
  }

  /** After each piece of the run: hands over the next bytes if the guest waits for some. True when it did. */
  async give(result: RunResult): Promise<boolean> {
    if (!this.#isDue(result) || this.#isOver) return false;
    const bytes = await this.#stream.takePiece(this.#options.isInterrupted);
    if (this.#options.isInterrupted()) return false;
    if (bytes.length > 0) this.#machine.input(bytes);
    else {
      this.#isOver = true;
      this.#machine.input(...END_OF_INPUT[this.#options.end]);
    }
    return true;
  }

  #isDue({ kind }: RunResult): boolean {
    const { time, spent, board } = this.#machine;
    const isWindow = time >= this.#lookAt;
    const isIdle = kind === 'halt' || (isWindow && spent - this.#spent < IDLE_UNITS);
    if (!isWindow) return isIdle;
    this.#lookAt = (Math.floor(time / WINDOW) + 1) * WINDOW;
    this.#spent = spent;
    this.#quiet = board.uart.accesses === this.#accesses ? this.#quiet + 1 : 0;
    this.#accesses = board.uart.accesses;
    if (isIdle || !this.#options.isBusyGuest) return isIdle;
    if (this.#quiet < QUIET_WINDOWS) return board.uart.emptyPolls >= POLLS;
    this.#quiet = 0;
    return true;
  }
}
