// Times to an event of which some did not come within the budget: the curve of Kaplan and Meier,
// and the log-rank test of two groups.
import { chiSquareTail, Z_95 } from './normal.ts';

/** When a trial found a bug; `isFound` false: it had not by then. */
export interface Time {
  readonly time: number;
  readonly isFound: boolean;
}

export interface SurvivalStep {
  readonly time: number;
  readonly atRisk: number;
  readonly found: number;
  /** Share that has not found it after this time. */
  readonly share: number;
  /** 95 %, by the log(-log) transformation. */
  readonly low: number;
  readonly high: number;
}

/** A step for each time at which something was found. */
export function kaplanMeier(times: readonly Time[]): SurvivalStep[] {
  const steps: SurvivalStep[] = [];
  let share = 1;
  let sum = 0;
  for (const time of timesOf(times)) {
    const atRisk = times.filter(one => one.time >= time).length;
    const found = times.filter(one => one.isFound && one.time === time).length;
    share *= 1 - found / atRisk;
    sum += found / (atRisk * (atRisk - found));
    const log = Math.log(share);
    const width = Math.exp((Z_95 * Math.sqrt(sum)) / Math.abs(log));
    const isInside = share > 0;
    steps.push({
      time,
      atRisk,
      found,
      share: isInside ? share : 0,
      low: isInside ? share ** width : 0,
      high: isInside ? share ** (1 / width) : 0,
    });
  }
  return steps;
}

const timesOf = (times: readonly Time[]): number[] =>
  [...new Set(times.filter(({ isFound }) => isFound).map(({ time }) => time))].sort((a, b) => a - b);

/** A share is a product of rounded factors. */
const ROUNDING = 1e-12;

/** The time after which half have found it; undefined if half never did. */
export const medianTime = (steps: readonly SurvivalStep[]): number | undefined =>
  steps.find(({ share }) => share <= 0.5 + ROUNDING)?.time;

export interface LogRank {
  readonly chiSquare: number;
  readonly p: number;
}

/** Two-sided, of one degree of freedom; p is 1 if nothing was found. */
export function logRank(a: readonly Time[], b: readonly Time[]): LogRank {
  let excess = 0;
  let variance = 0;
  for (const time of timesOf([...a, ...b])) {
    const atRisk = (group: readonly Time[]): number => group.filter(one => one.time >= time).length;
    const found = (group: readonly Time[]): number =>
      group.filter(one => one.isFound && one.time === time).length;
    const [ofA, ofB] = [atRisk(a), atRisk(b)];
    const all = ofA + ofB;
    const events = found(a) + found(b);
    excess += found(a) - (events * ofA) / all;
    if (all > 1) variance += (events * (ofA / all) * (ofB / all) * (all - events)) / (all - 1);
  }
  const chiSquare = variance > 0 ? excess ** 2 / variance : 0;
  return { chiSquare, p: chiSquareTail(chiSquare) };
}
