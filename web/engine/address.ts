// A run in an address: a thin capsule, packed again, in the letters of base64url. An address can
// come from anybody: its length, the length of its contents and the length of its run are limited.
import { deflateSync, inflateSync } from 'fflate';
import { KcovboxError } from '../../emulator/index.ts';
import type { Capsule } from '../../run/capsule/index.ts';

/** Letters. Browsers and programs for messages take addresses of this length. */
const LETTERS_MAX = 8192;
const VERSION = '1';
/** Of the thin capsule. Its own parts expand at most a thousand times more. */
const CAPSULE_MAX = 1 << 16;
/** Instructions: some seconds. */
export const UNITS_MAX = 500_000_000;

const refused = (why: string): KcovboxError => new KcovboxError('input', `the run in the address ${why}`);

/** Undefined: it does not fit. */
export function toAddress(
  capsule: Uint8Array,
  { instret }: { readonly instret: number },
): string | undefined {
  if (capsule.length > CAPSULE_MAX || instret > UNITS_MAX) return undefined;
  const packed = deflateSync(capsule, { level: 9 });
  const letters = btoa(String.fromCharCode(...packed))
    .replaceAll('+', '-')
    .replaceAll('/', '_');
  const text = `${VERSION}.${letters.replace(/=*$/, '')}`;
  return text.length > LETTERS_MAX ? undefined : text;
}

/** The capsule. Errors: one sentence. */
export function fromAddress(text: string): Uint8Array {
  if (text.length > LETTERS_MAX)
    throw refused(`has ${text.length} letters; at most ${LETTERS_MAX} are possible`);
  const [, version, letters] = /^(\d{1,6})\.([\w-]+)$/.exec(text) ?? [];
  if (version === undefined) throw refused('is damaged: ask for the address again, or for a file');
  if (version !== VERSION)
    throw refused(`has version ${version} of the format; this page reads version ${VERSION}`);
  try {
    const packed = atob(letters!.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(packed, letter => letter.charCodeAt(0));
    // More bytes than there is room for are dropped.
    const capsule = inflateSync(bytes, { out: new Uint8Array(CAPSULE_MAX + 1) });
    if (capsule.length <= CAPSULE_MAX) return capsule.slice();
  } catch {
    throw refused('is damaged: ask for the address again, or for a file');
  }
  throw refused(`unpacks to more than ${CAPSULE_MAX} bytes: ask for a file`);
}

/** Errors: one sentence, when the run would take long. */
export function checkLength({ manifest }: Capsule): void {
  const { instret } = manifest.outcome;
  if (instret > UNITS_MAX)
    throw refused(`has ${instret} instructions; at most ${UNITS_MAX} are possible: ask for a file`);
}
