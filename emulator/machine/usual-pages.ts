// Which pages a guest stores to after most returns to one snapshot. They are kept dirty
// (engine/dirty-pages.ts): to copy a page that nobody stored to costs a tenth of what its first
// store costs. Whether a kept page is still stored to cannot be seen, so each epoch begins with
// some returns without any.

import { PageSet } from './page-set.ts';

/** Returns of an epoch in which pages are counted, and in how many of them one must occur. */
const MEASURED = 32;
const OFTEN = 8;

export class UsualPages {
  readonly #times: Uint8Array;
  readonly #seen: PageSet;
  readonly #keep: (pages: readonly number[]) => void;
  readonly #epoch: number;
  #returns = 0;

  /** `epoch`: in returns; `pages`: of RAM; `keep` has pages kept, and no others. */
  constructor(epoch: number, pages: number, keep: (pages: readonly number[]) => void) {
    this.#epoch = epoch;
    this.#times = new Uint8Array(pages);
    this.#seen = new PageSet(pages);
    this.#keep = keep;
  }

  /**
   * The machine has gone back, and these pages had been stored to; `mayKeep`: false for those that
   * cost nothing when they are stored to again.
   */
  returned(stored: PageSet, mayKeep: (page: number) => boolean): void {
    if (this.#returns < MEASURED) {
      for (let i = 0; i < stored.size; i++) {
        this.#times[stored.at(i)]!++;
        this.#seen.add(stored.at(i));
      }
    }
    this.#returns++;
    if (this.#returns === MEASURED) this.#keep(this.#usual(mayKeep));
    if (this.#returns === this.#epoch) this.forget();
  }

  #usual(mayKeep: (page: number) => boolean): number[] {
    const usual: number[] = [];
    for (let i = 0; i < this.#seen.size; i++) {
      const page = this.#seen.at(i);
      if (this.#times[page]! >= OFTEN && mayKeep(page)) usual.push(page);
    }
    return usual;
  }

  /** An epoch begins. */
  forget(): void {
    for (let i = 0; i < this.#seen.size; i++) this.#times[this.#seen.at(i)] = 0;
    this.#seen.clear();
    if (this.#returns >= MEASURED) this.#keep([]);
    this.#returns = 0;
  }
}
