// Reads snapshot files that anybody may have made. This module checks the archive, the manifest,
// the sizes of all parts and the numbers of pages; the states of devices are checked when a machine
// takes the snapshot over (emulator/machine/snapshot-check.ts).
import type { z } from 'zod';
import type { Snapshot } from '../../emulator/index.ts';
import type { CapsuleHost } from '../capsule/read.ts';
import { checkSeal } from '../capsule/seal.ts';
import { type Entry, readZip, unpack } from '../capsule/zip.ts';
import { FormatError } from '../format-error.ts';
import { firstIssue } from '../issue.ts';
import {
  DISK_MAX,
  SNAPSHOT_VERSION,
  type SnapshotManifest,
  snapshotManifest,
  snapshotSeen,
  snapshotState,
} from './schema.ts';
import { MANIFEST, PART_PAGES } from './write.ts';

const PAGE = 4096;
const FIXED = [
  MANIFEST,
  'state.json',
  'seen.json',
  'harts.bin',
  'pages.bin',
  'zeros.bin',
  'console.txt',
] as const;
/** Bytes of JSON in a part; disks are the largest state, at most four characters for a byte. */
const JSON_MAX = 4 * DISK_MAX + 2 ** 24;
/** Of the largest RAM. */
const PARTS_MAX = FIXED.length + 896;

export interface SnapshotFile {
  readonly manifest: SnapshotManifest;
  /** Text that the guest printed before; null: nobody kept it. */
  readonly console: Uint8Array | null;
  readonly snapshot: Snapshot;
}

function damaged(why: string): never {
  throw new FormatError(`is damaged: ${why}`);
}

/**
 * The snapshot in a file. `base`: what a delta changes; its pages are shared. Errors: FormatError.
 * Memory: RAM of the size that the file names at most, and only what it holds pages for.
 */
export function readSnapshot(file: Uint8Array, host: CapsuleHost, base?: Snapshot): SnapshotFile {
  const { inflate } = host;
  const entries = readZip(start(file), PARTS_MAX);
  const manifest = manifestOf(file, entries, host);
  if (manifest.base !== (base?.hash ?? null))
    throw new FormatError(
      manifest.base === null
        ? 'is complete, and needs no base'
        : `changes the snapshot ${manifest.base}; ${base ? `the base given is ${base.hash}` : 'give that one too'}`,
    );
  const part = (index: number, bytes: number): Uint8Array => {
    const entry = entries[index]!;
    if (entry.size !== bytes) damaged(`${entry.name} has ${entry.size} bytes, not ${bytes}`);
    return unpack(entry, inflate);
  };
  const json = <T>(index: number, schema: z.ZodType<T>): T => {
    const entry = entries[index]!;
    if (entry.size > JSON_MAX) damaged(`${entry.name} has ${entry.size} bytes`);
    return parse(entry.name, unpack(entry, inflate), schema);
  };
  const rest = json(1, snapshotState);
  const observed = json(2, snapshotSeen);
  const last = manifest.ramBytes / PAGE;
  const pages = new Map(base?.pages);
  for (const page of pageNumbers('zeros.bin', part(5, 4 * manifest.zeros), last))
    if (!pages.delete(page)) damaged(`zeros.bin names page ${page}, which the base does not have`);
  const numbers = pageNumbers('pages.bin', part(4, 4 * manifest.pages), last);
  if (numbers.length > last) damaged('pages.bin has more pages than RAM');
  const count = Math.ceil(numbers.length / PART_PAGES);
  if (entries.length !== FIXED.length + count) damaged(`it has ${entries.length} parts`);
  for (let n = 0; n < count; n++) {
    const some = numbers.slice(n * PART_PAGES, (n + 1) * PART_PAGES);
    const bytes = part(FIXED.length + n, some.length * PAGE);
    for (const [i, page] of some.entries()) pages.set(page, bytes.subarray(i * PAGE, (i + 1) * PAGE));
  }
  const console = part(6, manifest.console ?? 0);
  const hart = entries[3]!.size / 4 / manifest.harts;
  const registers = words(part(3, entries[3]!.size));
  return {
    manifest,
    console: manifest.console === null ? null : console,
    snapshot: {
      isa: manifest.isa,
      ramBytes: manifest.ramBytes,
      pages,
      harts: Array.from({ length: manifest.harts }, (_, i) => registers.slice(i * hart, (i + 1) * hart)),
      rest: rest as Snapshot['rest'],
      versions: manifest.devices,
      observed: {
        ...observed,
        journal: observed.journal.map(entry => ({
          ...entry,
          bytes: Uint8Array.from(atob(entry.bytes), c => c.charCodeAt(0)),
        })),
      },
      hash: manifest.hash,
    },
  };
}

function start(file: Uint8Array): Uint8Array {
  if (file[0] !== 0x50 || file[1] !== 0x4b)
    throw new FormatError('is not a snapshot; make one with --snapshot');
  return file;
}

function manifestOf(
  file: Uint8Array,
  entries: readonly Entry[],
  { inflate, sha256 }: CapsuleHost,
): SnapshotManifest {
  const first = entries[0];
  if (first?.name !== FIXED[0]) throw new FormatError('is not a snapshot; make one with --snapshot');
  if (first.size > 2 * 2 ** 20) damaged(`${first.name} has ${first.size} bytes`);
  const value = parseJson(first.name, unpack(first, inflate)) as {
    format?: unknown;
    version?: unknown;
  } | null;
  if (value?.format !== 'kcovbox snapshot')
    throw new FormatError('is not a snapshot; make one with --snapshot');
  if (value.version !== SNAPSHOT_VERSION)
    throw new FormatError(
      `has version ${String(value.version).slice(0, 20)}; this kcovbox reads version ${SNAPSHOT_VERSION}: make it again`,
    );
  const manifest = check(first.name, value, snapshotManifest);
  for (const [i, { name }] of entries.entries())
    if (name !== (FIXED[i] ?? `memory${i - FIXED.length}.bin`))
      damaged(`part ${i} is called ${printable(name)}`);
  if (entries.length < FIXED.length) damaged(`it has ${entries.length} parts`);
  checkSeal(file, first, sha256);
  return manifest;
}

const printable = (name: string): string => name.replace(/[^\x21-\x7e]/g, '?');

function parse<T>(name: string, bytes: Uint8Array, schema: z.ZodType<T>): T {
  return check(name, parseJson(name, bytes), schema);
}

function parseJson(name: string, bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return damaged(`${name} is not JSON`);
  }
}

function check<T>(name: string, value: unknown, schema: z.ZodType<T>): T {
  const result = schema.safeParse(value);
  if (!result.success) damaged(`${name}: ${firstIssue(result.error)}`);
  return result.data;
}

/** Ascending page numbers below `end`. */
function pageNumbers(name: string, bytes: Uint8Array, end: number): number[] {
  const numbers = [...words(bytes)];
  for (const [i, page] of numbers.entries())
    if (!(page > (numbers[i - 1] ?? -1) && page < end))
      damaged(`${name}: page ${page} is out of order or range`);
  return numbers;
}

function words(bytes: Uint8Array): Int32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Int32Array.from({ length: bytes.length / 4 }, (_, i) => view.getInt32(4 * i, true));
}
