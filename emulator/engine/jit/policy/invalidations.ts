// How often stores have invalidated the compiled code of a page lately.
//
// The problem: a page that mixes code and busy data would be compiled and dropped again and again
// (thrashing); a page that the guest patches occasionally (a guest's own JIT, a recycled page) must
// still be compiled. The trick is a leaky counter with exponential backoff: each invalidation adds
// one, virtual time takes one away every `forgiveUnits`, and the heat needed to compile again
// doubles with each that is left. Why it is right: a page that is invalidated every n units is
// compiled only when its code has run 2^count times as long as compiling costs, so compiling costs
// a bounded part of the time; and a page that is left alone returns to the plain threshold, because
// virtual time never stops.

/** Counts are cut here: 64 times the heat is enough to make compiling negligible. */
const MOST = 6;

export class InvalidationCounts {
  readonly #forgiveUnits: number;
  /**
   * By RAM page: the count, and the virtual time at which it was valid. Bounded by the pages of
   * RAM.
   */
  readonly #counts = new Map<number, { count: number; at: number }>();

  constructor(forgiveUnits: number) {
    this.#forgiveUnits = forgiveUnits;
  }

  /** Invalidations of a RAM page that are not forgiven yet, 0 to 6. */
  of(page: number, now: number): number {
    const entry = this.#counts.get(page);
    if (!entry) return 0;
    const forgiven = Math.floor((now - entry.at) / this.#forgiveUnits);
    if (forgiven >= entry.count) {
      this.#counts.delete(page);
      return 0;
    }
    return entry.count - forgiven;
  }

  add(page: number, now: number): void {
    const count = this.of(page, now);
    const entry = this.#counts.get(page);
    // The elapsed part of the current period is kept, so a burst does not delay the decay.
    const at = entry ? now - ((now - entry.at) % this.#forgiveUnits) : now;
    this.#counts.set(page, { count: Math.min(count + 1, MOST), at });
  }

  clear(): void {
    this.#counts.clear();
  }
}
