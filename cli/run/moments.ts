// `run --snapshot` and `run --from`, `boot -savevm` and `boot -loadvm`: a run is saved at a moment,
// and goes on from there with the result that it would have had.
import type { Machine } from '../../emulator/index.ts';
import { formatSnapshot, openSnapshot } from '../../host/snapshot-file.ts';
import type { FeedState } from '../../run/feed.ts';
import { type BootDescription, canonicalJson, type RunDescription } from '../../run/index.ts';
import type { GuestConsole } from '../io/console.ts';
import type { ConsoleLog } from '../io/console-log.ts';
import { UserError } from '../io/fail.ts';
import { writeBytesTo } from '../io/output.ts';
import type { Moment } from './moment.ts';
import type { SessionOptions } from './session.ts';

/** The fields that must be as they were: all but the budget, and input that has yet to come. */
function contextOf(run: RunDescription | BootDescription): Record<string, unknown> {
  const { input, budget, ...context } = run;
  return context;
}

/** A moment that did not come, in words. */
function nameOf(at: Moment): string {
  if (typeof at === 'number') return `unit ${at}`;
  if (at === 'first-instruction') return 'the first instruction of the program';
  return at.mark === 'any' ? 'a marker' : `marker ${at.mark}`;
}

export type Saving = NonNullable<SessionOptions['stop']> & {
  /**
   * Behind the run, which ended at unit `end`. Errors: UserError for a snapshot that could not be
   * written, because its moment did not come or for another reason; the run went on for its other
   * outputs.
   */
  readonly check: (end: number) => void;
};

/** Writes the snapshot when the moment comes. `path`: of the file. */
export function saveAt(
  path: string,
  at: Moment,
  run: RunDescription | BootDescription,
  line: GuestConsole,
  log: ConsoleLog,
): Saving {
  let state: 'waiting' | 'written' | UserError = 'waiting';
  const write = (machine: Machine, feed: FeedState | null): void => {
    const { journal } = machine;
    if (feed !== null && journal.entries.length > 0)
      throw new UserError(
        `snapshot ${path}: input from a file or a pipe has arrived before unit ${machine.spent}; ` +
          'choose an earlier moment',
      );
    const console = log.bytes === log.text.length ? log.text : null;
    const of = canonicalJson(contextOf(run));
    writeBytesTo(path, formatSnapshot(machine.snapshot(), { of, feed, hasCr: line.hasCr, console }));
  };
  return {
    at,
    reached: (machine, feed) => {
      try {
        write(machine, feed);
        state = 'written';
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        state = error;
      }
    },
    check: end => {
      if (state instanceof UserError) throw state;
      if (state === 'waiting')
        throw new UserError(
          `snapshot ${path} was not written: the run ended at unit ${end}, before ${nameOf(at)}`,
        );
    },
  };
}

export interface Start {
  readonly from: NonNullable<SessionOptions['from']>;
  /** Text that the guest printed before. */
  readonly console: Uint8Array | null;
  /** A CR behind it waits for the next byte (run/newlines.ts). */
  readonly hasCr: boolean;
}

/**
 * Errors: UserError when the snapshot is of another run than `run`, with the first field that
 * differs.
 */
export function startFrom(path: string, run: RunDescription | BootDescription): Start {
  const { manifest, snapshot, console } = openSnapshot(path);
  // The library makes snapshots of machines that no command describes.
  const isAny = manifest.of === null && run.format === 'kcovbox boot';
  if (manifest.of === null && !isAny)
    throw new UserError(`snapshot ${path} is of no kcovbox run; see boot -loadvm`);
  const wanted = canonicalJson(contextOf(run));
  if (!isAny && manifest.of !== wanted) {
    const what = difference(manifest.of!, wanted, run.format === 'kcovbox boot');
    throw new UserError(
      `snapshot ${path} is of another run: ${what}; give the program, kernel and options of that run`,
    );
  }
  return { from: { snapshot, feed: manifest.feed, path }, console, hasCr: manifest.hasCr };
}

/** The most telling first: the kernel's command line and the hashes follow from the others. */
const ORDER: readonly string[] = ['program', 'machine', 'kernel', 'images'];
const rank = (name: string): number => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);

/** Fields of a description by the options that set them: of `run`, and of `boot`. */
const OPTIONS: Readonly<Record<string, readonly [run: string, boot?: string]>> = {
  'program.cflags': ['--cflags'],
  'program.environment': ['--env'],
  'kernel.dialect': ['--dialect'],
  'kernel.conf': ['--conf'],
  'machine.harts': ['--smp', '-smp'],
  'machine.memory': ['-m', '-m'],
  'machine.kcov': ['--kcov', '--kcov'],
  'machine.seed': ['--seed', '--seed'],
  'machine.schedSeed': ['--sched-seed', '--sched-seed'],
  'machine.schedule': ['--schedule'],
  'machine.icountShift': ['--icount', '-icount'],
};

/** The value of a field as its option takes it. */
function optionValue(path: readonly string[], value: unknown): string {
  if (value === null || value === undefined) return 'not given';
  if (path.at(-1) === 'memory') return `${Number(value) / 2 ** 20}M`;
  return (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 60);
}

/** The first field in which two descriptions differ; of images, which are hashes, the name only. */
function difference(then: string, now: string, isBoot: boolean): string {
  let a: unknown;
  try {
    a = JSON.parse(then);
  } catch {
    return 'its description is not JSON';
  }
  const path: string[] = [];
  let b: unknown = JSON.parse(now);
  while (isRecord(a) && isRecord(b)) {
    const [left, right] = [a, b];
    const names = [...new Set([...Object.keys(left), ...Object.keys(right)])];
    const different = names.filter(
      name => canonicalJson(left[name] ?? null) !== canonicalJson(right[name] ?? null),
    );
    const [key] = different.sort((one, other) => rank(one) - rank(other));
    if (key === undefined) break;
    path.push(key);
    [a, b] = [left[key], right[key]];
  }
  if (path[0] === 'images') return `${path.join('.')} differs`;
  const option = OPTIONS[path.join('.')]?.[isBoot ? 1 : 0];
  if (option !== undefined) return `${option} is ${optionValue(path, b)}, was ${optionValue(path, a)}`;
  const short = (value: unknown): string => (JSON.stringify(value) ?? 'absent').slice(0, 60);
  return `${path.join('.')} is ${short(b)}, was ${short(a)}`;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
