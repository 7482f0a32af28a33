// The long dose of privileged.test.ts. KCOVBOX_SEED, KCOVBOX_PROGRAMS.

import { expect, test } from 'vitest';
import { QEMU } from '../support/oracle/qemu.ts';
import { FAULTS, findFault } from '../support/privileged/faults.ts';
import { EAGEREST, INTERPRETER, POLICIES } from '../support/privileged/policies.ts';
import { compareConfigurations, compareWithQemu, searchPrivileged } from '../support/privileged/search.ts';
import { seedFromEnvironment, seedText } from '../support/random.ts';
import { missing } from '../support/tools.ts';

const SEED = seedFromEnvironment(0x10a9);
const PROGRAMS = Number(process.env['KCOVBOX_PROGRAMS'] || 250);
const PROFILE = { steps: 120, rounds: 12, isPortable: false };

const search = (
  name: string,
  programs: number,
  configurations: Parameters<typeof compareConfigurations>[2],
) => {
  const result = searchPrivileged({
    profile: PROFILE,
    seed: SEED,
    programs,
    compare: (program, seed) => compareConfigurations(program, seed, configurations),
  });
  console.log(
    `${name}: ${programs} programs from seed ${seedText(SEED)}, ${result.instructions} instructions`,
  );
  expect(result.report?.()).toBeUndefined();
};

test('programs about privilege run on the JIT as on the interpreter', () => {
  search('jit', PROGRAMS, [INTERPRETER, EAGEREST]);
});

test('programs about privilege run the same with every policy', () => {
  search('policies', Math.ceil(PROGRAMS / 10), [INTERPRETER, ...POLICIES]);
});

test.skipIf(missing('qemu-system-riscv64', QEMU))('programs about privilege run as on QEMU', () => {
  const programs = Math.ceil(PROGRAMS / 2);
  const { instructions, report } = searchPrivileged({
    profile: { ...PROFILE, isPortable: true },
    seed: SEED,
    programs,
    compare: (program, seed) => compareWithQemu(program, seed, EAGEREST),
  });
  console.log(`qemu: ${programs} programs from seed ${seedText(SEED)}, ${instructions} instructions`);
  expect(report?.()).toBeUndefined();
});

test.each(FAULTS)('the search finds: %s', (...fault) => {
  const found = findFault(fault, { ...PROFILE, steps: 60, rounds: 5 }, SEED + 5000, 200);
  console.log(`found by program ${found}`);
  expect(found).toBeGreaterThanOrEqual(0);
});
