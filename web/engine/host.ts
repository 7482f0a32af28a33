// Reading capsules in a page: what run/capsule needs of its host.
import { inflateSync } from 'fflate';
import { Sha256 } from '../../coverage/index.ts';
import type { CapsuleHost } from '../../run/capsule/index.ts';
import type { Sent } from '../protocol.ts';

export const sha256 = (contents: string | Uint8Array): string =>
  new Sha256().update(typeof contents === 'string' ? new TextEncoder().encode(contents) : contents).hex();

/**
 * Into a buffer of the size that the manifest names: a stream that unpacks to more writes nothing
 * behind it, and then the hash of the part differs.
 */
function inflate(packed: Uint8Array, size: number): Uint8Array | undefined {
  try {
    const bytes = inflateSync(packed, { out: new Uint8Array(Math.max(size, 1)) });
    return bytes.length >= size ? bytes.subarray(0, size) : undefined;
  } catch {
    return undefined;
  }
}

export const HOST: CapsuleHost = { sha256, inflate };

const waiting = new Map<string, { done: (bytes: Uint8Array) => void; failed: (error: Error) => void }[]>();

/** A file beside the page, unpacked. Errors: one line with its path. */
export function beside(path: string): Promise<Uint8Array> {
  return new Promise((done, failed) => {
    const others = waiting.get(path);
    waiting.set(path, [...(others ?? []), { done, failed }]);
    if (!others) self.postMessage({ want: path });
  });
}

/** The answer of the page. */
export function arrived(sent: Sent): void {
  const takers = waiting.get(sent.path) ?? [];
  waiting.delete(sent.path);
  for (const { done, failed } of takers)
    if ('bytes' in sent) done(sent.bytes);
    else failed(new Error(sent.error));
}
