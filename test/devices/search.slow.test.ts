// The long dose of random device programs; KCOVBOX_PROGRAMS changes its length.

import { expect, it } from 'vitest';
import { seedFromEnvironment, seedText } from '../support/random.ts';
import { Search } from './search/search.ts';

const PROGRAMS = Number(process.env['KCOVBOX_PROGRAMS'] ?? 200_000);
/** Programs between two looks at the memory of this process. */
const ROUND = 20_000;
const GROWTH_MAX = 64 << 20;

it('no program of a guest throws in a device, costs more than its budget, or leaves memory behind', () => {
  const seed = seedFromEnvironment(0x5107);
  const search = new Search();
  let first = 0;
  for (let done = 0; done < PROGRAMS; done += ROUND) {
    const { report } = search.run((seed + done) >>> 0, Math.min(ROUND, PROGRAMS - done));
    expect(report).toBeUndefined();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    if (first === 0) first = heapUsed + arrayBuffers;
    expect(heapUsed + arrayBuffers - first).toBeLessThan(GROWTH_MAX);
  }
  console.log(`${PROGRAMS} device programs, seed ${seedText(seed)}`);
}, 3_600_000);
