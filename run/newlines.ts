// The guest's line discipline puts a CR in front of every LF; taking one away in front of each is
// its inverse.

const CR = 13;
const LF = 10;

/** Passes bytes on, without the CR in front of an LF. */
export class Newlines {
  readonly #take: (byte: number) => void;
  #heldCr = false;

  /** `hasCr`: a CR has come before, and was not passed on yet. */
  constructor(take: (byte: number) => void, hasCr = false) {
    this.#take = take;
    this.#heldCr = hasCr;
  }

  /** Was the last byte a CR? It is passed on when the next byte is no LF. */
  get hasCr(): boolean {
    return this.#heldCr;
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
