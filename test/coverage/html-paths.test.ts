/** The order of the calls in the HTML report. */
import { expect, it } from 'vitest';
import { byInterest } from '../../coverage/html/paths.ts';

const call = (source: number, ...points: number[]) => ({
  source,
  points: Uint32Array.from(points),
  rarity: 0,
  same: 0,
  fresh: 0,
});

it('calls that reach something new come first, rare ones before common ones', () => {
  const common = call(0, 0, 1);
  const subset = call(1, 0);
  const rare = call(2, 0, 1, 2, 3);
  const other = call(3, 4);
  const order = byInterest([common, subset, rare, other], 5, 10);
  expect(order.map(one => one.source)).toEqual([2, 3, 0, 1]);
  expect(order.map(one => one.fresh)).toEqual([4, 1, 0, 0]);
});

it('a call late in the trace that reaches a new point is not cut off', () => {
  const many = Array.from({ length: 1000 }, (_, i) => call(i, 0, 1));
  const order = byInterest([...many, call(1000, 7)], 8, 400);
  expect(order).toHaveLength(400);
  expect(order.map(one => one.source)).toContain(1000);
});
