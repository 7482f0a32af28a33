// The guest's machine from power-on to its end, in slices between which the event loop has its
// turn.
import { isBytes } from '../../emulator/base/arguments.ts';
import { KcovboxError } from '../../emulator/base/errors.ts';
import { createMachine, type Machine, type MachineOptions, type RunResult } from '../../emulator/index.ts';
import { Feed, type InputStream, PIECE } from '../../run/feed.ts';
import { Newlines } from '../../run/newlines.ts';
import { type Verdict, verdict } from '../../run/verdict.ts';
import { RunningSha256 } from '../../toolchain/index.ts';
import type { Signal } from '../signal.ts';

/** Instructions, and work of devices, of a slice: some tens of milliseconds. */
const SLICE = 20_000_000;
const SLICE_WORK = 1 << 22;

export type Input = string | Uint8Array | AsyncIterable<Uint8Array | string>;

/** Input of an earlier run, and when it ended. */
export interface Recorded {
  readonly journal: NonNullable<MachineOptions['replay']>;
  readonly end: Verdict & { readonly time: number };
}

export interface SessionOptions {
  readonly machine: MachineOptions;
  readonly input: Input;
  /** Instead of `input`. */
  readonly recorded?: Recorded | undefined;
  readonly maxInsns: number;
  readonly signal?: Signal | undefined;
  readonly onOutput?: ((chunk: Uint8Array) => void) | undefined;
  /** Called before the first instruction. */
  readonly prepare: (machine: Machine) => void;
}

export interface Ended extends Verdict {
  readonly machine: Machine;
  readonly reboots: number;
  readonly output: Uint8Array;
  /** SHA-256 of the output. */
  readonly outputHash: string;
}

const turn = (): Promise<void> => new Promise(done => setImmediate(done));

/** Bytes of the input in pieces as the feed wants them. */
class Pieces implements InputStream {
  readonly #source: AsyncIterator<Uint8Array | string>;
  readonly #signal: Signal | undefined;
  #held = Buffer.alloc(0);
  #isOver = false;

  /** The signal ends the wait for a chunk. */
  constructor(input: Input, signal: Signal | undefined) {
    this.#signal = signal;
    const whole = typeof input === 'string' ? Buffer.from(input) : input;
    this.#source = isBytes(whole)
      ? (async function* () {
          yield whole;
        })()
      : whole[Symbol.asyncIterator]();
  }

  async takePiece(isInterrupted: () => boolean): Promise<Uint8Array> {
    while (this.#held.length < PIECE && !this.#isOver && !isInterrupted()) {
      const { value, done } = await this.#next();
      if (done) this.#isOver = true;
      else if (isBytes(value)) this.#held = Buffer.concat([this.#held, value]);
      else if (typeof value === 'string') this.#held = Buffer.concat([this.#held, Buffer.from(value)]);
      else throw new KcovboxError('input', 'a chunk of the input is neither a Uint8Array nor text');
    }
    const piece = this.#held.subarray(0, PIECE);
    this.#held = this.#held.subarray(PIECE);
    return piece;
  }

  /** The next chunk; rejects with the signal's reason, and then closes the source. */
  async #next(): Promise<IteratorResult<Uint8Array | string>> {
    const signal = this.#signal;
    const next = this.#source.next();
    if (!signal) return next;
    let abort = (): void => {};
    const aborted = new Promise<never>((_, reject) => {
      abort = () => reject(signal.reason);
      signal.addEventListener('abort', abort);
      if (signal.aborted) abort();
    });
    try {
      return await Promise.race([next, aborted]);
    } catch (error) {
      if (signal.aborted) {
        next.catch(() => {});
        Promise.resolve(this.#source.return?.()).catch(() => {});
      }
      throw error;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }
}

/** The guest's output, without the CR of its terminal. */
class Output {
  readonly #hash = new RunningSha256();
  readonly #chunks: Uint8Array[] = [];
  readonly #onOutput: SessionOptions['onOutput'];
  #pending: number[] = [];
  readonly newlines = new Newlines(byte => this.#pending.push(byte));

  constructor(onOutput: SessionOptions['onOutput']) {
    this.#onOutput = onOutput;
  }

  flush(): void {
    if (this.#pending.length === 0) return;
    const chunk = Uint8Array.from(this.#pending);
    this.#pending = [];
    this.#hash.update(chunk);
    this.#chunks.push(chunk);
    this.#onOutput?.(chunk);
  }

  end(): { output: Uint8Array; outputHash: string } {
    this.newlines.end();
    this.flush();
    return { output: Buffer.concat(this.#chunks), outputHash: this.#hash.hex() };
  }
}

/**
 * Boots and runs until the guest ends or the budget is spent. Rejects with the signal's reason when
 * it is aborted.
 */
export async function runSession(options: SessionOptions): Promise<Ended> {
  const output = new Output(options.onOutput);
  const { recorded, signal } = options;
  const machine = createMachine({
    ...options.machine,
    onConsole: byte => output.newlines.put(byte),
    ...(recorded && { replay: recorded.journal }),
  });
  options.prepare(machine);
  const slices = new Slices(machine, options, () => output.flush());
  const result = await (recorded ? slices.replay(recorded) : slices.run());
  signal?.throwIfAborted();
  const isCut = recorded?.end.outcome === 'interrupted' && result?.kind === 'budget';
  const end = isCut ? { status: recorded.end.status, outcome: 'interrupted' as const } : verdict(result);
  return { machine, reboots: slices.reboots, ...end, ...output.end() };
}

class Slices {
  readonly #machine: Machine;
  readonly #options: SessionOptions;
  readonly #flush: () => void;
  reboots = 0;

  constructor(machine: Machine, options: SessionOptions, flush: () => void) {
    this.#machine = machine;
    this.#options = options;
    this.#flush = flush;
  }

  /** By the rule of streams, as the command delivers a file. */
  async run(): Promise<RunResult | undefined> {
    const machine = this.#machine;
    const { signal, input, maxInsns } = this.#options;
    const isInterrupted = (): boolean => signal?.aborted === true;
    const feed = new Feed(machine, new Pieces(input, signal), {
      end: 'break',
      isBusyGuest: false,
      isInterrupted,
    });
    let left = maxInsns;
    while (left > 0) {
      signal?.throwIfAborted();
      const before = machine.spent;
      const result = machine.run(Math.min(SLICE, left), feed.duration, SLICE_WORK);
      left -= machine.spent - before;
      this.#flush();
      if (result.kind === 'reset') {
        this.reboots++;
        machine.reset();
        feed.reset();
      } else if (result.kind !== 'budget' && result.kind !== 'halt') return result;
      await turn();
      const hasGiven = await feed.give(result);
      if (!hasGiven && result.kind === 'halt' && feed.isOver) return result;
    }
    return { kind: 'budget' };
  }

  /** The recorded input arrives by itself. */
  async replay({ end }: Recorded): Promise<RunResult> {
    const machine = this.#machine;
    const { signal, maxInsns } = this.#options;
    const limit = end.outcome === 'interrupted' ? end.time : Number.POSITIVE_INFINITY;
    for (;;) {
      signal?.throwIfAborted();
      const left = maxInsns - machine.spent;
      const result = machine.run(Math.min(SLICE, left), limit - machine.time, SLICE_WORK);
      this.#flush();
      if (result.kind !== 'budget' || machine.time >= limit || machine.spent >= maxInsns) return result;
      await turn();
    }
  }
}
