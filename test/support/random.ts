// Seeded randomness for tests: every random test prints its seed and takes one from KCOVBOX_SEED
// (hexadecimal).

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /**
   * A uint32. The generator is a counter through a mixing function, so that nearby seeds do not
   * resemble each other.
   */
  u32(): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0;
    let z = this.#state;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return (z ^ (z >>> 15)) >>> 0;
  }

  /** An integer in [0, end). */
  below(end: number): number {
    return Math.floor((this.u32() / 0x1_0000_0000) * end);
  }

  /** True once in `n` times. */
  oneIn(n: number): boolean {
    return this.below(n) === 0;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  u64(): bigint {
    return (BigInt(this.u32()) << 32n) | BigInt(this.u32());
  }
}

/** The seed of this run: KCOVBOX_SEED, or `fallback`. */
export function seedFromEnvironment(fallback: number): number {
  const text = process.env['KCOVBOX_SEED'];
  if (text === undefined || text === '') return fallback;
  const seed = Number.parseInt(text, 16);
  if (Number.isNaN(seed)) throw new Error(`KCOVBOX_SEED is not a hexadecimal number: ${text}`);
  return seed >>> 0;
}

export const seedText = (seed: number): string => seed.toString(16).padStart(8, '0');
