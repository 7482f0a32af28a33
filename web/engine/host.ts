// Reading capsules in a page: what run/capsule needs of its host.
import { Inflate } from 'fflate';
import { Sha256 } from '../../coverage/index.ts';
import type { CapsuleHost } from '../../run/capsule/index.ts';
import type { Sent } from '../protocol.ts';

export const sha256 = (contents: string | Uint8Array): string =>
  new Sha256().update(typeof contents === 'string' ? new TextEncoder().encode(contents) : contents).hex();

/**
 * The same of a large file by the browser, in its own threads: ours takes 80 ms for a kernel before
 * it is compiled. Browsers have it for https and this machine alone.
 */
export async function sha256Of(bytes: Uint8Array): Promise<string> {
  const { subtle } = crypto;
  if (!subtle) return sha256(bytes);
  const hash = new Uint8Array(await subtle.digest('SHA-256', bytes));
  return [...hash].map(byte => byte.toString(16).padStart(2, '0')).join('');
}

/** Bytes that are unpacked at a time: they make at most 17 MB. */
const PIECE = 1 << 14;

/**
 * Bytes behind the end of a stream, which fflate passes over: a command that reads the file refuses
 * them. `p` is what is not read, from the byte with the bit `s.p` on (fflate 0.8.3).
 */
function unreadBytes(stream: Inflate): number {
  const { p: rest, s: state } = stream as unknown as { p: Uint8Array; s: { p: number } };
  return rest.length - (state.p > 0 ? 1 : 0);
}

/** In pieces: a stream of a stranger may make a thousand times more than it says, for an hour. */
function inflate(packed: Uint8Array, size: number): Uint8Array | undefined {
  try {
    const bytes = new Uint8Array(size);
    let filled = 0;
    const stream = new Inflate(piece => {
      bytes.set(piece, filled); // a RangeError when it is too much
      filled += piece.length;
    });
    for (let at = 0; at < packed.length; at += PIECE)
      stream.push(packed.subarray(at, at + PIECE), at + PIECE >= packed.length);
    const isAll = packed.length > 0 && filled === size && unreadBytes(stream) === 0;
    return isAll ? bytes : undefined;
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
