// Shared by all engines: the trials that are left, the number of tasks for them, and the command
// lines. A task is one shard of the trials.
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { trialId } from '../../../experiment/plan.ts';
import { makeFolders, packageRoot, systemReason, tell, which } from '../../../toolchain/index.ts';
import { UserError } from '../../io/fail.ts';
import { writeFile, writeTo } from '../../io/output.ts';
import { repeated } from '../../io/repeated.ts';
import { pathWord, printedWord, shellWord } from '../../io/shell-word.ts';
import { parseCount } from '../../io/values.ts';
import type { Folder } from '../folder.ts';
import { runTrial } from '../kinds.ts';
import { openExperiment } from '../open.ts';
import { durationText } from '../words.ts';

export interface SubmitOptions {
  dir?: string;
  tasks?: number;
  limit?: number;
  option?: string[];
  dryRun?: true;
}

/** An experiment with trials to run, and the number of tasks that share them. */
export interface Submission {
  readonly folder: Folder;
  /** Of the folder, absolute. */
  readonly path: string;
  readonly tasks: number;
}

/** A task should take about so long: the engine is not asked too often, and none lasts days. */
const TASK_SECONDS = 1800;
/** Slurm's usual MaxArraySize is 1001. */
const TASKS_MAX = 1000;
const TASKS_PER_PROCESSOR = 4;

/** A command line for a person. */
export const shellLine = (...words: readonly string[]): string => words.map(printedWord).join(' ');

/** The command line that starts this kcovbox. */
const command = (...words: readonly string[]): readonly string[] => [
  process.execPath,
  join(packageRoot(), 'bin', 'kcovbox.cjs'),
  'experiment',
  ...words,
];
const scriptLine = (words: readonly string[]): string => words.map(shellWord).join(' ');

/** The line of a task. Without an index, the engine sets it. */
export const shardLine = ({ path, tasks }: Submission, index?: number): string =>
  scriptLine(
    command('shard', path, '--of', String(tasks), ...(index === undefined ? [] : ['--index', String(index)])),
  );

/** The line behind all tasks: it runs trials of tasks that failed, and writes the report. */
export const collectLine = ({ path }: Submission, line = scriptLine): string =>
  `${line(command('resume', '-j', '1', path))} && ${line(command('report', path))}`;

/** Runs the first unfinished trial of each variant, and answers with the seconds of one trial. */
async function pilot(folder: Folder): Promise<number> {
  const firsts = folder.plan.variants.flatMap(
    ({ name }) => folder.pending(folder.plan.trials).find(({ variant }) => variant === name) ?? [],
  );
  let seconds = 0;
  for (const trial of firsts) {
    const start = process.hrtime.bigint();
    folder.keep(trial, await runTrial(folder, trial));
    seconds += Number(process.hrtime.bigint() - start) / 1e9;
    tell(`kcovbox: pilot: trial ${trialId(trial)}\n`);
  }
  return seconds / Math.max(1, firsts.length);
}

/** Few for each processor of this machine, so that the last ones end at about the same time. */
export const tasksHere = ({ plan: { trials } }: Folder): number =>
  Math.min(trials.length, TASKS_PER_PROCESSOR * availableParallelism());

/** So many that each takes about half an hour. */
async function tasksFor(folder: Folder): Promise<number> {
  const seconds = await pilot(folder);
  const pending = folder.pending(folder.plan.trials).length;
  const tasks = Math.max(1, Math.min(TASKS_MAX, pending, Math.ceil((pending * seconds) / TASK_SECONDS)));
  const each = durationText((pending * seconds) / tasks);
  tell(`kcovbox: ${pending} trials of about ${durationText(seconds)}: ${tasks} tasks of about ${each}\n`);
  return tasks;
}

/** Errors: UserError if the engine's program is not here and would be started. */
export function requireEngine(program: string, dryRun: true | undefined): void {
  if (!dryRun && !which(program))
    throw new UserError(
      `there is no ${program} on this machine; --dry-run writes the files and prints what to run`,
    );
}

/** Says so where no trial of the experiment is left for an engine. */
export function tellIfFinished(folder: Folder): boolean {
  const { trials } = folder.plan;
  if (folder.pending(trials).length > 0) return false;
  tell(
    `kcovbox: nothing is left to do: all ${trials.length} trials are finished; ` +
      `kcovbox experiment report ${pathWord(folder.path)}\n`,
  );
  return true;
}

/**
 * Opens or makes the folder, and decides on the tasks; undefined if no trial is left, which a line
 * says. Errors: UserError if there are more tasks than trials.
 */
export async function prepareSubmission(
  path: string,
  { dir, tasks }: SubmitOptions,
  choose: (folder: Folder) => number | Promise<number> = tasksFor,
): Promise<Submission | undefined> {
  const folder = await openExperiment(path, dir);
  const { trials } = folder.plan;
  if (tellIfFinished(folder)) return undefined;
  if (tasks !== undefined && tasks > trials.length)
    throw new UserError(`--tasks ${tasks}: there are ${trials.length} trials, and a task has at least one`);
  return { folder, path: resolve(folder.path), tasks: tasks ?? (await choose(folder)) };
}

/** The folder of an engine's files and logs, made where it is not there. Errors: UserError. */
export function engineFolder({ path }: Submission, engine: string): string {
  const folder = join(path, engine);
  try {
    makeFolders(folder);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UserError(`cannot write ${folder}: ${systemReason(code) ?? message}`);
  }
  return folder;
}

const SCRIPT_MODE = 0o755;

export function writeScript(file: string, lines: readonly string[]): string {
  writeFile(file, `#!/bin/sh\n${lines.join('\n')}\n`, SCRIPT_MODE);
  return file;
}

/** Prints what --dry-run would have started. */
export const printLines = (...lines: readonly string[]): void =>
  writeTo('-', lines.map(line => `${line}\n`).join(''));

/** The argument and the options that every engine has. `where`: who has to see the folder. */
export const addCommon = (engine: Command, where: string): Command =>
  engine
    .argument('<experiment>', `file of the experiment, or its folder${where}`)
    .option('--dir <dir>', 'folder of the results (default: FILE.experiment)');

const PILOT = 'a pilot of one trial for each variant decides; about 30 minutes each';

export const tasksOption = (what: string, otherwise = PILOT): Option =>
  new Option('--tasks <n>', `${what} (default: ${otherwise})`).argParser(parseCount);
export const limitOption = (what = 'tasks that run at the same time'): Option =>
  new Option('--limit <n>', what).argParser(parseCount);
export const moreOption = (description: string): Option =>
  new Option('--option <option>', `${description} (repeatable)`).argParser(repeated);
export const dryRunOption = (): Option =>
  new Option('--dry-run', 'write the files, and print what to run instead of starting it');
