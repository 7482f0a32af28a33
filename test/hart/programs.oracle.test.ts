// The same programs on QEMU: what they check is the architecture, not our reading of it.

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findProgram, missing, withScratch } from '../support/tools.ts';
import { assemble, noAssembler, programs } from './assemble.ts';

const qemu = findProgram('qemu-system-riscv64');
const absent = missing('qemu-system-riscv64', qemu) || noAssembler;
/** No hypervisor extension: its bits would show in mideleg and misa. */
const BOARD = ['-M', 'virt', '-cpu', 'rv64,h=off', '-bios', 'none', '-display', 'none', '-serial', 'none'];

describe.skipIf(absent)('privileged programs end the same way on qemu', () => {
  for (const name of programs().filter(p => p !== 'emulator-only')) {
    test(name, () => {
      withScratch(directory => {
        const kernel = join(directory, name);
        writeFileSync(kernel, assemble(name));
        const run = spawnSync(qemu!, [...BOARD, '-monitor', 'none', '-m', '64', '-kernel', kernel], {
          timeout: 20_000,
        });
        expect(run.status, 'the failing case').toBe(0);
      });
    });
  }
});
