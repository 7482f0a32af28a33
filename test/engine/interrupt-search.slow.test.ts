// The long dose of interrupt-search.test.ts. KCOVBOX_SEED, KCOVBOX_PROGRAMS.

import { expect, test } from 'vitest';
import { searchInterrupts } from '../support/interrupts/search.ts';
import { seedFromEnvironment, seedText } from '../support/random.ts';

const SEED = seedFromEnvironment(0x1d05e);
const PROGRAMS = Number(process.env['KCOVBOX_PROGRAMS'] || 300);
const ARRIVALS = 300;

test(`an interrupt at each unit is taken there, seed ${seedText(SEED)}`, { timeout: 3_600_000 }, () => {
  const { how, found, programs, instructions } = searchInterrupts(SEED, PROGRAMS, ARRIVALS);
  console.info(`interrupts: seed ${seedText(SEED)}, ${programs} programs, ${instructions} instructions`);
  expect(how, JSON.stringify(found)).toBeUndefined();
});
