// Typed access to the window of one hart. While the hart runs, its window is at WINDOW (0), where
// emitted code expects it; parked, it lies at its home address. Every accessor adds the base, so
// host code works on both alike. Hot paths use the Int32 halves; BigInt accessors are for
// debuggers, tests and rare CSRs.

import { F, PC, WINDOW, WINDOW_BYTES, X } from './layout.ts';

export class State {
  readonly i32: Int32Array;
  /** Current byte address of the window: WINDOW or `home`. */
  base: number;
  /** Address of the window while another hart runs. */
  readonly home: number;
  readonly #bytes: Uint8Array;

  constructor(memory: WebAssembly.Memory, home: number) {
    this.i32 = new Int32Array(memory.buffer);
    this.#bytes = new Uint8Array(memory.buffer);
    this.home = home;
    this.base = home;
  }

  get(offset: number): number {
    return this.i32[(this.base + offset) >> 2]!;
  }

  set(offset: number, value: number): void {
    this.i32[(this.base + offset) >> 2] = value;
  }

  hi(offset: number): number {
    return this.i32[(this.base + offset + 4) >> 2]!;
  }

  put(offset: number, lo: number, hi: number): void {
    const at = (this.base + offset) >> 2;
    this.i32[at] = lo;
    this.i32[at + 1] = hi;
  }

  copy(to: number, from: number): void {
    this.put(to, this.get(from), this.hi(from));
  }

  /** Adds a 32-bit signed amount to a 64-bit field. */
  add(offset: number, amount: number): void {
    const lo = this.get(offset) >>> 0;
    const sum = lo + amount;
    this.put(offset, sum | 0, (this.hi(offset) + Math.floor(sum / 2 ** 32)) | 0);
  }

  get64(offset: number): bigint {
    return (BigInt(this.hi(offset) >>> 0) << 32n) | BigInt(this.get(offset) >>> 0);
  }

  set64(offset: number, value: bigint): void {
    this.put(offset, Number(value & 0xffff_ffffn) | 0, Number((value >> 32n) & 0xffff_ffffn) | 0);
  }

  /** x0 is a slot like the others, but it stays zero. */
  setX(r: number, lo: number, hi: number): void {
    if (r !== 0) this.put(X + 8 * r, lo, hi);
  }

  getX(r: number): bigint {
    return this.get64(X + 8 * r);
  }

  getF(r: number): bigint {
    return this.get64(F + 8 * r);
  }

  get pc(): bigint {
    return this.get64(PC);
  }

  /** Moves [from, to) of the window between WINDOW and home. */
  move(from: number, to: number, source: number, target: number): void {
    this.#bytes.copyWithin(target + from, source + from, source + to);
  }

  fill(from: number, to: number, byte: number): void {
    this.#bytes.fill(byte, this.base + from, this.base + to);
  }

  get active(): boolean {
    return this.base === WINDOW;
  }
}

/** Home of the window of hart `id`; the homes directly follow the active window. */
export const homeOf = (id: number): number => WINDOW_BYTES * (1 + id);
