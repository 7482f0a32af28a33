// `kcovbox experiment verify`: runs a sample of the finished trials again and compares the bytes.
import { type Command, Option } from 'commander';
import { sampleOf, trialId } from '../../experiment/plan.ts';
import { tell } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';
import { writeTo } from '../io/output.ts';
import { progressLine } from '../io/progress.ts';
import { differenceOf, type Folder, filesOf } from './folder.ts';
import { runTrial } from './kinds.ts';
import { openResults } from './open.ts';
import { parseShare } from './report.ts';

interface VerifyOptions {
  dir?: string;
  sample: number;
}

/** The differences, one line each; `share`: of the trials. */
export async function verifyTrials(
  folder: Folder,
  share: number,
): Promise<{ count: number; differences: string[] }> {
  const { plan } = folder;
  if (plan.budget['cpu-seconds'] !== undefined)
    throw new UserError(
      'the budget is CPU time, so trials differ from run to run; give executions or instructions',
    );
  const done = plan.trials.filter(trial => folder.isDone(trial));
  if (done.length === 0) throw new UserError(`${folder.path} has no finished trial to verify`);
  const sample = sampleOf({ ...plan, trials: done }, share);
  const progress = progressLine();
  const differences: string[] = [];
  for (const [i, planned] of sample.entries()) {
    progress.show(`${i} of ${sample.length} trials`);
    folder.read(planned); // a damaged file is one, and not a difference
    const difference = differenceOf(folder.files(planned), filesOf(await runTrial(folder, planned)));
    if (difference !== undefined) differences.push(`${trialId(planned)}: ${difference}`);
  }
  progress.clear();
  return { count: sample.length, differences };
}

export function addVerify(command: Command): void {
  command
    .description('run a sample of the finished trials again on this machine, and compare the bytes')
    .argument('<experiment>', 'file of the experiment, or its folder')
    .option('--dir <dir>', 'folder of the results (default: FILE.experiment)')
    .addOption(
      new Option('--sample <share>', 'share of the trials, at least one')
        .argParser(parseShare)
        .default(0.05, '5%'),
    )
    .addHelpText(
      'after',
      '\nThe sample follows from the plan. The exit status is 1 if a trial differs; a line names the first difference.\n' +
        'Example:\n  kcovbox experiment verify --sample 5% lost.experiment',
    )
    .action(async (path: string, { dir, sample }: VerifyOptions) => {
      const { count, differences } = await verifyTrials(openResults(path, dir), sample);
      for (const line of differences) tell(`kcovbox: trial ${line}\n`);
      const verdict = differences.length === 0 ? 'equal' : `${differences.length} differ`;
      writeTo('-', `${count} trial${count === 1 ? '' : 's'} ran again: ${verdict}\n`);
      process.exitCode = differences.length === 0 ? 0 : 1;
    });
}
