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

const isQemu7 = (): boolean =>
  /version 7\./.test(spawnSync(qemu!, ['--version'], { encoding: 'utf8' }).stdout);

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

/** What QEMU 7.2 does not know, or does wrong (docs/oracles.md). */
const NEWER = ['cbo', 'user-code'];

describe.skipIf(absent)('privileged programs end the same way on qemu', () => {
  for (const name of programs().filter(p => !p.startsWith('emulator-only') && !NEWER.includes(p))) {
    test(name, () => {
      const bytes = assemble(name);
      const theirs = onQemu(name, bytes);
      expect(theirs.status, 'the failing case').toBe(0);
      expect(here(name, bytes)).toEqual(theirs);
    });
  }
});

describe.skipIf(noAssembler || QEMU_NEW === undefined)('and on a newer one', () => {
  test.each(NEWER)('%s', name => {
    const theirs = onQemu(name, assemble(name), QEMU_NEW, qemuCpu(DEFAULT_EXTENSIONS, 10));
    expect(theirs.status, 'the failing case').toBe(0);
  });
});

test.skipIf(absent || !isQemu7())('qemu 7 executes code of U in S', () => {
  expect(onQemu('user-code', assemble('user-code')).status, 'the failing case').toBe(1);
});
