// A budget as people read it.
import type { ExperimentPlan } from './schema.ts';

export const grouped = (n: number): string => String(n).replace(/\B(?=(\d{3})+$)/g, ',');

export function budgetWords(budget: ExperimentPlan['budget']): string {
  if (budget.executions !== undefined)
    return `${grouped(budget.executions)} execution${budget.executions === 1 ? '' : 's'}`;
  if (budget.instructions !== undefined) return `${grouped(budget.instructions)} instructions`;
  return `${budget['cpu-seconds']} s of CPU time`;
}
