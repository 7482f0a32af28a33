// `kcovbox experiment plan`, `run` and `resume`.
import { availableParallelism } from 'node:os';
import { type Command, Option } from 'commander';
import { visible } from '../../emulator/base/words.ts';
import { counted } from '../../emulator/index.ts';
import { budgetWords } from '../../experiment/budget.ts';
import { isOther, kernelText, planHash } from '../../experiment/plan.ts';
import { tell } from '../../toolchain/index.ts';
import { writeTo } from '../io/output.ts';
import { progressLine } from '../io/progress.ts';
import { pathWord } from '../io/shell-word.ts';
import { parseWithin } from '../io/values.ts';
import type { Folder } from './folder.ts';
import { openExperiment, openResults } from './open.ts';
import { runPool } from './pool.ts';
import { durationText } from './words.ts';

const JOBS_MAX = 256;

interface RunOptions {
  dir?: string;
  jobs?: number;
}

function planText(folder: Folder): string {
  const { plan } = folder;
  const perVariant = plan.trials.length / plan.variants.length;
  const lines = plan.variants.map(variant => {
    const { machine } = variant.run;
    const words = isOther(variant) ? '' : `${variant.run.program.argv.join(' ')} on `;
    const order = 'schedule' in machine ? ` in the order ${machine.schedule}` : '';
    const board = `${counted(machine.harts, 'hart')}${order}, ${machine.memory / 2 ** 20} MiB`;
    return `  ${variant.name}: ${visible(words)}${kernelText(variant)}, ${board}\n`;
  });
  return (
    `${plan.name}: ${counted(plan.variants.length, 'variant')} of ${counted(perVariant, 'trial')}, each of ${budgetWords(plan.budget)}\n` +
    `${lines.join('')}plan ${planHash(plan)}\nfolder ${visible(folder.path)}\n`
  );
}

/** `again`: the command that goes on behind a signal. */
export async function runAll(
  folder: Folder,
  jobs: number,
  again = `kcovbox experiment resume ${pathWord(folder.path)}`,
): Promise<void> {
  folder.sweep();
  const { trials } = folder.plan;
  // The variants in turn, so that a report of unfinished trials has some of each.
  const pending = folder.pending(trials).sort((a, b) => a.index - b.index);
  const before = trials.length - pending.length;
  if (before > 0) tell(`kcovbox: ${before} of ${trials.length} trials are finished already\n`);
  const progress = progressLine({ logs: true });
  const start = process.hrtime.bigint();
  let done = 0;
  const show = (): void => {
    const seconds = Number(process.hrtime.bigint() - start) / 1e9;
    const left = done > 0 ? `, about ${durationText((seconds / done) * (pending.length - done))} left` : '';
    progress.show(`${before + done} of ${trials.length} trials${left}`, done === pending.length);
  };
  show();
  await runPool(folder, pending, jobs, {
    done() {
      done++;
      show();
    },
    interrupted() {
      progress.clear();
      tell(
        `kcovbox: interrupted; ${before + done} of ${trials.length} trials are finished; ` +
          `${again} goes on\n`,
      );
    },
  });
  progress.clear();
  writeTo(
    '-',
    `${counted(trials.length, 'trial')} of plan ${folder.hash.slice(0, 16)} in ${visible(folder.path)}\n`,
  );
}

const jobsOption = (): Option =>
  new Option('-j, --jobs <n>', 'worker processes (default: one for each processor)').argParser(
    parseWithin(1, JOBS_MAX),
  );
const dirOption = 'folder of the results (default: FILE.experiment)';

export function addPlan(command: Command): void {
  command
    .description('check the file, compile its programs and kernels, and write the plan')
    .argument('<file>', 'file of the experiment')
    .option('--dir <dir>', dirOption)
    .addHelpText(
      'after',
      '\nThe folder then has all that the trials need: other machines need no compiler. The hash of the plan names\n' +
        'the results, because equal plans give equal bytes.\nExample:\n  kcovbox experiment plan lost.yaml',
    )
    .action(async (path: string, { dir }: RunOptions) =>
      writeTo('-', planText(await openExperiment(path, dir))),
    );
}

export function addRun(command: Command): void {
  command
    .description('run all trials that are not finished, in worker processes')
    .argument('<experiment>', 'file of the experiment, or its folder')
    .option('--dir <dir>', dirOption)
    .addOption(jobsOption())
    .addHelpText(
      'after',
      '\nA trial is written whole or not at all: after a signal or a crash at any moment, resume goes on with the\n' +
        'trials that are missing, and the results have the same bytes.\n' +
        'Examples:\n  kcovbox experiment run lost.yaml\n  kcovbox experiment run -j 8 --dir /data/lost lost.yaml',
    )
    .action(async (path: string, { dir, jobs }: RunOptions) =>
      runAll(await openExperiment(path, dir), jobs ?? availableParallelism()),
    );
}

export function addResume(command: Command): void {
  command
    .description('go on with an experiment that was interrupted, from its folder alone')
    .argument('<experiment>', 'file of the experiment, or its folder')
    .option('--dir <dir>', dirOption)
    .addOption(jobsOption())
    .addHelpText('after', '\nExample:\n  kcovbox experiment resume lost.experiment')
    .action(async (path: string, { dir, jobs }: RunOptions) =>
      runAll(openResults(path, dir), jobs ?? availableParallelism()),
    );
}
