/** Numbers in the order in which they come. */
export class Numbers {
  #all = new Float64Array(1024);
  length = 0;

  push(value: number): void {
    if (this.length === this.#all.length) {
      const more = new Float64Array(2 * this.length);
      more.set(this.#all);
      this.#all = more;
    }
    this.#all[this.length++] = value;
  }

  /** Of those that are there. */
  at(index: number): number {
    return this.#all[index]!;
  }

  take(): Float64Array {
    return this.#all.slice(0, this.length);
  }
}
