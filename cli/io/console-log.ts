// The guest's output, for results and capsules: the hash of all of it, and its beginning.
import { RunningSha256 } from '../../toolchain/index.ts';

export class ConsoleLog {
  readonly #hash = new RunningSha256();
  readonly #kept: Uint8Array[] = [];
  readonly #max: number;
  #bytes = 0;

  /** `max`: bytes to keep. */
  constructor(max = 0) {
    this.#max = max;
  }

  update(chunk: Uint8Array): void {
    this.#hash.update(chunk);
    if (this.#bytes < this.#max) this.#kept.push(chunk.slice(0, this.#max - this.#bytes));
    this.#bytes += chunk.length;
  }

  /** Printed so far, kept or not. */
  get bytes(): number {
    return this.#bytes;
  }

  get text(): Uint8Array {
    return Buffer.concat(this.#kept);
  }

  /** SHA-256 of all of it. */
  sha256(): string {
    return this.#hash.hex();
  }
}
