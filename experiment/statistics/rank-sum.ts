// The Mann-Whitney U test (Wilcoxon's rank sum test) of two independent samples, two-sided, and the
// effect size of Vargha and Delaney, which is U as a share.
import { upperTail, Z_95 } from './normal.ts';

/**
 * Of both samples together: up to here the distribution is exact, and its counts exact in doubles.
 */
const EXACT_MAX = 50;

export interface RankSum {
  /** Pairs in which the first sample is larger; equal pairs count one half. */
  readonly u: number;
  readonly p: number;
  /** `exact`: the distribution over all divisions of the values, ties included. */
  readonly method: 'exact' | 'normal';
}

/** Twice the rank of each value, where equal values share the mean; an integer. */
function doubledRanks(values: readonly number[]): number[] {
  const order = values.map((_, i) => i).sort((a, b) => values[a]! - values[b]!);
  const ranks = new Array<number>(values.length);
  for (let from = 0; from < order.length; ) {
    let to = from;
    while (to < order.length && values[order[to]!] === values[order[from]!]) to++;
    for (let i = from; i < to; i++) ranks[order[i]!] = from + 1 + to;
    from = to;
  }
  return ranks;
}

/** Number of ways to choose `size` of the ranks with each sum. */
function sumsOf(ranks: readonly number[], size: number): Float64Array {
  const most = [...ranks]
    .sort((a, b) => b - a)
    .slice(0, size)
    .reduce((sum, rank) => sum + rank, 0);
  const ways = Array.from({ length: size + 1 }, () => new Float64Array(most + 1));
  ways[0]![0] = 1;
  for (const rank of ranks)
    for (let chosen = size; chosen > 0; chosen--) {
      const [into, from] = [ways[chosen]!, ways[chosen - 1]!];
      for (let sum = most; sum >= rank; sum--) into[sum]! += from[sum - rank]!;
    }
  return ways[size]!;
}

/** P(|T - E T| >= |t - E T|) over all choices of the first sample. */
function exactP(ranks: readonly number[], size: number): number {
  const observed = ranks.slice(0, size).reduce((sum, rank) => sum + rank, 0);
  const center = size * (ranks.length + 1); // doubled, as the ranks
  const distance = Math.abs(observed - center);
  let all = 0;
  let extreme = 0;
  for (const [sum, count] of sumsOf(ranks, size).entries()) {
    all += count;
    if (Math.abs(sum - center) >= distance) extreme += count;
  }
  return extreme / all;
}

/** With the corrections for ties and for continuity. */
function normalP(u: number, ranks: readonly number[], m: number, n: number): number {
  const sizes = new Map<number, number>();
  for (const rank of ranks) sizes.set(rank, (sizes.get(rank) ?? 0) + 1);
  const all = m + n;
  let ties = 0;
  for (const size of sizes.values()) ties += size ** 3 - size;
  const variance = ((m * n) / 12) * (all + 1 - ties / (all * (all - 1)));
  if (variance === 0) return 1;
  const z = (Math.abs(u - (m * n) / 2) - 0.5) / Math.sqrt(variance);
  return Math.min(1, 2 * upperTail(Math.max(z, 0)));
}

/** `method`: default exact where that is feasible. Both samples have at least one value. */
export function rankSum(
  a: readonly number[],
  b: readonly number[],
  method: RankSum['method'] = a.length + b.length <= EXACT_MAX ? 'exact' : 'normal',
): RankSum {
  const ranks = doubledRanks([...a, ...b]);
  const sum = ranks.slice(0, a.length).reduce((total, rank) => total + rank, 0);
  const u = sum / 2 - (a.length * (a.length + 1)) / 2;
  const p = method === 'exact' ? exactP(ranks, a.length) : normalP(u, ranks, a.length, b.length);
  return { u, p, method };
}

export interface EffectSize {
  /** Probability that a value of the first sample is larger, plus half that of equal ones. */
  readonly a12: number;
  /** 95 %. */
  readonly low: number;
  readonly high: number;
}

const STEPS = 60;

/**
 * A12 with the interval of Newcombe's method 5 (Statistics in Medicine 25, 2006, 559-573), which
 * stays inside 0..1 and has a width also where the samples do not overlap.
 */
export function effectSize(a: readonly number[], b: readonly number[]): EffectSize {
  const [m, n] = [a.length, b.length];
  const a12 = rankSum(a, b, 'normal').u / (m * n);
  const star = (m + n) / 2 - 1;
  const deviation = (t: number): number =>
    Z_95 * Math.sqrt((t * (1 - t) * (1 + star * ((1 - t) / (2 - t) + t / (1 + t)))) / (m * n));
  /** Between `inside`, where the distance is too small, and `outside`. */
  const bound = (inside: number, outside: number): number => {
    let [near, far] = [inside, outside];
    for (let i = 0; i < STEPS; i++) {
      const middle = (near + far) / 2;
      if (Math.abs(middle - a12) > deviation(middle)) far = middle;
      else near = middle;
    }
    return far;
  };
  return { a12, low: a12 === 0 ? 0 : bound(a12, 0), high: a12 === 1 ? 1 : bound(a12, 1) };
}

/** P-values of several tests, corrected by Holm's step-down method. */
export function holm(ps: readonly number[]): number[] {
  const order = ps.map((_, i) => i).sort((a, b) => ps[a]! - ps[b]!);
  const corrected = new Array<number>(ps.length);
  let least = 0;
  for (const [k, i] of order.entries()) {
    least = Math.max(least, Math.min(1, (ps.length - k) * ps[i]!));
    corrected[i] = least;
  }
  return corrected;
}
