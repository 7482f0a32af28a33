// `kcovbox experiment submit slurm`: the trials as one job array, and a collector behind it. A
// campaign of any size is two calls of the controller.
import { spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { trialId } from '../../experiment/plan.ts';
import { makeFolders, packageRoot, tell, which } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';
import { writeFile, writeTo } from '../io/output.ts';
import { repeated } from '../io/repeated.ts';
import { shellWord } from '../io/shell-word.ts';
import { parseCount } from '../io/values.ts';
import type { Folder } from './folder.ts';
import { runTrial } from './kinds.ts';
import { openExperiment } from './open.ts';
import { durationText } from './words.ts';

interface SubmitOptions {
  dir?: string;
  tasks?: number;
  limit?: number;
  option?: string[];
  dryRun?: true;
}

/** A task should take about so long: the controller is not asked too often, and none lasts days. */
const TASK_SECONDS = 1800;
/** Slurm's usual MaxArraySize is 1001. */
const TASKS_MAX = 1000;

/** The command line that starts this kcovbox. */
const command = (...words: string[]): string =>
  [process.execPath, join(packageRoot(), 'bin', 'kcovbox.cjs'), 'experiment', ...words]
    .map(shellWord)
    .join(' ');

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

async function tasksFor(folder: Folder): Promise<number> {
  const seconds = await pilot(folder);
  const pending = folder.pending(folder.plan.trials).length;
  const tasks = Math.max(1, Math.min(TASKS_MAX, pending, Math.ceil((pending * seconds) / TASK_SECONDS)));
  const each = durationText((pending * seconds) / tasks);
  tell(`kcovbox: ${pending} trials of about ${durationText(seconds)}: ${tasks} tasks of about ${each}\n`);
  return tasks;
}

/** The two batch scripts. A task that is requeued goes on with the trials that are missing. */
function writeScripts(folder: Folder, tasks: number): { array: string; collect: string } {
  const path = resolve(folder.path);
  const logs = join(path, 'slurm');
  makeFolders(logs);
  const write = (name: string, lines: readonly string[]): string => {
    const file = join(logs, name);
    writeFile(file, `#!/bin/sh\n${lines.join('\n')}\n`);
    chmodSync(file, 0o755);
    return file;
  };
  const array = write('array.sh', [`exec ${command('shard', path, '--of', String(tasks))}`]);
  const collect = write('collect.sh', [
    `# Trials of tasks that failed are run here; then the report is written.`,
    `${command('resume', '-j', '1', path)} && exec ${command('report', path)}`,
  ]);
  return { array, collect };
}

function sbatch(words: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync('sbatch', words, { encoding: 'utf8' });
  if (error) throw new UserError(`cannot start sbatch: ${error.message}`);
  if (status !== 0) throw new UserError(`sbatch: ${stderr.trim().split('\n')[0] || `status ${status}`}`);
  const [, id] = /^(\d+)/.exec(stdout.trim()) ?? [];
  if (id === undefined)
    throw new UserError(`sbatch answered "${stdout.trim()}", which has no number of a job`);
  return id;
}

async function submitSlurm(path: string, options: SubmitOptions): Promise<void> {
  const { dir, limit, option: more = [], dryRun } = options;
  if (!dryRun && !which('sbatch'))
    throw new UserError('there is no sbatch on this machine; --dry-run writes the scripts and the two lines');
  const folder = await openExperiment(path, dir);
  if (folder.pending(folder.plan.trials).length === 0)
    throw new UserError(
      `all ${folder.plan.trials.length} trials are finished; kcovbox experiment report ${path}`,
    );
  const tasks = options.tasks ?? (await tasksFor(folder));
  if (tasks > folder.plan.trials.length)
    throw new UserError(
      `--tasks ${tasks}: there are ${folder.plan.trials.length} trials, and a task has at least one`,
    );
  const { array, collect } = writeScripts(folder, tasks);
  const common = ['--parsable', `--job-name=${folder.plan.name}`, '--open-mode=append', ...more];
  const log = (name: string): string => `--output=${join(resolve(folder.path), 'slurm', name)}`;
  const range = `--array=0-${tasks - 1}${limit === undefined ? '' : `%${limit}`}`;
  const first = [...common, '--requeue', range, log('task-%a.log'), array];
  const second = (id: string) => [...common, `--dependency=afterany:${id}`, log('collect.log'), collect];
  if (dryRun) {
    const line = (words: readonly string[]) => `sbatch ${words.map(shellWord).join(' ')}\n`;
    writeTo('-', line(first) + line(second('ARRAY')));
    return;
  }
  const id = sbatch(first);
  const collector = sbatch(second(id));
  writeTo(
    '-',
    `array ${id} of ${tasks} tasks, collector ${collector}; logs in ${join(folder.path, 'slurm')}\n`,
  );
}

export function addSubmit(command: Command): void {
  command
    .description('hand the trials to a batch system')
    .addHelpText('after', '\nExample:\n  kcovbox experiment submit slurm lost.experiment');
  command
    .command('slurm')
    .description('one job array for the trials, and a job behind it that writes the report')
    .argument('<experiment>', 'file of the experiment, or its folder, on a file system that all nodes see')
    .option('--dir <dir>', 'folder of the results (default: FILE.experiment)')
    .addOption(
      new Option(
        '--tasks <n>',
        'tasks of the array (default: a pilot of one trial for each variant decides; about 30 minutes each)',
      ).argParser(parseCount),
    )
    .addOption(new Option('--limit <n>', 'tasks that run at the same time').argParser(parseCount))
    .option(
      '--option <option>',
      'an option of sbatch for both jobs, as --option=--partition=long (repeatable)',
      repeated,
    )
    .option('--dry-run', 'write the scripts, and print the two lines instead of submitting them')
    .addHelpText(
      'after',
      '\nA task is one shard. It may be killed and requeued at any moment; the collector runs what is missing.\n' +
        'Examples:\n  kcovbox experiment submit slurm lost.experiment\n' +
        '  kcovbox experiment submit slurm --tasks 100 --limit 20 --option=--time=2:00:00 lost.experiment',
    )
    .action(async (path: string, options: SubmitOptions) => submitSlurm(path, options));
}
