// Floating point in compiled regions without a fused instruction of the host. KCOVBOX_FP_CASES sets
// the number of operands.

import { expect, test } from 'vitest';
import { hostFuses } from '../../emulator/wasm/host-fma.ts';
import { compareLoops } from '../support/fp-loops.ts';
import { seedFromEnvironment, seedText } from '../support/random.ts';

const seed = seedFromEnvironment(0xf10a7);

test(`compiled instructions give what soft-float gives, seed ${seedText(seed)}`, () => {
  const { differences, compared } = compareLoops(seed, Number(process.env['KCOVBOX_FP_CASES'] ?? 50));
  expect(differences).toEqual([]);
  expect(compared).toBeGreaterThan(1000);
  console.info(`host ${hostFuses() ? 'fuses' : 'does not fuse'} multiplication and addition`);
}, 120_000);
