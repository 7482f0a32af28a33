// Snapshot files, as schemas: docs/schemas/snapshot.json is made from them. A file is a ZIP archive
// (run/capsule/zip.ts) of:
//
//   snapshot.json   the manifest, below
//   state.json      clock, scheduler, firmware and devices, as the emulator saves them
//   seen.json       what observers knew: coverage records, input, run hash
//   harts.bin       registers, 32-bit words, hart by hart
//   pages.bin       numbers of the pages that follow, ascending, 32-bit
//   zeros.bin       of a delta: numbers of the pages that are zero here and not in the base
//   console.txt     what the guest printed since power-on; empty where it was not kept
//   memory<n>.bin   contents of those pages, 1,024 in each
//
// All numbers are little-endian. The seal covers every byte of the file (run/capsule/seal.ts);
// `hash` covers the state as a whole, and is computed again when the snapshot is loaded.
import { z } from 'zod';

export const SNAPSHOT_VERSION = 3;
/** Most bytes of disks in a file, as the guest wrote them. */
export const DISK_MAX = 2 ** 26;
/** The largest RAM, in bytes. */
const RAM_MAX = 3584 * 2 ** 20;
const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
const hash256 = z.string().regex(/^[0-9a-f]{64}$/);
const hash64 = z.string().regex(/^[0-9a-f]{16}$/);
const name = z.string().regex(/^[a-z][a-z0-9]{0,31}$/);

export const snapshotManifest = z.strictObject({
  format: z.literal('kcovbox snapshot'),
  version: z.literal(SNAPSHOT_VERSION),
  kcovbox: z.string().max(64).describe('version of the writer'),
  isa: z.string().max(1024).describe('of the harts, as `riscv,isa`'),
  harts: z.int().min(1).max(8),
  ramBytes: z.int().min(4096).max(RAM_MAX).multipleOf(4096),
  time: count.describe('virtual time'),
  units: count.describe('instructions and exceptions since power-on'),
  pages: count.describe('that are in the file'),
  zeros: count.describe('of a delta: pages of the base that are zero now'),
  hash: hash64.describe('of the state, as in results'),
  base: hash64
    .nullable()
    .describe('of a delta: `hash` of the snapshot that it changes; null: it is complete'),
  devices: z.record(name, z.int().min(1)).describe('version of the state of each device'),
  of: z
    .string()
    .max(2 ** 20)
    .nullable()
    .describe('canonical JSON of the run description without input and budget; null: of no run'),
  console: count.nullable().describe('bytes of console.txt; null: not kept'),
  hasCr: z.boolean().describe('the last byte printed is a CR, and not in console.txt yet'),
  feed: z
    .strictObject({
      spent: count.describe('units by then'),
      accesses: count.describe('to the UART since then'),
      quiet: count.describe('windows in a row without one'),
      polls: count.describe('reads of an empty line status in a row'),
    })
    .nullable()
    .describe('at the last look for input by the rule of a stream; null: it has none'),
  seal: hash256.describe('of all bytes of the file'),
});
export type SnapshotManifest = z.infer<typeof snapshotManifest>;

const runResult = z.union([
  z.strictObject({ kind: z.enum(['exit', 'panic']), status: z.int() }),
  z.strictObject({ kind: z.enum(['reset', 'budget', 'halt']) }),
]);

/** The emulator checks it further, by the kind of machine (emulator/machine/snapshot-check.ts). */
export const snapshotState = z.strictObject({
  time: count,
  spent: count,
  stopped: runResult.nullable(),
  clock: z.unknown(),
  scheduler: z.unknown(),
  sbi: z.unknown(),
  devices: z.record(name, z.unknown()),
});

export const snapshotSeen = z.strictObject({
  records: count,
  journal: z
    .array(
      z.strictObject({
        at: count,
        port: z.enum(['uart', 'console', 'break', 'resize']),
        bytes: z.base64().max(2 ** 20),
      }),
    )
    .max(2 ** 20),
  runHash: z.strictObject({ interval: z.int().min(1), links: z.array(hash64).max(2 ** 24) }).nullable(),
});
