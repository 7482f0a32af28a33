// Crossings between recorded and unrecorded execution: recording begins, ends or pauses inside
// calls, and the coverage model must know which ones. The kernel tells the device whenever a hart
// switches to another context; the active calls of the hart are then read from its frame pointers.
// A pause is not a crossing for calls that are active before and after it: the chain of frames at
// which a context goes to sleep is stored, and the outer frames that it shares with the chain at
// wake-up cancel out. Frames that remain at the end of the run never returned.

import type { KcovContext, KcovSwitch, Machine } from '../emulator/index.ts';
import { type CallFrame, type KernelCode, kernelFrames } from './kernel-frames.ts';

/**
 * Bits of a context's mode that let the pc hook leave a PC: KCOV_RECORD_PC and KCOV_RECORD_UNIQ_PC.
 */
const RECORDS_PC = 5;
/** KCOV_RECORD_PC and KCOV_RECORD_CMP. */
const [PLAIN_PC, PLAIN_CMP] = [1, 2];

/**
 * True if code that runs in this mode leaves no PCs, or comparisons of every system call but PCs
 * only of the first one: their absence proves nothing.
 */
export const isWithoutPcs = (mode: number): boolean =>
  mode !== 0 && ((mode & RECORDS_PC) === 0 || (mode & (PLAIN_PC | PLAIN_CMP)) === PLAIN_CMP);

export interface CrossingSink {
  /**
   * Control entered or left before the instruction at `addr`, in code that records into `context`.
   */
  crossing(context: KcovContext, addr: bigint, entered: number, left: number): void;
  /** Code runs in a mode whose PCs prove nothing. */
  withoutPcs(context: KcovContext): void;
  switched?(change: KcovSwitch): void;
}

interface Pause {
  context: KcovContext;
  frames: readonly CallFrame[];
}

export class CrossingWatch {
  readonly #machine: Machine;
  readonly #sink: CrossingSink;
  readonly #code: KernelCode;
  readonly #paused = new Map<number, Pause>();
  readonly #open = new Set<number>();
  /** One of `#open`, the last that was looked up; -1 = none. */
  #lastOpen = -1;
  #isKnown = true;
  #everOpen = false;

  constructor(machine: Machine, sink: CrossingSink, code: KernelCode) {
    this.#machine = machine;
    this.#sink = sink;
    this.#code = code;
    machine.board.kcov?.onSwitch(change => {
      sink.switched?.(change);
      this.#switch(change);
    });
  }

  /** True if any thread was ever recorded. */
  get everOpen(): boolean {
    return this.#everOpen;
  }

  /** A PC was recorded into the context at this address. */
  recorded(address: number): void {
    if (address === this.#lastOpen) return;
    if (this.#open.has(address)) this.#lastOpen = address;
    else this.#isKnown = false;
  }

  /**
   * Called at the end of the run; active calls never return. True if the crossings are complete.
   */
  finish(): boolean {
    const { board, harts } = this.#machine;
    for (const { context, frames } of this.#paused.values()) this.#leave(context, frames);
    this.#paused.clear();
    for (const hart of harts) {
      const context = board.kcov?.contextOf(hart.id);
      if (!context || !this.#open.has(context.address)) continue;
      this.#sink.crossing(context, hart.state.pc, 0, 1);
      const frames = kernelFrames(this.#machine, hart, this.#code);
      if (frames) this.#leave(context, frames);
      else this.#isKnown = false;
    }
    return this.#isKnown && this.#everOpen;
  }

  #switch({ hart, before, after }: KcovSwitch): void {
    if (after !== undefined && isWithoutPcs(after.mode)) this.#sink.withoutPcs(after);
    const closes = before !== undefined && this.#open.has(before.address);
    const opens = after !== undefined && (after.mode & RECORDS_PC) !== 0;
    if (!closes && !opens) return;
    const frames = kernelFrames(this.#machine, this.#machine.harts[hart]!, this.#code);
    if (!frames) {
      this.#isKnown = false;
      return;
    }
    if (closes) {
      // It stopped recording earlier, at an unknown point.
      if ((before.mode & RECORDS_PC) === 0) this.#isKnown = false;
      this.#open.delete(before.address);
      this.#lastOpen = -1;
      this.#paused.set(before.address, { context: before, frames });
    }
    if (opens) this.#enter(after, frames);
  }

  #enter(context: KcovContext, frames: readonly CallFrame[]): void {
    const { address } = context;
    this.#open.add(address);
    this.#everOpen = true;
    const pause = this.#paused.get(address);
    this.#paused.delete(address);
    const isSame = pause?.context.tid === context.tid;
    // A context switch selects the next context while it still runs on the stack of the thread that
    // goes to sleep; the other thread wakes up exactly where it paused.
    if (isSame && pause!.frames.at(-1)?.fp !== frames.at(-1)?.fp) return;
    const same = isSame ? common(pause!.frames, frames) : 0;
    if (pause) this.#leave(pause.context, pause.frames.slice(0, pause.frames.length - same));
    for (const { returns } of frames.slice(0, frames.length - same))
      this.#sink.crossing(context, returns, 1, 0);
  }

  #leave(context: KcovContext, frames: readonly CallFrame[]): void {
    for (const { returns } of frames) this.#sink.crossing(context, returns, 0, 1);
  }
}

/** The number of equal outermost frames. */
function common(a: readonly CallFrame[], b: readonly CallFrame[]): number {
  let same = 0;
  for (; same < a.length && same < b.length; same++) {
    const [x, y] = [a[a.length - 1 - same]!, b[b.length - 1 - same]!];
    if (x.fp !== y.fp || x.returns !== y.returns) break;
  }
  return same;
}
