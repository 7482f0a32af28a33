// `--record FILE`: the recording of a run, and its images where `replay` finds them.
import type { GuestImages } from '../../host/guest.ts';
import { storeImage } from '../../host/image-store.ts';
import { formatRecording } from '../../host/recording.ts';
import { UserError } from '../io/fail.ts';
import { writeTo } from '../io/output.ts';
import type { Executed } from './execute.ts';

/** Writes the recording of a run that was described. */
export function writeRecording(path: string, images: GuestImages, { end, run, outcome }: Executed): void {
  if (end.reboots > 0) throw new UserError(`cannot record to ${path}: the guest has rebooted`);
  const journal = end.machine.journal.entries;
  writeTo(path, formatRecording({ run: run!, outcome: outcome!, journal }));
  try {
    for (const bytes of [images.kernel, images.initrd]) storeImage(bytes);
  } catch (error) {
    const why = (error as Error).message;
    process.stderr.write(
      `kcovbox: the images of ${path} were not kept (${why}); replay will ask for the program\n`,
    );
  }
}
