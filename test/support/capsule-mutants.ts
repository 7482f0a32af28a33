// Damaged capsules for searches: bytes changed at random, or parts changed and all checksums, sizes
// and hashes put right again, so that mutants reach behind the first check.
import { createHash } from 'node:crypto';
import { MANIFEST, PARTS } from '../../run/capsule/parts.ts';
import { writeSealed } from '../../run/capsule/seal.ts';
import { type Entry, pack, readZip, unpack, writeZip } from '../../run/capsule/zip.ts';
import { HOST } from '../run/sample.ts';
import { mutateJson } from './mutate.ts';
import type { Random } from './random.ts';

interface Part {
  name: string;
  bytes: Uint8Array;
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const encode = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

/** The parts of a capsule, unpacked. */
export function partsOf(file: Uint8Array): Part[] {
  return readZip(file, PARTS.length).map(entry => ({
    name: entry.name,
    bytes: unpack(entry, HOST.inflate).slice(),
  }));
}

const build = (parts: readonly Part[]): Uint8Array =>
  sealed(parts.map(({ name, bytes }) => pack(name, bytes, name === MANIFEST)));

/** An archive whose seal is right, if it begins with a manifest. */
export function sealed(entries: readonly Entry[]): Uint8Array {
  const [first, ...rest] = entries;
  if (first?.name !== MANIFEST || first.method !== 0) return writeZip(entries);
  try {
    const manifest = JSON.parse(new TextDecoder().decode(first.packed)) as object;
    return writeSealed(MANIFEST, manifest, rest, HOST.sha256);
  } catch {
    return writeZip(entries);
  }
}

/** A capsule whose manifest is another one; everything else of the container is right. */
export function withManifest(file: Uint8Array, change: (manifest: unknown) => unknown): Uint8Array {
  const [first, ...rest] = partsOf(file);
  const manifest = JSON.parse(new TextDecoder().decode(first!.bytes)) as unknown;
  return build([{ name: MANIFEST, bytes: encode(change(manifest)) }, ...rest]);
}

/** A capsule in which the part `name` has other contents, and the manifest says so. */
export function withPart(file: Uint8Array, name: string, bytes: Uint8Array): Uint8Array {
  const parts = partsOf(file).map(part => (part.name === name ? { name, bytes } : part));
  return repaired(parts, name);
}

interface Named {
  name: string;
  bytes: number;
  sha256: string;
}
interface Manifest {
  parts: Named[];
  run: { images: Record<string, unknown>; input: Record<string, unknown> };
  outcome: Record<string, unknown>;
  console: { bytes: number };
}

/** Puts sizes and hashes of the part `name` right, wherever the manifest has them. */
function repaired(parts: readonly Part[], name: string): Uint8Array {
  const { bytes } = parts.find(part => part.name === name)!;
  const manifest = JSON.parse(new TextDecoder().decode(parts[0]!.bytes)) as Manifest;
  const listed = manifest.parts.find(part => part.name === name)!;
  const [before, after] = [listed.sha256, sha256(bytes)];
  listed.bytes = bytes.length;
  const text = JSON.stringify(manifest).replaceAll(before, after);
  const whole = JSON.parse(text) as Manifest;
  if (name === 'input.bin') whole.run.input['bytes'] = bytes.length;
  if (name === 'console.txt') whole.console.bytes = bytes.length;
  return build([{ name: MANIFEST, bytes: encode(whole) }, ...parts.slice(1)]);
}

/** One to four bytes changed, removed or added. */
function scratched(bytes: Uint8Array, random: Random): Uint8Array {
  let out = Uint8Array.from(bytes);
  for (let n = 1 + random.below(4); n > 0; n--) {
    const at = random.below(out.length + 1);
    const kind = random.below(8);
    if (kind < 5 && at < out.length)
      out[at] = kind === 0 ? random.below(256) : out[at]! ^ (1 << random.below(8));
    else if (kind === 5)
      out = Uint8Array.from([...out.subarray(0, at), random.below(256), ...out.subarray(at)]);
    else if (kind === 6)
      out = Uint8Array.from([...out.subarray(0, at), ...out.subarray(at + 1 + random.below(9))]);
    else out = out.slice(0, at);
  }
  return out;
}

const SIZES = [0, 1, 0xffff_ffff, 0x7fff_ffff, 1 << 30, 4097];
const NAMES = [
  '../../evil',
  '/etc/passwd',
  'C:evil',
  'kernel.bin/..',
  'evil.sh',
  '',
  'MANIFEST.JSON',
  ...PARTS.map(p => p.name),
];

/**
 * Entries that are dropped, doubled, moved, renamed, or lie about their size, with headers that
 * agree.
 */
function shuffled(entries: Entry[], random: Random): Uint8Array {
  const at = random.below(entries.length);
  const entry = entries[at]!;
  switch (random.below(6)) {
    case 0:
      entries.splice(at, 1);
      break;
    case 1:
      entries.splice(random.below(entries.length + 1), 0, entry);
      break;
    case 2:
      entries.sort(() => random.below(3) - 1);
      break;
    case 3:
      entries[at] = { ...entry, name: random.pick(NAMES) };
      break;
    case 4:
      entries[at] = {
        ...entry,
        size: random.oneIn(2) ? random.pick(SIZES) : entry.size + random.below(9) - 4,
      };
      break;
    default:
      entries[at] = { ...entry, packed: scratched(entry.packed, random) };
  }
  return sealed(entries);
}

/** A damaged copy of `file`. */
export function mutateCapsule(file: Uint8Array, random: Random): Uint8Array {
  switch (random.below(5)) {
    case 0:
      return scratched(file, random);
    case 1:
      return shuffled(readZip(file, PARTS.length), random);
    case 2: {
      const parts = partsOf(file);
      const part = random.pick(parts.slice(1));
      return withPart(file, part.name, scratched(part.bytes, random));
    }
    default:
      return withManifest(file, manifest => mutateJson(manifest, random));
  }
}
