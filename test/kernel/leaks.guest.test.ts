// Leaks of each guest test program with four harts (leaks.slow.test.ts: with one), and programs
// that take all there is.
import { describe, expect, it } from 'vitest';
import { findTool, hasGlibc } from '../../toolchain/index.ts';
import { prebuilt } from '../support/kernels.ts';
import { failures, initrd, kernel, program, run } from './boot.ts';
import { leakTests } from './leaks.ts';

const ready = hasGlibc() && findTool('clang') !== undefined;
if (!ready) console.warn('skipped: guest tests need clang-19 and libc6-dev-riscv64-cross');

leakTests(ready, 4);

describe.skipIf(!ready)('files that are closed under their users', () => {
  // A failure would be a use after free, so the kernel checks itself. The long doses:
  // robust.slow.test.ts.
  for (const conf of [prebuilt('openbsd+kasan'), prebuilt('linux+kasan+ubsan+debug')])
    it(`${conf}: four threads use what a fifth replaces, 4 harts`, async () => {
      const archive = initrd({ lent: await program('tests/lent.c') });
      const end = run(await kernel(conf), archive, 'init=/lent panic_on_warn -- 600 7', { harts: 4 });
      expect(failures(end.text)).toEqual([]);
      expect(end.status).toBe(0);
    });
});

describe.skipIf(!ready)('more than a program should ask for', () => {
  for (const engine of ['jit', 'interp'] as const)
    for (const harts of [1, 4, 8])
      it(`33 threads, a fork bomb and storms of signals: ${engine}, ${harts} hart(s)`, async () => {
        const archive = initrd({ stress: await program('tests/stress.c') });
        const end = run(await kernel(), archive, 'init=/stress', { harts, engine });
        expect(failures(end.text)).toEqual([]);
        expect(end.text).not.toMatch(/skipped/);
        expect(end.status).toBe(0);
      });
});
