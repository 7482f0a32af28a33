// Random choices of the fuzzer, from one seeded generator.
import { Xoshiro } from '../../emulator/base/xoshiro.ts';

export class Random {
  readonly #rng: Xoshiro;

  constructor(seed: bigint) {
    this.#rng = new Xoshiro(seed);
  }

  /** 0 to n - 1. */
  below(n: number): number {
    return this.#rng.next() % n;
  }

  /** True once in n times. */
  oneIn(n: number): boolean {
    return this.below(n) === 0;
  }

  /** An element of a list that is not empty. */
  of<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  word(): bigint {
    return (BigInt(this.#rng.next()) << 32n) | BigInt(this.#rng.next());
  }

  /** `low` to `high`, both included. */
  between(low: bigint, high: bigint): bigint {
    return low + (this.word() % (high - low + 1n));
  }
}
