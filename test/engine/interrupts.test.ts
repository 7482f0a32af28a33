// An interrupt before every single instruction of a program, in both engines: the handler runs, the
// program does not notice, and the state afterwards is the one that single steps give.

import { describe, expect, test } from 'vitest';
import { cause } from '../../emulator/hart/index.ts';
import * as L from '../../emulator/hart/layout.ts';
import { encode as e } from '../../emulator/isa/index.ts';
import { type EngineFactory, Flat, interpreter, jit, RAM_BASE } from '../support/flat.ts';

const DATA = BigInt(RAM_BASE + 0x8000);
const HANDLER = RAM_BASE + 0x400;

/**
 * Calls, loads, stores, an atomic, branches both ways and CSR instructions; x10 counts the rounds.
 */
const PROGRAM = [
  e('addi', { rd: 10, rs1: 10, imm: 1 }),
  e('jal', { rd: 1, imm: 40 }),
  e('ld', { rd: 5, rs1: 8, imm: 0 }),
  e('add', { rd: 5, rs1: 5, rs2: 10 }),
  e('sd', { rs1: 8, rs2: 5, imm: 0 }),
  e('amoadd.w', { rd: 6, rs1: 8, rs2: 10 }),
  e('csrrs', { rd: 7, rs1: 0, imm: 0x342 }),
  e('andi', { rd: 11, rs1: 10, imm: 1 }),
  e('beq', { rs1: 11, rs2: 0, imm: -32 }),
  e('xor', { rd: 12, rs1: 12, rs2: 5 }),
  e('jal', { rd: 0, imm: -40 }),
  // the callee
  e('mul', { rd: 13, rs1: 10, rs2: 10 }),
  e('add', { rd: 14, rs1: 14, rs2: 13 }),
  e('jalr', { rd: 0, rs1: 1, imm: 0 }),
];

/** Counts in x20 and disables itself by MPIE, so that each `raise` interrupts once. */
const HANDLER_CODE = [
  e('addi', { rd: 20, rs1: 20, imm: 1 }),
  e('csrrw', { rd: 21, rs1: 22, imm: 0x300 }),
  e('mret'),
];

function machine(engine: EngineFactory): Flat {
  const flat = new Flat({ engine });
  flat.load(PROGRAM);
  flat.load(HANDLER_CODE, HANDLER);
  flat.setX(8, DATA);
  // mstatus that the handler sets: MPP = M, MPIE clear.
  flat.setX(22, 0x1800n);
  const s = flat.hart.state;
  s.set64(L.MTVEC, BigInt(HANDLER));
  s.set64(L.MIE, BigInt(cause.MTIP));
  return flat;
}

/** Runs `units` in pieces of `step`. */
function run(flat: Flat, units: number, step: number): void {
  for (let left = units; left > 0; left -= step) flat.run(Math.min(step, left));
}

/** Warm-up, an interrupt after `before` more units, and the rest. */
function interrupted(engine: EngineFactory, before: number, step: number) {
  const flat = machine(engine);
  run(flat, 60_000, 60_000);
  if (before > 0) run(flat, before, step);
  flat.hart.setLine(cause.MTIP, true);
  flat.hart.state.set(L.MSTATUS, 0x1808);
  run(flat, 200 - before, step);
  const s = flat.hart.state;
  return {
    pc: flat.pc,
    x: Array.from({ length: 32 }, (_, i) => flat.x(i)),
    memory: flat.ram.read64(Number(DATA)),
    csrs: [L.MSTATUS, L.MEPC, L.MCAUSE, L.INSTRET, L.EXCEPTIONS].map(slot => s.get64(slot)),
  };
}

describe.each([
  ['interpreter', interpreter],
  ['jit', jit],
] as const)('an interrupt before each instruction (%s)', (_name, engine) => {
  test('is taken there, and the rest is as in single steps', () => {
    for (let before = 0; before < 45; before++) {
      const expected = interrupted(interpreter, before, 1);
      expect(expected.x[20]).toBe(1n);
      expect(interrupted(engine, before, 200)).toEqual(expected);
    }
  });
});
