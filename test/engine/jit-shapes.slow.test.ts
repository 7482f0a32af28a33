// The long dose of the region-shape search; KCOVBOX_PROGRAMS and KCOVBOX_SEED choose another.

import { expect, test } from 'vitest';
import { UNICORN } from '../support/oracle/unicorn.ts';
import { seedFromEnvironment, seedText } from '../support/random.ts';
import { search } from '../support/shapes/search.ts';
import { searchWithUnicorn } from '../support/shapes/unicorn.ts';
import { missing } from '../support/tools.ts';

const SEED = seedFromEnvironment(0x10d05e);
const PROGRAMS = Number(process.env['KCOVBOX_PROGRAMS'] ?? 5000);

test(`${PROGRAMS} programs for the limits of the JIT, seed ${seedText(SEED)}`, { timeout: 3_600_000 }, () => {
  const { found, programs, instructions, inlined } = search(SEED, PROGRAMS);
  console.info(
    `shapes: seed ${seedText(SEED)}, ${programs} programs, ${instructions} instructions, ${inlined} inlined records`,
  );
  expect(found, JSON.stringify(found)).toBeUndefined();
});

test.skipIf(missing('libunicorn', UNICORN))('a fifth as many on libunicorn', { timeout: 3_600_000 }, () => {
  const programs = Math.ceil(PROGRAMS / 5);
  const { found } = searchWithUnicorn(SEED + 1, programs);
  console.info(`shapes: seed ${seedText(SEED + 1)}, ${programs} programs on libunicorn`);
  expect(found, JSON.stringify(found)).toBeUndefined();
});
