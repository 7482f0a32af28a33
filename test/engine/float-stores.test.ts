// Stores of f registers in regions trap while FS is Off, in whatever block they are.

import { describe, expect, test } from 'vitest';
import { HEAT_EAGER, HEAT_EAGER_WARM } from '../../emulator/engine/jit/policy/heat.ts';
import { MCAUSE, MEPC, MSTATUS, MTVEC } from '../../emulator/hart/layout.ts';
import { encode as e, type Mnemonic } from '../../emulator/isa/index.ts';
import { Flat, interpreter, jitWith, RAM_BASE } from '../support/flat.ts';

const CODE = RAM_BASE;
const HANDLER = RAM_BASE + 0x1000;
const DATA = RAM_BASE + 0x4000;
const FS = 3n << 13n;
const [OFF, INITIAL, CLEAN, DIRTY] = [0n, 1n << 13n, 2n << 13n, FS];

const TIERS = {
  hot: jitWith({ heat: HEAT_EAGER }),
  warm: jitWith({ heat: HEAT_EAGER_WARM }),
};

/** The store is in the second block of its loop, and the region has no other floating point. */
function outcome(engine: typeof interpreter, name: Mnemonic, compiledWith: bigint, then: bigint): string {
  const flat = new Flat({ engine });
  flat.load(
    [
      e('addi', { rd: 11, rs1: 11, imm: 1 }),
      e('beq', { rs1: 12, rs2: 0, imm: 8 }),
      e('addi', { rd: 13, rs1: 13, imm: 1 }),
      e(name, { rs1: 10, rs2: 8 }),
      e('jal', { rd: 0, imm: -16 }),
    ],
    CODE,
  );
  flat.load([e('jal', { rd: 0, imm: 0 })], HANDLER);
  const { state } = flat.hart;
  flat.hart.mmu.pmp.open();
  state.set64(MTVEC, BigInt(HANDLER));
  flat.setX(10, BigInt(DATA));
  flat.setF(8, 0x4009_21fb_5444_2d18n);
  const set = (fs: bigint): void => state.set64(MSTATUS, (state.get64(MSTATUS) & ~FS) | fs);
  set(compiledWith);
  flat.run(5000);
  set(then);
  flat.ram.write64(DATA, 0n);
  flat.run(1000);
  const words = [
    flat.pc,
    flat.x(11),
    flat.ram.read64(DATA),
    ...[MSTATUS, MEPC, MCAUSE].map(at => state.get64(at)),
  ];
  return words.map(word => word.toString(16)).join(' ');
}

describe.each(Object.entries(TIERS))('in %s regions', (_, engine) => {
  test.each(['fsw', 'fsd', 'fsh'] as const)('%s behind a branch', name => {
    for (const then of [OFF, INITIAL, CLEAN, DIRTY])
      for (const before of [INITIAL, CLEAN, DIRTY])
        expect(outcome(engine, name, before, then)).toBe(outcome(interpreter, name, before, then));
  });
});
