// Programs of Debian that nobody built for this kernel - dynamic, with threads, in C, Go, Rust,
// Perl and Python - print what they print on Debian's own Linux, which QEMU boots with the same
// file tree. Needs apt (setup/fetch-guests.mjs), else it says why not.

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { entriesOf } from '../../bench/system/tree.ts';
import { findTool, hasGlibc, writeCpio } from '../../toolchain/index.ts';
import { findProgram, missing, withScratch } from '../support/tools.ts';
import { kernel, run } from './boot.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const SCRIPTS = join(ROOT, 'guest-programs/programs');
const qemu = findProgram('qemu-system-riscv64');
const fetched = ['--programs', '--linux'].map(option =>
  spawnSync(process.execPath, [join(ROOT, 'setup/fetch-guests.mjs'), option], { encoding: 'utf8' }),
);
const isAbsent = [
  missing('clang-19 with libc6-dev-riscv64-cross', hasGlibc() ? findTool('clang') : undefined),
  missing('qemu-system-riscv64', qemu),
  ...fetched.map(({ status, stdout, stderr }) =>
    missing(`Debian's programs (${stderr.trim()})`, status === 0 ? stdout : undefined),
  ),
].some(Boolean);
const [programs, linux] = fetched.map(({ stdout }) => stdout.trim());

/** Between the script's own first and last line. */
const said = (text: string): string[] =>
  text.replaceAll('\r', '').split('--- begin\n')[1]?.split('--- end\n')[0]?.split('\n') ?? [text];

it.skipIf(isAbsent)(
  'dynamic programs print what they print on Linux',
  async () => {
    const folders = ['dev', 'proc', 'root', 'sys', 'tmp'];
    const archive = writeCpio([
      ...folders.map(path => ({ path, mode: 0o41777, data: new Uint8Array() })),
      ...entriesOf(programs!),
      ...entriesOf(SCRIPTS),
      { path: 'bin/busybox', mode: 0o100755, data: readFileSync(join(linux!, '../../bin/busybox')) },
    ]);
    const there = withScratch(dir => {
      const image = join(dir, 'initrd');
      writeFileSync(image, archive);
      const args = ['-M', 'virt', '-m', '1G', '-smp', '2', '-nographic', '-no-reboot', '-kernel', linux!];
      const append = 'console=ttyS0 rdinit=/init quiet panic=-1';
      return spawnSync(qemu!, [...args, '-initrd', image, '-append', append], {
        encoding: 'utf8',
        input: '',
        timeout: 300_000,
      }).stdout;
    });
    expect(said(there).length).toBeGreaterThan(60);
    for (const harts of [1, 4]) {
      const options = { ramBytes: 512 << 20, harts };
      const here = run(await kernel('linux'), archive, 'init=/init', options, 60_000_000_000);
      expect(said(here.text)).toEqual(said(there));
      expect(here.status).toBe(0);
    }
  },
  1_800_000,
);
