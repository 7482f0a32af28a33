// Texts that people read; the bulk is compared with llvm-objdump and capstone in the oracle tests.

import { expect, test } from 'vitest';
import { decode, encode, type Operands } from '../../emulator/isa/codec.ts';
import { disassemble } from '../../emulator/isa/disasm.ts';
import type { Mnemonic } from '../../emulator/isa/table.ts';

const text = (name: Mnemonic, operands: Operands, pc = 0x8000_0000n): string =>
  disassemble(decode(encode(name, operands))!, pc);

test('aliases are what a person would write', () => {
  expect(text('addi', { rd: 10, imm: -1 })).toBe('li a0, -0x1');
  expect(text('addi', { rd: 10, rs1: 11 })).toBe('mv a0, a1');
  expect(text('jalr', { rs1: 1 })).toBe('ret');
  expect(text('csrrs', { rd: 10, imm: 0x342 })).toBe('csrr a0, mcause');
  expect(text('beq', { rs1: 10, imm: -8 })).toBe('beqz a0, 0x7ffffff8');
});

test('targets wrap at 2^64', () => {
  expect(text('jal', { imm: -16 }, 8n)).toBe('j 0xfffffffffffffff8');
  expect(text('jal', { imm: 16 }, 0xffff_ffff_ffff_fff8n)).toBe('j 0x8');
});

test('without aliases base and compressed mnemonics are shown', () => {
  expect(disassemble(decode(encode('addi', { rd: 10 }))!, 0n, { aliases: false })).toBe('addi a0, zero, 0x0');
  expect(disassemble(decode(0x4505)!, 0n, { aliases: false })).toBe('c.li a0, 0x1');
  expect(disassemble(decode(0x4505)!, 0n)).toBe('li a0, 0x1');
});

test('orderings are a suffix and a rounding mode is shown when it is not dynamic', () => {
  expect(text('amoadd.w', { rd: 10, rs1: 12, rs2: 11, aq: 1, rl: 1 })).toBe('amoadd.w.aqrl a0, a1, (a2)');
  expect(text('fadd.s', { rd: 10, rs1: 11, rs2: 12, rm: 7 })).toBe('fadd.s fa0, fa1, fa2');
  expect(text('fadd.s', { rd: 10, rs1: 11, rs2: 12, rm: 1 })).toBe('fadd.s fa0, fa1, fa2, rtz');
});
