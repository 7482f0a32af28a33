// The long dose of the region-shape search; KCOVBOX_PROGRAMS and KCOVBOX_SEED choose another.

import { expect, test } from 'vitest';
import { seedFromEnvironment, seedText } from '../support/random.ts';
import { search } from '../support/shapes/search.ts';

const SEED = seedFromEnvironment(0x10d05e);
const PROGRAMS = Number(process.env['KCOVBOX_PROGRAMS'] ?? 5000);

test(`${PROGRAMS} programs for the limits of the JIT, seed ${seedText(SEED)}`, { timeout: 3_600_000 }, () => {
  const { found, programs, instructions } = search(SEED, PROGRAMS);
  console.info(`shapes: seed ${seedText(SEED)}, ${programs} programs, ${instructions} instructions`);
  expect(found, JSON.stringify(found)).toBeUndefined();
});
