// A recorded run again.
import { bytesOf } from '../../emulator/base/arguments.ts';
import { storeImage } from '../../host/image-store.ts';
import { choiceOf, differences, guestOf } from '../../host/replay.ts';
import { check, REPLAY } from './checks.ts';
import { guarded } from './errors.ts';
import type { ReplayOptions } from './options.ts';
import { recordedRun } from './recorded.ts';
import { execute, type Run } from './run.ts';

/** A run of a capsule, and whether it was the same. */
export interface Replay {
  readonly run: Run;
  /**
   * The differences: "status is 1, was 0". Empty when it was the same run; else the emulator has a
   * defect.
   */
  readonly differences: readonly string[];
}

/**
 * Runs the program of a capsule again and compares. A capsule cannot name files, flags or outputs,
 * so a stranger's is safe to replay.
 *
 * @param capsule - bytes that `Run.capsule` or `kcovbox run --record` made.
 * @throws KcovboxError of kind `input` if it is damaged, one of `kcovbox boot`, or one of its
 *   images is not here.
 */
export const replay = (capsule: Uint8Array, options: ReplayOptions = {}): Promise<Replay> =>
  guarded(async () => {
    check('replay', ['capsule', capsule, bytesOf('a capsule')], ['options', options, REPLAY]);
    const { parsed, description, journal, images } = await recordedRun(capsule, options, 'replay');
    const then = parsed.manifest.outcome;
    const choice = choiceOf(description, then, options.engine ?? 'jit');
    const guest = guestOf(description, images, storeImage(images.get('kernel.bin')!));
    const end = { outcome: then.end, status: then.status, time: then.time };
    const run = await execute(guest, choice, options, { journal, end, description });
    const different = differences(parsed, run.outcome, run.output);
    if (run.waiting > 0) different.push(`${run.waiting} of ${journal.length} inputs did not arrive`);
    return { run, differences: different };
  });
