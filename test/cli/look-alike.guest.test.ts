// `kcovbox-qemu`: the questions that xv6's Makefile asks have QEMU's answers, and a guest runs as
// with `kcovbox boot`. machine/xv6.slow.test.ts runs xv6 with it.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { assemble, FINISH } from '../support/asm.ts';
import { COMMAND, kcovbox } from '../support/command.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-look-alike-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const lookAlike = (...args: string[]) => {
  const command = join(dirname(COMMAND), 'kcovbox-qemu.cjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...args], {
    encoding: 'utf8',
    cwd: dir,
  });
  return { status, stdout, stderr };
};

test('the version has the form that a Makefile takes apart', () => {
  const { status, stdout, stderr } = lookAlike('--version');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const [, version] = /^QEMU emulator version ([0-9]+\.[0-9]+)\..*\n$/.exec(stdout) ?? [];
  expect(Number(version)).toBeGreaterThanOrEqual(7.2);
});

test('the list of options says that there is -gdb, at the beginning of a line', () => {
  expect(lookAlike('-help').stdout).toMatch(/^-gdb tcp::/m);
});

test('a guest ends as with kcovbox boot, and so does a wrong option', () => {
  writeFileSync(join(dir, 'seven.elf'), assemble(`li a0, 7\n${FINISH}`).bytes);
  for (const options of [
    ['-machine', 'virt', '-bios', 'none', '-kernel', 'seven.elf', '-m', '128M', '-smp', '3', '-nographic'],
    ['-frobnicate'],
  ])
    expect(lookAlike(...options)).toEqual(kcovbox(['boot', ...options], { cwd: dir }));
});
