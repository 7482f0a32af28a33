// Searches over random programs about privilege (test/support/privileged/): page tables, PMP,
// modes, interrupts at every instruction, code that changes by stores, by DMA and by the page
// walker. The short dose; privileged.slow.test.ts has the long one.

import { describe, expect, test } from 'vitest';
import { describeOnce, dose } from '../support/again.ts';
import { CSR_FAULTS, FAULTS, findFault } from '../support/privileged/faults.ts';
import { EAGEREST, EXACT, INTERPRETER, POLICIES } from '../support/privileged/policies.ts';
import { compareConfigurations, searchPrivileged } from '../support/privileged/search.ts';
import { seedFromEnvironment, seedText } from '../support/random.ts';

const USUAL_SEED = 0x1a7c;
const SEED = seedFromEnvironment(USUAL_SEED);
const PROFILE = { steps: 40, rounds: 3, isPortable: false };
const CSR_PROFILE = { ...PROFILE, hasCsrs: true };

describe('programs about privilege', { timeout: 120_000 }, () => {
  test('run on the JIT as on the interpreter', () => {
    const programs = dose(3);
    const result = searchPrivileged({
      profile: PROFILE,
      seed: SEED,
      programs,
      compare: (program, seed) => compareConfigurations(program, seed, [INTERPRETER, EAGEREST]),
    });
    console.log(`jit: ${programs} programs from seed ${seedText(SEED)}, ${result.instructions} instructions`);
    expect(result.report?.()).toBeUndefined();
  });

  test.each([1, 2])('with CSRs and floating point run the same with every policy, harts: %d', harts => {
    const programs = dose(1);
    const result = searchPrivileged({
      profile: { ...CSR_PROFILE, steps: 20 * harts, rounds: 2, harts },
      seed: SEED + 3000,
      programs,
      compare: (program, seed) => compareConfigurations(program, seed, [INTERPRETER, ...POLICIES]),
    });
    console.log(`CSRs, ${harts} harts: ${programs} programs, ${result.instructions} instructions`);
    expect(result.report?.()).toBeUndefined();
  });

  // Few units, because they are dear.
  test('run as one unit at a time, with nothing decoded or translated before', () => {
    const units = 4000;
    const configurations = [EXACT, INTERPRETER, EAGEREST].map(c => ({ ...c, units }));
    for (const hasCsrs of [false, true]) {
      const result = searchPrivileged({
        profile: { steps: 30, rounds: 1, isPortable: false, hasCsrs },
        seed: SEED + 2000,
        programs: hasCsrs ? 1 : 2,
        compare: (program, seed) => compareConfigurations(program, seed, configurations),
      });
      expect(result.report?.()).toBeUndefined();
    }
  });

  test.each([1, 2, 4])('run the same with every policy, harts: %d', harts => {
    const result = searchPrivileged({
      profile: { ...PROFILE, steps: 20 * harts, rounds: 2, harts },
      seed: SEED + 1000,
      programs: 1,
      compare: (program, seed) => compareConfigurations(program, seed, [INTERPRETER, ...POLICIES]),
    });
    console.log(`policies, ${harts} harts: ${result.instructions} instructions`);
    expect(result.report?.()).toBeUndefined();
  });
});

const ALL_FAULTS = [
  ...FAULTS.map(fault => ({ name: fault[0], fault, profile: PROFILE })),
  ...CSR_FAULTS.map(fault => ({ name: fault[0], fault, profile: CSR_PROFILE })),
];

// Some faults show in one program of thirty, so whether one is found within thirty is a fact about
// the seed: KCOVBOX_SEED does not choose it here.
describeOnce('the search finds', { timeout: 120_000 }, () => {
  test.each(ALL_FAULTS)('$name', ({ fault, profile }) => {
    const found = findFault(fault, profile, USUAL_SEED + 5000, 30);
    console.log(`found by program ${found}`);
    expect(found).toBeGreaterThanOrEqual(0);
  });

  test('nothing without a fault, with the slow reference', () => {
    const [, , policy, , reference] = FAULTS.find(([, , , , slow]) => slow?.units !== undefined)!;
    expect(findFault(['none', [], policy, 1, reference!], PROFILE, USUAL_SEED + 5000, 2)).toBe(-1);
  });
});
