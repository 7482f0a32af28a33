// The points that a trial has covered, in the order in which they were new.
import type { KcovSink } from '../emulator/index.ts';

const HIGH = 2 ** 32;
const KERNEL_HIGH = 0xffff_ffff;

/** Takes the records of kcov; comparisons and edges are no points. */
export class CoverageSet implements KcovSink {
  /** Those with the high half of a kernel address, by their low half. */
  readonly #low = new Set<number>();
  readonly #other = new Set<number>();
  /** New since `takeNew`: return addresses, as text. */
  #fresh: string[] = [];
  /** Of all records of an execution. */
  #hash = 0;
  #records = 0;

  get size(): number {
    return this.#low.size + this.#other.size;
  }

  record(_origin: unknown, isEdge: boolean, words: Uint32Array): void {
    this.#records++;
    for (const word of words) this.#hash = Math.imul(this.#hash ^ word, 0x9e37_79b1) ^ (this.#hash >>> 15);
    if (isEdge || words.length !== 2) return;
    const [low, high] = words as unknown as [number, number];
    if (high === KERNEL_HIGH) {
      if (this.#low.has(low | 0)) return;
      this.#low.add(low | 0);
    } else {
      if (this.#other.has(high * HIGH + low)) return;
      this.#other.add(high * HIGH + low);
    }
    this.#fresh.push(`0x${((BigInt(high) << 32n) | BigInt(low)).toString(16)}`);
  }

  takeNew(): string[] {
    const fresh = this.#fresh;
    this.#fresh = [];
    return fresh;
  }

  /** A hash of the records since the last call, with their order and number. */
  takeRecords(): string {
    const text = `${this.#records}:${(this.#hash >>> 0).toString(16)}`;
    this.#hash = 0;
    this.#records = 0;
    return text;
  }
}
