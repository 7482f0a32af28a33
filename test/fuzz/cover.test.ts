// Small covers of random sets: complete, without a spare set, and no larger than the bound says.
import { expect, it } from 'vitest';
import { smallCover } from '../../fuzz/index.ts';
import { Random, seedFromEnvironment } from '../support/random.ts';

const union = (sets: readonly (readonly number[])[], of: readonly number[]): number[] =>
  [...new Set(of.flatMap(index => sets[index]!))].sort((a, b) => a - b);

/** The least number of sets that have all elements, by trying all. */
function fewest(sets: readonly (readonly number[])[]): number {
  const bits = sets.map(set => set.reduce((sum, element) => sum | (1 << element), 0));
  const all = bits.reduce((sum, one) => sum | one, 0);
  let least = sets.length;
  for (let choice = 0; choice < 1 << sets.length; choice++) {
    let [have, count] = [0, 0];
    for (let n = 0; n < bits.length; n++) if (choice & (1 << n)) [have, count] = [have | bits[n]!, count + 1];
    if (have === all) least = Math.min(least, count);
  }
  return least;
}

it('covers of random sets', () => {
  const seed = seedFromEnvironment(1);
  const random = new Random(seed);
  for (let round = 0; round < 300; round++) {
    const elements = 1 + random.below(12);
    const sets = Array.from({ length: random.below(11) }, () =>
      Array.from({ length: elements }, (_, element) => element).filter(() => random.below(3) === 0),
    );
    const costs = sets.map(() => random.below(4));
    const chosen = smallCover(sets, costs);
    const where = `seed ${seed.toString(16)}, round ${round}`;
    expect(union(sets, chosen), where).toEqual(union(sets, [...sets.keys()]));
    expect(chosen, where).toEqual([...new Set(chosen)].sort((a, b) => a - b));
    for (const index of chosen) {
      const others = chosen.filter(other => other !== index);
      expect(union(sets, others).length, where).toBeLessThan(union(sets, chosen).length);
    }
    const largest = Math.max(1, ...sets.map(({ length }) => length));
    expect(chosen.length, where).toBeLessThanOrEqual(fewest(sets) * (1 + Math.log(largest)));
  }
});

it('takes the set that adds most, then the cheaper one, then the first', () => {
  expect(smallCover([[1, 2], [1, 2, 3], [4]], [0, 9, 0])).toEqual([1, 2]);
  expect(
    smallCover(
      [
        [1, 2],
        [2, 1],
        [1, 2],
      ],
      [5, 3, 3],
    ),
  ).toEqual([1]);
  expect(smallCover([[], []], [0, 0])).toEqual([]);
  expect(smallCover([], [])).toEqual([]);
});

it('1,000 sets of 1,000 elements in a chain', () => {
  const sets = Array.from({ length: 1000 }, (_, n) => Array.from({ length: 1000 }, (_, k) => 10 * n + k));
  expect(
    smallCover(
      sets,
      sets.map(() => 1),
    ).length,
  ).toBe(11);
});
