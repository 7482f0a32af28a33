// When the JIT looks where the guest is, to find the regions in which it spends its time.
//
// The problem: quanta end where the guest waits, where a device acts or where the host stops it,
// and that is always the same code; a fuzzer's programs all end in one store. The trick: a clock of
// units that quanta stop for, too, and that runs on through all other ends of quanta. The proof:
// its intervals are drawn, so no period of the guest meets them, and a region gets samples in
// proportion to the units that the guest spends in it.

/** Deterministic: equal guests have equal samples, whatever the host does. */
export class SampleTimes {
  /** Units until the next sample. */
  left: number;
  readonly #mean: number;
  #interval: number;
  #state = 1;

  /** `mean`: units between samples. */
  constructor(mean: number) {
    this.#mean = mean;
    this.#interval = mean;
    this.left = mean;
  }

  /** A quantum has ended. The units since the last sample, if one is due; otherwise 0. */
  passed(units: number): number {
    this.left -= units;
    if (this.left > 0) return 0;
    const passed = this.#interval - this.left;
    // xorshift32 (Marsaglia 2003); uniform from a half to one and a half of the mean.
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    this.#interval = Math.ceil(this.#mean / 2) + ((this.#state >>> 0) % this.#mean);
    this.left = this.#interval;
    return passed;
  }
}
