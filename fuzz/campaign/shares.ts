// The shares that the sources of programs have of the executions. Each source is worth what it has
// lately found: the square of the share of its programs that were kept, so that a source that finds
// half as much gets a fifth. None gets less than a little, because what a source finds changes.
import { SOURCES } from '../../run/fuzz/schema.ts';
import type { Random } from '../program/random.ts';

export type Source = (typeof SOURCES)[number];
/** Programs of each source, and how many of them were kept. */
export type Yields = Record<Source, [tried: number, kept: number]>;

/** Of what was known, this share counts behind an epoch. */
const MEMORY = 0.9;
/** Programs that a source is supposed to have had before the first, and how many were kept. */
const PRIOR_TRIED = 50;
const PRIOR_KEPT = 2;
/** Least share of each source. */
const LEAST = 0.03;
const SCALE = 1 << 20;

export const noYields = (): Yields => ({
  new: [0, 0],
  change: [0, 0],
  step: [0, 0],
});

/** Adds `more` to `sum`. */
export function addYields(sum: Yields, more: Yields): void {
  for (const source of SOURCES) {
    sum[source][0] += more[source][0];
    sum[source][1] += more[source][1];
  }
}

export class Shares {
  readonly #sums = noYields();

  add(yields: Yields): void {
    for (const source of SOURCES) {
      this.#sums[source][0] *= MEMORY;
      this.#sums[source][1] *= MEMORY;
    }
    addYields(this.#sums, yields);
  }

  /** One of the sources that are possible. */
  pick(random: Random, possible: readonly Source[]): Source {
    const worths = possible.map(source => this.#worth(source));
    const least = LEAST * worths.reduce((sum, worth) => sum + worth, 0);
    const weights = worths.map(worth => Math.max(worth, least));
    let at = (random.below(SCALE) / SCALE) * weights.reduce((sum, weight) => sum + weight, 0);
    for (const [i, weight] of weights.entries()) {
      at -= weight;
      if (at < 0) return possible[i]!;
    }
    return possible.at(-1)!;
  }

  #worth(source: Source): number {
    const [tried, kept] = this.#sums[source];
    return ((kept + PRIOR_KEPT) / (tried + PRIOR_TRIED)) ** 2;
  }
}
