// The measurements as a table with the column names of FuzzBench, and ours to the right of them.
import { planHash, subjectOf, trialId, variantHash } from '../plan.ts';
import { axisOf, gridOf, rowAt } from './curves.ts';
import { curvesOf, type Results } from './data.ts';

type Cell = string | number;

/** `time` counts in the unit of the budget; `edges_covered` are points, edges of clang's graph. */
export const COLUMNS = {
  git_hash: 'string',
  experiment_filestore: 'string',
  experiment: 'string',
  fuzzer: 'string',
  benchmark: 'string',
  time_started: 'string',
  time_ended: 'string',
  trial_id: 'number',
  time: 'number',
  edges_covered: 'number',
  fuzzer_stats: 'string',
  crash_key: 'string',
  seed: 'string',
  execs: 'number',
  guest_instret: 'number',
  pcs_covered: 'number',
  lines_covered: 'number',
  functions_covered: 'number',
  config_hash: 'string',
} as const satisfies Record<string, 'string' | 'number'>;
export type Column = keyof typeof COLUMNS;
export type TableRow = Readonly<Record<Column, Cell>>;

/**
 * A row for each trial and place of the grid; one more for each further bug found since the last.
 */
export function* tableRows(results: Results): Generator<TableRow> {
  const { plan } = results;
  const axis = axisOf(plan);
  const curves = curvesOf(results);
  const grid = gridOf(plan, [...curves.values()].flat());
  const numbers = new Map(plan.trials.map((trial, i) => [trialId(trial), i]));
  for (const [variant, own] of curves) {
    const planned = plan.variants.find(({ name }) => name === variant)!;
    const config = variantHash(planned);
    for (const curve of own) {
      const { trial } = curve;
      const bugs = trial.bugs.map(one => ({
        ...one,
        at: axis === 'executions' ? one.execution : one.instructions,
      }));
      let before = 0;
      for (const time of grid) {
        const row = rowAt(curve, axis, time);
        const found = bugs.filter(({ at }) => at > before && at <= time).map(({ bug }) => bug);
        before = time;
        for (const crash of found.length > 0 ? found : [''])
          yield {
            git_hash: planHash(plan),
            experiment_filestore: '',
            experiment: plan.name,
            fuzzer: variant,
            benchmark: subjectOf(planned),
            time_started: '',
            time_ended: '',
            trial_id: numbers.get(trialId(trial))!,
            time,
            edges_covered: row.points,
            fuzzer_stats: '',
            crash_key: crash,
            seed: trial.seed,
            execs: axis === 'executions' ? Math.min(time, trial.executions) : row.executions,
            guest_instret: axis === 'instructions' ? Math.min(time, trial.instructions) : row.instructions,
            pcs_covered: row.points,
            lines_covered: row.lines,
            functions_covered: row.functions,
            config_hash: config,
          };
      }
    }
  }
}

/** RFC 4180, with LF. */
const quoted = (cell: Cell): string =>
  /[",\r\n]/.test(String(cell)) ? `"${String(cell).replaceAll('"', '""')}"` : String(cell);

export function csvText(results: Results): string {
  const names = Object.keys(COLUMNS) as Column[];
  const lines = [names.join(',')];
  for (const row of tableRows(results)) lines.push(names.map(name => quoted(row[name])).join(','));
  return `${lines.join('\n')}\n`;
}
