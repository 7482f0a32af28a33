// The same as jit-fp.test.ts where the host has a fused multiply-add, as later versions of V8 do
// without the flag.

import { setFlagsFromString } from 'node:v8';
import { expect, test } from 'vitest';
import { hostFuses } from '../../emulator/wasm/host-fma.ts';
import { compareLoops } from '../support/fp-loops.ts';
import { seedFromEnvironment, seedText } from '../support/random.ts';

// Node.js 20; later versions refuse the flag.
if (process.versions.v8.startsWith('11.3')) setFlagsFromString('--experimental-wasm-relaxed-simd');
const seed = seedFromEnvironment(0xf05ed);

test.skipIf(!hostFuses())(`fused by the host, seed ${seedText(seed)}`, () => {
  const { differences } = compareLoops(seed, Number(process.env['KCOVBOX_FP_CASES'] ?? 50));
  expect(differences).toEqual([]);
});
