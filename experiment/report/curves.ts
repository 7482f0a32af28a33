// Coverage of one trial as a function of its executions or instructions: steps, exact at each row.
import type { ExperimentPlan, ExperimentTrial } from '../schema.ts';
import type { Places } from './places.ts';
import type { Axis, Metric } from './shape.ts';

export const axisOf = ({ budget }: ExperimentPlan): Axis =>
  budget.executions !== undefined ? 'executions' : 'instructions';

export interface Row extends Readonly<Record<Axis | Metric, number>> {}

export interface Curve {
  readonly trial: ExperimentTrial;
  readonly rows: readonly Row[];
  /** Lines and functions that it reached. */
  readonly lines: ReadonlySet<string>;
  /** Points covered, by function. */
  readonly functions: ReadonlyMap<string, number>;
}

export function curveOf(trial: ExperimentTrial, places: Places): Curve {
  const lines = new Set<string>();
  const functions = new Map<string, number>();
  let at = 0;
  const rows = trial.growth.map(([executions, instructions, points], row) => {
    for (; at < trial.points.length && trial.points[at]![1] <= row; at++) {
      const { line, functionKey } = places.at(trial.points[at]![0]);
      lines.add(line);
      functions.set(functionKey, (functions.get(functionKey) ?? 0) + 1);
    }
    return { executions, instructions, points, lines: lines.size, functions: functions.size };
  });
  return { trial, rows, lines, functions };
}

const NOTHING: Row = { executions: 0, instructions: 0, points: 0, lines: 0, functions: 0 };

/** The last row that is not behind `x`. */
export function rowAt({ rows }: Curve, axis: Axis, x: number): Row {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle]![axis] <= x) low = middle + 1;
    else high = middle;
  }
  return rows[low - 1] ?? NOTHING;
}

const GRID = 80;

/** Places on the x axis: logarithmic, from 1 or the first row of any trial to the end. */
export function gridOf(plan: ExperimentPlan, curves: readonly Curve[]): number[] {
  const axis = axisOf(plan);
  const end = plan.budget[axis] ?? Math.max(1, ...curves.map(({ trial }) => trial[axis]));
  const firsts = curves.flatMap(({ rows }) => (rows[0] ? [rows[0][axis]] : []));
  const first = Math.max(1, Math.min(end, ...firsts));
  const steps = Array.from({ length: GRID }, (_, i) => Math.round(first * (end / first) ** (i / (GRID - 1))));
  return [...new Set(steps)];
}
