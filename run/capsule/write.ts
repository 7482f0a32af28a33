// Writes capsules. The bytes follow from the run: no time, no host and no engine is in them, so two
// hosts that record one run write one file.
import { FormatError } from '../format-error.ts';
import { type Arrival, inputBytes, journalLines, type Sha256 } from '../input.ts';
import { firstIssue } from '../issue.ts';
import type { BootDescription, RunDescription, RunOutcome } from '../schema.ts';
import { ARRIVALS_MAX } from './journal.ts';
import { CONSOLE_KEPT } from './limits.ts';
import { MANIFEST, PARTS, TOTAL_MAX } from './parts.ts';
import { CAPSULE_VERSION, type CapsuleManifest, capsuleManifest, capsuleRun, type Part } from './schema.ts';
import { manifestText, writeSealed } from './seal.ts';
import { type Entry, pack } from './zip.ts';

/** An image by its hash alone, as in a thin capsule. */
export interface Absent {
  readonly bytes: number;
  readonly sha256: string;
}

export interface CapsuleContents {
  /** Of the package. */
  readonly kcovbox: string;
  /** Name of the way in which the hashes of the outcome were computed. */
  readonly stateHash: string;
  readonly run: RunDescription | BootDescription;
  readonly outcome: RunOutcome;
  readonly journal: readonly Arrival[];
  /** The output, at least its first CONSOLE_KEPT bytes, and its length. */
  readonly printed: { readonly text: Uint8Array; readonly bytes: number };
  /** By the names of parts.ts. */
  readonly images: ReadonlyMap<string, Uint8Array | Absent>;
}

/** Packs a part whose contents have this SHA-256; the answer is that of `pack`. */
export type PackPart = (name: string, body: Uint8Array, sha256: string) => Entry;

/**
 * `packPart`: may know parts from earlier. Errors: FormatError, as the rest of a sentence that
 * begins with the file's name, when it would be too large.
 */
export function writeCapsule(
  contents: CapsuleContents,
  sha256: Sha256,
  packPart: PackPart = (name, body) => pack(name, body),
): Uint8Array {
  const { kcovbox, stateHash, run, outcome, journal, printed, images } = contents;
  if (journal.length > ARRIVALS_MAX)
    throw new FormatError(`cannot hold ${journal.length} arrivals of input: at most ${ARRIVALS_MAX}`);
  const own: readonly [string, Uint8Array][] = [
    ['console.txt', printed.text.subarray(0, CONSOLE_KEPT)],
    ['journal.jsonl', journalLines(journal)],
    ['input.bin', inputBytes(journal)],
  ];
  const bodies = new Map<string, Uint8Array | Absent>([...own, ...images]);
  const parts: Part[] = [];
  const entries: Entry[] = [];
  for (const { name, max } of PARTS) {
    const body = bodies.get(name);
    if (!body) continue;
    const isPresent = body instanceof Uint8Array;
    if (isPresent && body.length > max)
      throw new FormatError(`cannot hold ${name}: it has ${body.length} bytes; at most ${max}`);
    const facts = isPresent ? { bytes: body.length, sha256: sha256(body) } : body;
    parts.push({ name, ...facts, isPresent });
    if (isPresent) entries.push(packPart(name, body, facts.sha256));
  }
  const manifest: Unsealed = {
    format: 'kcovbox capsule',
    kcovbox,
    stateHash,
    run,
    outcome,
    console: { bytes: printed.bytes },
    parts,
  };
  return archive(manifest, entries, sha256);
}

/** Errors: as above, when no capsule can hold a run of this description. */
export function checkDescription(run: RunDescription | BootDescription): void {
  const checked = capsuleRun.safeParse(run);
  if (!checked.success) throw new FormatError(`cannot hold the run: ${firstIssue(checked.error, ['run'])}`);
}

type Unsealed = Omit<CapsuleManifest, 'version' | 'seal'>;

/**
 * The file of these parts, in the newest version of the format. Errors: FormatError when its
 * contents are more than a reader takes.
 */
export function archive(unsealed: Unsealed, entries: readonly Entry[], sha256: Sha256): Uint8Array {
  const manifest = { ...unsealed, version: CAPSULE_VERSION };
  const checked = capsuleManifest.safeParse(manifest);
  if (!checked.success) throw new FormatError(`cannot hold the run: ${firstIssue(checked.error)}`);
  const total = entries.reduce((sum, { size }) => sum + size, manifestText(manifest).length);
  if (total > TOTAL_MAX)
    throw new FormatError(`cannot hold ${total} bytes: at most ${TOTAL_MAX}; leave out images with --thin`);
  return writeSealed(MANIFEST, manifest, entries, sha256);
}
