// The toy kernel from its first instruction to power-off, with a static glibc program between, beside QEMU: all registers
// after every instruction.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkWithQemu } from '../../cli/check.ts';
import { prepareGuest } from '../../cli/guest.ts';
import { parseQemu } from '../../cli/qemu-options.ts';
import { findProgram, missing, withScratchAsync } from '../support/tools.ts';

const absent =
  missing('qemu-system-riscv64', findProgram('qemu-system-riscv64')) ||
  missing('clang', findProgram('clang-19', 'clang'));

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

describe.skipIf(absent)('the toy kernel and qemu', () => {
  test('agree from boot to power-off', async () => {
    await withScratchAsync(async directory => {
      const source = join(directory, 'sum.c');
      writeFileSync(source, PROGRAM);
      const guest = await prepareGuest(source, [], { dialect: 'openbsd', kcov: 'guest' });
      const initrd = join(directory, 'initrd.cpio');
      writeFileSync(initrd, guest.initrd);
      const words = ['-kernel', guest.kernelPath, '-initrd', initrd, '-append', guest.append];
      const report = await checkWithQemu(parseQemu([...words, '--max-insns', '20000000', '--kcov', 'off']));
      console.info(`qemu and kcovbox: ${report.agreed} instructions of the kernel's life agreed`);
      expect(report.difference?.join('\n')).toBeUndefined();
      expect(report.agreed).toBeGreaterThan(1_000_000);
    });
  });

  test('a kernel that is no kernel is reported by the machine, not by a hang', async () => {
    const options = parseQemu(['-kernel', '/dev/null', '--kcov', 'off']);
    await expect(checkWithQemu(options)).rejects.toThrow('empty');
  });
});
