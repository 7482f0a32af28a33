// Wrong files on the command line: one line, status 125, and no more memory than the file's role
// allows.
import { spawnSync } from 'node:child_process';
import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { assemble, FINISH } from '../support/asm.ts';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const COMMAND = join(ROOT, 'bin', 'kcovbox.cjs');
const dir = mkdtempSync(join(tmpdir(), 'kcovbox-files-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const kcovbox = (...args: string[]) =>
  spawnSync(process.execPath, [COMMAND, ...args], { encoding: 'utf8', cwd: dir, input: '', timeout: 20_000 });

/** A file with a hole of this size. */
function sparse(name: string, bytes: number): string {
  const fd = openSync(join(dir, name), 'w');
  ftruncateSync(fd, bytes);
  closeSync(fd);
  return name;
}

/** Ends the run at once, through the finisher. */
writeFileSync(join(dir, 'stop.elf'), assemble(`li a0, 0\n${FINISH}`).bytes);
spawnSync('mkfifo', [join(dir, 'fifo')]);
symlinkSync('/dev/zero', join(dir, 'zero.elf'));

const BOOT = ['boot', '-bios', 'none', '-kernel', 'stop.elf'];

describe('refused by name', () => {
  test.each<[string[], string]>([
    [['boot', '-kernel', '/dev/zero'], 'kernel /dev/zero is a device, not a file'],
    [['boot', '-kernel', 'zero.elf'], 'kernel zero.elf is a device, not a file'],
    [['boot', '-kernel', 'fifo'], 'kernel fifo is a pipe, not a file'],
    [['boot', '-kernel', '.'], 'kernel . is a folder, not a file'],
    [['boot', '-bios', '/dev/zero'], 'bios /dev/zero is a device, not a file'],
    [[...BOOT, '-initrd', '/dev/zero'], 'initrd /dev/zero is a device, not a file'],
    [[...BOOT, '-drive', 'file=/dev/zero,if=virtio'], 'drive /dev/zero is a device, not a file'],
    [['run', '/dev/zero'], 'program /dev/zero is a device, not a file'],
    [['disasm', '/dev/zero'], 'ELF file /dev/zero is a device, not a file'],
    [['symbolize', '-k', '/dev/zero'], 'image /dev/zero is a device, not a file'],
    [['boot', '-kernel', sparse('huge', 2 ** 30 + 1)], 'kernel huge is larger than 1024 MiB'],
  ])('%j', (args, message) => {
    const { status, stdout, stderr } = kcovbox(...args);
    expect({ status, stdout, stderr }).toEqual({ status: 125, stdout: '', stderr: `kcovbox: ${message}\n` });
  });
});

test('a drive of 1.9 GB takes no memory until it is written', () => {
  const bundle = join(ROOT, 'dist', 'kcovbox.cjs');
  const script = `require(${JSON.stringify(bundle)}).main(process.argv)
    .then(status => console.log(status, process.resourceUsage().maxRSS))`;
  const run = (...more: string[]): number => {
    const args = ['-e', script, 'kcovbox', ...BOOT, '-m', '64M', ...more];
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', cwd: dir, input: '' });
    const [status, kib] = stdout.split(' ');
    expect([status, stderr]).toEqual(['0', '']);
    return Number(kib) / 1024;
  };
  sparse('disk.raw', 1.9e9);
  expect(run('-drive', 'file=disk.raw,if=virtio,format=raw') - run()).toBeLessThan(60);
});
