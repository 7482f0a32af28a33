// Both engines against independent CPUs: random programs from the instruction table, millions of instructions, final
// registers and memory compared. A difference is shrunk and printed as assembly with its initial registers.
//
// KCOVBOX_SEED=hex repeats a run; KCOVBOX_PROGRAMS=n sets the number of programs per combination (default 1000).

import { afterAll, describe, expect, test } from 'vitest';
import { runCampaign } from '../support/oracle/campaign.ts';
import type { Profile } from '../support/oracle/generate.ts';
import { kcovboxRunner } from '../support/oracle/kcovbox.ts';
import * as profiles from '../support/oracle/profiles.ts';
import { QEMU, qemuRunner } from '../support/oracle/qemu.ts';
import { newQemuRunner, QEMU_NEW } from '../support/oracle/qemu-new.ts';
import type { ImageRunner } from '../support/oracle/runner.ts';
import { UNICORN, unicornRunner } from '../support/oracle/unicorn.ts';
import { seedFromEnvironment, seedText } from '../support/random.ts';
import { missing } from '../support/tools.ts';

const seed = seedFromEnvironment(0xc0ffee);
const PROGRAMS = Number(process.env['KCOVBOX_PROGRAMS'] ?? 1000);
const ENGINES = ['interp', 'jit'] as const;
const totals = new Map<string, number>();

function compare(
  reference: ImageRunner,
  engine: (typeof ENGINES)[number],
  profile: Profile,
  programs: number,
  cpu?: string,
) {
  const subject = kcovboxRunner(engine, cpu);
  const result = runCampaign({ profile, seed, programs, reference, subject });
  const key = `${engine} and ${reference.name}`;
  totals.set(key, (totals.get(key) ?? 0) + subject.instret);
  expect(
    result.report,
    `${result.different} of ${result.programs} programs differ\n${result.report}`,
  ).toBeUndefined();
}

afterAll(() => {
  for (const [pair, count] of totals) {
    console.info(
      `${pair}: ${(count / 1e6).toFixed(1)} million instructions compared, seed ${seedText(seed)}`,
    );
  }
});

const UNICORN_PROFILES = [profiles.INTEGER, profiles.INTEGER_DOUBLE];
const QEMU_PROFILES = [
  profiles.INTEGER,
  profiles.BITS,
  profiles.INTEGER_DOUBLE,
  profiles.FLOATS,
  profiles.EVERYTHING,
];

describe.skipIf(missing('libunicorn', UNICORN))(`libunicorn agrees, seed ${seedText(seed)}`, () => {
  for (const engine of ENGINES) {
    for (const profile of UNICORN_PROFILES) {
      test(`${engine}: ${profile.name}`, () => compare(unicornRunner, engine, profile, PROGRAMS));
    }
  }
});

describe.skipIf(missing('qemu-system-riscv64', QEMU))(`qemu agrees, seed ${seedText(seed)}`, () => {
  for (const engine of ENGINES) {
    for (const profile of QEMU_PROFILES) {
      test(`${engine}: ${profile.name}`, () => compare(qemuRunner, engine, profile, PROGRAMS));
    }
  }
  for (const profile of QEMU_PROFILES.map(profiles.hot)) {
    const programs = Math.ceil(PROGRAMS / 20);
    test(`jit: ${profile.name}`, () => compare(qemuRunner, 'jit', profile, programs));
  }
});

describe.skipIf(QEMU_NEW === undefined)(`a newer qemu agrees, seed ${seedText(seed)}`, () => {
  for (const engine of ENGINES) {
    test(`${engine}: ${profiles.NEWEST.name}`, () =>
      compare(newQemuRunner, engine, profiles.NEWEST, PROGRAMS, 'max'));
  }
  test(`jit: ${profiles.hot(profiles.NEWEST).name}`, () =>
    compare(newQemuRunner, 'jit', profiles.hot(profiles.NEWEST), Math.ceil(PROGRAMS / 20), 'max'));
});
