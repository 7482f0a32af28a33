// The statistics of experiments, compared with R (fixtures/statistics.R has the commands) and with
// enumerations of all divisions and resamples of small samples.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { medianBand } from '../../experiment/statistics/median.ts';
import { upperTail } from '../../experiment/statistics/normal.ts';
import { effectSize, holm, rankSum } from '../../experiment/statistics/rank-sum.ts';
import { kaplanMeier, logRank, medianTime, type Time } from '../../experiment/statistics/survival.ts';

interface Fixtures {
  ranks: { a: number[]; b: number[]; method: 'exact' | 'normal'; u: number; p: number }[];
  effects: { a: number[]; b: number[]; a12: number; low: number; high: number }[];
  holm: { p: number[]; holm: number[] };
  survival: Record<'a' | 'b' | 'foundA' | 'foundB' | 'time' | 'share' | 'low' | 'high', number[]> &
    { chiSquare: number; p: number }[];
  tails: { z: number[]; p: number[] };
}
const R = JSON.parse(
  readFileSync(new URL('./fixtures/statistics.json', import.meta.url), 'utf8'),
) as Fixtures;

/** Equal to `digits` significant digits. */
const near = (value: number, wanted: number, digits: number): boolean =>
  Math.abs(value - wanted) <= 10 ** -digits * Math.max(Math.abs(wanted), 1e-300);

const timesOf = (times: readonly number[], found: readonly number[]): Time[] =>
  times.map((time, i) => ({ time, isFound: found[i] === 1 }));

describe('as R has them', () => {
  test('tails of the normal distribution', () => {
    for (const [i, z] of R.tails.z.entries())
      expect(upperTail(z)).toSatisfy(p => near(p as number, R.tails.p[i]!, 12), `z = ${z}`);
    expect(upperTail(-1) + upperTail(1)).toBe(1);
  });

  test.each(R.ranks)('Mann-Whitney U, $method, $a.length and $b.length', ({ a, b, method, u, p }) => {
    const ours = rankSum(a, b, method);
    expect(ours.u).toBe(u);
    expect(ours.p).toSatisfy(value => near(value as number, p, method === 'exact' ? 12 : 10), `${p}`);
  });

  test.each(R.effects)('A12 and its interval, $a.length and $b.length', ({ a, b, a12, low, high }) => {
    const ours = effectSize(a, b);
    expect(ours.a12).toBeCloseTo(a12, 12);
    expect(ours.low).toBeCloseTo(low, 9);
    expect(ours.high).toBeCloseTo(high, 9);
  });

  test("Holm's correction", () => {
    for (const [i, p] of holm(R.holm.p).entries()) expect(p).toBeCloseTo(R.holm.holm[i]!, 14);
  });

  test.each(R.survival)('Kaplan-Meier and log-rank', fixture => {
    const { a, b, foundA, foundB, time, share, low, high, chiSquare, p } = fixture as never as Record<
      string,
      number[]
    > & { chiSquare: number; p: number };
    const [first, second] = [timesOf(a!, foundA!), timesOf(b!, foundB!)];
    const steps = kaplanMeier(first);
    expect(steps.map(step => step.time)).toEqual(time);
    for (const [i, step] of steps.entries()) {
      expect(step.share).toBeCloseTo(share![i]!, 12);
      expect(step.low).toBeCloseTo(low![i]!, 9);
      expect(step.high).toBeCloseTo(high![i]!, 9);
    }
    const test = logRank(first, second);
    expect(test.chiSquare).toSatisfy(value => near(value as number, chiSquare, 10));
    expect(test.p).toSatisfy(value => near(value as number, p, 9));
  });
});

const seeded = { seed: Number(process.env['KCOVBOX_SEED'] ?? 1) };
const few = fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 6 });

/** All ways to choose `size` of the indices below n. */
function* choices(n: number, size: number, from = 0): Generator<number[]> {
  if (size === 0) yield [];
  else
    for (let i = from; i <= n - size; i++) for (const rest of choices(n, size - 1, i + 1)) yield [i, ...rest];
}

const pairs = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, x) => sum + b.reduce((own, y) => own + (x > y ? 1 : x === y ? 0.5 : 0), 0), 0);

describe('searches', () => {
  test('U and its exact p are those of all divisions of the values, ties included', () => {
    fc.assert(
      fc.property(few, few, (a, b) => {
        const all = [...a, ...b];
        const distance = (u: number): number => Math.abs(u - (a.length * b.length) / 2);
        const observed = pairs(a, b);
        let extreme = 0;
        let count = 0;
        for (const chosen of choices(all.length, a.length)) {
          const first = chosen.map(i => all[i]!);
          const second = all.filter((_, i) => !chosen.includes(i));
          count++;
          if (distance(pairs(first, second)) >= distance(observed)) extreme++;
        }
        const { u, p } = rankSum(a, b);
        expect(u).toBe(observed);
        expect(p).toBeCloseTo(extreme / count, 12);
      }),
      { ...seeded, numRuns: 60 },
    );
  });

  test('exchanging the samples mirrors U and A12, and leaves p', () => {
    const many = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(many, many, (a, b) => {
        const [one, other] = [rankSum(a, b), rankSum(b, a)];
        expect(one.u + other.u).toBe(a.length * b.length);
        expect(one.p).toBeCloseTo(other.p, 12);
        const [left, right] = [effectSize(a, b), effectSize(b, a)];
        expect(left.low).toBeCloseTo(1 - right.high, 9);
        expect(left.low).toBeLessThanOrEqual(left.a12);
        expect(left.high).toBeGreaterThanOrEqual(left.a12);
      }),
      { ...seeded, numRuns: 100 },
    );
  });

  test('the band of the median is that of all resamples', () => {
    const sample = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(sample, values => {
        const n = values.length;
        const medians: number[] = [];
        for (let code = 0; code < n ** n; code++) {
          const drawn = Array.from({ length: n }, (_, i) => values[Math.floor(code / n ** i) % n]!);
          drawn.sort((x, y) => x - y);
          medians.push((drawn[(n - 1) >> 1]! + drawn[n >> 1]!) / 2);
        }
        medians.sort((x, y) => x - y);
        const quantile = (share: number): number => medians[Math.ceil(share * medians.length - 1e-6) - 1]!;
        const { low, high } = medianBand(values);
        expect([low, high]).toEqual([quantile(0.025), quantile(0.975)]);
      }),
      { ...seeded, numRuns: 25 },
    );
  });

  test('without lost trials the survival curve is the share that has not found it yet', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 30 }), times => {
        const steps = kaplanMeier(times.map(time => ({ time, isFound: true })));
        for (const { time, share } of steps)
          expect(share).toBeCloseTo(times.filter(one => one > time).length / times.length, 12);
        const sorted = [...times].sort((x, y) => x - y);
        expect(medianTime(steps)).toBe(sorted[(times.length - 1) >> 1]);
      }),
      { ...seeded, numRuns: 60 },
    );
  });
});

test('edges: equal values, no find, a size of the sample at which the method changes', () => {
  expect(rankSum([3, 3], [3])).toMatchObject({ u: 1, p: 1 });
  expect(rankSum([3, 3], [3], 'normal').p).toBe(1);
  const never = timesOf([9, 9], [0, 0]);
  expect(kaplanMeier(never)).toEqual([]);
  expect(logRank(never, never)).toEqual({ chiSquare: 0, p: 1 });
  const values = Array.from({ length: 101 }, (_, i) => i);
  expect(medianBand(values)).toMatchObject({ median: 50 });
  expect(rankSum(values.slice(0, 25), values.slice(0, 25)).method).toBe('exact');
  expect(rankSum(values.slice(0, 25), values.slice(0, 26)).method).toBe('normal');
});
