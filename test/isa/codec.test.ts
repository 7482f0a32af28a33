// Words to instructions and back: the hand-written fast path against the declared fields, for
// random words of every row.

import { describe, expect, test } from 'vitest';
import { hex, popcount } from '../../emulator/base/bits.ts';
import {
  compressedRow,
  decode,
  decodeInto,
  encode,
  encodeCompressed,
  expand,
  newInsn,
} from '../../emulator/isa/codec.ts';
import { extract, OPERANDS } from '../../emulator/isa/fields.ts';
import { ROWS, rowNamed } from '../../emulator/isa/table.ts';
import { TABLE_C } from '../../emulator/isa/table-c.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';
import { randomOperands } from './operands.ts';

const seed = seedFromEnvironment(0x15a);
const SLOTS = ['rd', 'rs1', 'rs2', 'rs3', 'imm', 'rm', 'aq', 'rl'] as const;

describe(`codec, seed ${seedText(seed)}`, () => {
  test('decoding an encoded row gives the row and its operands back', () => {
    const random = new Random(seed);
    for (const row of ROWS) {
      for (let n = 0; n < 200; n++) {
        const operands = randomOperands(row.format, random);
        const word = encode(row.name, operands);
        const insn = decode(word);
        const same = insn?.op === row.op && SLOTS.every(slot => insn[slot] === (operands[slot] ?? 0));
        if (!same) throw new Error(`${row.name} ${hex(word)}: ${JSON.stringify({ operands, insn })}`);
        expect(insn.bytes === 4 && insn.word === word).toBe(true);
      }
    }
  });

  test('decoded slots are what the declared fields say, for random words of every row', () => {
    const random = new Random(seed ^ 1);
    for (const row of ROWS) {
      for (let n = 0; n < 50; n++) {
        const word = ((random.u32() & ~row.mask) | row.match) >>> 0;
        const insn = decode(word);
        if (insn === undefined) {
          expect([5, 6], row.name).toContain((word >>> 12) & 7);
          continue;
        }
        for (const name of row.format.operands) {
          const operand = OPERANDS[name]!;
          for (const slot of operand.slots)
            expect(insn[slot], `${row.name} ${name}`).toBe(extract(operand, word));
        }
      }
    }
  });

  test('a word that differs in a fixed bit never decodes to the row', () => {
    for (const row of ROWS) {
      for (let bit = 2; bit < 32; bit++) {
        if (((row.mask >>> bit) & 1) !== 0)
          expect(decode((row.match ^ (1 << bit)) >>> 0)?.name).not.toBe(row.name);
      }
    }
  });

  test('compressed rows expand to their base row and encode back to the same half-word', () => {
    for (let half = 0; half < 0x10000; half++) {
      if ((half & 3) === 3) continue;
      const row = compressedRow(half);
      const insn = decode(half);
      if (insn?.name !== row?.base || (expand(half) === 0) !== (row === undefined))
        throw new Error(`${half.toString(16)}: ${insn?.name} is not ${row?.base}`);
      if (row === undefined || insn === undefined) continue;
      if (insn.bytes !== 2 || insn.word !== half || encodeCompressed(row, insn) !== half) {
        throw new Error(`${half.toString(16)} ${row.name} ${JSON.stringify(insn)}`);
      }
    }
    expect(TABLE_C.every(row => rowNamed(row.base) !== undefined)).toBe(true);
  });

  test('a compressed form is refused where it cannot say what the operands say', () => {
    const form = (name: string, operands: object): number | undefined =>
      encodeCompressed(TABLE_C.find(row => row.name === name)!, operands);
    expect(form('c.add', { rd: 1, rs1: 1, rs2: 2 })).toBe(0x908a);
    expect(form('c.add', { rd: 3, rs1: 1, rs2: 2 })).toBeUndefined();
    expect(form('c.lw', { rd: 7, rs1: 8 })).toBeUndefined();
    expect(form('c.lwsp', { rd: 7, rs1: 3 })).toBeUndefined();
    expect(form('c.jr', { rs1: 1, imm: 4 })).toBeUndefined();
  });

  test('the upper half-word after a compressed instruction is ignored', () => {
    expect(decode(0xdead_4505)).toEqual(decode(0x4505));
  });

  test('all zeros, all ones and reserved rounding modes are illegal', () => {
    expect(decode(0)).toBeUndefined();
    expect(decode(0xffff_ffff)).toBeUndefined();
    for (const rm of [5, 6]) expect(decode((rowNamed('fadd.s').match | (rm << 12)) >>> 0)).toBeUndefined();
    expect(decode((rowNamed('fsqrt.d').match | (7 << 12)) >>> 0)?.rm).toBe(7);
  });

  test('an illegal word leaves op 0 and its length behind', () => {
    const insn = newInsn();
    expect(decodeInto(encode('add', { rd: 1 }), insn)).toBe(true);
    expect(decodeInto(0, insn)).toBe(false);
    expect(insn).toMatchObject({ op: 0, bytes: 2, word: 0 });
  });

  test('operands that do not fit are refused by name', () => {
    expect(() => encode('addi', { imm: 2048 })).toThrow('addi: operand immI cannot hold 2048');
    expect(() => encode('beq', { imm: 3 })).toThrow('beq: operand immB cannot hold 3');
    expect(() => encode('add', { rd: 32 })).toThrow('add: operand rd cannot hold 32');
  });

  test('popcount of every mask equals the fixed characters of the pattern', () => {
    for (const row of ROWS) expect(popcount(row.mask)).toBe(row.pattern.replace(/[.-]/g, '').length);
  });
});
