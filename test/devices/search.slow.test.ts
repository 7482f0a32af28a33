// The long dose of random device programs; KCOVBOX_PROGRAMS changes its length.

import { expect, it } from 'vitest';
import { seedFromEnvironment, seedText } from '../support/random.ts';
import { Search } from './search/search.ts';

const PROGRAMS = Number(process.env['KCOVBOX_PROGRAMS'] ?? 200_000);

it('no program of a guest throws in a device, costs more than its budget, or leaves memory behind', () => {
  const seed = seedFromEnvironment(0x5107);
  expect(new Search().run(seed, PROGRAMS).report).toBeUndefined();
  console.log(`${PROGRAMS} device programs, seed ${seedText(seed)}`);
}, 3_600_000);
