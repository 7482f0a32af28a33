// `kcovbox experiment submit slurm`: the trials as one job array, and a collector behind it. A
// campaign of any size is two calls of the controller.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Command } from 'commander';
import { visible } from '../../../emulator/base/words.ts';
import { UserError } from '../../io/fail.ts';
import { writeTo } from '../../io/output.ts';
import {
  addCommon,
  collectLine,
  dryRunOption,
  engineFolder,
  limitOption,
  moreOption,
  prepareSubmission,
  printLines,
  requireEngine,
  type SubmitOptions,
  shardLine,
  shellLine,
  tasksOption,
  writeScript,
} from './tasks.ts';

function sbatch(words: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync('sbatch', words, { encoding: 'utf8' });
  if (error) throw new UserError(`cannot start sbatch: ${error.message}`);
  if (status !== 0) throw new UserError(`sbatch: ${stderr.trim().split('\n')[0] || `status ${status}`}`);
  const [, id] = /^(\d+)/.exec(stdout.trim()) ?? [];
  if (id === undefined)
    throw new UserError(`sbatch answered "${stdout.trim()}", which has no number of a job`);
  return id;
}

async function submitSlurm(experiment: string, options: SubmitOptions): Promise<void> {
  const { limit, option: more = [], dryRun } = options;
  requireEngine('sbatch', dryRun);
  const submission = await prepareSubmission(experiment, options);
  if (!submission) return;
  const { folder, tasks } = submission;
  const logs = engineFolder(submission, 'slurm');
  // A task that is requeued goes on with the trials that are missing.
  const array = writeScript(join(logs, 'array.sh'), [`exec ${shardLine(submission)}`]);
  const collect = writeScript(join(logs, 'collect.sh'), [collectLine(submission)]);
  const common = ['--parsable', `--job-name=${folder.plan.name}`, '--open-mode=append', ...more];
  // % begins a pattern of sbatch; only that in the name is one.
  const log = (name: string): string => `--output=${join(logs.replaceAll('%', '%%'), name)}`;
  const range = `--array=0-${tasks - 1}${limit === undefined ? '' : `%${limit}`}`;
  const first = [...common, '--requeue', range, log('task-%a.log'), array];
  const second = (id: string) => [...common, `--dependency=afterany:${id}`, log('collect.log'), collect];
  if (dryRun) {
    printLines(shellLine('sbatch', ...first), shellLine('sbatch', ...second('ARRAY')));
    return;
  }
  const id = sbatch(first);
  const collector = sbatch(second(id));
  writeTo(
    '-',
    `array ${id} of ${tasks} tasks, collector ${collector}; logs in ${visible(join(folder.path, 'slurm'))}\n`,
  );
}

export function addSlurm(command: Command): void {
  addCommon(command, ', on a file system that all nodes see')
    .description('one job array for the trials, and a job behind it that writes the report')
    .addOption(tasksOption('tasks of the array'))
    .addOption(limitOption())
    .addOption(moreOption('an option of sbatch for both jobs, as --option=--partition=long'))
    .addOption(dryRunOption())
    .addHelpText(
      'after',
      '\nA task is one shard. It may be killed and requeued at any moment; the collector runs what is missing.\n' +
        'Examples:\n  kcovbox experiment submit slurm lost.experiment\n' +
        '  kcovbox experiment submit slurm --tasks 100 --limit 20 --option=--time=2:00:00 lost.experiment',
    )
    .action(async (path: string, options: SubmitOptions) => submitSlurm(path, options));
}
