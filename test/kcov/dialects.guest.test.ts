// The four dialects in the guest: errno tables, what is in the area afterwards, and that the
// device, its inline form and the C hooks write the same bytes. The tables are
// guest-programs/kcov-conformance/*.def.

import { beforeAll, describe, expect, it } from 'vitest';
import type { MachineOptions } from '../../emulator/index.ts';
import { DIALECTS, type Dialect, findTool, hasGlibc } from '../../toolchain/index.ts';
import { failures, initrd, kernel, program, run } from '../kernel/boot.ts';
import { prebuilt } from '../support/kernels.ts';
import { leftAreas, withoutTimes } from './areas.ts';

const ready = hasGlibc() && findTool('clang') !== undefined;
if (!ready) console.warn('skipped: guest tests need clang-19 and libc6-dev-riscv64-cross');

/** Name of the program in kcov-conformance/ for a kind of test. */
const SUFFIX = { conformance: '', behaviour: '-behaviour', fingerprint: '-fingerprint' } as const;

describe.skipIf(!ready)('with KASAN, on 4 harts', () => {
  it('mmap, dup and close of the same descriptor never meet freed memory', async () => {
    const bytes = await program('kcov-conformance/openbsd-stress.c');
    const end = run(
      await kernel(prebuilt('openbsd+kasan')),
      initrd({ 'bin/stress': bytes }),
      'init=/bin/stress panic_on_warn -- 6000 3 8',
      { engine: 'jit', harts: 4, ramBytes: 256 << 20 },
    );
    expect(end.text).toMatch(/^ok stress$/m);
    expect(end.status).toBe(0);
  });
});

describe.skipIf(!ready).each([...DIALECTS])('%s', dialect => {
  let elf: string;
  beforeAll(async () => {
    elf = await kernel(dialect);
  });
  const start = async (kind: keyof typeof SUFFIX, options: Partial<MachineOptions>, args = '') => {
    const bytes = await program(`kcov-conformance/${dialect}${SUFFIX[kind]}.c`, dialect as Dialect);
    return run(elf, initrd({ 'bin/t': bytes }), `init=/bin/t -- ${args}`, {
      ramBytes: 256 << 20,
      ...options,
    });
  };

  it.each([
    ['the device', { kcov: 'device', harts: 1 }],
    ['C hooks, 4 harts', { kcov: 'off', harts: 4 }],
  ] as const)('every state and event gives the right errno: %s', async (_, options) => {
    const { text, status } = await start('conformance', { engine: 'interp', ...options });
    expect(text.split('\n').filter(line => line.startsWith('not ok'))).toEqual([]);
    expect(text).toMatch(/^[1-9]\d\d cells, 0 failed$/m);
    expect(status).toBe(0);
  });

  it.each([
    ['the device', { kcov: 'device', engine: 'interp' }],
    ['the device, 4 harts', { kcov: 'device', engine: 'interp', harts: 4 }],
    ['C hooks', { kcov: 'off', engine: 'interp' }],
  ] as const)('behaves as the real one: %s', async (_, options) => {
    const { text, status } = await start('behaviour', options);
    expect(failures(text)).toEqual([]);
    expect(status).toBe(0);
  });

  // With -b the program makes the same tests and shows its areas, too.
  it('behaves and leaves the same areas in every test, by device, by JIT and in C', async () => {
    const areas = async (options: Partial<MachineOptions>) => {
      const { text, status } = await start('behaviour', options, '-b');
      expect(failures(text)).toEqual([]);
      expect(status).toBe(0);
      return leftAreas(text);
    };
    const device = await areas({ kcov: 'device', engine: 'interp' });
    expect(device.length).toBeGreaterThan(15);
    expect(await areas({ kcov: 'device', engine: 'jit', eager: true })).toEqual(device);
    expect(withoutTimes(await areas({ kcov: 'off', engine: 'jit' }))).toEqual(withoutTimes(device));
  });

  it('writes the same bytes by device, by JIT and in C', async () => {
    const device = await start('fingerprint', { kcov: 'device', engine: 'interp' });
    const jit = await start('fingerprint', { kcov: 'device', engine: 'jit', eager: true });
    const hooks = await start('fingerprint', { kcov: 'off', engine: 'interp' });
    expect(device.text).toMatch(/ many \d+ /);
    expect(jit).toEqual(device);
    expect(hooks.text).toBe(device.text);
  });
});

/** The documented examples: program, dialect, arguments, first line of the output. */
const EXAMPLES: [string, Dialect, string, RegExp][] = [
  ['openbsd-kcov', 'openbsd', '', /^0xffffffff8/],
  ['openbsd-kcov', 'openbsd', '-m cmp -n 64', /^0xffffffff8\w+ (const|value)\d+ 0x/],
  ['openbsd-remote-kcov', 'openbsd', '', /^own calls: 0 records, deferred work: [1-9]/],
  ['netbsd-kcov', 'netbsd', '', /^0xffffffff8/],
  ['netbsd-remote-kcov', 'netbsd', '3', /^port 3: attached 1 1$/],
  ['freebsd-kcov', 'freebsd', '-m cmp', /^0xffffffff8\w+ (const|value)\d+ 0x/],
  ['linux-kcov', 'linux', '6', /^pc 0xffffffff8/],
  ['linux-kcov', 'linux', '8', /^cmp 0xffffffff8\w+ (const|value)\d+ 0x/],
  ['linux-remote-kcov', 'linux', '', /^bus 1: attached 1 1$/],
  ['fork-server-kcov', 'linux', '9', /^case 0: first 0xffffffff8/],
];

describe.skipIf(!ready)('examples', () => {
  it.each(EXAMPLES)('%s on %s %s', async (name, dialect, args, firstLine) => {
    const archive = initrd({ [`bin/${name}`]: await program(`${name}.c`, dialect) });
    const end = run(await kernel(dialect), archive, `init=/bin/${name} -- ${args}`, { engine: 'interp' });
    expect(end.text.split('\n')[0]).toMatch(firstLine);
    expect(end.status).toBe(0);
  });

  it('linux-kcov refuses modes that do not exist', async () => {
    const archive = initrd({ 'bin/t': await program('linux-kcov.c', 'linux') });
    for (const mode of [9, 16, 32]) {
      const end = run(await kernel('linux'), archive, `init=/bin/t -- ${mode}`, { engine: 'interp' });
      expect(end.text).toBe('KCOV_ENABLE: Invalid argument\n');
      expect(end.status).toBe(1);
    }
  });
});
