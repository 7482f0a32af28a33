// The long run of privileged.test.ts. KCOVBOX_SEED, KCOVBOX_PROGRAMS.

import { expect, test } from 'vitest';
import { QEMU } from '../support/oracle/qemu.ts';
import { EAGEREST, EXACT, INTERPRETER, POLICIES } from '../support/privileged/policies.ts';
import { compareWithQemu } from '../support/privileged/qemu.ts';
import { compareConfigurations, searchPrivileged } from '../support/privileged/search.ts';
import { seedFromEnvironment, seedText } from '../support/random.ts';
import { missing } from '../support/tools.ts';

const SEED = seedFromEnvironment(0x10a9);
const PROGRAMS = Number(process.env['KCOVBOX_PROGRAMS'] || 250);
const PROFILE = { steps: 120, rounds: 12, isPortable: false };

const search = (
  name: string,
  programs: number,
  configurations: Parameters<typeof compareConfigurations>[2],
  harts = 1,
  hasCsrs = false,
) => {
  const result = searchPrivileged({
    profile: { ...PROFILE, harts, hasCsrs },
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

test.each([2, 4])('programs about privilege run on the JIT as on the interpreter, harts: %d', harts => {
  search(`jit, ${harts} harts`, Math.ceil(PROGRAMS / 2), [INTERPRETER, EAGEREST], harts);
});

test.each([1, 2, 4])('programs about privilege run the same with every policy, harts: %d', harts => {
  search(`policies, ${harts} harts`, Math.ceil(PROGRAMS / 10), [INTERPRETER, ...POLICIES], harts);
});

test.each([1, 2])(
  'programs with CSRs and floating point run the same with every policy, harts: %d',
  harts => {
    search(`CSRs, ${harts} harts`, Math.ceil(PROGRAMS / 10), [INTERPRETER, ...POLICIES], harts, true);
  },
);

test('programs about privilege run as one unit at a time, with nothing decoded before', () => {
  const units = 20_000;
  const configurations = [EXACT, INTERPRETER, EAGEREST].map(c => ({ ...c, units }));
  search('exact', Math.ceil(PROGRAMS / 25), configurations);
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
