// Numbers of an experiment as people read them.
import type { ExperimentPlan } from '../../experiment/schema.ts';

const grouped = (n: number): string => String(n).replace(/\B(?=(\d{3})+$)/g, ',');

export function budgetText(budget: ExperimentPlan['budget']): string {
  if (budget.executions !== undefined)
    return `${grouped(budget.executions)} execution${budget.executions === 1 ? '' : 's'}`;
  if (budget.instructions !== undefined) return `${grouped(budget.instructions)} instructions`;
  return `${budget['cpu-seconds']} s of CPU time`;
}

/** `seconds` rounded: 40 s, 12 min, 3.5 h. */
export function durationText(seconds: number): string {
  if (seconds < 100) return `${Math.ceil(seconds)} s`;
  if (seconds < 6000) return `${Math.ceil(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}
