// Recordings: the input of a run with the virtual time of its arrival, what the run was of, and how it ended. With the same images a run with
// this input is the same run, so nothing else of it has to be kept. `kcovbox run --record FILE` writes one, `kcovbox replay FILE` reads it.
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { type JournalEntry, stateHash } from '../../emulator/index.ts';
import { UserError } from '../io/fail.ts';
import { readInput } from '../io/input.ts';
import { writeFile } from '../io/output.ts';
import type { Executed, RunOptions } from '../verbs/run.ts';
import type { GuestImages } from './guest.ts';
import type { SessionEnd } from './session.ts';

const FORMAT = 'kcovbox recording';
const VERSION = 1;

/** What two runs are compared by. */
export interface Ending {
  readonly outcome: SessionEnd['outcome'];
  readonly status: number;
  readonly instret: number;
  /** Virtual time, at which a run stops that was interrupted. */
  readonly time: number;
  readonly stateHash: string;
  readonly consoleHash: string;
  readonly records: number;
}

export interface Recording {
  readonly program: string;
  readonly args: readonly string[];
  /** As given to `run`; seeds in hexadecimal. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly append: string;
  readonly size: GuestImages['size'] | null;
  /** SHA-256. */
  readonly images: { readonly kernel: string; readonly initrd: string };
  readonly journal: readonly JournalEntry[];
  readonly end: Ending;
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
export const hashesOf = ({ kernel, initrd }: GuestImages): Recording['images'] => ({
  kernel: sha256(kernel),
  initrd: sha256(initrd),
});

export function endingOf({ end, consoleHash, records }: Executed): Ending {
  const { outcome, status, machine } = end;
  const { instret, time } = machine;
  return { outcome, status, instret, time, stateHash: stateHash(machine), consoleHash, records };
}

interface Recorded {
  readonly program: string;
  readonly args: readonly string[];
  readonly options: RunOptions;
  readonly images: GuestImages;
  readonly executed: Executed;
}

/** Outputs of the recorded run are not those of its replay. */
const NOT_KEPT = new Set(['cover', 'format', 'result', 'record']);

export function writeRecording(path: string, { program, args, options, images, executed }: Recorded): void {
  if (executed.end.reboots > 0) throw new UserError(`cannot record to ${path}: the guest has rebooted`);
  const kept = Object.entries(options)
    .filter(([name]) => !NOT_KEPT.has(name))
    .map(([name, value]) => [name, typeof value === 'bigint' ? `0x${value.toString(16)}` : value]);
  const journal = executed.end.machine.journal.entries.map(({ at, port, bytes }) => ({
    at,
    port,
    bytes: Buffer.from(bytes).toString('base64'),
  }));
  const recording = {
    format: FORMAT,
    version: VERSION,
    program: resolve(program),
    args,
    options: Object.fromEntries(kept),
    append: images.append,
    size: images.size ?? null,
    images: hashesOf(images),
    end: endingOf(executed),
    journal,
  };
  writeFile(path, `${JSON.stringify(recording, null, 1)}\n`);
}

interface Stored extends Omit<Recording, 'journal'> {
  readonly format: string;
  readonly version: number;
  readonly journal: readonly { at: number; port: JournalEntry['port']; bytes: string }[];
}

/** Errors: one line that says why the file is no recording. */
export function readRecording(path: string): Recording {
  const refuse = (why: string): never => {
    throw new UserError(`recording ${path} ${why}`);
  };
  let stored: Partial<Stored> = {};
  try {
    stored = JSON.parse(Buffer.from(readInput(path, 'recording')).toString('utf8')) as Partial<Stored>;
  } catch (error) {
    if (error instanceof UserError) throw error;
    refuse('is damaged or no recording: it is no JSON; make it with kcovbox run --record');
  }
  const { format, version, program, args, options, append, size, images, journal, end } = stored ?? {};
  if (format !== FORMAT) return refuse('is no recording; make it with kcovbox run --record');
  if (version !== VERSION) return refuse(`has version ${version}; this kcovbox reads version ${VERSION}`);
  if (!(program && args && options && append !== undefined && images && end && Array.isArray(journal)))
    return refuse('lacks a part; record the run again');
  let last = 0;
  const entries = journal.map(({ at, port, bytes }) => {
    if (!(at >= last) || !['uart', 'console', 'break', 'resize'].includes(port) || typeof bytes !== 'string')
      return refuse('has a damaged journal; record the run again');
    last = at;
    return { at, port, bytes: [...Buffer.from(bytes, 'base64')] };
  });
  return { program, args, options, append, size: size ?? null, images, end, journal: entries };
}
