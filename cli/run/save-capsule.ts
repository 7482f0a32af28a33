// `--record FILE`: the capsule of a run, and the images of a thin one where `replay` finds them.
import { visible } from '../../emulator/base/words.ts';
import { checkRecordable, formatCapsule, keepImages } from '../../host/capsule.ts';
import { describe } from '../../host/describe.ts';
import type { GuestImages } from '../../host/guest.ts';
import type { MachineChoice } from '../../host/machine.ts';
import type { CapsuleContents } from '../../run/capsule/index.ts';
import { systemMessage, tell } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';
import { writeBytesTo } from '../io/output.ts';
import type { Executed } from './execute.ts';

/** Writes a capsule. */
export function saveCapsule(
  path: string,
  isThin: boolean,
  contents: Omit<CapsuleContents, 'kcovbox' | 'stateHash'>,
): void {
  writeBytesTo(path, formatCapsule(contents, isThin, path));
  if (!isThin) return;
  try {
    keepImages(contents);
  } catch (error) {
    const why = systemMessage(error as Error);
    tell(`kcovbox: the images of ${visible(path)} were not kept (${why}); replay will ask for them\n`);
  }
}

/** Before a program's run. Errors: one line, when no capsule can hold it. */
export const checkRun = (path: string, images: GuestImages, choice: MachineChoice): void =>
  checkRecordable(describe(images, choice, [], false), path);

/** Writes the capsule of a program's run that was described. */
export function recordRun(
  path: string,
  isThin: boolean,
  { kernel, initrd }: GuestImages,
  { end, run, outcome, log }: Executed,
): void {
  if (end.reboots > 0) throw new UserError(`cannot record to ${path}: the guest has rebooted`);
  saveCapsule(path, isThin, {
    run: run!,
    outcome: outcome!,
    journal: end.machine.journal.entries,
    printed: { text: log!.text, bytes: log!.bytes },
    images: new Map([
      ['kernel.bin', kernel],
      ['initrd.bin', initrd],
    ]),
  });
}
