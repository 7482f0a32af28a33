// The driver model of the guest kernel: devices are unbound, bound, removed and found again while
// programs use them.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { findTool, hasGlibc, requireTool } from '../../toolchain/index.ts';
import { prebuilt } from '../support/kernels.ts';
import { runProgram, withScratch } from '../support/tools.ts';
import { failures, initrd, kernel, program, run } from './boot.ts';

const ready = hasGlibc() && findTool('clang') !== undefined;
if (!ready) console.warn('skipped: guest tests need clang-19 and libc6-dev-riscv64-cross');

/** An empty minfs of 8 MiB. */
function emptyDisk(): Uint8Array {
  return withScratch(dir => {
    const source = resolve(import.meta.dirname, '../../guest-programs/tools/mkfs-minfs.c');
    runProgram(requireTool('clang'), ['-O1', source, '-o', join(dir, 'mkfs')]);
    runProgram(join(dir, 'mkfs'), [join(dir, 'disk'), '8']);
    return new Uint8Array(readFileSync(join(dir, 'disk')));
  });
}

describe.skipIf(!ready)('the driver model', () => {
  let archive: Uint8Array;
  let image: Uint8Array;
  beforeAll(async () => {
    archive = initrd({ drivers: await program('tests/drivers.c') });
    image = emptyDisk();
  });

  const KERNELS = ['openbsd', prebuilt('openbsd+kasan'), prebuilt('linux+kasan+ubsan+debug')] as const;
  for (const conf of KERNELS)
    for (const harts of conf === KERNELS[0] ? [1, 4] : [4])
      it(`${conf}: devices go and come with I/O in flight, ${harts} hart(s)`, async () => {
        const virtio = [{ kind: 'rng' as const }, { kind: 'blk' as const, image: image.slice() }];
        const end = run(await kernel(conf), archive, 'init=/drivers panic_on_warn', { harts, virtio });
        expect(failures(end.text)).toEqual([]);
        expect(end.text).not.toMatch(/skipped|BUG:|UBSAN:|reversal/);
        expect(end.status).toBe(0);
      });
});
