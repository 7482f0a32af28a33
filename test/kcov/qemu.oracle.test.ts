// The same kernel and programs on QEMU, where there is no kcov device: what the C hooks write there
// is what the device writes here, and the errno tables hold there too.

import { describe, expect, it } from 'vitest';
import { DIALECTS, type Dialect, findTool, hasGlibc } from '../../toolchain/index.ts';
import { initrd, kernel, program, run, runQemu } from '../kernel/boot.ts';
import { QEMU } from '../support/oracle/qemu.ts';
import { leftAreas, onAnyBoard } from './areas.ts';

const ready = QEMU !== undefined && hasGlibc() && findTool('clang') !== undefined;
if (!ready) console.warn('skipped: needs qemu-system-riscv64, clang-19 and libc6-dev-riscv64-cross');

/** Without the firmware's own lines. */
const guestLines = (text: string) => text.split('\n').filter(line => !line.startsWith('Boot HART'));

describe.skipIf(!ready).each([...DIALECTS])('%s on QEMU', dialect => {
  const build = async (name: string) => {
    const bytes = await program(`kcov-conformance/${dialect}${name}.c`, dialect as Dialect);
    return { elf: await kernel(dialect), archive: initrd({ 'bin/t': bytes }) };
  };

  it('leaves the fingerprints that the device leaves here', async () => {
    const { elf, archive } = await build('-fingerprint');
    const here = run(elf, archive, 'init=/bin/t', { engine: 'interp' }).text;
    const there = runQemu(QEMU!, elf, archive, 'init=/bin/t');
    expect(guestLines(there)).toEqual(guestLines(here));
    expect(here).toMatch(/^\d many \d+ /m);
  });

  it('leaves the areas that every test of behaviour leaves here', async () => {
    const { elf, archive } = await build('-behaviour');
    const append = 'init=/bin/t -- -b';
    const here = run(elf, archive, append, { engine: 'jit', ramBytes: 256 << 20 }).text;
    // Time by instructions, as here: what a sleeping thread finds when it wakes must not depend on
    // the host.
    const there = runQemu(QEMU!, elf, archive, append, ['-m', '256M', '-icount', 'shift=0,sleep=off']);
    expect(onAnyBoard(leftAreas(there))).toEqual(onAnyBoard(leftAreas(here)));
    expect(onAnyBoard(leftAreas(here)).length).toBeGreaterThan(15);
  });

  it('passes the errno table and the behaviours, on 2 harts', async () => {
    for (const name of ['', '-behaviour']) {
      const { elf, archive } = await build(name);
      const text = runQemu(QEMU!, elf, archive, 'init=/bin/t', ['-smp', '2', '-m', '256M']);
      expect(text).toMatch(/ 0 failed$/m);
    }
  });
});
