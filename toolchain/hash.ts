// SHA-256 in hex: of much by Node, of little by our own code, as in browsers. And the MD5 of DWARF.
import { createRequire } from 'node:module';
import { Sha256 } from '../emulator/base/sha256.ts';

const require = createRequire(import.meta.url);

// Loaded when needed: it is a fortieth of the time that a hello program takes.
const start = (kind = 'sha256') => (require('node:crypto') as typeof import('node:crypto')).createHash(kind);

/** As compilers write it into line tables. */
export const md5 = (bytes: Uint8Array): string => start('md5').update(bytes).digest('hex');

/** Bytes that our own code hashes before Node's module would be loaded. */
const OWN_MAX = 1 << 15;

/** Text is hashed as UTF-8. */
export const sha256 = (bytes: Uint8Array | string): string => new RunningSha256().update(bytes).hex();

/** Of several pieces, one after the other. */
export class RunningSha256 {
  /** Up to OWN_MAX bytes together; then Node's hash has taken them over. */
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  #node: ReturnType<typeof start> | undefined;

  update(piece: Uint8Array | string): this {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    this.#bytes += bytes.length;
    if (!this.#node && this.#bytes > OWN_MAX) {
      this.#node = start();
      for (const earlier of this.#pieces) this.#node.update(earlier);
      this.#pieces = [];
    }
    if (this.#node) this.#node.update(bytes);
    else if (bytes.length > 0) this.#pieces.push(bytes.slice());
    return this;
  }

  /** Of all up to now; more may follow. */
  hex(): string {
    if (this.#node) return this.#node.copy().digest('hex');
    const hash = new Sha256();
    for (const bytes of this.#pieces) hash.update(bytes);
    return hash.hex();
  }
}

/** Of several parts, each with a NUL behind it, so that no two lists have one text. */
export function sha256OfParts(...parts: (string | Uint8Array)[]): string {
  const hash = start();
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('hex');
}
