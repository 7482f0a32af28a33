// `kcovbox cov`: operations on recorded traces.
import type { Command } from 'commander';
import { addFilter, addMerge } from '../cov/merge.ts';
import { addDiff, addExplain, addExport, addReport, addStats } from '../cov/report.ts';

export function register(program: Command): void {
  const cov = program
    .command('cov')
    .description('report, compare, merge, filter and export recorded coverage')
    .addHelpText(
      'after',
      '\nExamples:\n  kcovbox run --trace --cover a.kcov prog.c && kcovbox cov report a.kcov\n' +
        '  kcovbox cov export a.kcov --format html -o report.html\n  kcovbox cov diff a.kcov b.kcov',
    );
  for (const add of [addReport, addStats, addDiff, addExplain, addMerge, addFilter, addExport]) add(cov);
}
