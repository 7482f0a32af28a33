// Images of recorded runs by content, in the cache: a thin capsule names them by hash and nothing
// else, so that it can be replayed after the program was edited, and no file can make `replay` read
// or run something on the host.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDir, sha256, writeWhole } from '../toolchain/index.ts';

const pathOf = (hash: string): string => join(cacheDir(), 'image', hash);

/** Keeps `bytes` under their hash; answers with the path. Errors: those of the file system. */
export function storeImage(bytes: Uint8Array): string {
  const hash = sha256(bytes);
  if (findImage(hash) === undefined) writeWhole(pathOf(hash), bytes);
  return pathOf(hash);
}

/** The image with this SHA-256 in hexadecimal; undefined when it is not there, or damaged. */
export function findImage(hash: string): { path: string; bytes: Uint8Array } | undefined {
  try {
    const bytes = readFileSync(pathOf(hash));
    return sha256(bytes) === hash ? { path: pathOf(hash), bytes } : undefined;
  } catch {
    return undefined;
  }
}
