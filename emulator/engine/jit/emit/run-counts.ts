// Counts retired instructions in compiled code (../../retired.ts), without work for each of them.
//
// Problem: a counter for each instruction costs more than the instruction. Trick: code that is
// executed from `a` up to `b` without a jump is one run, which adds 1 at `a` and takes 1 off at
// `b`; the sum of all cells up to an address is how often the instruction there retired. So only
// taken branches, entries and exits count anything. Proof: each run contributes 1 to the sums of
// exactly the addresses in [a, b); a region ends, before it leaves, the run that it began.

import type { CodeWriter } from '../../../wasm/module.ts';
import type { RetiredPlace } from '../../retired.ts';
import type { Region } from '../region/region.ts';

export class RunCounts {
  readonly #c: CodeWriter;
  readonly #place: RetiredPlace | undefined;
  readonly #entry: bigint;
  /**
   * True if instructions of the region are in the window. If not, it costs nothing to run them; the
   * code that it executes for inlined calls may be in the window nevertheless.
   */
  readonly isActive: boolean;

  /** Counts nothing without `place`. */
  constructor(c: CodeWriter, { entry, blocks }: Region, place: RetiredPlace | undefined) {
    this.#c = c;
    this.#entry = entry;
    this.#place = place;
    const isCounted = (at: number): boolean =>
      place !== undefined && BigInt.asUintN(64, this.#at(at) - place.low) < BigInt(place.bytes);
    this.isActive = blocks.some(({ insns }) => insns.some(({ at }) => isCounted(at)));
  }

  /** A run begins at this displacement from the region's entry. */
  begin(at: number): void {
    if (this.isActive) this.#add(this.#at(at), 1n);
  }

  /** The run that is open ends before the instruction at this displacement. */
  end(at: number): void {
    if (this.isActive) this.#add(this.#at(at), -1n);
  }

  /** Control goes from behind an instruction to one that may be elsewhere. */
  jump(from: number, to: number): void {
    if (from === to) return;
    this.end(from);
    this.begin(to);
  }

  get isCounting(): boolean {
    return this.#place !== undefined;
  }

  /** Code at addresses `[from, to)`, which is not the region's, ran without a jump. */
  ran(from: bigint, to: bigint): void {
    if (!this.#place || to <= this.#place.low) return;
    this.#add(from, 1n);
    this.#add(to, -1n);
  }

  #at(displacement: number): bigint {
    return BigInt.asUintN(64, this.#entry + BigInt(displacement));
  }

  /**
   * Of a run that begins before the window, the part in it begins at `low`; at its end nothing is
   * summed up any more.
   */
  #add(va: bigint, delta: bigint): void {
    if (!this.#place) return;
    const { low, bytes, runs } = this.#place;
    const offset = va < low ? 0n : va - low;
    if (offset >= BigInt(bytes)) return;
    const at = runs + 4 * Number(offset);
    this.#c.i32_const(0).i32_const(0).i64_load(at).i64_const(delta).i64_add().i64_store(at);
  }
}
