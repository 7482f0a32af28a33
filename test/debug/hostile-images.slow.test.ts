// The long search of hostile-images.oracle.test.ts.
import { expect, test } from 'vitest';
import { seedFromEnvironment, seedText } from '../support/random.ts';
import { searchDamaged } from './hostile.ts';

const RUNS = Number(process.env['KCOVBOX_RUNS'] ?? 10_000);
const seed = seedFromEnvironment(0xdeb7);

test(`${RUNS} damaged images, seed ${seedText(seed)}`, { timeout: 14_400_000 }, async () => {
  const sums = await searchDamaged(seed, RUNS);
  console.info(`seed ${seedText(seed)}: ${JSON.stringify(sums)}`);
  expect(sums.refused).toBeGreaterThan(RUNS / 100);
});
