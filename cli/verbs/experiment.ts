// `kcovbox experiment`: many trials of variants from one file, on one machine or many.
import type { Command } from 'commander';
import { addExport, addReproduce } from '../experiment/export.ts';
import { addReport, addStatus } from '../experiment/report.ts';
import { addPlan, addResume, addRun } from '../experiment/run.ts';
import { addShard } from '../experiment/shard.ts';
import { addSubmit } from '../experiment/submit/index.ts';
import { addVerify } from '../experiment/verify.ts';
import { addWork } from '../experiment/work.ts';

export function register(program: Command): void {
  const experiment = program
    .command('experiment')
    .description('compare variants in many trials, from one file, with the same bytes on every machine')
    .addHelpText(
      'after',
      '\nExamples:\n  kcovbox experiment run examples/experiment/lost.yaml\n' +
        'docs/research.md describes the file, the folder and the statistics.',
    );
  addPlan(experiment.command('plan'));
  addRun(experiment.command('run'));
  addResume(experiment.command('resume'));
  addStatus(experiment.command('status'));
  addReport(experiment.command('report'));
  addVerify(experiment.command('verify'));
  addExport(experiment.command('export'));
  addReproduce(experiment.command('reproduce'));
  addShard(experiment.command('shard'));
  addSubmit(experiment.command('submit'));
  addWork(experiment.command('work'));
}
