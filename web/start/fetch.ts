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

/** Bytes of a file behind which the next one may be requested: the line is never idle. */
const AHEAD = 150_000;

type Bytes = Uint8Array<ArrayBuffer>;

/** Calls when so many bytes have passed, or all. */
function counting(passed: () => void): TransformStream<Bytes, Bytes> {
  let count = 0;
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk);
      count += chunk.length;
      if (count >= AHEAD) passed();
    },
    flush: passed,
  });
}

/**
 * A file beside the page; one that is named .packed is unpacked. `nearly` is called, perhaps more
 * than once, when most of it has come, or nothing does. Errors: one line with the path.
 */
export async function fetchFile(path: string, nearly?: () => void): Promise<Uint8Array> {
  const response = await fetch(addressOf(path)).catch(() => undefined);
  if (!response?.ok || !response.body) {
    nearly?.();
    throw new Error(`${path} cannot be loaded: ${response?.status ?? 'no connection'}`);
  }
  const packed = nearly ? response.body.pipeThrough(counting(nearly)) : response.body;
  const body = path.endsWith('.packed') ? packed.pipeThrough(new DecompressionStream('gzip')) : packed;
  try {
    return new Uint8Array(await new Response(body).arrayBuffer());
  } catch {
    nearly?.();
    throw new Error(`${path} cannot be loaded: it is damaged, or the connection ended`);
  }
}
