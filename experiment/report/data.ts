// Everything that the report of an experiment shows, from the plan and the finished trials.
import { counted } from '../../emulator/index.ts';
import { budgetWords } from '../budget.ts';
import { codeOf, guestImages, kernelText, planHash, trialId } from '../plan.ts';
import { type ExperimentPlan, type ExperimentTrial, type PlannedFuzz, TRIALS_FEW } from '../schema.ts';
import { median, medianBand } from '../statistics/median.ts';
import { effectSize, holm, rankSum } from '../statistics/rank-sum.ts';
import { kaplanMeier, logRank, medianTime, type Time } from '../statistics/survival.ts';
import { axisOf, type Curve, curveOf, gridOf, rowAt } from './curves.ts';
import { functionRows } from './functions.ts';
import type { Places } from './places.ts';
import {
  type Axis,
  type BugReport,
  type Comparison,
  type ExperimentReport,
  type Find,
  METRICS,
  type Metric,
  type VariantReport,
} from './shape.ts';

export interface Results {
  readonly plan: ExperimentPlan;
  readonly trials: readonly ExperimentTrial[];
  /** Of the image that `codeOf` names. */
  readonly places: (code: string) => Places;
}

type Planned = ExperimentPlan['variants'][number];

/** The facts of a campaign that are not the usual ones. */
function campaignWords(variant: PlannedFuzz): string[] {
  const { calls, signal, comparisons, snapshots, failNth, settles } = variant.campaign;
  return [
    `kernel ${kernelText(variant)}`,
    `calls ${calls.join(' ')}`,
    `keeps by ${signal}`,
    comparisons ? 'comparisons' : 'no comparisons',
    ...(snapshots ? [] : ['no snapshots']),
    ...(failNth ? ['allocations fail'] : []),
    ...(settles ? ['deferred work'] : []),
  ];
}

function wordsOf(variant: Planned): string[] {
  if ('campaign' in variant) return campaignWords(variant);
  const { program, kernel, machine } = variant.run;
  const harts = `${machine.harts} hart${machine.harts === 1 ? '' : 's'}`;
  return [
    program.argv.join(' '),
    ...(program.cflags.length > 0 ? [`cflags ${program.cflags.join(' ')}`] : []),
    `kernel ${kernel.conf}`,
    harts,
    `${machine.memory / 2 ** 20} MiB`,
    ...Object.entries(program.environment).map(([key, value]) => `${key}=${value}`),
  ];
}

const LISTED = 200;

/** Curves of the finished trials of each variant, in the order of the plan. */
export function curvesOf({ plan, trials, places }: Results): Map<string, Curve[]> {
  const byId = new Map(trials.map(trial => [trialId(trial), trial]));
  return new Map(
    plan.variants.map(variant => {
      const { name } = variant;
      const own = plan.trials.filter(({ variant }) => variant === name);
      const done = own.flatMap(planned => byId.get(trialId(planned)) ?? []);
      return [name, done.map(trial => curveOf(trial, places(codeOf(variant))))];
    }),
  );
}

const perMetric = <T>(make: (metric: Metric) => T): Record<Metric, T> =>
  Object.fromEntries(METRICS.map(metric => [metric, make(metric)])) as Record<Metric, T>;

function comparisonsOf(variants: readonly VariantReport[], baseline: string): Comparison[] {
  const base = variants.find(({ name }) => name === baseline)!;
  const pairs = METRICS.flatMap(metric =>
    variants
      .filter(({ name, trials }) => name !== baseline && trials > 0 && base.trials > 0)
      .map(({ name, finals }) => {
        const [a, b] = [finals[metric], base.finals[metric]];
        return { metric, variant: name, baseline, ...rankSum(a, b), ...effectSize(a, b) };
      }),
  );
  const corrected = holm(pairs.map(({ p }) => p));
  return pairs.map((pair, i) => ({ ...pair, corrected: corrected[i]! }));
}

function patternText({ console, report, status, canary }: ExperimentPlan['bugs'][string]): string {
  if (canary !== undefined) return `the historical bug ${canary} is triggered`;
  if (console !== undefined) return `a console line matches /${console}/`;
  return report === undefined ? `the exit status is ${status}` : `a report of the kernel matches /${report}/`;
}

function bugsOf(plan: ExperimentPlan, curves: ReadonlyMap<string, readonly Curve[]>): BugReport[] {
  const axis = axisOf(plan);
  const reports = Object.entries(plan.bugs).map(([bug, pattern]) => {
    const times = new Map(
      [...curves].map(([variant, own]) => [variant, own.map(({ trial }) => timeOf(trial, bug, axis))]),
    );
    const variants = [...times].map(([variant, all]) => {
      const steps = kaplanMeier(all);
      const found = all.filter(({ isFound }) => isFound).length;
      return { variant, found, of: all.length, medianTime: medianTime(steps) ?? null, steps };
    });
    const base = times.get(plan.baseline)!;
    const tests = [...times]
      .filter(([variant, own]) => variant !== plan.baseline && own.length > 0 && base.length > 0)
      .map(([variant, own]) => ({ variant, baseline: plan.baseline, ...logRank(own, base) }));
    return { bug, pattern: patternText(pattern), variants, tests };
  });
  const corrected = holm(reports.flatMap(({ tests }) => tests.map(({ p }) => p)));
  let at = 0;
  return reports.map(report => ({
    ...report,
    tests: report.tests.map(one => ({ ...one, corrected: corrected[at++]! })),
  }));
}

function timeOf(trial: ExperimentTrial, bug: string, axis: Axis): Time {
  const found = trial.bugs.find(one => one.bug === bug);
  if (!found) return { time: trial[axis], isFound: false };
  return { time: axis === 'executions' ? found.execution : found.instructions, isFound: true };
}

/** Trials of a variant that differ in their seeds only by name. */
const areEqual = (curves: readonly Curve[]): boolean =>
  curves.length > 1 && new Set(curves.map(({ trial }) => trial.runs.join())).size === 1;

function notesOf({ plan, trials }: Results, curves: ReadonlyMap<string, readonly Curve[]>): string[] {
  const notes: string[] = [];
  const missing = plan.trials.length - trials.length;
  if (missing > 0)
    notes.push(`${missing} of ${plan.trials.length} trials are not finished: all numbers are preliminary.`);
  const fewest = Math.min(...[...curves.values()].map(own => own.length));
  if (fewest < TRIALS_FEW)
    notes.push(
      `A variant has ${counted(fewest, 'trial')}: with fewer than ${TRIALS_FEW} a difference can rarely be told from chance.`,
    );
  for (const [name, own] of curves)
    if (areEqual(own))
      notes.push(
        `All trials of ${name} are the same run: no seed reaches the program, and the tests below say nothing.`,
      );
  if (plan.stopWhenFound)
    notes.push('A trial ends when it has found every bug: coverage at its end is that of a shorter trial.');
  if (plan.budget['cpu-seconds'] !== undefined)
    notes.push('The budget is CPU time: another machine gives other numbers.');
  return notes;
}

/** All numbers of the report. */
export function reportOf(results: Results): ExperimentReport {
  const { plan, places } = results;
  const axis = axisOf(plan);
  const curves = curvesOf(results);
  const all = [...curves.values()].flat();
  const grid = gridOf(plan, all);
  const end = grid.at(-1)!;
  const variants = plan.variants.map((planned): VariantReport => {
    const own = curves.get(planned.name)!;
    const others = [...curves].filter(([name]) => name !== planned.name).flatMap(([, theirs]) => theirs);
    const theirs = new Set(others.flatMap(({ lines }) => [...lines]));
    const mine = new Set(own.flatMap(({ lines }) => [...lines]));
    const known = places(codeOf(planned));
    const valuesOf = (metric: Metric) => own.map(curve => grid.map(x => rowAt(curve, axis, x)[metric]));
    const values = perMetric(valuesOf);
    return {
      name: planned.name,
      words: wordsOf(planned),
      trials: own.length,
      of: plan.trials.filter(({ variant }) => variant === planned.name).length,
      values,
      bands: perMetric(metric =>
        own.length === 0 ? [] : grid.map((_, i) => medianBand(values[metric].map(row => row[i]!))),
      ),
      finals: perMetric(metric => own.map(curve => rowAt(curve, axis, end)[metric])),
      totals: perMetric(metric => known[metric]),
      only: [...mine]
        .filter(line => !theirs.has(line))
        .sort()
        .slice(0, LISTED),
    };
  });
  const finds = all.flatMap(({ trial }) =>
    trial.bugs.map(({ bug, execution, instructions, line, file }): Find => {
      const id = trialId(trial);
      const planned = plan.variants.find(({ name }) => name === trial.variant)!;
      return {
        trial: id,
        bug,
        execution,
        instructions,
        line,
        file: `trials/${id}/${file}`,
        images: guestImages(planned).map(hash => `images/${hash}`),
      };
    }),
  );
  return {
    name: plan.name,
    plan: planHash(plan),
    budget: budgetWords(plan.budget),
    axis,
    end,
    baseline: plan.baseline,
    grid,
    variants,
    comparisons: comparisonsOf(variants, plan.baseline),
    bugs: bugsOf(plan, curves),
    finds,
    functions: functionRows(plan, curves, places),
    notes: notesOf(results, curves),
  };
}

/** A table of the report for a terminal. */
export function summaryText(report: ExperimentReport): string {
  const lines = report.notes.map(note => `note: ${note}`);
  for (const { name, trials, of, finals, totals } of report.variants) {
    const cells = METRICS.map(metric =>
      trials === 0 ? `- ${metric}` : `${median(finals[metric])} of ${totals[metric]} ${metric}`,
    );
    lines.push(`${name}: ${trials} of ${of} trials, median ${cells.join(', ')}`);
  }
  const p = (value: number): string => (value < 0.001 ? '< 0.001' : `= ${value.toFixed(3)}`);
  for (const { metric, variant, baseline, corrected, a12, low, high } of report.comparisons)
    lines.push(
      `${variant} vs ${baseline}, ${metric}: A12 ${a12.toFixed(2)} (95 % ${low.toFixed(2)} to ${high.toFixed(2)}), p ${p(corrected)}`,
    );
  for (const { bug, variants, tests } of report.bugs) {
    const found = variants.map(({ variant, found, of, medianTime }) => {
      const when = medianTime === null ? '' : `, half by ${medianTime} ${report.axis}`;
      return `${variant} ${found} of ${of}${when}`;
    });
    lines.push(`${bug}: ${found.join('; ')}`);
    for (const { variant, baseline, corrected } of tests)
      lines.push(`${bug}, ${variant} vs ${baseline}: log-rank p ${p(corrected)}`);
  }
  return `${lines.join('\n')}\n`;
}
