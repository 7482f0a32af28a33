// `kcovbox check` in use. The toy kernel from its first instruction to power-off, including a
// static glibc program, compared with QEMU: all registers after every instruction.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { parseQemu } from '../../cli/boot/qemu-options.ts';
import { checkWithUnicorn } from '../../cli/check/unicorn.ts';
import { prepareGuest } from '../../cli/run/guest.ts';
import { checkWithQemu } from '../../cli/verbs/check.ts';
import { Machine } from '../../emulator/index.ts';
import { allInMemory } from '../../host/guest.ts';
import { assemble, FINISH } from '../support/asm.ts';
import { generateProgram, type Profile } from '../support/oracle/generate.ts';
import { buildImage } from '../support/oracle/image.ts';
import { EVERYTHING, INTEGER_DOUBLE } from '../support/oracle/profiles.ts';
import { QEMU } from '../support/oracle/qemu.ts';
import { UNICORN } from '../support/oracle/unicorn.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';
import { findProgram, missing, withScratchAsync } from '../support/tools.ts';

const COMMAND = join(import.meta.dirname, '../../bin/kcovbox.cjs');
const absent = missing('qemu-system-riscv64', QEMU) || missing('clang', findProgram('clang-19', 'clang'));

/** Floating point, so that its state and registers are compared too. */
const PROGRAM = `
#include <math.h>
#include <stdio.h>
int main(void) {
    double sum = 0;
    for (int i = 1; i < 50; i++) sum += sqrt(i) / 3;
    return printf("%.17g\\n", sum) == 19 ? 0 : 1;
}
`;

/** M-mode enters S-mode with TVM, where satp is illegal, and without, fifty times each. */
const UNDER_TVM = `
  li t0, -1
  csrw pmpaddr0, t0
  li t0, 0x1f
  csrw pmpcfg0, t0
  la t0, trap
  csrw mtvec, t0
  li s0, 100
1: li t0, (3 << 11) | (1 << 20)
  csrc mstatus, t0
  li t0, 1 << 11
  andi t1, s0, 1
  slli t1, t1, 20
  or t0, t0, t1
  csrs mstatus, t0
  la t0, 2f
  csrw mepc, t0
  mret
2: addi a1, a1, 3
  csrr a2, satp
  ecall
  .balign 4
trap: csrr a3, mcause
  addi s0, s0, -1
  bnez s0, 1b
  li a0, 0
${FINISH}`;

const seed = seedFromEnvironment(0x57e9);

/** A bare-metal image of random programs in a scratch file. */
function programs(directory: string, profile: Profile, count: number): string {
  const random = new Random(seed);
  const path = join(directory, 'programs.bin');
  const { bytes } = buildImage(Array.from({ length: count }, () => generateProgram(random, profile)));
  writeFileSync(path, bytes);
  return path;
}

describe.skipIf(missing('qemu-system-riscv64', QEMU))(
  `step by step with qemu, seed ${seedText(seed)}`,
  () => {
    test('random programs with csrs and traps agree after every instruction', async () => {
      await withScratchAsync(async directory => {
        const kernel = programs(directory, EVERYTHING, 40);
        const report = await checkWithQemu(parseQemu(['-bios', 'none', '-kernel', kernel, '--kcov', 'off']));
        console.info(`qemu and kcovbox: ${report.agreed} instructions of random programs agreed one by one`);
        expect(report.difference?.join('\n')).toBeUndefined();
        expect(report.agreed).toBeGreaterThan(50_000);
      });
    });

    test.each([
      ['SIGTERM', 143],
      ['SIGHUP', 129],
    ] as const)('%s ends qemu, too, and leaves no files', async (signal, status) => {
      await withScratchAsync(async directory => {
        const kernel = join(directory, 'loop.elf');
        writeFileSync(kernel, assemble('1: addi a0, a0, 1\nj 1b').bytes);
        const words = ['check', '-bios', 'none', '-kernel', kernel, '--max-insns', '1000000000'];
        const env = { ...process.env, TMPDIR: directory };
        const child = spawn(process.execPath, [COMMAND, ...words], { env, stdio: 'ignore' });
        const isRunning = (): boolean =>
          spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).stdout.includes(`-D ${directory}`);
        const ended = once(child, 'exit');
        while (!isRunning()) await setTimeout(50);
        child.kill(signal);
        expect(await ended).toEqual([status, null]);
        while (isRunning()) await setTimeout(50);
        expect(readdirSync(directory)).toEqual(['loop.elf']);
      });
    });

    // Where satp cannot be read QEMU leaves it out of its log.
    test('S-mode under TVM agrees, and M-mode behind it', async () => {
      await withScratchAsync(async directory => {
        const kernel = join(directory, 'tvm.elf');
        writeFileSync(kernel, assemble(UNDER_TVM).bytes);
        const report = await checkWithQemu(parseQemu(['-bios', 'none', '-kernel', kernel, '--kcov', 'off']));
        expect(report.difference?.join('\n')).toBeUndefined();
        expect(report.agreed).toBeGreaterThan(6 * 50);
      });
    });
  },
);

describe.skipIf(missing('libunicorn', UNICORN))(`step by step with unicorn, seed ${seedText(seed)}`, () => {
  test('random programs agree after every instruction it can be trusted with', async () => {
    await withScratchAsync(async directory => {
      const bytes = readFileSync(programs(directory, INTEGER_DOUBLE, 40));
      const kernel = { name: 'programs.bin', bytes };
      const machine = Machine.create({ kernel, bios: 'none', kcov: 'off', engine: 'interp' });
      const report = await checkWithUnicorn(machine, 1_000_000);
      console.info(
        `unicorn and kcovbox: ${report.agreed} instructions agreed, ${report.passedOver} passed over`,
      );
      expect(report.difference?.join('\n')).toBeUndefined();
      expect(report.agreed).toBeGreaterThan(50_000);
      expect(report.passedOver).toBeLessThan(report.agreed / 20);
    });
  });
});

describe.skipIf(absent)('the toy kernel and qemu', () => {
  test('agree from boot to power-off', async () => {
    await withScratchAsync(async directory => {
      const source = join(directory, 'sum.c');
      writeFileSync(source, PROGRAM);
      const guest = allInMemory(await prepareGuest(source, [], { dialect: 'openbsd', kcov: 'guest' }));
      const initrd = join(directory, 'initrd.cpio');
      writeFileSync(initrd, guest.initrd);
      const words = ['-kernel', guest.kernelPath, '-initrd', initrd, '-append', guest.append];
      const report = await checkWithQemu(parseQemu([...words, '--max-insns', '20000000', '--kcov', 'off']));
      console.info(`qemu and kcovbox: ${report.agreed} instructions of the kernel's life agreed`);
      expect(report.difference?.join('\n')).toBeUndefined();
      expect(report.agreed).toBeGreaterThan(1_000_000);
    });
  });

  test('a kernel that is no kernel is reported, not a hang', async () => {
    const options = parseQemu(['-kernel', '/dev/null', '--kcov', 'off']);
    await expect(checkWithQemu(options)).rejects.toThrow('kernel /dev/null is a device, not a file');
  });
});
