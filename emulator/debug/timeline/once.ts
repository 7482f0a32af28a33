// Output of a run that goes back and forth: each byte comes out once, when it is printed first.

import type { Companion } from './timeline.ts';

export class Once implements Companion {
  readonly #put: (byte: number) => void;
  #count = 0;
  #most = 0;

  constructor(put: (byte: number) => void) {
    this.#put = put;
  }

  /** Bytes printed up to this place, and up to the latest place. */
  get count(): number {
    return this.#count;
  }

  get most(): number {
    return this.#most;
  }

  put(byte: number): void {
    if (++this.#count <= this.#most) return;
    this.#most = this.#count;
    this.#put(byte);
  }

  save(): number {
    return this.#count;
  }

  restore(saved: unknown): void {
    this.#count = saved as number;
  }

  /** Power-on: nothing was printed yet. */
  reset(): void {
    this.#count = this.#most = 0;
  }
}
