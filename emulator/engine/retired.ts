// Counts how often each instruction retired: the ground truth for coverage reports, and the basis
// of `--exact`.
//
// Two i64 cells for each half-word of a window of virtual addresses, behind guest RAM in the shared
// memory. The interpreter adds 1 to the first when an instruction begins, and the host subtracts it
// when the instruction traps, so only retired instructions remain. `ecall` and `ebreak` count too:
// their lines did run. Compiled code uses the second cells, for runs of instructions without a jump
// (jit/emit/run-counts.ts). Addresses outside the window cost the interpreter a compare, and
// compiled code nothing.
//
// With a gate only instructions count that run while a word of memory has one of certain bits.
// Only the interpreter looks at the gate.

import { HostError } from '../base/errors.ts';
import { EXCEPTIONS, PC, TRAP_CAUSE } from '../hart/layout.ts';

/** The instructions to count. */
export interface RetiredOptions {
  /** Virtual addresses `[low, high)`, both even. */
  readonly low: bigint;
  readonly high: bigint;
  /** Default: always. */
  readonly gate?: Gate;
}

/** Is open while the i32 at the host address in a field of the window has one of the bits. */
export interface Gate {
  /** Offset of the field in the window. */
  readonly pointer: number;
  readonly bits: number;
}

/** The place of the counters. */
export interface RetiredPlace {
  readonly low: bigint;
  /** Bytes of code in the window. */
  readonly bytes: number;
  /** Host address of the counter of `low`; that of `low + n` is `4 * n` further. */
  readonly base: number;
  /** Host address of the cell of `low` for runs: runs that began there less those that ended. */
  readonly runs: number;
  readonly gate: Gate | undefined;
}

/**
 * The longest window: its counters take eight times as much of the 4 GiB of a WebAssembly memory.
 */
const MOST_BYTES = 64 * 2 ** 20;

/** Exceptions that count as executed: breakpoint and environment calls (Priv, table of causes). */
const EXECUTED = (1 << 3) | (1 << 8) | (1 << 9) | (1 << 11);

/** Bytes of memory that the counters need, a multiple of 64 KiB. */
export function retiredBytes({ low, high }: Omit<RetiredOptions, 'gate'>): number {
  const bytes = Number(high - low);
  if (!(bytes > 0 && bytes <= MOST_BYTES)) {
    throw new HostError(`${bytes} bytes of code to count in: 1 to ${MOST_BYTES} are possible`);
  }
  return Math.ceil((cellBytes(bytes) * 2) / 0x1_0000) * 0x1_0000;
}

/** Bytes of one cell for each half-word, rounded up to whole cells. */
const cellBytes = (bytes: number): number => Math.ceil(bytes / 2) * 8;

export class RetiredCounts {
  readonly place: RetiredPlace;
  readonly #begun: BigUint64Array;
  readonly #runs: BigInt64Array;
  readonly #i32: Int32Array;

  constructor(memory: WebAssembly.Memory, base: number, { low, high, gate }: RetiredOptions) {
    const bytes = Number(high - low);
    const cells = Math.ceil(bytes / 2);
    this.place = { low, bytes, base, runs: base + cellBytes(bytes), gate };
    this.#begun = new BigUint64Array(memory.buffer, base, cells);
    this.#runs = new BigInt64Array(memory.buffer, this.place.runs, cells);
    this.#i32 = new Int32Array(memory.buffer);
  }

  /**
   * By half-word from `low` on: the number of times the instruction that begins there retired until
   * now. A half-word inside an instruction may hold any number.
   */
  read(): BigUint64Array {
    const counts = this.#begun.slice();
    let open = 0n;
    for (const [i, change] of this.#runs.entries()) {
      if (change !== 0n) open += change;
      if (open !== 0n) counts[i]! += open;
    }
    return counts;
  }

  reset(): void {
    this.#begun.fill(0n);
    this.#runs.fill(0n);
  }

  /** Subtracts the instruction at `pc`, which trapped. */
  undo(pc: bigint): void {
    if (!this.#isOpen()) return;
    const offset = Number(BigInt.asUintN(64, pc) - this.place.low);
    if (offset >= 0 && offset < this.place.bytes) this.#begun[offset >> 1]!--;
  }

  /**
   * Runs `step` for the instruction at the window's PC, and subtracts the instruction if it
   * trapped.
   */
  watch(step: () => number): number {
    const pc = this.#word(PC);
    const before = this.#i32[EXCEPTIONS >> 2]!;
    const result = step();
    if (this.#i32[EXCEPTIONS >> 2] !== before && !((EXECUTED >> this.#i32[TRAP_CAUSE >> 2]!) & 1))
      this.undo(pc);
    return result;
  }

  #word(at: number): bigint {
    const [lo, hi] = [this.#i32[at >> 2]! >>> 0, this.#i32[(at >> 2) + 1]! >>> 0];
    return (BigInt(hi) << 32n) | BigInt(lo);
  }

  #isOpen(): boolean {
    const { gate } = this.place;
    return !gate || (this.#i32[this.#i32[gate.pointer >> 2]! >> 2]! & gate.bits) !== 0;
  }
}
