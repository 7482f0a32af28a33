// `kcovbox experiment submit parallel`: the shards by GNU parallel, on this machine or on hosts
// that see the folder; then a collector here.
import { join } from 'node:path';
import type { Command } from 'commander';
import { tell } from '../../../toolchain/index.ts';
import { UserError } from '../../io/fail.ts';
import { writeFile } from '../../io/output.ts';
import { writeReport } from '../report.ts';
import { runAll } from '../run.ts';
import { runInForeground } from './foreground.ts';
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
  tasksHere,
  tasksOption,
} from './tasks.ts';

/** How often a shard is tried, with --sshlogin each time on another host. */
const ATTEMPTS = 3;
/** GNU parallel's status is the number of failed jobs, 101 for more; above, it did not work. */
const STATUS_JOBS = 101;

async function submitParallel(experiment: string, options: SubmitOptions): Promise<void> {
  const { limit, option: more = [], dryRun } = options;
  requireEngine('parallel', dryRun);
  const submission = await prepareSubmission(experiment, options, tasksHere);
  if (!submission) return;
  const { folder, path, tasks } = submission;
  if (path.includes('\n'))
    throw new UserError(
      `${folder.path}: GNU parallel takes a line for each task, and the path has a line break`,
    );
  const logs = engineFolder(submission, 'parallel');
  const shards = join(logs, 'shards');
  // Whole lines, because parallel would take {.} or {= =} in a path for its own words.
  writeFile(
    shards,
    Array.from({ length: tasks }, (_, index) => `${shardLine(submission, index)}\n`).join(''),
  );
  const words = ['--joblog', join(logs, 'joblog'), '--retries', String(ATTEMPTS), '--line-buffer'];
  if (limit !== undefined) words.push('--jobs', String(limit));
  words.push(...more, '--arg-file', shards);
  if (dryRun) {
    printLines(
      shellLine('parallel', ...words),
      collectLine(submission, line => shellLine(...line)),
    );
    return;
  }
  const status = await runInForeground('parallel', words);
  if (status > STATUS_JOBS) throw new UserError(`GNU parallel ended with status ${status}`);
  if (status > 0) {
    const failed = status === STATUS_JOBS ? 'more than 100' : status;
    tell(`kcovbox: ${failed} of ${tasks} tasks failed; what they left undone runs here\n`);
  }
  await runAll(folder, 1);
  writeReport(folder);
}

export function addParallel(command: Command): void {
  addCommon(command, ', on a file system that all hosts see')
    .description('the trials by GNU parallel, here or on other hosts, and the report')
    .addOption(tasksOption('tasks', 'four for each processor of this machine'))
    .addOption(limitOption('tasks that run at the same time on a host (default: one for each processor)'))
    .addOption(moreOption('an option of parallel, as --option=--sshlogin=n1,n2'))
    .addOption(dryRunOption())
    .addHelpText(
      'after',
      `\nA task is one shard. One that is killed or fails is tried ${ATTEMPTS} times, on another host where there is one.\n` +
        'Then this process runs what is missing, and writes the report. FOLDER/parallel/joblog has the times.\n' +
        'Run it again after an interruption: finished trials stay.\n' +
        'Examples:\n  kcovbox experiment submit parallel lost.experiment\n' +
        '  kcovbox experiment submit parallel --tasks 100 --option=--sshlogin=n1,n2 lost.experiment',
    )
    .action(async (path: string, options: SubmitOptions) => submitParallel(path, options));
}
