// `kcovbox boot --record`: the capsule of a run that has ended.
import type { DiskImage } from '../../emulator/index.ts';
import type { BootImages } from '../../host/boot-machine.ts';
import { checkRecordable } from '../../host/capsule.ts';
import type { Absent } from '../../run/capsule/index.ts';
import { type BootDescription, describeInput } from '../../run/index.ts';
import { RunningSha256, sha256 } from '../../toolchain/index.ts';
import type { ConsoleLog } from '../io/console-log.ts';
import { UserError } from '../io/fail.ts';
import { isTerminal } from '../io/terminal.ts';
import { sessionOutcome } from '../run/execute.ts';
import { saveCapsule } from '../run/save-capsule.ts';
import type { SessionEnd } from '../run/session.ts';
import { describeBoot } from './machine.ts';
import type { QemuOptions } from './options.ts';

/** Bytes of a drive that are hashed at a time. */
const PIECE = 1 << 20;
/** Drives are kept whole up to this size; a capsule holds no more. */
const DRIVE_MAX = 2 ** 30;

/** A drive as it is in its file, whatever the guest has written. */
function whole(drive: Uint8Array | DiskImage): Uint8Array {
  if (drive instanceof Uint8Array) return drive;
  const bytes = new Uint8Array(drive.bytes);
  drive.read(0, bytes);
  return bytes;
}

/** The hash of a drive of any size. */
function hashOf(drive: Uint8Array | DiskImage): Absent {
  if (drive instanceof Uint8Array) return { bytes: drive.length, sha256: sha256(drive) };
  const hash = new RunningSha256();
  for (let at = 0; at < drive.bytes; at += PIECE) {
    const piece = new Uint8Array(Math.min(PIECE, drive.bytes - at));
    drive.read(at, piece);
    hash.update(piece);
  }
  return { bytes: drive.bytes, sha256: hash.hex() };
}

/** The run of these images, before any input. */
export function contextOf(options: QemuOptions, { files, drives }: BootImages): BootDescription {
  const hashes = new Map<string, string>();
  for (const [name, { bytes }] of files) hashes.set(name, sha256(bytes));
  for (const [name, drive] of drives) hashes.set(name, hashOf(drive).sha256);
  return describeBoot(options, name => hashes.get(name)!, describeInput([], 'poll-64k', sha256));
}

/** Before the run. Errors: one line, when no capsule can hold it. */
export function checkBoot(options: QemuOptions): void {
  const input = describeInput([], 'poll-64k', sha256);
  // Hashes are of the right form; those of the images follow when the run has ended.
  checkRecordable(
    describeBoot(options, () => input.sha256, input),
    options.record!,
  );
}

/**
 * Writes the capsule. Errors: UserError when the run cannot be repeated from one, or the drives are
 * too large for it.
 */
export function recordBoot(
  options: QemuOptions,
  { files, drives }: BootImages,
  end: SessionEnd,
  log: ConsoleLog,
): void {
  const path = options.record!;
  if (end.reboots > 0)
    throw new UserError(`cannot record to ${path}: the guest has rebooted; -no-reboot ends the run there`);
  const images = new Map<string, Uint8Array | Absent>();
  for (const [name, { bytes }] of files) images.set(name, bytes);
  for (const [name, drive] of drives) {
    const bytes = drive instanceof Uint8Array ? drive.length : drive.bytes;
    if (!options.thin && bytes > DRIVE_MAX)
      throw new UserError(`cannot record to ${path}: a drive has ${bytes} bytes; add --thin`);
    images.set(name, options.thin ? hashOf(drive) : whole(drive));
  }
  const hashes = new Map([...images].map(([name, image]) => [name, factOf(image)]));
  const { entries: journal } = end.machine.journal;
  const isLive = options.interactive === true || isTerminal(0);
  const input = describeInput(journal, isLive ? 'interactive' : 'poll-64k', sha256);
  const run = describeBoot(options, name => hashes.get(name)!, input);
  const outcome = sessionOutcome(end, log);
  const printed = { text: log.text, bytes: log.bytes };
  saveCapsule(path, options.thin === true, { run, outcome, journal, printed, images });
}

const factOf = (image: Uint8Array | Absent): string =>
  image instanceof Uint8Array ? sha256(image) : image.sha256;
