// Recordings: a run description, the input with the virtual time of its arrival, and how the run ended. With the same images a
// run with this input is the same run. `kcovbox run --record FILE` writes one, `kcovbox replay FILE` reads it.
import type { JournalEntry } from '../../emulator/index.ts';
import type { RunDescription, RunOutcome } from '../../run/index.ts';
import { FormatError, type RecordingHead, readRecording } from '../../run/read.ts';
import { UserError } from '../io/fail.ts';
import { readInput } from '../io/input.ts';
import { writeTo } from '../io/output.ts';
import type { Executed } from './execute.ts';
import type { GuestImages } from './guest.ts';
import { storeImage } from './image-store.ts';

/** Longer files take longer than seconds to read. */
const FILE_MAX = 256 * 2 ** 20;

export interface Recording {
  readonly run: RunDescription;
  readonly outcome: RunOutcome;
  readonly journal: readonly JournalEntry[];
}

/** Writes the recording, and keeps its images where `replay` finds them. */
export function writeRecording(path: string, images: GuestImages, { end, run, outcome }: Executed): void {
  if (end.reboots > 0) throw new UserError(`cannot record to ${path}: the guest has rebooted`);
  const journal = end.machine.journal.entries.map(({ at, port, bytes }) => ({
    at,
    port,
    bytes: Buffer.from(bytes).toString('base64'),
  }));
  const recording = { format: 'kcovbox recording', version: 2, run, outcome, journal };
  writeTo(path, `${JSON.stringify(recording, null, 1)}\n`);
  try {
    for (const bytes of [images.kernel, images.initrd]) storeImage(bytes);
  } catch (error) {
    const why = (error as Error).message;
    process.stderr.write(
      `kcovbox: the images of ${path} were not kept (${why}); replay will ask for the program\n`,
    );
  }
}

/** Errors: one line that says why the file is not a recording. */
export function openRecording(path: string): Recording {
  const bytes = readInput(path, 'recording', FILE_MAX);
  let head: RecordingHead;
  let journal: JournalEntry[];
  try {
    const parts = readRecording(JSON.parse(Buffer.from(bytes).toString('utf8')));
    head = parts.head;
    journal = parts.journal.map(entry => ({ ...entry, bytes: Buffer.from(entry.bytes, 'base64') }));
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new UserError(`recording ${path} is damaged: it is not JSON; make one with kcovbox run --record`);
    if (error instanceof FormatError) throw new UserError(`recording ${path} ${error.message}`);
    throw error;
  }
  return { run: head.run, outcome: head.outcome, journal };
}
