// Random programs of functions in two pages under page tables that change (test/support/paged.ts):
// pages that a region puts into the TLB in advance are not seen by the guest. KCOVBOX_SEED,
// KCOVBOX_PROGRAMS.

import { expect, test } from 'vitest';
import { HEAT_EAGER } from '../../emulator/engine/jit/policy/heat.ts';
import { Mmu } from '../../emulator/hart/mmu.ts';
import { FETCH } from '../../emulator/hart/walk.ts';
import { describeOnce, dose } from '../support/again.ts';
import { interpreter, jitWith } from '../support/flat.ts';
import { disturb, pagedProgram, startPaged, stateOf } from '../support/paged.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';

const SEED = seedFromEnvironment(0x9a6e);
const PROGRAMS = Number(process.env['KCOVBOX_PROGRAMS'] || dose(8));
const PIECES = 60;

const heat = { ...HEAT_EAGER, arrivalsPerTick: 2, ticksToFillBatch: 0, batchEntries: 1 };
const POLICIES = [
  { name: 'hot', pages: 16, tuning: { heat } },
  { name: 'warm', pages: 16, tuning: { heat: { ...heat, unitsToPromote: Infinity } } },
  {
    name: 'four slots, six decoded pages',
    pages: 6,
    tuning: {
      heat: { ...heat, unitsToPromote: 50, batchEntries: 3, ticksToFillBatch: 2 },
      cache: { slots: 4 },
    },
  },
];

/** The first difference from the interpreter, or undefined; pieces of runs have random lengths. */
function compare(seed: number): string | undefined {
  const program = pagedProgram(new Random(seed));
  for (const { name, pages, tuning } of POLICIES) {
    const random = new Random(seed ^ 0x5555);
    const [a, b] = [interpreter, jitWith(tuning)].map(engine => startPaged(program, engine, pages));
    for (let piece = 0; piece < PIECES; piece++) {
      const units = 1 + random.below(random.pick([20, 300, 3000]));
      for (const flat of [a!, b!]) flat.run(units);
      const where = `${name}, seed ${seedText(seed)}, piece ${piece}`;
      if (stateOf(a!) !== stateOf(b!)) return `${where}: ${stateOf(a!)} and ${stateOf(b!)}`;
      if (Buffer.compare(a!.ram.data, b!.ram.data) !== 0) return `${where}: memory differs`;
      disturb(random, program, [a!, b!]);
    }
  }
  return undefined;
}

/** The number of the first program that differs, or -1. */
function search(programs: number, prefetch: Mmu['prefetch']): { found: number; how?: string } {
  const right = Mmu.prototype.prefetch;
  Mmu.prototype.prefetch = prefetch;
  try {
    for (let found = 0; found < programs; found++) {
      const how = compare(SEED + found);
      if (how !== undefined) return { found, how };
    }
    return { found: -1 };
  } finally {
    Mmu.prototype.prefetch = right;
  }
}

test('regions of several pages leave what interpreted code leaves', () => {
  const { prefetch } = Mmu.prototype;
  let lookups = 0;
  const result = search(PROGRAMS, function (this: Mmu, lo, hi) {
    lookups++;
    prefetch.call(this, lo, hi);
  });
  console.log(`${PROGRAMS} programs from seed ${seedText(SEED)}, ${lookups} pages looked up in advance`);
  expect(result).toEqual({ found: -1 });
  expect(lookups).toBeGreaterThan(10 * PROGRAMS);
});

describeOnce('the search finds', () => {
  test('a lookup that sets A', () => {
    const { found } = search(40, function (this: Mmu, lo, hi) {
      this.locatePage(lo, hi, FETCH, 2);
    });
    console.log(`found by program ${found}`);
    expect(found).toBeGreaterThanOrEqual(0);
  });
});
