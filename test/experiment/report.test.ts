// The numbers and the page of a report, from trials that no machine ran: curves by counting rows,
// the table by its columns, and the page as text that no name can leave.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { reportPage } from '../../experiment/html/page.ts';
import { trialId } from '../../experiment/plan.ts';
import { curveOf, gridOf, rowAt } from '../../experiment/report/curves.ts';
import { type Results, reportOf } from '../../experiment/report/data.ts';
import type { Places } from '../../experiment/report/places.ts';
import { COLUMNS, csvText, tableRows } from '../../experiment/report/table.ts';
import type { ExperimentTrial } from '../../experiment/schema.ts';
import { samplePlan, sampleTrial } from './sample.ts';

const seeded = { seed: Number(process.env['KCOVBOX_SEED'] ?? 1) };

/** Ten points share a line, and a hundred a function. */
const places = {
  points: 1000,
  lines: 100,
  functions: 10,
  functionPoints: new Map([['f.c:f0', 99]]),
  at: (ret: string) => {
    const point = Number(ret);
    const fn = `f${Math.floor(point / 100)}`;
    return { name: fn, functionKey: `f.c:${fn}`, line: `f.c:${Math.floor(point / 10)}` };
  },
} as unknown as Places;

type Growth = ExperimentTrial['growth'];
const rows = fc
  .array(
    fc.tuple(
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 900 }),
      fc.integer({ min: 1, max: 30 }),
    ),
    {
      maxLength: 12,
    },
  )
  .map(steps => {
    const sum = [0, 0, 0];
    return steps.map(step => step.map((by, i) => (sum[i]! += by)) as [number, number, number]);
  });

const resultsOf = (growths: readonly Growth[], foundAt: readonly number[] = []): Results => {
  const plan = samplePlan({ trials: Math.ceil(growths.length / 2) });
  const trials = growths.map((growth, i) => {
    const at = foundAt[i];
    const bugs =
      at === undefined
        ? []
        : [
            {
              bug: 'crash',
              execution: at,
              instructions: at * 1000,
              status: 1,
              line: '',
              file: 'crash.kcapsule',
            },
          ];
    return sampleTrial(plan.trials[i]!, growth, bugs);
  });
  return { plan, trials, places: () => places };
};

describe('curves', () => {
  test('a value is that of the last row that is not behind x', () => {
    fc.assert(
      fc.property(rows, fc.integer({ min: 0, max: 260 }), (growth, x) => {
        const curve = curveOf(resultsOf([growth]).trials[0]!, places);
        const last = growth.filter(([executions]) => executions <= x).at(-1)?.[2] ?? 0;
        const row = rowAt(curve, 'executions', x);
        expect(row.points).toBe(last);
        const lines = new Set(Array.from({ length: last }, (_, i) => Math.floor((i + 1) / 10)));
        expect(row.lines).toBe(lines.size);
      }),
      { ...seeded, numRuns: 100 },
    );
  });

  test('the grid rises from at least 1 to the budget', () => {
    fc.assert(
      fc.property(fc.array(rows, { minLength: 2, maxLength: 4 }), growths => {
        const { plan, trials } = resultsOf(growths);
        const grid = gridOf(
          plan,
          trials.map(trial => curveOf(trial, places)),
        );
        expect(grid.at(-1)).toBe(100);
        expect(grid[0]).toBeGreaterThanOrEqual(1);
        expect([...grid].sort((a, b) => a - b)).toEqual(grid);
      }),
      { ...seeded, numRuns: 40 },
    );
  });
});

const GROWTHS: Growth[] = [
  [[1, 900, 20]],
  [
    [1, 900, 25],
    [50, 50_000, 31],
  ],
  [[2, 1900, 40]],
  [
    [2, 1900, 45],
    [70, 70_000, 61],
  ],
];

describe('the table', () => {
  const results = resultsOf(GROWTHS, [7]);

  test('begins with the columns of FuzzBench, and has a row for each trial and place of the grid', () => {
    const [head, ...lines] = csvText(results).trim().split('\n');
    expect(head).toMatch(
      /^git_hash,experiment_filestore,experiment,fuzzer,benchmark,time_started,time_ended,trial_id,time,edges_covered,fuzzer_stats,crash_key,/,
    );
    const all = [...tableRows(results)];
    expect(lines).toHaveLength(all.length);
    expect(new Set(all.map(row => row.trial_id)).size).toBe(4);
    expect(Object.keys(all[0]!)).toEqual(Object.keys(COLUMNS));
    expect(all.filter(row => row.crash_key === 'crash').map(row => row.trial_id)).toEqual([0]);
    expect(all.filter(row => row.time === 100).map(row => row.edges_covered)).toEqual([20, 31, 40, 61]);
  });
});

describe('the report', () => {
  test('compares variants, counts finds, and names what a reader has to know', () => {
    const report = reportOf(resultsOf(GROWTHS, [7]));
    expect(report.comparisons[0]).toMatchObject({ metric: 'points', variant: 'other', a12: 1, u: 4 });
    expect(report.bugs[0]!.variants.map(({ found, of }) => [found, of])).toEqual([
      [1, 2],
      [0, 2],
    ]);
    expect(report.notes.join()).toMatch(/has 2 trials: with fewer than 10/);
    expect(report.finds).toMatchObject([{ trial: 'plain/0000', file: 'trials/plain/0000/crash.kcapsule' }]);
    expect(report.variants[1]!.only).toEqual(['f.c:4', 'f.c:5', 'f.c:6']);
  });

  test('trials that are all the same run are told', () => {
    const results = resultsOf(GROWTHS.map(() => GROWTHS[0]!));
    expect(reportOf(results).notes.join()).toMatch(/All trials of plain are the same run/);
  });

  test('unfinished trials are told, and a variant without any is no failure', () => {
    const { plan, trials } = resultsOf(GROWTHS);
    const report = reportOf({
      plan,
      trials: trials.filter(trial => trialId(trial) === 'plain/0000'),
      places: () => places,
    });
    expect(report.notes.join()).toMatch(/^3 of 4 trials are not finished/);
    expect(report.comparisons).toEqual([]);
  });

  test('no name leaves its place in the page', () => {
    const results = resultsOf(GROWTHS, [7]);
    const line = '</script><script>alert(1)</script>';
    const trials = results.trials.map(trial => ({
      ...trial,
      bugs: trial.bugs.map(bug => ({ ...bug, line })),
    }));
    const page = reportPage(reportOf({ ...results, trials }));
    expect(page).not.toContain(line);
    expect(page.match(/<script/g)).toHaveLength(2);
    expect(page).toBe(reportPage(reportOf({ ...results, trials })));
  });
});
