// Both engines against independent CPUs: random programs from the instruction table, millions of
// instructions, registers after every round and memory at the end compared. A difference is shrunk
// and printed as assembly with its initial registers. random-programs.slow.test.ts has the long
// dose.
//
// KCOVBOX_SEED=hex repeats a run; KCOVBOX_PROGRAMS=n sets the number of programs per combination
// (default 400).

import { afterAll, describe, test } from 'vitest';
import { Comparison } from '../support/oracle/comparison.ts';
import { hot, NEWEST, QEMU_PROFILES, UNICORN_PROFILES } from '../support/oracle/profiles.ts';
import { QEMU, qemuRunner } from '../support/oracle/qemu.ts';
import { newQemuRunner, QEMU_NEW } from '../support/oracle/qemu-new.ts';
import { UNICORN, unicornRunner } from '../support/oracle/unicorn.ts';
import { seedFromEnvironment, seedText } from '../support/random.ts';
import { missing } from '../support/tools.ts';

const seed = seedFromEnvironment(0xc0ffee);
const PROGRAMS = Number(process.env['KCOVBOX_PROGRAMS'] ?? 400);
const HOT_PROGRAMS = Math.ceil(PROGRAMS / 20);
const ENGINES = ['interp', 'jit'] as const;
const comparison = new Comparison(seed);
afterAll(() => comparison.print());

describe.skipIf(missing('libunicorn', UNICORN))(`libunicorn agrees, seed ${seedText(seed)}`, () => {
  for (const profile of UNICORN_PROFILES) {
    test(profile.name, () => comparison.run(ENGINES, unicornRunner, profile, PROGRAMS));
  }
});

describe.skipIf(missing('qemu-system-riscv64', QEMU))(`qemu agrees, seed ${seedText(seed)}`, () => {
  for (const profile of QEMU_PROFILES) {
    test(profile.name, () => comparison.run(ENGINES, qemuRunner, profile, PROGRAMS));
  }
  for (const profile of QEMU_PROFILES.map(hot)) {
    test(`jit: ${profile.name}`, () => comparison.run(['jit'], qemuRunner, profile, HOT_PROGRAMS));
  }
});

describe.skipIf(QEMU_NEW === undefined)(`a newer qemu agrees, seed ${seedText(seed)}`, () => {
  test(NEWEST.name, () => comparison.run(ENGINES, newQemuRunner, NEWEST, PROGRAMS, 'max'));
  test(`jit: ${hot(NEWEST).name}`, () =>
    comparison.run(['jit'], newQemuRunner, hot(NEWEST), HOT_PROGRAMS, 'max'));
});
