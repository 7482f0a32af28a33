// The JIT's samples of where the guest is: they come in proportion to the units that pass, wherever
// quanta end.

import { expect, test } from 'vitest';
import { SampleTimes } from '../../emulator/engine/jit/policy/samples.ts';

const MEAN = 1000;

/** Moments of the samples of a guest whose quanta end after each `piece` units, and at samples. */
function momentsOf(piece: number, until: number): number[] {
  const samples = new SampleTimes(MEAN);
  const moments: number[] = [];
  let [now, counted] = [0, 0];
  for (let end = piece; now < until; ) {
    const units = Math.min(samples.left, end - now);
    now += units;
    if (now === end) end += piece;
    const passed = samples.passed(units);
    if (passed === 0) continue;
    counted += passed;
    expect(counted).toBe(now);
    if (now <= until) moments.push(now);
  }
  return moments;
}

test('the moments do not depend on where quanta end', () => {
  expect(momentsOf(7, 200_000)).toEqual(momentsOf(Infinity, 200_000));
  expect(momentsOf(1000, 200_000)).toEqual(momentsOf(200_001, 200_000));
});

test('they are half a mean to one and a half apart, and meet each part of a period alike', () => {
  const [period, parts, all] = [250, 5, 5000];
  const moments = momentsOf(period, all * MEAN);
  const gaps = moments.map((at, i) => at - (moments[i - 1] ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(MEAN / 2);
  expect(Math.max(...gaps)).toBeLessThan(1.5 * MEAN);
  const counts = Array.from({ length: parts }, () => 0);
  for (const at of moments) counts[Math.floor(((at % period) * parts) / period)]!++;
  for (const count of counts) expect(Math.abs(count / moments.length - 1 / parts)).toBeLessThan(0.03);
});
