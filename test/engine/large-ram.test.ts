// RAM above 2 GiB: host addresses of it are negative as 32-bit integers.

import { expect, test } from 'vitest';
import { type Engine, InterpEngine } from '../../emulator/engine/engine.ts';
import { GuestCode } from '../../emulator/engine/jit/guest-code.ts';
import * as L from '../../emulator/hart/layout.ts';
import { setPriv } from '../../emulator/hart/view.ts';
import { MIB } from '../../emulator/index.ts';
import { encode as e } from '../../emulator/isa/index.ts';
import { Flat, jit, RAM_BASE } from '../support/flat.ts';

const RAM_BYTES = 2304 * MIB;
const CODE = RAM_BASE + 2176 * MIB;
const DATA = CODE + 64;

test.each(['interp', 'jit'])('code stores to its own page, high in RAM: %s', engine => {
  const flat = new Flat({ ramBytes: RAM_BYTES, ...(engine === 'jit' && { engine: jit }) });
  flat.load(
    [
      e('addi', { rd: 5, rs1: 5, imm: 1 }),
      e('sb', { rs1: 10, rs2: 5, imm: 0 }),
      e('sd', { rs1: 10, rs2: 5, imm: 8 }),
      e('jal', { rd: 0, imm: -12 }),
    ],
    CODE,
  );
  flat.setX(10, BigInt(DATA));
  flat.pc = BigInt(CODE);
  flat.run(4000);
  expect(flat.x(5)).toBe(1000n);
  expect(flat.ram.read32(DATA)).toBe(1000 & 0xff);
  expect(flat.ram.read32(DATA + 8)).toBe(1000);
});

test('the JIT reads tables there, of a mapped page', () => {
  let interpreter!: InterpEngine;
  const flat = new Flat({
    ramBytes: RAM_BYTES,
    engine: (ram, harts, area): Engine => {
      interpreter = new InterpEngine(ram, harts, area);
      return interpreter;
    },
  });
  // The root maps each GiB of RAM to itself.
  for (const gib of [2, 3, 4])
    flat.ram.write32(RAM_BASE + 8 * gib, (((gib * 2 ** 30) / 4096) * 1024 + 0xcf) >>> 0);
  flat.load([e('lw', { rd: 5, rs1: 10, imm: 0 }), e('jal', { rd: 0, imm: -4 })], CODE);
  flat.ram.write32(DATA, 0x1234);
  const { state, mmu } = flat.hart;
  mmu.pmp.open();
  state.set64(L.SATP, (8n << 60n) | BigInt(RAM_BASE / 4096));
  mmu.tlb.flushAll();
  setPriv(state, 1);
  flat.setX(10, BigInt(DATA));
  flat.pc = BigInt(CODE);
  flat.run(10);
  expect(flat.x(5)).toBe(0x1234n);
  const code = new GuestCode(flat.ram, interpreter.pages);
  const view = code.codeView(BigInt(CODE), code.views(), {
    isEntry: () => false,
    inlineAt: () => undefined,
    onlyReached: false,
    wasReached: () => false,
  });
  expect(view.word(DATA - CODE)).toBe(0x1234);
});
