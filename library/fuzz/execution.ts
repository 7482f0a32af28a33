// The records and values of an execution, copied out of the guest's memory.
import type { Called, Executor, Execution as Inner } from '../../fuzz/executor/executor.ts';
import { HALVES } from '../../fuzz/executor/records.ts';

/** A comparison of the kernel, as kcov records it. */
export interface Comparison {
  /** Return address of the hook. */
  readonly pc: bigint;
  /** Bytes of the operands. */
  readonly width: 1 | 2 | 4 | 8;
  /** The first operand is a constant of the code. */
  readonly isConst: boolean;
  readonly first: bigint;
  readonly second: bigint;
}

/**
 * A call of an execution. kcov's buffer holds 65,535 points, or 16,383 comparisons, of all calls;
 * further ones are dropped. It lies in the memory of the program, which can write over it.
 */
export interface ExecutedCall {
  /** `openat`, or `fcntl$dupfd`. */
  readonly name: string;
  /** The returned value, errors included: -2 is ENOENT. undefined: it did not return. */
  readonly value: bigint | undefined;
  /** False: another thread's next call began, this one did not. */
  readonly hasBegun: boolean;
  /**
   * The points that ran, in order, as return addresses of their hooks. Empty where comparisons are
   * recorded.
   */
  readonly pcs: BigUint64Array;
  /** In order; empty where points are recorded. */
  readonly comparisons: readonly Comparison[];
}

/** One execution of a program, from the snapshot. */
export interface Execution {
  /**
   * `done`: all calls returned. `ended`: the program ended its process. `asleep`: a call sleeps,
   * and nothing can wake it. `hang`: a call has spent its instructions. `panic`: of the kernel.
   */
  readonly end: 'done' | 'ended' | 'asleep' | 'hang' | 'panic';
  /**
   * The title of a crash in syzkaller's form, `KASAN: use-after-free Read in pipe_read`;
   * undefined: there was none.
   */
  readonly crash: string | undefined;
  /** Those of the program, up to the last one that began. */
  readonly calls: readonly ExecutedCall[];
  /** Points of deferred work that the calls caused. */
  readonly deferred: BigUint64Array;
  /** Retired, and exceptions. */
  readonly instructions: number;
  /** Output of the guest: messages of the kernel. */
  readonly console: string;
}

/** The points `begin` to `end` of a buffer. @internal */
export function pcsOf(area: Uint32Array, begin: number, end: number): BigUint64Array {
  const halves = area.slice(HALVES.pc * (begin + 1), HALVES.pc * (end + 1));
  return new BigUint64Array(halves.buffer);
}

function comparisonsOf(area: Uint32Array, { begin, end }: Called): Comparison[] {
  const halves = area.slice(2 + HALVES.cmp * begin, 2 + HALVES.cmp * end);
  const words = new BigUint64Array(halves.buffer);
  return Array.from({ length: end - begin }, (_, n) => {
    const [type, first, second, pc] = words.subarray(4 * n, 4 * n + 4);
    const width = (1 << Number((type! >> 1n) & 3n)) as Comparison['width'];
    return { pc: pc!, width, isConst: (type! & 1n) !== 0n, first: first!, second: second! };
  });
}

/** @internal */
export function executionOf(
  executor: Executor,
  names: readonly string[],
  inner: Inner,
  crash: string | undefined,
): Execution {
  const isPoints = inner.mode === 'pc';
  const calls = inner.calls.map((called, i) => ({
    name: names[i]!,
    value: called.value === undefined ? undefined : BigInt.asIntN(64, called.value),
    hasBegun: called.hasBegun,
    pcs: pcsOf(executor.recordsOf(called), called.begin, isPoints ? called.end : called.begin),
    comparisons: isPoints ? [] : comparisonsOf(executor.area, called),
  }));
  return {
    end: inner.end,
    crash,
    calls,
    deferred: pcsOf(executor.extra, 0, isPoints ? inner.extra : 0),
    instructions: inner.units,
    console: inner.console,
  };
}
