// Guests that ask a device for unbounded work: each must get its answer in bounded time, on both
// engines, and through bin/ as a user would meet it.

import { describe, expect, it } from 'vitest';
import { type EngineKind, Machine, type MachineOptions } from '../../emulator/index.ts';
import { ASSEMBLER, assemble, FINISH } from '../support/asm.ts';
import { missing } from '../support/tools.ts';

const ENGINES: EngineKind[] = ['interp', 'jit'];

function run(source: string, options: Partial<MachineOptions> = {}, units = 1_000_000) {
  let text = '';
  const machine = Machine.create({
    kernel: assemble(source),
    bios: 'none',
    ramBytes: 4 << 20,
    onConsole: byte => {
      text += String.fromCharCode(byte);
    },
    ...options,
  });
  const result = machine.run(units);
  return { result, text, machine };
}

/** Writes the constants to the addresses, 8 bytes each. */
const store = (...pairs: [at: number, value: bigint | number][]): string =>
  pairs.map(([at, value]) => `li t0, ${at}\nli t1, ${value}\nsd t1, 0(t0)\n`).join('');

const MTIMECMP = 0x200_4000;
const MTIME = 0x200_bff8;
/** Spins for some hundred ticks of mtime. */
const WAIT = 'li t2, 20000\n1: addi t2, t2, -1\nbnez t2, 1b\n';

describe.skipIf(missing('clang and lld', ASSEMBLER))('bounded work', () => {
  it.each(ENGINES)('a timer that is armed after mtime has wrapped (%s)', engine => {
    const source = `
      ${store([MTIME, -1])}
      ${WAIT}
      ${store([MTIMECMP, 0x1000_0000])}
      li a0, 7
      ${FINISH}`;
    expect(run(source, { engine }).result).toEqual({ kind: 'exit', status: 7 });
  });

  it.each([
    [-1, 0],
    [-2, 1],
    [-1, 0x7fff_ffff_ffff_ffffn],
    [0x7fff_ffff_ffff_ffffn, -1],
    [0x20_0000_0000_0001n, 0x20_0000_0000_0001n],
  ])('mtime %d and mtimecmp %d, before and after each other', (mtime, mtimecmp) => {
    const source = `
      ${store([MTIMECMP, mtimecmp], [MTIME, mtime])}
      ${WAIT}
      ${store([MTIMECMP, mtimecmp], [MTIME, mtime], [MTIMECMP, mtimecmp])}
      ${WAIT}
      li a0, 7
      ${FINISH}`;
    expect(run(source).result).toEqual({ kind: 'exit', status: 7 });
  });
});
