// The confidence interval of a share that was counted in a sample.

/** Two-sided 95 % of the normal distribution. */
const Z = 1.959964;

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/**
 * The 95 % interval of Wilson (1927) for `hits` of `n`; it stays within 0 and 1, and holds for
 * shares near them. Without a sample it is [0, 1].
 */
export function wilson(hits: number, n: number): Interval {
  if (n === 0) return { low: 0, high: 1 };
  const share = hits / n;
  const z2 = Z * Z;
  const middle = (share + z2 / (2 * n)) / (1 + z2 / n);
  const half = (Z / (1 + z2 / n)) * Math.sqrt((share * (1 - share)) / n + z2 / (4 * n * n));
  return { low: hits === 0 ? 0 : middle - half, high: hits === n ? 1 : middle + half };
}
