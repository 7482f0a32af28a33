// A set of page numbers that is cheap to fill, to walk and to empty, whatever the size of RAM.

export class PageSet {
  readonly #has: Uint8Array;
  readonly #list: Int32Array;
  #size = 0;

  /** `pages`: numbers are below it. */
  constructor(pages: number) {
    this.#has = new Uint8Array(pages);
    this.#list = new Int32Array(pages);
  }

  get size(): number {
    return this.#size;
  }

  at(index: number): number {
    return this.#list[index]!;
  }

  add(page: number): void {
    if (this.#has[page] !== 0) return;
    this.#has[page] = 1;
    this.#list[this.#size++] = page;
  }

  clear(): void {
    for (let i = 0; i < this.#size; i++) this.#has[this.#list[i]!] = 0;
    this.#size = 0;
  }
}
