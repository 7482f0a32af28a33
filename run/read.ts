// Reads files that anybody may have made. Every field is checked against its schema; the first that is wrong is named.
import type { z } from 'zod';
import { KcovboxError } from '../emulator/base/errors.ts';
import { journalEntry, PERSONALITIES, type Recording, recording } from './schema.ts';

/** A file does not follow its schema; the message is the rest of a sentence that begins with the file's name. */
export class FormatError extends KcovboxError {
  constructor(message: string) {
    super('input', message);
  }
}

/** Of `recording` in schema.ts. */
export const RECORDING_VERSION = 3;
/** More entries than a person can type in a year; reading them takes seconds. */
const ENTRIES_MAX = 4_000_000;
const RESIZE_BYTES = 4;
/** The message of a value with a thousand unknown keys is as long as all of them. */
const MESSAGE_MAX = 160;

/** The first issue as "field: why". */
function firstIssue(error: z.ZodError, prefix: readonly PropertyKey[] = []): string {
  const [issue] = error.issues;
  const path = [...prefix, ...(issue?.path ?? [])].map(String).join('.');
  const text = `${path === '' ? '' : `${path}: `}${issue?.message ?? 'invalid'}`;
  return text.length > MESSAGE_MAX ? `${text.slice(0, MESSAGE_MAX)}...` : text;
}

/** One piece of input, as the emulator takes it. */
export interface Arrival {
  readonly at: number;
  readonly port: 'uart' | 'console' | 'break' | 'resize';
  /** Base64. */
  readonly bytes: string;
}

export type RecordingHead = Omit<Recording, 'journal'>;

/**
 * A recording's parts. `value`: parsed JSON. Errors: FormatError, after the first fault; time is linear in the number of
 * journal entries.
 */
export function readRecording(value: unknown): { head: RecordingHead; journal: Arrival[] } {
  const { format, version, journal, ...rest } = Object(value) as Partial<Recording>;
  if (format !== 'kcovbox recording') throw new FormatError('is not a recording; make one with run --record');
  if (version !== RECORDING_VERSION)
    throw new FormatError(
      `has version ${String(version).slice(0, 20)}; this kcovbox reads version ${RECORDING_VERSION}: record the run again`,
    );
  const head = recording.omit({ journal: true }).safeParse({ format, version, ...rest });
  if (!head.success) throw new FormatError(`is damaged: ${firstIssue(head.error)}`);
  const { conf, dialect } = head.data.run.kernel;
  const named = PERSONALITIES.filter(name => conf.split('+').includes(name));
  if (named.length !== 1 || named[0] !== dialect)
    throw new FormatError(`is damaged: run.kernel.conf: expected a configuration of ${dialect}`);
  if (!Array.isArray(journal)) throw new FormatError('is damaged: journal: expected an array');
  if (journal.length > ENTRIES_MAX)
    throw new FormatError(`has ${journal.length} journal entries; at most ${ENTRIES_MAX} are read`);
  return { head: head.data, journal: readJournal(journal, head.data) };
}

function readJournal(journal: readonly unknown[], { run, outcome }: RecordingHead): Arrival[] {
  let last = 0;
  const hasConsole = run.machine.devices.length > 0;
  return journal.map((value, i) => {
    const damaged = (why: string): never => {
      throw new FormatError(`is damaged: journal.${i}${why}`);
    };
    const entry = journalEntry.safeParse(value);
    if (!entry.success) throw new FormatError(`is damaged: ${firstIssue(entry.error, ['journal', i])}`);
    const { at, port, bytes } = entry.data;
    if (at < last) damaged(`.at: ${at} is before the entry in front of it`);
    if (at > outcome.time) damaged(`.at: ${at} is after the end of the run`);
    last = at;
    if ((port === 'console' || port === 'resize') && !hasConsole)
      damaged(`.port: the machine has no virtio console`);
    if (port === 'resize' && bytes.length !== Math.ceil(RESIZE_BYTES / 3) * 4)
      damaged('.bytes: expected rows and columns');
    if (port === 'break' && bytes !== '') damaged('.bytes: a break has none');
    return entry.data;
  });
}
