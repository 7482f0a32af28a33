// Requests files beside the page.
import type { Scripts } from '../protocol.ts';

/** As setup/web.mjs names scripts, and web/assets/main.ts kernels and sources. */
const HASHED = /-\w{8,}(\/.*)?\.(js|css|packed)$/;

/**
 * The address of a file beside the page. The other files have the same name in each build: the page
 * of a new one must not get those that a browser has kept of the one before.
 */
function addressOf(path: string): URL {
  const url = new URL(path, document.baseURI);
  const scripts = document.getElementById('scripts')?.textContent;
  if (scripts && !HASHED.test(path)) url.search = (JSON.parse(scripts) as Scripts).build;
  return url;
}

/**
 * A file beside the page; one that is named .packed is unpacked. Errors: one line with the path.
 */
export async function fetchFile(path: string): Promise<Uint8Array> {
  const response = await fetch(addressOf(path)).catch(() => undefined);
  if (!response?.ok || !response.body)
    throw new Error(`${path} cannot be loaded: ${response?.status ?? 'no connection'}`);
  const body = path.endsWith('.packed')
    ? response.body.pipeThrough(new DecompressionStream('gzip'))
    : response.body;
  try {
    return new Uint8Array(await new Response(body).arrayBuffer());
  } catch {
    throw new Error(`${path} cannot be loaded: it is damaged, or the connection ended`);
  }
}
