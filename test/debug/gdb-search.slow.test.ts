// The long search of gdb-search.oracle.test.ts.
import { expect, test } from 'vitest';
import { seedFromEnvironment, seedText } from '../support/random.ts';
import { searchWithGdb } from './search/search.ts';

const PROGRAMS = Number(process.env['KCOVBOX_PROGRAMS'] ?? 60);
const seed = seedFromEnvironment(0xd0b);

test(`${PROGRAMS} programs, seed ${seedText(seed)}`, { timeout: 7_200_000 }, async () => {
  const sums = await searchWithGdb(seed, PROGRAMS);
  console.info(`seed ${seedText(seed)}: ${JSON.stringify(sums)}`);
  expect(sums.unknown + sums.notRead).toBeLessThan(sums.variables / 20);
});
