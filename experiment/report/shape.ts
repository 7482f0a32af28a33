// The data inside the report of an experiment: data.ts makes it, html/client reads it.
import type { Band } from '../statistics/median.ts';
import type { EffectSize, RankSum } from '../statistics/rank-sum.ts';
import type { LogRank, SurvivalStep } from '../statistics/survival.ts';

/** The quantity on the x axis. */
export type Axis = 'executions' | 'instructions';

/** The quantities that are counted. */
export const METRICS = ['points', 'lines', 'functions'] as const;
export type Metric = (typeof METRICS)[number];

export interface FunctionRow {
  /** `kernel/fs/iter.c:iter_user`. */
  readonly key: string;
  /** The file of the experiment names it. */
  readonly isWanted: boolean;
  /** In the order of the plan. */
  readonly variants: readonly {
    /** Trials that entered it. */
    readonly trials: number;
    /** Points covered: the median of all trials. */
    readonly points: number;
    readonly total: number;
  }[];
  /** The largest difference between two variants, of the share of trials or of points. */
  readonly difference: number;
}

export interface Comparison extends RankSum, EffectSize {
  readonly metric: Metric;
  readonly variant: string;
  readonly baseline: string;
  /** Corrected over all comparisons of the report. */
  readonly corrected: number;
}

export interface BugVariant {
  readonly variant: string;
  readonly found: number;
  readonly of: number;
  readonly medianTime: number | null;
  readonly steps: readonly SurvivalStep[];
}

export interface BugReport {
  readonly bug: string;
  readonly pattern: string;
  readonly variants: readonly BugVariant[];
  readonly tests: readonly (LogRank & {
    readonly variant: string;
    readonly baseline: string;
    readonly corrected: number;
  })[];
}

export interface Find {
  readonly trial: string;
  readonly bug: string;
  readonly execution: number;
  readonly instructions: number;
  readonly line: string;
  /** A capsule; of a campaign the program. */
  readonly file: string;
  readonly images: readonly string[];
}

export interface VariantReport {
  readonly name: string;
  /** How it differs, as people read it. */
  readonly words: readonly string[];
  readonly trials: number;
  readonly of: number;
  readonly bands: Readonly<Record<Metric, readonly Band[]>>;
  /** Of each trial, at each place of the grid. */
  readonly values: Readonly<Record<Metric, readonly (readonly number[])[]>>;
  /** Of each trial, at the end. */
  readonly finals: Readonly<Record<Metric, readonly number[]>>;
  readonly totals: Readonly<Record<Metric, number>>;
  /** Lines that some trial of this variant reached, and no trial of any other. */
  readonly only: readonly string[];
}

export interface ExperimentReport {
  readonly name: string;
  readonly plan: string;
  readonly budget: string;
  readonly axis: Axis;
  readonly end: number;
  readonly baseline: string;
  readonly grid: readonly number[];
  readonly variants: readonly VariantReport[];
  readonly comparisons: readonly Comparison[];
  readonly bugs: readonly BugReport[];
  readonly finds: readonly Find[];
  readonly functions: readonly FunctionRow[];
  /** Facts that a reader needs before the numbers. */
  readonly notes: readonly string[];
}
