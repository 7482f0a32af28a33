// The long searches over damaged and forged snapshot files. KCOVBOX_SEED, KCOVBOX_MUTANTS.
import { expect, test } from 'vitest';
import { seedFromEnvironment } from '../support/random.ts';
import { acceptedDamage, forgedOutcomes } from './snapshot-search.ts';

const SEED = seedFromEnvironment(0xf11f);
const MUTANTS = Number(process.env['KCOVBOX_MUTANTS'] || 10_000);

test(`${MUTANTS} damaged snapshots are refused`, { timeout: 7_200_000 }, () => {
  expect(acceptedDamage(SEED, MUTANTS)).toEqual([]);
});

test(`${MUTANTS} forged snapshots are refused in one line, or run`, { timeout: 7_200_000 }, () => {
  expect(forgedOutcomes(SEED, MUTANTS).size).toBeGreaterThan(3);
});
