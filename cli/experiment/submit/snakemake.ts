// `kcovbox experiment submit snakemake`: a Snakefile with a rule for the shards and one for the
// report.
import { join } from 'node:path';
import type { Command } from 'commander';
import { visible } from '../../../emulator/base/words.ts';
import { UserError } from '../../io/fail.ts';
import { writeFile, writeTo } from '../../io/output.ts';
import { pathWord } from '../../io/shell-word.ts';
import { PAGE } from '../report.ts';
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
  type Submission,
  type SubmitOptions,
  shardLine,
  shellLine,
  tasksHere,
  tasksOption,
} from './tasks.ts';

const RETRIES = 2;

/** A string of Python. Only a lone half of a surrogate pair would be another text there. */
const python = (text: string): string => JSON.stringify(text);

/** A line for `shell:`, in which braces are the words of Snakemake. */
const shell = (line: string): string => python(line.replace(/[{}]/g, '$&$&'));

/**
 * The files of the rules are marks beside the Snakefile: which trials are finished is in the folder
 * of the experiment alone.
 */
export function snakefile(submission: Submission): string {
  return `# The trials as ${submission.tasks} shards, for Snakemake 7.7 or newer.
rule report:
    input:
        expand("shard-{index}", index=range(${submission.tasks})),
    output:
        touch("report"),
    shell:
        ${shell(collectLine(submission))}


rule shard:
    output:
        touch("shard-{index}"),
    retries: ${RETRIES}
    shell:
        ${shell(shardLine(submission))} " --index {wildcards.index}"
`;
}

async function submitSnakemake(experiment: string, options: SubmitOptions): Promise<void> {
  const { limit, option: more = [], dryRun } = options;
  requireEngine('snakemake', dryRun);
  const submission = await prepareSubmission(experiment, options, tasksHere);
  if (!submission) return;
  const folder = engineFolder(submission, 'snakemake');
  const file = join(folder, 'Snakefile');
  writeFile(file, snakefile(submission));
  // Marks of an earlier run say nothing, and a lock protects nothing: shards may run twice.
  const words = ['--forceall', '--rerun-incomplete', '--nolock', '--keep-going'];
  words.push('--cores', String(limit ?? 'all'), ...more, '--directory', folder, '--snakefile', file);
  if (dryRun) {
    printLines(shellLine('snakemake', ...words));
    return;
  }
  const status = await runInForeground('snakemake', words);
  if (status !== 0)
    throw new UserError(
      `snakemake ended with status ${status}; kcovbox experiment status ${pathWord(submission.folder.path)} shows what is finished`,
    );
  writeTo('-', `report in ${visible(join(submission.folder.path, PAGE))}\n`);
}

export function addSnakemake(command: Command): void {
  addCommon(command, ', on a file system that all nodes see')
    .description('a Snakefile with a rule for the shards and one for the report')
    .addOption(tasksOption('shards', 'four for each processor of this machine'))
    .addOption(limitOption('processors that are used at the same time (default: all)'))
    .addOption(moreOption('an option of snakemake, as --option=--profile=slurm'))
    .addOption(dryRunOption())
    .addHelpText(
      'after',
      `\nA shard that is killed or fails is tried ${RETRIES + 1} times. The rules are in FOLDER/snakemake/Snakefile.\n` +
        'Examples:\n  kcovbox experiment submit snakemake lost.experiment\n' +
        '  kcovbox experiment submit snakemake --dry-run --tasks 100 lost.experiment',
    )
    .action(async (path: string, options: SubmitOptions) => submitSnakemake(path, options));
}
