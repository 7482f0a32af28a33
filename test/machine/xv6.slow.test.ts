// xv6, the teaching kernel of MIT, through the command with the options of its own Makefile: shell
// commands on one and three harts print what they print on QEMU, usertests pass, and its lines that
// ran are counted. Needs the sources and a cross compiler (setup/build-xv6.mjs), else it says why
// not.

import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { COMMAND, ROOT } from '../support/command.ts';
import { findProgram, missing, withScratchAsync } from '../support/tools.ts';

const QEMU = findProgram('qemu-system-riscv64');
const built = spawnSync(process.execPath, [join(ROOT, 'setup/build-xv6.mjs')], {
  cwd: ROOT,
  encoding: 'utf8',
});
const noXv6 = missing(`xv6 (${built.stderr.trim()})`, built.status === 0 ? built.stdout : undefined);
const DIR = dirname(built.stdout.trim());
const OURS = [process.execPath, join(dirname(COMMAND), 'kcovbox-qemu.cjs')];
/** The output of the shell after the last command. */
const DONE = /\ndone\n\$ /;

/** QEMUOPTS of xv6's Makefile. */
const options = (harts: number, disk: string): string[] => [
  ...['-machine', 'virt', '-bios', 'none', '-kernel', join(DIR, 'kernel'), '-m', '128M', '-smp', `${harts}`],
  ...['-nographic', '-global', 'virtio-mmio.force-legacy=false'],
  ...['-drive', `file=${disk},if=none,format=raw,id=x0`],
  ...['-device', 'virtio-blk-device,drive=x0,bus=virtio-mmio-bus.0'],
];

/**
 * Types a line at each prompt, waits until the output has `until`, and ends the emulator. The
 * output from the first prompt up to there.
 */
function session(
  [program, ...args]: readonly string[],
  lines: readonly string[],
  until: RegExp,
  signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL',
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program!, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    let text = '';
    const left = [...lines];
    child.stdout.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1').replaceAll('\r', '');
      if (text.endsWith('$ ') && left.length > 0) child.stdin.write(`${left.shift()}\n`);
      if (until.test(text)) child.kill(signal);
    });
    child.on('error', reject);
    child.on('exit', () => {
      const end = until.exec(text);
      if (end) resolve(text.slice(text.indexOf('$ '), end.index + end[0].length));
      else reject(new Error(`ended without ${until}:\n${text}`));
    });
  });
}

/** A session on a fresh disk. */
const boot = (emulator: readonly string[], harts: number, lines: readonly string[], until: RegExp) =>
  withScratchAsync(directory => {
    const disk = join(directory, 'fs.img');
    copyFileSync(join(DIR, 'fs.img'), disk);
    return session([...emulator, ...options(harts, disk)], lines, until);
  });

/** Calls of each function of the kernel in a session on one hart. */
const counted = (lines: readonly string[]): Promise<Map<string, number>> =>
  withScratchAsync(async directory => {
    const [disk, info] = [join(directory, 'fs.img'), join(directory, 'xv6.info')];
    copyFileSync(join(DIR, 'fs.img'), disk);
    const command = [...OURS, '--interactive', '--exact', '--cover', info, ...options(1, disk)];
    await session(command, [...lines, 'echo done'], DONE, 'SIGTERM');
    const rows = readFileSync(info, 'utf8').matchAll(/^FNDA:(\d+),(.*)$/gm);
    return new Map([...rows].map(([, count, name]) => [name!, Number(count)]));
  });

const COMMANDS = [
  'ls',
  'cat README | wc',
  'mkdir d',
  'echo hello xv6 > d/f',
  'cat d/f',
  'forktest',
  'grep risc README',
];

describe.skipIf(noXv6)('xv6', { timeout: 1_800_000 }, () => {
  test.skipIf(missing('qemu-system-riscv64', QEMU)).each([1, 3])(
    'prints on %i harts what it prints on QEMU',
    async harts => {
      const lines = [...COMMANDS, 'echo done'];
      const interactive = [...OURS, '--interactive'];
      const ours = await boot(interactive, harts, lines, DONE);
      const theirs = await boot([QEMU!], harts, lines, DONE);
      expect(ours).toEqual(theirs);
      expect(ours).toContain('fork test OK\n');
    },
  );

  test('its Makefile, as it is, gives the options of this test', () => {
    const words = ['-n', '-o', 'kernel/kernel', '-o', 'fs.img', 'QEMU=kcovbox-qemu', 'qemu'];
    const { stdout } = spawnSync('make', words, { cwd: join(DIR, '../xv6-riscv'), encoding: 'utf8' });
    const given = stdout.trimEnd().split('\n').at(-1)!.split(' ');
    const own = options(3, 'fs.img').map(word => (word === join(DIR, 'kernel') ? 'kernel/kernel' : word));
    expect(given).toEqual(['kcovbox-qemu', ...own]);
  });

  test('its functions that ran are counted: each command makes its own system calls', async () => {
    const [none, some] = [await counted([]), await counted(['mkdir d', 'mkdir e', 'rm d'])];
    const calls = (counts: Map<string, number>) =>
      ['sys_mkdir', 'sys_unlink', 'sys_link'].map(name => counts.get(name));
    expect(calls(none)).toEqual([0, 0, 0]);
    expect(calls(some)).toEqual([2, 1, 0]);
    // Process 1, the shell, and a child for each command; the kernel begins once.
    expect([none.get('fork'), some.get('fork'), some.get('main')]).toEqual([2, 5, 1]);
  });

  test('passes usertests on one hart', async () => {
    const text = await boot(
      [...OURS, '--interactive', '-icount', 'shift=4'],
      1,
      ['usertests -q'],
      /ALL TESTS PASSED|FAILED/,
    );
    expect(text).toContain('ALL TESTS PASSED');
  });
});
