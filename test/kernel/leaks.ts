// Leaks: after each guest test program the kernel has as many free pages, objects of each size,
// processes and descriptors as before. guest-programs/tests/leaks.c runs each program three times.
import { beforeAll, describe, expect, it } from 'vitest';
import { FILE_PROGRAMS, failures, initrd, kernel, OWN_FILE_PROGRAMS, program, run } from './boot.ts';

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

/** The tests with so many harts. */
export function leakTests(isReady: boolean, harts: number): void {
  describe.skipIf(!isReady)('what programs leave behind', () => {
    let archive: Uint8Array;
    beforeAll(async () => {
      const files: Record<string, Uint8Array> = { leaks: await program('tests/leaks.c') };
      for (const name of NAMES) files[name] = await program(`tests/${name}.c`);
      archive = initrd(files);
    });

    it(`nothing, with ${harts} hart(s)`, async () => {
      const append = `init=/leaks -- ${NAMES.map(name => `/${name}`).join(' ')}`;
      const end = run(await kernel(), archive, append, { harts }, 40e9);
      expect(failures(end.text)).toEqual([]);
      expect(end.text.match(/^.*ok no_leak_[\w-]+$/gm)).toHaveLength(NAMES.length);
      expect(end.status).toBe(0);
    });
  });
}
