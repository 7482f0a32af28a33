// Recordings: a run description, the input with the virtual time of its arrival, and how the run
// ended. With the same images a run with this input is the same run. `kcovbox run --record FILE`
// writes one, `kcovbox replay FILE` reads it.
import { type JournalEntry, KcovboxError } from '../emulator/index.ts';
import type { RunDescription, RunOutcome } from '../run/index.ts';
import { FormatError, RECORDING_VERSION, type RecordingHead, readRecording } from '../run/read.ts';
import { readInput } from './input.ts';

/** Longer files take longer than seconds to read. */
const FILE_MAX = 256 * 2 ** 20;

export interface Recording {
  readonly run: RunDescription;
  readonly outcome: RunOutcome;
  readonly journal: readonly JournalEntry[];
}

/** The text of the file. */
export function formatRecording({ run, outcome, journal }: Recording): string {
  const entries = journal.map(({ at, port, bytes }) => ({
    at,
    port,
    bytes: Buffer.from(bytes).toString('base64'),
  }));
  const recording = {
    format: 'kcovbox recording',
    version: RECORDING_VERSION,
    run,
    outcome,
    journal: entries,
  };
  return `${JSON.stringify(recording, null, 1)}\n`;
}

/** The recording at `path`. Errors: one line that says why the file is not one. */
export const openRecording = (path: string): Recording =>
  parseRecording(Buffer.from(readInput(path, 'recording', FILE_MAX)).toString('utf8'), `recording ${path}`);

/** `text`: of the file; `name`: of it, for messages. */
export function parseRecording(text: string, name: string): Recording {
  let head: RecordingHead;
  let journal: JournalEntry[];
  try {
    const parts = readRecording(JSON.parse(text));
    head = parts.head;
    journal = parts.journal.map(entry => ({ ...entry, bytes: Buffer.from(entry.bytes, 'base64') }));
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new KcovboxError(
        'input',
        `${name} is damaged: it is not JSON; make one with kcovbox run --record`,
      );
    if (error instanceof FormatError) throw new KcovboxError('input', `${name} ${error.message}`);
    throw error;
  }
  return { run: head.run, outcome: head.outcome, journal };
}
