// Leaks: after each guest test program the kernel has as many free pages, objects of each size,
// processes and descriptors as before, with one hart and with four. guest-programs/tests/leaks.c
// runs each program three times.
import { beforeAll, describe, expect, it } from 'vitest';
import { findTool, hasGlibc } from '../../toolchain/index.ts';
import { prebuilt } from '../support/kernels.ts';
import { FILE_PROGRAMS, failures, initrd, kernel, OWN_FILE_PROGRAMS, program, run } from './boot.ts';

const ready = hasGlibc() && findTool('clang') !== undefined;
if (!ready) console.warn('skipped: guest tests need clang-19 and libc6-dev-riscv64-cross');

const CORE = [
  'clocks',
  'cpu-clocks',
  'events',
  'memory',
  'priorities',
  'processes',
  'signals',
  'stress',
  'threads',
];
const NAMES = [...CORE, ...FILE_PROGRAMS, ...OWN_FILE_PROGRAMS];

describe.skipIf(!ready)('what programs leave behind', () => {
  let archive: Uint8Array;
  beforeAll(async () => {
    const files: Record<string, Uint8Array> = { leaks: await program('tests/leaks.c') };
    for (const name of NAMES) files[name] = await program(`tests/${name}.c`);
    archive = initrd(files);
  });

  for (const harts of [1, 4])
    it(`nothing, with ${harts} hart(s)`, async () => {
      const append = `init=/leaks -- ${NAMES.map(name => `/${name}`).join(' ')}`;
      const end = run(await kernel(), archive, append, { harts }, 40e9);
      expect(failures(end.text)).toEqual([]);
      expect(end.text.match(/^.*ok no_leak_[\w-]+$/gm)).toHaveLength(NAMES.length);
      expect(end.status).toBe(0);
    });
});

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
