// The same programs on QEMU: what they check is the architecture, not our reading of it. The random
// ones print hashes of everything that happened, which must be the same text.

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DEFAULT_EXTENSIONS, Machine, qemuCpu } from '../../emulator/index.ts';
import { QEMU_NEW } from '../support/oracle/qemu-new.ts';
import { findProgram, missing, withScratch } from '../support/tools.ts';
import { assemble, noAssembler, programs } from './assemble.ts';

const qemu = findProgram('qemu-system-riscv64');
const absent = missing('qemu-system-riscv64', qemu) || noAssembler;
/**
 * QEMU 7.2 with Svpbmt or Svnapot ignores reserved bits of PTEs, so only their own program runs
 * with them.
 */
const withoutTypes = [...DEFAULT_EXTENSIONS].filter(name => name !== 'svpbmt' && name !== 'svnapot');
const cpuOf = (name: string): { theirs: string; ours: string } =>
  name.startsWith('sv')
    ? { theirs: qemuCpu(DEFAULT_EXTENSIONS), ours: 'rv64' }
    : { theirs: qemuCpu(new Set(withoutTypes)), ours: 'rv64,svpbmt=off,svnapot=off' };
const BOARD = ['-M', 'virt', '-bios', 'none', '-display', 'none', '-monitor', 'none'];

function onQemu(
  name: string,
  bytes: Uint8Array,
  program = qemu!,
  cpu = cpuOf(name).theirs,
): { status: number | null; text: string } {
  return withScratch(directory => {
    const kernel = join(directory, name);
    writeFileSync(kernel, bytes);
    const options = [...BOARD, '-cpu', cpu, '-m', '64', '-serial', 'stdio', '-kernel', kernel];
    const run = spawnSync(program, options, { timeout: 60_000, stdio: ['ignore', 'pipe', 'pipe'] });
    return { status: run.status, text: run.stdout.toString('latin1') };
  });
}

function here(name: string, bytes: Uint8Array): { status: number | null; text: string } {
  let text = '';
  const machine = Machine.create({
    kernel: { name, bytes },
    bios: 'none',
    cpu: cpuOf(name).ours,
    ramBytes: 64 << 20,
    onConsole: byte => {
      text += String.fromCharCode(byte);
    },
  });
  const result = machine.run(100_000_000);
  return { status: result.kind === 'exit' ? result.status : null, text };
}

describe.skipIf(absent)('privileged programs end the same way on qemu', () => {
  for (const name of programs().filter(p => !p.startsWith('emulator-only') && p !== 'cbo')) {
    test(name, () => {
      const bytes = assemble(name);
      const theirs = onQemu(name, bytes);
      expect(theirs.status, 'the failing case').toBe(0);
      expect(here(name, bytes)).toEqual(theirs);
    });
  }
});

describe.skipIf(noAssembler || QEMU_NEW === undefined)('cache blocks on a QEMU that has them', () => {
  test('cbo', () => {
    const bytes = assemble('cbo');
    const theirs = onQemu('cbo', bytes, QEMU_NEW, qemuCpu(DEFAULT_EXTENSIONS, 10));
    expect(theirs.status, 'the failing case').toBe(0);
  });
});
