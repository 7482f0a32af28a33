// Virtual page 0 in compiled loops: an empty page cache must not hit for page 0. Mapped, a load
// finds its data; not mapped, it faults there. The loop runs compiled for a while before its first
// access.

import { describe, expect, test } from 'vitest';
import { cause } from '../../emulator/hart/index.ts';
import * as L from '../../emulator/hart/layout.ts';
import { setPriv } from '../../emulator/hart/view.ts';
import { encode as e } from '../../emulator/isa/index.ts';
import { type EngineFactory, Flat, interpreter, jit, RAM_BASE } from '../support/flat.ts';

const TABLES = RAM_BASE + 0x1_0000;
const DATA = RAM_BASE + 0x2_0000;
const HANDLER = RAM_BASE + 0x400;
/** M-mode that accesses memory as S. */
const MPRV_AS_S = (1 << 17) | (1 << 11);
const READ_WRITE = 0xc7;
const ROUNDS = 500;
const ACCESSES = 3;

/** x9 counts down; in its last rounds the loop reads and writes at x11, twice from one base. */
const LOOP = [
  e('addi', { rd: 9, rs1: 9, imm: -1 }),
  e('sltiu', { rd: 12, rs1: 9, imm: ACCESSES }),
  e('beq', { rs1: 12, rs2: 0, imm: 24 }),
  e('ld', { rd: 5, rs1: 11, imm: 0 }),
  e('ld', { rd: 6, rs1: 11, imm: 8 }),
  e('add', { rd: 7, rs1: 7, rs2: 5 }),
  e('add', { rd: 7, rs1: 7, rs2: 6 }),
  e('sd', { rs1: 13, rs2: 7, imm: 24 }),
  e('bne', { rs1: 9, rs2: 0, imm: -32 }),
];
const LOAD_AT = RAM_BASE + 12;

const pte = (pa: number, flags: number): bigint => ((BigInt(pa) >> 12n) << 10n) | BigInt(flags);

function run(engine: EngineFactory, leaf: bigint): Flat {
  const flat = new Flat({ engine });
  flat.hart.mmu.pmp.open();
  flat.load(LOOP);
  flat.load([e('jal', { rd: 0, imm: 0 })], HANDLER);
  flat.ram.write64(TABLES, pte(TABLES + 0x1000, 1));
  flat.ram.write64(TABLES + 0x1000, pte(TABLES + 0x2000, 1));
  flat.ram.write64(TABLES + 0x2000, leaf);
  flat.ram.write64(DATA, 1000n);
  flat.ram.write64(DATA + 8, 7n);
  const s = flat.hart.state;
  s.set64(L.SATP, (8n << 60n) | BigInt(TABLES / 4096));
  s.set64(L.MTVEC, BigInt(HANDLER));
  flat.hart.mmu.tlb.flushAll();
  for (let warmth = 0; warmth < 5; warmth++) {
    s.set(L.MSTATUS, MPRV_AS_S); // a trap changes MPP
    setPriv(s, 3);
    flat.pc = BigInt(RAM_BASE);
    flat.setX(9, BigInt(ROUNDS));
    flat.setX(7, 0n);
    flat.run(3 * (ROUNDS - ACCESSES) + ROUNDS - ACCESSES + ACCESSES * LOOP.length);
  }
  return flat;
}

describe.each([
  ['interpreter', interpreter],
  ['jit', jit],
] as const)('page 0 (%s)', (_name, engine) => {
  test('is read and written where it is mapped', () => {
    const flat = run(engine, pte(DATA, READ_WRITE));
    expect(flat.x(7)).toBe(BigInt(ACCESSES * 1007));
    expect(flat.ram.read64(DATA + 24)).toBe(BigInt(ACCESSES * 1007));
    expect(flat.pc).toBe(BigInt(RAM_BASE + 4 * LOOP.length));
  });

  test('faults where it is not', () => {
    const s = run(engine, 0n).hart.state;
    expect(s.get64(L.MCAUSE)).toBe(BigInt(cause.LOAD_PAGE));
    expect(s.get64(L.MEPC)).toBe(BigInt(LOAD_AT));
    expect(s.get64(L.MTVAL)).toBe(0n);
  });
});
