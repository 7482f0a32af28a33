// Reading capsules in a page: what run/capsule needs of its host.
import { inflateSync } from 'fflate';
import { Sha256 } from '../../coverage/index.ts';
import type { CapsuleHost } from '../../run/capsule/index.ts';
import type { Inlined } from '../protocol.ts';

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

/** Addresses that `Beside` was asked for. */
export const fetched: string[] = [];

/** The files beside the page, or in it. */
export class Beside {
  readonly #base: string;
  readonly #inlined: Inlined | undefined;

  constructor(base: string, inlined: Inlined | undefined) {
    this.#base = base;
    this.#inlined = inlined;
  }

  /** A file, unpacked. Errors: one line with its address. */
  async read(path: string): Promise<Uint8Array> {
    return this.#inlined?.get(path) ?? fetchPacked(new URL(path, this.#base).href);
  }
}

async function fetchPacked(address: string): Promise<Uint8Array> {
  fetched.push(address);
  const response = await fetch(address).catch(() => undefined);
  if (!response?.ok || !response.body)
    throw new Error(`${address} cannot be loaded: ${response?.status ?? 'no connection'}`);
  const unpacked = response.body.pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(unpacked).arrayBuffer());
}
