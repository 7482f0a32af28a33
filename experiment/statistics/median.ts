// The median of a sample with the percentile interval of its bootstrap. The bootstrap is the ideal
// one: the distribution of the median over all resamples is computed, not drawn, so the interval
// has no error of a simulation and needs no seed.

export interface Band {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

const ascending = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);

export function median(values: readonly number[]): number {
  const sorted = ascending(values);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

/** A sample of an even size has a joint distribution of two order statistics: quadratic. */
const EVEN_MAX = 100;

/** P(Binomial(n, share) >= least). */
function atLeast(least: number, n: number, share: number): number {
  if (share >= 1) return 1;
  let sum = 0;
  let logChoose = 0;
  for (let k = 0; k <= n; k++) {
    if (k > 0) logChoose += Math.log(n - k + 1) - Math.log(k);
    if (k >= least && share > 0)
      sum += Math.exp(logChoose + k * Math.log(share) + (n - k) * Math.log1p(-share));
  }
  return Math.min(1, sum);
}

/** A pair of order statistics of the sample whose mean is the median of a resample. */
type Weight = readonly [low: number, high: number, probability: number];
const known = new Map<number, readonly Weight[]>();

/** The distribution of the median of resamples, for samples of size n. */
function weightsOf(n: number): readonly Weight[] {
  const found = known.get(n);
  if (found) return found;
  const isEven = n % 2 === 0 && n <= EVEN_MAX;
  const m = isEven ? n / 2 : (n + 1) >> 1;
  const weights: Weight[] = [];
  let choose = 1;
  for (let k = 1; k <= m; k++) choose *= (n - m + k) / k;
  for (let i = 1; i <= n; i++) {
    let rest = atLeast(m, n, i / n) - atLeast(m, n, (i - 1) / n);
    if (isEven) {
      // m draws of the lowest i values with i among them, the others at least j with j among them.
      const lows = (i / n) ** m - ((i - 1) / n) ** m;
      for (let j = i + 1; j <= n; j++) {
        const highs = ((n - j + 1) / n) ** m - ((n - j) / n) ** m;
        const probability = choose * lows * highs;
        rest -= probability;
        weights.push([i - 1, j - 1, probability]);
      }
    }
    weights.push([i - 1, i - 1, Math.max(0, rest)]);
  }
  known.set(n, weights);
  return weights;
}

const TAIL = 0.025;
/** Sums of probabilities differ from their value by less. */
const ROUNDING = 1e-9;

/** The median, and the interval in which 95 % of the medians of all resamples lie. */
export function medianBand(values: readonly number[]): Band {
  const sorted = ascending(values);
  const medians = weightsOf(sorted.length)
    .map(([i, j, probability]) => ({ value: (sorted[i]! + sorted[j]!) / 2, probability }))
    .sort((a, b) => a.value - b.value);
  const quantile = (share: number): number => {
    let sum = 0;
    for (const { value, probability } of medians) if ((sum += probability) >= share - ROUNDING) return value;
    return medians.at(-1)!.value;
  };
  return { median: median(values), low: quantile(TAIL), high: quantile(1 - TAIL) };
}
