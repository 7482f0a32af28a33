// The guest's line discipline puts a CR in front of every LF; taking one away in front of each is
// its inverse.

const CR = 13;
const LF = 10;

/** Passes bytes on, without the CR in front of an LF. */
export class Newlines {
  readonly #take: (byte: number) => void;
  #heldCr = false;

  constructor(take: (byte: number) => void) {
    this.#take = take;
  }

  put(byte: number): void {
    if (this.#heldCr && byte !== LF) this.#take(CR);
    this.#heldCr = byte === CR;
    if (!this.#heldCr) this.#take(byte);
  }

  /** Nothing follows. */
  end(): void {
    if (this.#heldCr) this.#take(CR);
    this.#heldCr = false;
  }
}
