// The file-related guest programs where the behaviour is Linux's own: under QEMU's user-mode emulation the host's Linux
// answers, under QEMU's virt board our kernel does, with OpenSBI and with several harts.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasGlibc, requireTool, TOOLS, which } from '../../toolchain/index.ts';
import { findProgram, missing, runProgram } from '../support/tools.ts';
import { FILE_PROGRAMS, failures, initrd, kernel, OWN_FILE_PROGRAMS, program, runQemu } from './boot.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const user = findProgram('qemu-riscv64', 'qemu-riscv64-static');
const system = findProgram('qemu-system-riscv64');
const noCompiler = missing(
  'clang-19 with libc6-dev-riscv64-cross',
  hasGlibc() ? which(TOOLS.clang) : undefined,
);
const noUser = missing('qemu-riscv64', user) || noCompiler;
const noSystem = missing('qemu-system-riscv64', system) || noCompiler;

describe.skipIf(noUser)('on Linux, by user-mode emulation', () => {
  for (const name of FILE_PROGRAMS) {
    it(`${name}: every test is ok`, async () => {
      const path = join(mkdtempSync(join(tmpdir(), 'kcovbox-test-')), name);
      writeFileSync(path, await program(`tests/${name}.c`), { mode: 0o755 });
      const done = spawnSync(user!, [path], {
        encoding: 'utf8',
        env: { ...process.env, QEMU_USER: '1' },
        timeout: 60_000,
      });
      expect(failures(done.stdout)).toEqual([]);
    });
  }
});

describe.skipIf(noSystem)("on QEMU's virt board", () => {
  let elf: string;
  beforeAll(async () => {
    elf = await kernel();
  });

  for (const harts of ['1', '4'])
    for (const name of [...FILE_PROGRAMS, ...OWN_FILE_PROGRAMS]) {
      it(`${name}: every test is ok with ${harts} hart(s)`, async () => {
        const archive = initrd({ [name]: await program(`tests/${name}.c`) });
        expect(failures(runQemu(system!, elf, archive, `init=/${name}`, ['-smp', harts]))).toEqual([]);
      });
    }

  for (const legacy of ['true', 'false']) {
    it(`disk: minfs with force-legacy=${legacy}, and the image is sound afterwards`, async () => {
      const dir = mkdtempSync(join(tmpdir(), 'kcovbox-test-'));
      const tool = join(dir, 'mkfs');
      const image = join(dir, 'disk');
      const source = join(ROOT, 'guest-programs/tools/mkfs-minfs.c');
      runProgram(requireTool('clang'), ['-O1', '-Wall', '-Werror', source, '-o', tool]);
      runProgram(tool, [image, '8']);
      const text = runQemu(system!, elf, initrd({ disk: await program('tests/disk.c') }), 'init=/disk', [
        '-global',
        `virtio-mmio.force-legacy=${legacy}`,
        '-drive',
        `file=${image},if=none,format=raw,id=d`,
        '-device',
        'virtio-blk-device,drive=d',
      ]);
      expect(failures(text)).toEqual([]);
      expect(text).not.toMatch(/skipped/);
      expect(runProgram(tool, ['--check', image])).toMatch(/ 0 problems/);
    });
  }
});
