// Files, pipes, sockets, terminals, disks: the guest's own test programs, and the console as a
// person uses it.

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { findTool, hasGlibc, requireTool } from '../../toolchain/index.ts';
import { runProgram, withScratch } from '../support/tools.ts';
import { FILE_PROGRAMS, failures, initrd, kernel, OWN_FILE_PROGRAMS, program, run } from './boot.ts';

const ready = hasGlibc() && findTool('clang') !== undefined;
if (!ready) console.warn('skipped: guest tests need clang-19 and libc6-dev-riscv64-cross');

/** Damaged disk images to try: KCOVBOX_DAMAGED_IMAGES=10000 for a search, and another seed. */
const IMAGES = Number(process.env.KCOVBOX_DAMAGED_IMAGES ?? 40);
const SEED = process.env.KCOVBOX_FUZZ_SEED ?? '3';

/** A disk with an empty minfs, which the checker finds sound. */
const freshImage = (megabytes: string): Uint8Array =>
  withScratch(dir => {
    const tool = join(dir, 'mkfs');
    const source = resolve(import.meta.dirname, '../../guest-programs/tools/mkfs-minfs.c');
    runProgram(requireTool('clang'), ['-O1', '-Wall', '-Werror', source, '-o', tool]);
    runProgram(tool, [join(dir, 'disk'), megabytes]);
    expect(runProgram(tool, ['--check', join(dir, 'disk')])).toMatch(/ 0 problems/);
    return new Uint8Array(readFileSync(join(dir, 'disk')));
  });

const ECHO = `
#include <stdio.h>
int main(void)
{
    char line[100];
    printf("> ");
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin))
        printf("[%s]", line);
    return 0;
}
`;

describe.skipIf(!ready)('file-related programs in the guest', () => {
  let elf: string;
  beforeAll(async () => {
    elf = await kernel();
  });

  for (const name of [...FILE_PROGRAMS, ...OWN_FILE_PROGRAMS, 'edu']) {
    it(`${name}: every test is ok, and twice the same run`, async () => {
      const archive = initrd({ [name]: await program(`tests/${name}.c`) });
      const first = run(elf, archive, `init=/${name}`);
      expect(failures(first.text)).toEqual([]);
      expect(first.status).toBe(0);
      expect(first.text).not.toMatch(/skipped/);
      expect(run(elf, archive, `init=/${name}`)).toEqual(first);
    });
  }

  it('disk: minfs on a virtio disk, made by mkfs-minfs on the host', async () => {
    const archive = initrd({ init: await program('tests/disk.c') });
    const end = run(elf, archive, '', { virtio: [{ kind: 'blk', image: freshImage('8') }] });
    expect(failures(end.text)).toEqual([]);
    expect(end.text).not.toMatch(/skipped/);
  });

  it('disk-damage: damaged images neither harm nor hold up the kernel', async () => {
    const archive = initrd({ init: await program('tests/disk-damage.c') });
    const virtio = [{ kind: 'blk' as const, image: freshImage('4') }];
    const end = run(await kernel('openbsd+kasan'), archive, `-- ${IMAGES} ${SEED}`, { virtio }, IMAGES * 1e8);
    expect(failures(end.text)).toEqual([]);
    expect(end.text).not.toMatch(/skipped|BUG:/);
  }, 600_000);

  it('the console edits lines, echoes, and ends input at ^D', async () => {
    const echo = await withProgram(ECHO);
    const end = run(elf, initrd({ init: echo }), '', { typed: 'helloo\x7f\rsecond\r\x04' });
    expect(end.text).toBe('helloo\b \b\nsecond\n> [hello\n][second\n]');
    expect(end.status).toBe(0);
  });

  it('^C ends the program with status 128 + SIGINT', async () => {
    const echo = await withProgram(ECHO);
    const end = run(elf, initrd({ init: echo }), 'tty=noecho,nocrlf', { answer: '\x03' });
    expect(end.status).toBe(130);
  });
});

/** A program given as text. */
async function withProgram(source: string): Promise<Uint8Array> {
  const { mkdtempSync, writeFileSync } = await import('node:fs');
  const { tmpdir } = await import('node:os');
  const { buildProgram } = await import('../../toolchain/index.ts');
  const path = join(mkdtempSync(join(tmpdir(), 'kcovbox-test-')), 'echo.c');
  writeFileSync(path, source);
  return readFileSync((await buildProgram(path, { dialect: 'linux' })).path);
}
