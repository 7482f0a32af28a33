// The long dose of random-programs.oracle.test.ts: programs that run often enough for the JIT to
// compile all of them, and five times as many that run once. KCOVBOX_SEED; KCOVBOX_PROGRAMS, per
// profile and oracle.

import { afterAll, test } from 'vitest';
import { Comparison } from '../support/oracle/comparison.ts';
import { hot, NEWEST, QEMU_PROFILES, UNICORN_PROFILES } from '../support/oracle/profiles.ts';
import { QEMU, qemuRunner } from '../support/oracle/qemu.ts';
import { newQemuRunner, QEMU_NEW } from '../support/oracle/qemu-new.ts';
import { UNICORN, unicornRunner } from '../support/oracle/unicorn.ts';
import { seedFromEnvironment } from '../support/random.ts';
import { missing } from '../support/tools.ts';

const PROGRAMS = Number(process.env['KCOVBOX_PROGRAMS'] ?? 200);
const ENGINES = ['interp', 'jit'] as const;
const TIMEOUT = 3_600_000;
const comparison = new Comparison(seedFromEnvironment(0x10c0ffee));
afterAll(() => comparison.print());

test.skipIf(missing('libunicorn', UNICORN)).each(UNICORN_PROFILES)(
  'libunicorn: $name',
  profile => {
    comparison.run(['jit'], unicornRunner, hot(profile), PROGRAMS);
    comparison.run(ENGINES, unicornRunner, profile, 5 * PROGRAMS);
  },
  TIMEOUT,
);

test.skipIf(missing('qemu-system-riscv64', QEMU)).each(QEMU_PROFILES)(
  'qemu: $name',
  profile => {
    comparison.run(['jit'], qemuRunner, hot(profile), PROGRAMS);
    comparison.run(ENGINES, qemuRunner, profile, 5 * PROGRAMS);
  },
  TIMEOUT,
);

test.skipIf(QEMU_NEW === undefined)('a newer qemu: every extension', { timeout: TIMEOUT }, () => {
  comparison.run(['jit'], newQemuRunner, hot(NEWEST), PROGRAMS, 'max');
  comparison.run(ENGINES, newQemuRunner, NEWEST, 5 * PROGRAMS, 'max');
});
