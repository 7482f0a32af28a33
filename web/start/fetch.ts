/**
 * A file beside the page; one that is named .packed is unpacked. Errors: one line with the path.
 */
export async function fetchFile(path: string): Promise<Uint8Array> {
  const response = await fetch(new URL(path, document.baseURI)).catch(() => undefined);
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
