// xv6, the teaching kernel of MIT, through the command with the options of its own Makefile: shell
// commands on one and three harts print what they print on QEMU, and usertests pass. Needs the
// sources and a cross compiler (setup/build-xv6.mjs), else it says why not.

import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
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
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program!, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    let text = '';
    const left = [...lines];
    child.stdout.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1').replaceAll('\r', '');
      if (text.endsWith('$ ') && left.length > 0) child.stdin.write(`${left.shift()}\n`);
      if (until.test(text)) child.kill('SIGKILL');
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
