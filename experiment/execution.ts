// One execution of a guest within a trial: from power-on to its end, without a host. Its bytes are
// those of `kcovbox run` with the same description.
import { Sha256 } from '../emulator/base/sha256.ts';
import {
  createMachine,
  type KcovSink,
  type Machine,
  type MachineOptions,
  type RunResult,
} from '../emulator/index.ts';
import { Feed, PIECE } from '../run/feed.ts';
import { Newlines } from '../run/newlines.ts';
import { type Verdict, verdict } from '../run/verdict.ts';

/** Instructions, and work of devices, between two turns of the event loop. */
const SLICE = 20_000_000;
const SLICE_WORK = 1 << 22;
/** Bytes of the console in which bugs are looked for. */
const TEXT_MAX = 1 << 20;

export interface Watch {
  readonly input: Uint8Array;
  readonly maxInsns: number;
  /** Takes the records of kcov. */
  readonly sink: KcovSink;
  /** `sampled` is called whenever so many instructions have run. */
  readonly sample: number | undefined;
  readonly sampled: (instructions: number) => void;
}

export interface Executed extends Verdict {
  readonly machine: Machine;
  /** Instructions and exceptions since power-on, all boots together. */
  readonly instructions: number;
  /** The output of the guest, at most TEXT_MAX bytes. */
  readonly text: Uint8Array;
  readonly printed: number;
  readonly consoleHash: string;
}

/** The guest's output. */
class Output {
  readonly #hash = new Sha256();
  readonly #pending = new Uint8Array(4096);
  readonly #kept: Uint8Array[] = [];
  #used = 0;
  printed = 0;
  readonly newlines = new Newlines(byte => {
    if (this.#used === this.#pending.length) this.#flush();
    this.#pending[this.#used++] = byte;
  });

  #flush(): void {
    const chunk = this.#pending.slice(0, this.#used);
    this.#used = 0;
    this.#hash.update(chunk);
    if (this.printed < TEXT_MAX) this.#kept.push(chunk.subarray(0, TEXT_MAX - this.printed));
    this.printed += chunk.length;
  }

  end(): Pick<Executed, 'text' | 'printed' | 'consoleHash'> {
    this.newlines.end();
    this.#flush();
    const text = new Uint8Array(Math.min(this.printed, TEXT_MAX));
    let at = 0;
    for (const chunk of this.#kept) {
      text.set(chunk, at);
      at += chunk.length;
    }
    return { text, printed: this.printed, consoleHash: this.#hash.hex() };
  }
}

const piecesOf = (input: Uint8Array): { takePiece(): Promise<Uint8Array> } => {
  let at = 0;
  return { takePiece: async () => input.subarray(at, (at += PIECE)) };
};

/** Runs to the end of the guest, or of `maxInsns`. */
export async function executeOnce(options: MachineOptions, watch: Watch): Promise<Executed> {
  const output = new Output();
  const machine = createMachine({ ...options, onConsole: byte => output.newlines.put(byte) });
  machine.board.kcov?.observe(watch.sink);
  const stream = piecesOf(watch.input);
  const feed = new Feed(machine, stream, { end: 'break', isBusyGuest: false, isInterrupted: () => false });
  let done = 0;
  let nextSample = watch.sample ?? Number.POSITIVE_INFINITY;
  let result: RunResult = { kind: 'budget' };
  while (done < watch.maxInsns) {
    const before = machine.spent;
    const units = Math.min(SLICE, watch.maxInsns - done, nextSample - done);
    result = machine.run(units, feed.duration, SLICE_WORK);
    done += machine.spent - before;
    if (done >= nextSample) {
      watch.sampled(done);
      nextSample += watch.sample!;
    }
    if (result.kind === 'reset') {
      machine.reset();
      feed.reset();
      result = { kind: 'budget' };
    } else if (result.kind !== 'budget' && result.kind !== 'halt') break;
    const hasGiven = await feed.give(result);
    if (!hasGiven && result.kind === 'halt' && feed.isOver) break;
    if (result.kind === 'halt') result = { kind: 'budget' };
  }
  return { machine, instructions: done, ...verdict(result), ...output.end() };
}
