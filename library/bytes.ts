// Bytes that come in chunks.

/** One array of all chunks. */
export function join(chunks: Iterable<Uint8Array>): Uint8Array {
  const all = [...chunks];
  const bytes = new Uint8Array(all.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of all) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
