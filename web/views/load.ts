// The files beside the page; where the page is one file, they are in it (web/file/).
import type { Inlined } from '../protocol.ts';

declare global {
  var kcovboxFiles: Inlined | undefined;
}

export const base = document.baseURI;
export const inlined = globalThis.kcovboxFiles;

/** Errors: one line with the path. */
export async function load(path: string): Promise<Uint8Array> {
  const own = inlined?.get(path);
  if (own) return own;
  const response = await fetch(new URL(path, base)).catch(() => undefined);
  if (!response?.ok) throw new Error(`${path} cannot be loaded: ${response?.status ?? 'no connection'}`);
  return new Uint8Array(await response.arrayBuffer());
}
