// Snapshots as files; see schema.ts.
import { KcovboxError, type Snapshot } from '../../emulator/index.ts';
import { writeSealed } from '../capsule/seal.ts';
import { pack } from '../capsule/zip.ts';
import type { FeedState } from '../feed.ts';
import type { Sha256 } from '../input.ts';
import { DISK_MAX, SNAPSHOT_VERSION, type SnapshotManifest } from './schema.ts';

const PAGE = 4096;
/** Name of the first part. */
export const MANIFEST = 'snapshot.json';
/** Pages in a part. */
export const PART_PAGES = 1024;

/** Facts about a snapshot beyond its state. */
export interface SnapshotLabel {
  /** Version of the package. */
  readonly kcovbox: string;
  readonly of: string | null;
  /** Text that the guest printed since power-on; null: not kept. */
  readonly console: Uint8Array | null;
  /** The last byte was a CR, and is not in `console` yet. */
  readonly hasCr: boolean;
  readonly feed: FeedState | null;
}

/**
 * The file. `base`: only what differs from it is written. Errors: KcovboxError when the guest has
 * written more than DISK_MAX bytes of its disks.
 */
export function writeSnapshot(
  s: Snapshot,
  label: SnapshotLabel,
  sha256: Sha256,
  base?: Snapshot,
): Uint8Array {
  const onDisks = blockBytes(s.rest.devices);
  if (onDisks > DISK_MAX)
    throw new KcovboxError(
      'machine',
      `the guest has written ${onDisks} bytes of its disks; a snapshot file holds ${DISK_MAX} at most: ` +
        'take it earlier, or record the run',
    );
  const numbers = [...s.pages.keys()].filter(page => !isSame(s.pages.get(page), base?.pages.get(page)));
  numbers.sort((a, b) => a - b);
  const zeros = [...(base?.pages.keys() ?? [])].filter(page => !s.pages.has(page)).sort((a, b) => a - b);
  const manifest: Omit<SnapshotManifest, 'seal'> = {
    format: 'kcovbox snapshot',
    version: SNAPSHOT_VERSION,
    kcovbox: label.kcovbox,
    isa: s.isa,
    harts: s.harts.length,
    ramBytes: s.ramBytes,
    time: s.rest.time,
    units: s.rest.spent,
    pages: numbers.length,
    zeros: zeros.length,
    hash: s.hash,
    base: base?.hash ?? null,
    devices: { ...s.versions },
    of: label.of,
    console: label.console?.length ?? null,
    hasCr: label.hasCr,
    feed: label.feed,
  };
  const parts = [
    pack('state.json', text(s.rest)),
    pack('seen.json', text(seen(s))),
    pack('harts.bin', words(s.harts.flatMap(hart => [...hart]))),
    pack('pages.bin', words(numbers)),
    pack('zeros.bin', words(zeros)),
    pack('console.txt', label.console ?? new Uint8Array(0)),
  ];
  for (let first = 0; first < numbers.length; first += PART_PAGES) {
    const some = numbers.slice(first, first + PART_PAGES);
    const bytes = new Uint8Array(some.length * PAGE);
    for (const [i, page] of some.entries()) bytes.set(s.pages.get(page)!, i * PAGE);
    parts.push(pack(`memory${first / PART_PAGES}.bin`, bytes));
  }
  return writeSealed(MANIFEST, manifest, parts, sha256);
}

/** Bytes of the blocks of disks in the states of devices. */
function blockBytes(state: unknown): number {
  if (state instanceof Uint8Array) return state.length;
  if (state === null || typeof state !== 'object') return 0;
  return Object.values(state).reduce((sum: number, part) => sum + blockBytes(part), 0);
}

const text = (value: unknown): Uint8Array => new TextEncoder().encode(`${JSON.stringify(value)}\n`);

/** Numbers as 32-bit words, low byte first on every host. */
function words(values: readonly number[]): Uint8Array {
  const out = new Uint8Array(4 * values.length);
  const view = new DataView(out.buffer);
  for (const [i, value] of values.entries()) view.setInt32(4 * i, value, true);
  return out;
}

function isSame(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  if (a === b) return true;
  return a !== undefined && b !== undefined && a.every((byte, i) => byte === b[i]);
}

function seen({ observed }: Snapshot): unknown {
  const base64 = (bytes: Iterable<number>): string =>
    btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join(''));
  const journal = observed.journal.map(({ at, port, bytes }) => ({ at, port, bytes: base64(bytes) }));
  return { ...observed, journal };
}
