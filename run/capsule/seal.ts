// The seal of an archive: a hash of all its bytes, in a field of its manifest. A checksum covers
// what a part unpacks to, and different DEFLATE streams unpack to the same; the seal covers the
// streams. The manifest is the first part, is stored without compression, and has one text, so its
// value determines its bytes. Everything behind the parts is determined by them (zip.ts).
//
// The field cannot be part of what it hashes: there the manifest has 64 zeros in its place.
import { canonicalJson } from '../canonical.ts';
import { FormatError } from '../format-error.ts';
import type { Sha256 } from '../input.ts';
import { bytesBehindFirst, type Entry, pack, writeZip } from './zip.ts';

const BLANK = '0'.repeat(64);

/** Keys in order, one field per line. */
export const manifestText = (manifest: object): Uint8Array =>
  new TextEncoder().encode(`${JSON.stringify(JSON.parse(canonicalJson(manifest)), null, 1)}\n`);

/** `rest`: the other parts as they are in the file, with their headers. */
const sealOf = (manifest: object, rest: Uint8Array, sha256: Sha256): string =>
  sha256(sha256(manifestText({ ...manifest, seal: BLANK })) + sha256(rest));

/** The archive of a manifest, which gets the field `seal`, and of the other parts. */
export function writeSealed(
  name: string,
  manifest: object,
  entries: readonly Entry[],
  sha256: Sha256,
): Uint8Array {
  const file = (seal: string): Uint8Array =>
    writeZip([pack(name, manifestText({ ...manifest, seal }), true), ...entries]);
  return file(sealOf(manifest, bytesBehindFirst(file(BLANK)), sha256));
}

/**
 * Checks the bytes of `file` against the seal in its first part, a JSON text that fits the schema
 * of its kind. Errors: FormatError.
 */
export function checkSeal(file: Uint8Array, first: Entry, sha256: Sha256): void {
  if (first.method !== 0) throw new FormatError(`is damaged: ${first.name} is compressed`);
  const manifest = JSON.parse(new TextDecoder().decode(first.packed)) as { seal?: unknown };
  const text = manifestText(manifest);
  if (first.size !== text.length || !text.every((byte, i) => byte === first.packed[i]))
    throw new FormatError(`is damaged: ${first.name} is not written as kcovbox writes it`);
  if (sealOf(manifest, bytesBehindFirst(file), sha256) !== manifest.seal)
    throw new FormatError('is damaged: its bytes do not have the hash of its seal');
}
