// The run description and the result of a run, as `--result` and `--record` write them
// (run/schema.ts).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Elf } from '../coverage/index.ts';
import type { EngineKind, JournalEntry } from '../emulator/index.ts';
import { canonicalJson, type RunDescription, type RunOutcome, type RunResult } from '../run/index.ts';
import {
  cacheDir,
  clangIdentity,
  clangVersion,
  findTool,
  packageRoot,
  sha256,
  writeWhole,
} from '../toolchain/index.ts';
import { describeRun } from './description.ts';
import type { GuestImages } from './guest.ts';
import type { MachineChoice } from './machine.ts';

/**
 * `journal`: what has arrived by the end of the run; `isInteractive`: as it was typed, not by the
 * rule of a stream.
 */
export function describe(
  images: GuestImages,
  choice: MachineChoice,
  journal: readonly JournalEntry[],
  isInteractive: boolean,
): RunDescription {
  const names = { kernel: kernelImage(images), ...programImages(images) };
  return describeRun(names, images, choice, journal, isInteractive, sha256);
}

/**
 * A fact that takes longer to find out than a small program runs: kept in the cache under `name`,
 * for as long as `identity` is the same.
 */
function remembered(name: string, identity: string, find: () => string): string {
  const path = join(cacheDir(), 'fact', `${name}.json`);
  try {
    const known = JSON.parse(readFileSync(path, 'utf8')) as { identity?: unknown; value?: unknown };
    if (known.identity === identity && typeof known.value === 'string') return known.value;
  } catch {} // not there yet, or damaged
  const value = find();
  try {
    writeWhole(path, JSON.stringify({ identity, value }));
  } catch {} // found out again next time
  return value;
}

/** The compiler's first line. */
function compiler(): string | null {
  return findTool('clang') ? remembered('compiler', clangIdentity(), clangVersion) : null;
}

/** Longer lists of other files are not worth remembering. */
const AROUND_MAX = 4096;

/** The program and the initrd that holds it. */
function programImages({ program, programHash, initrd }: GuestImages): { program: string; initrd: string } {
  const hashes = (): string => `${sha256(program)} ${sha256(initrd)}`;
  const at = Buffer.from(initrd.buffer, initrd.byteOffset, initrd.length).indexOf(program.subarray(0, 64));
  const end = at + program.length;
  const isInside = at >= 0 && Buffer.compare(initrd.subarray(at, end), program) === 0;
  const isSmall = initrd.length - program.length <= AROUND_MAX;
  const isKnown = programHash !== undefined && isInside && isSmall;
  // The program's name in the cache and the bytes around it determine both.
  const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');
  const around = () => [programHash, latin1(initrd.subarray(0, at)), latin1(initrd.subarray(end))].join(' ');
  const known = isKnown ? remembered(`program-${programHash.slice(0, 32)}`, around(), hashes) : hashes();
  const [own, all] = known.split(' ') as [string, string];
  return { initrd: all, program: own };
}

/**
 * A kernel by the name that traces of it carry, and by its bytes. Where the cache knows its
 * contents, the bytes are not read: most of them are debugging data, which no run needs.
 */
function kernelImage(images: GuestImages): RunDescription['images']['kernel'] {
  const hash = images.kernelHash ?? sha256(images.kernel);
  const known = remembered(`kernel-${hash.slice(0, 32)}`, hash, () => {
    const { kernel } = images;
    return `${sha256(kernel)} ${new Elf(kernel, 'kernel').imageId}`;
  });
  const [bytes, id] = known.split(' ') as [string, string];
  return { id, sha256: bytes };
}

export async function resultOf(
  run: RunDescription,
  outcome: RunOutcome,
  engine: EngineKind,
): Promise<RunResult> {
  const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as {
    version: string;
  };
  return {
    format: 'kcovbox result',
    version: 2,
    runId: sha256(canonicalJson(run)),
    run,
    outcome,
    host: { kcovbox: version, node: process.version, compiler: compiler(), engine },
  };
}
