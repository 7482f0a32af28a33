// The programs of the region-shape search on libunicorn, which shares nothing with our engines: all
// of memory, with the registers that a program stores at its end. KCOVBOX_PROGRAMS sets how many;
// jit-shapes.slow.test.ts has the long dose.

import { expect, test } from 'vitest';
import { UNICORN } from '../support/oracle/unicorn.ts';
import { seedFromEnvironment, seedText } from '../support/random.ts';
import { searchWithUnicorn } from '../support/shapes/unicorn.ts';
import { missing } from '../support/tools.ts';

const SEED = seedFromEnvironment(0x0c0de);
const PROGRAMS = Number(process.env['KCOVBOX_PROGRAMS'] ?? 60);

test.skipIf(missing('libunicorn', UNICORN))(`libunicorn agrees, seed ${seedText(SEED)}`, () => {
  const { found } = searchWithUnicorn(SEED, PROGRAMS);
  expect(found, JSON.stringify(found)).toBeUndefined();
});
