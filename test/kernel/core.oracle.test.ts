// The guest's core programs where somebody else answers: the host's Linux under QEMU's user-mode emulation, and our
// kernel on QEMU's virt board with OpenSBI.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasGlibc, TOOLS, which } from '../../toolchain/index.ts';
import { findProgram, missing } from '../support/tools.ts';
import { failures, initrd, kernel, program, runQemu } from './boot.ts';

const user = findProgram('qemu-riscv64', 'qemu-riscv64-static');
const system = findProgram('qemu-system-riscv64');
const noCompiler = missing(
  'clang-19 with libc6-dev-riscv64-cross',
  hasGlibc() ? which(TOOLS.clang) : undefined,
);
const noUser = missing('qemu-riscv64', user) || noCompiler;
const noSystem = missing('qemu-system-riscv64', system) || noCompiler;
const PROGRAMS = ['processes', 'threads', 'signals', 'memory', 'clocks', 'events'];

describe.skipIf(noUser)('on Linux, by user-mode emulation', () => {
  for (const name of PROGRAMS) {
    it(`${name}: every test is ok`, async () => {
      const path = join(mkdtempSync(join(tmpdir(), 'kcovbox-test-')), name);
      writeFileSync(path, await program(`tests/${name}.c`), { mode: 0o755 });
      const env = { ...process.env, QEMU_USER: '1' };
      const done = spawnSync(user!, [path], { encoding: 'utf8', env, timeout: 60_000 });
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
    for (const name of PROGRAMS) {
      it(`${name}: every test is ok with ${harts} hart(s)`, async () => {
        const archive = initrd({ [`bin/${name}`]: await program(`tests/${name}.c`) });
        expect(failures(runQemu(system!, elf, archive, `init=/bin/${name}`, ['-smp', harts]))).toEqual([]);
      });
    }
});
