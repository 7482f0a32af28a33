// Random programs about privilege, on our JIT and on QEMU: page tables, PMP, mstatus with MPRV,
// modes, code that changes. Only what the manual determines: `isPortable` in
// test/support/privileged/program.ts. privileged.slow.test.ts has the long dose. KCOVBOX_SEED,
// KCOVBOX_PROGRAMS.

import { expect, test } from 'vitest';
import { QEMU } from '../support/oracle/qemu.ts';
import { EAGEREST } from '../support/privileged/policies.ts';
import { compareWithQemu } from '../support/privileged/qemu.ts';
import { searchPrivileged } from '../support/privileged/search.ts';
import { seedFromEnvironment, seedText } from '../support/random.ts';
import { missing } from '../support/tools.ts';

const SEED = seedFromEnvironment(0x5eed);
const PROGRAMS = Number(process.env['KCOVBOX_PROGRAMS'] || 6);

test.skipIf(missing('qemu-system-riscv64', QEMU))(
  'programs about privilege leave the same memory as on QEMU',
  () => {
    const { instructions, report } = searchPrivileged({
      profile: { steps: 120, rounds: 8, isPortable: true },
      seed: SEED,
      programs: PROGRAMS,
      compare: (program, seed) => compareWithQemu(program, seed, EAGEREST),
    });
    console.log(`${PROGRAMS} programs from seed ${seedText(SEED)}, ${instructions} instructions`);
    expect(report?.()).toBeUndefined();
    expect(instructions).toBeGreaterThan(100_000 * PROGRAMS);
  },
);
