// Marks on guest instructions, for debuggers: in front of a marked one the engine asks whether to
// stop. Guest memory is not changed, so the guest that reads or hashes its own code sees nothing.
//
// The trick: a marked place is decoded as `ebreak`, whatever the memory holds, and no region is
// compiled across it. An `ebreak` at a marked place asks; if the answer is to go on, the engine
// executes the real instruction from a decoded page that holds it alone. Proof that none is missed:
// the mark drops the records and the regions made from the place, and all that is decoded or
// compiled later looks at the marks.

export class Breaks {
  readonly #places = new Set<number>();
  /** A half-word of RAM must be decoded again. */
  onChange: (place: number) => void = () => {};
  /** Asked in front of a marked instruction of the running hart: true = the run stops there. */
  onReached: () => boolean = () => true;

  get isEmpty(): boolean {
    return this.#places.size === 0;
  }

  /** `place`: number of a half-word, counted from the start of RAM. */
  has(place: number): boolean {
    return this.#places.has(place);
  }

  /** Only while no compiled code runs: between two runs, or when a page is fetched. */
  set(place: number, isOn: boolean): void {
    if (this.#places.has(place) === isOn) return;
    if (isOn) this.#places.add(place);
    else this.#places.delete(place);
    this.onChange(place);
  }

  clear(): void {
    for (const place of [...this.#places]) this.set(place, false);
  }
}
