// SHA-256 in hex, by Node. Code for browsers has its own (coverage/base/sha256.ts).
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

// Loaded when needed: it is a tenth of the time that a hello program takes.
const start = () => (require('node:crypto') as typeof import('node:crypto')).createHash('sha256');

export const sha256 = (bytes: Uint8Array | string): string => start().update(bytes).digest('hex');

/** Of several parts, each with a NUL behind it, so that no two lists have one text. */
export function sha256OfParts(...parts: (string | Uint8Array)[]): string {
  const hash = start();
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('hex');
}
