// Searching a sorted array from a hint gives what counting gives, whatever the hint.
import { expect, test } from 'vitest';
import { countUpTo } from '../../coverage/base/bytes.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';

test('random arrays, values and hints', () => {
  const seed = seedFromEnvironment(0xc0);
  const random = new Random(seed);
  for (let i = 0; i < 20_000; i++) {
    const sorted = Float64Array.from({ length: random.below(20) }, () => random.below(12)).sort();
    const value = random.below(14) - 1;
    const hint = random.below(24) - 2;
    const wanted = sorted.filter(each => each <= value).length;
    expect(countUpTo(sorted, value, hint), `${value} in ${sorted}, seed ${seedText(seed)}`).toBe(wanted);
  }
});
