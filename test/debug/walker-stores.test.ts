// The page walker stores too: it sets A and D. Where compiled code made it do so, a debugger that
// looks for the last store to an entry finds the instruction all the same.

import { describe, expect, test } from 'vitest';
import { Timeline } from '../../emulator/debug/timeline/timeline.ts';
import { MENVCFG, PC, SATP, X } from '../../emulator/hart/layout.ts';
import { setPriv } from '../../emulator/hart/view.ts';
import { Machine, MIB } from '../../emulator/index.ts';
import { encode as e } from '../../emulator/isa/index.ts';

const RAM = 0x8000_0000;
const [ROOT, MIDDLE, LEAVES, DATA] = [1, 2, 3, 4].map(i => RAM + 0x1_0000 + 4096 * i) as [
  number,
  number,
  number,
  number,
];
const WINDOW = 0x4000_0000;
const PAGES = 500;
const ADUE = 1n << 61n;
/** V, R, W, X, A and D; V, R and W. */
const [ALL, NEW] = [0xcfn, 0x07n];

/** Touches a page after the other, each by its own entry of one table, with some work between. */
const PROGRAM = [
  e('addi', { rd: 6, rs1: 0, imm: 20 }),
  e('addi', { rd: 6, rs1: 6, imm: -1 }),
  e('bne', { rs1: 6, rs2: 0, imm: -4 }),
  e('sd', { rs1: 10, rs2: 5 }),
  e('add', { rd: 10, rs1: 10, rs2: 11 }),
  e('addi', { rd: 5, rs1: 5, imm: -1 }),
  e('bne', { rs1: 5, rs2: 0, imm: -24 }),
  e('jal', { rd: 0, imm: 0 }),
];
const UNITS = PAGES * (1 + 2 * 20 + 4);

function machineOf(engine: 'interp' | 'jit'): Machine {
  const bytes = new Uint8Array(Uint32Array.from(PROGRAM).buffer);
  const machine = Machine.create({
    ...{ kernel: { name: 'walks.bin', bytes }, bios: 'none', kcov: 'off' },
    ...{ engine, eager: true, ramBytes: 4 * MIB },
  });
  const { ram, harts } = machine;
  const entry = (pa: number, flags: bigint): bigint => (BigInt(pa / 4096) << 10n) | flags;
  ram.write64(ROOT + 8, entry(MIDDLE, 1n));
  ram.write64(ROOT + 16, entry(RAM, ALL));
  ram.write64(MIDDLE, entry(LEAVES, 1n));
  for (let i = 0; i < PAGES; i++) ram.write64(LEAVES + 8 * i, entry(DATA, NEW));
  const { state, mmu } = harts[0]!;
  mmu.pmp.open();
  state.set64(MENVCFG, ADUE);
  state.set64(SATP, (8n << 60n) | BigInt(ROOT / 4096));
  setPriv(state, 1);
  harts[0]!.restored();
  state.set64(X + 8 * 5, BigInt(PAGES));
  state.set64(X + 8 * 10, BigInt(WINDOW));
  state.set64(X + 8 * 11, 4096n);
  state.set64(PC, BigInt(RAM));
  return machine;
}

describe('a store of the page walker', () => {
  test.each(['interp', 'jit'] as const)('is found where it was made: %s', engine => {
    const machine = machineOf(engine);
    const timeline = new Timeline(machine);
    timeline.end(UNITS);
    if (machine.jit) expect(machine.jit.usage.modules).toBeGreaterThan(0);
    for (const page of [100, 300, PAGES - 1]) {
      const store = timeline.lastWrite(LEAVES + 8 * page, 8);
      expect(store).toMatchObject({ pc: BigInt(RAM + 12), unit: page * 45 + 41 });
    }
  });
});
