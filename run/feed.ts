// Standard input from a file or a pipe. It belongs to the description of the run, so its delivery
// must depend on the guest and the bytes alone, not on the timing of the host. Two rules guarantee
// this:
// - a piece is always PIECE bytes or the rest of the input; the guest does not run while the host
//   waits for a slow pipe;
// - a piece is delivered when the guest waits, tested at multiples of WINDOW of virtual time from
//   power-on, or at a halt. Run descriptions call them `idle-64k` (run/schema.ts): a change of a
//   number here needs another name for the rule.
import type { InputPort, Machine, RunResult } from '../emulator/index.ts';

/** Virtual time between two tests; the first is after so much of it. */
export const WINDOW = 20_000_000;
/** A window in which fewer instructions ran was spent waiting. */
const IDLE_UNITS = 200_000;
/**
 * After this many reads of an empty line status in a row, without a byte sent in between, the guest
 * is polling for input.
 */
const POLLS = 1000;
/**
 * Windows without an access to the UART: a guest that takes input by interrupts and never idles,
 * such as xv6.
 */
const QUIET_WINDOWS = 50;

const CTRL_D = 4;
/** Bytes of a stream that are delivered at a time. */
export const PIECE = 1 << 16;

/** The source of the bytes. */
export interface InputStream {
  /**
   * The next PIECE bytes, or the rest; none at the end. Waits for missing bytes until
   * `isInterrupted`.
   */
  takePiece(isInterrupted: () => boolean): Promise<Uint8Array>;
}

export interface FeedOptions {
  /**
   * The signal for the end of the input: a break on the line, or Ctrl-D, which every terminal
   * driver knows.
   */
  readonly end: 'break' | 'ctrl-d';
  /**
   * Also deliver input to kernels that never idle: they poll the UART, or do not access it for
   * long.
   */
  readonly isBusyGuest: boolean;
  readonly isInterrupted: () => boolean;
}

/** The bytes sent at the end. */
export const END_OF_INPUT: Readonly<Record<FeedOptions['end'], [number[], InputPort]>> = {
  break: [[], 'break'],
  'ctrl-d': [[CTRL_D], 'uart'],
};

/** The knowledge with which a feed goes on from a snapshot. */
export interface FeedState {
  /** Units spent by the last test. */
  readonly spent: number;
  /** Accesses to the UART since then. */
  readonly accesses: number;
  /** Windows in a row without one. */
  readonly quiet: number;
  /** Reads of an empty line status in a row. */
  readonly polls: number;
}

/** Of a feed that has not tested yet. */
export const NEW_FEED: FeedState = { spent: 0, accesses: 0, quiet: 0, polls: 0 };

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

  /** Virtual time until the next test. */
  get duration(): number {
    return this.#lookAt - this.#machine.time;
  }

  /** See FeedState. */
  get state(): FeedState {
    const { accesses, emptyPolls } = this.#machine.board.uart;
    return { spent: this.#spent, accesses: accesses - this.#accesses, quiet: this.#quiet, polls: emptyPolls };
  }

  /**
   * The machine goes on from a snapshot, before which no input arrived, or with `isOver` all of it.
   */
  resume(state: FeedState, isOver = false): void {
    this.#isOver = isOver;
    this.#lookAt = (Math.floor(this.#machine.time / WINDOW) + 1) * WINDOW;
    this.#spent = state.spent;
    const { uart } = this.#machine.board;
    this.#accesses = uart.accesses - state.accesses;
    this.#quiet = state.quiet;
    uart.emptyPolls = state.polls;
  }

  /** True if the guest has received everything, including the end. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Call at power-on: time starts again. */
  reset(): void {
    this.#lookAt = WINDOW;
    this.#spent = 0;
  }

  /**
   * Call after each slice of the run: delivers the next bytes if the guest waits. True if it did.
   */
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
