// `kcovbox experiment verify`: runs a sample of the finished trials again and compares the bytes.
import type { Command } from 'commander';
import { counted } from '../../emulator/index.ts';
import { sampleOf, trialId } from '../../experiment/plan.ts';
import type { ExperimentVerification } from '../../experiment/schema.ts';
import { tell } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';
import { printJson, writeTo } from '../io/output.ts';
import { progressLine } from '../io/progress.ts';
import { sampleOption } from '../io/values.ts';
import { differenceOf, type Folder, filesOf } from './folder.ts';
import { runTrial } from './kinds.ts';
import { openResults } from './open.ts';

interface VerifyOptions {
  dir?: string;
  sample: number;
  json?: true;
}

/** Runs `percent` of the finished trials again. Errors: UserError if there is none to compare. */
async function verifyTrials(folder: Folder, percent: number): Promise<ExperimentVerification> {
  const { plan } = folder;
  if (plan.budget['cpu-seconds'] !== undefined)
    throw new UserError(
      'the budget is CPU time, so trials differ from run to run; give executions or instructions',
    );
  const done = plan.trials.filter(trial => folder.isDone(trial));
  if (done.length === 0) throw new UserError(`${folder.path} has no finished trial to verify`);
  const sample = sampleOf({ ...plan, trials: done }, percent);
  const progress = progressLine();
  const differs: ExperimentVerification['differs'] = [];
  for (const [i, planned] of sample.entries()) {
    progress.show(`${i} of ${sample.length} trials`);
    folder.read(planned); // a damaged file is one, and not a difference
    const difference = differenceOf(folder.files(planned), filesOf(await runTrial(folder, planned)));
    if (difference !== undefined) differs.push({ trial: trialId(planned), difference });
  }
  progress.clear();
  return {
    format: 'kcovbox experiment verification',
    version: 1,
    plan: folder.hash,
    trials: done.length,
    repeated: sample.map(trialId),
    differs,
  };
}

function tellVerification({ repeated, differs }: ExperimentVerification): void {
  for (const { trial, difference } of differs) tell(`kcovbox: trial ${trial}: ${difference}\n`);
  const verdict =
    differs.length === 0 ? 'equal' : `${differs.length} ${differs.length === 1 ? 'differs' : 'differ'}`;
  writeTo('-', `${counted(repeated.length, 'trial')} ran again: ${verdict}\n`);
}

export function addVerify(command: Command): void {
  command
    .description('run a sample of the finished trials again on this machine, and compare the bytes')
    .argument('<experiment>', 'file of the experiment, or its folder')
    .option('--dir <dir>', 'folder of the results (default: FILE.experiment)')
    .addOption(sampleOption('finished trials'))
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nThe sample follows from the plan. The exit status is 1 if a trial differs; a line names the first difference.\n' +
        'Example:\n  kcovbox experiment verify --sample 5% lost.experiment',
    )
    .action(async (path: string, { dir, sample, json }: VerifyOptions) => {
      const found = await verifyTrials(openResults(path, dir), sample);
      if (json) printJson(found);
      else tellVerification(found);
      process.exitCode = found.differs.length === 0 ? 0 : 1;
    });
}
