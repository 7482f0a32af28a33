// The instruction table is consistent; only the exception lists name instructions.

import { describe, expect, test } from 'vitest';
import { compressedRows } from '../../emulator/isa/codec.ts';
import { coverage, OPERANDS } from '../../emulator/isa/fields.ts';
import { OP, OP_COUNT, ROWS } from '../../emulator/isa/table.ts';
import { TABLE_C } from '../../emulator/isa/table-c.ts';

const bitsOf = (pattern: string, character: string): number =>
  Number.parseInt(
    pattern.replace(/./g, c => (c === character ? '1' : '0')),
    2,
  );

describe('base rows', () => {
  test.each(ROWS.map(row => [row.name, row] as const))(
    '%s: each bit is fixed, ignored or in one operand',
    (_n, row) => {
      expect(row.pattern).toMatch(/^[01.-]{30}11$/);
      let covered = 0;
      for (const name of row.format.operands) {
        const mask = coverage(OPERANDS[name]!);
        expect(covered & mask, `${name} overlaps another operand`).toBe(0);
        covered |= mask;
      }
      expect(covered >>> 0).toBe(bitsOf(row.pattern, '.'));
    },
  );

  test('every encoding belongs to one row, but for these pairs', () => {
    // A prefetch is an `ori` with rd = x0.
    const allowed = new Set(['ori prefetch.i', 'ori prefetch.r', 'ori prefetch.w']);
    const found = new Set<string>();
    for (const a of ROWS) {
      for (const b of ROWS) {
        if (a.op < b.op && ((a.match ^ b.match) & a.mask & b.mask) === 0) found.add(`${a.name} ${b.name}`);
      }
    }
    expect(found).toEqual(allowed);
  });

  test('names are unique and ops are dense from 1', () => {
    expect(new Set(ROWS.map(row => row.name)).size).toBe(ROWS.length);
    expect(ROWS.map(row => row.op)).toEqual(ROWS.map((_row, index) => index + 1));
    expect(ROWS.every(row => OP[row.name] === row.op)).toBe(true);
    expect(OP_COUNT).toBe(ROWS.length + 1);
  });

  test('memory attributes fit the format', () => {
    for (const row of ROWS) {
      const touches = row.mem.kind !== 'none';
      expect(touches, row.name).toBe(row.mem.bytes !== 0);
      const opcode = row.match & 0x7f;
      const isBlock = opcode === 0x0f && ((row.match >>> 12) & 7) === 2;
      expect(touches, row.name).toBe(isBlock || [0x03, 0x07, 0x23, 0x27, 0x2f].includes(opcode));
    }
  });
});

describe('compressed rows', () => {
  test.each(TABLE_C.map(row => [row.name, row] as const))(
    '%s: each bit is fixed or in one operand',
    (_n, row) => {
      expect(row.pattern).toMatch(/^[01.]{16}$/);
      let covered = 0;
      for (const name of row.format.operands) {
        const mask = coverage(OPERANDS[name]!);
        expect(covered & mask, `${name} overlaps another operand`).toBe(0);
        covered |= mask;
      }
      expect(covered).toBe(bitsOf(row.pattern, '.'));
    },
  );

  test('no half-word is claimed twice', () => {
    const twice: string[] = [];
    for (let half = 0; half < 0x10000; half++) {
      const rows = compressedRows(half);
      if (rows.length > 1) twice.push(`${half.toString(16)}: ${rows.map(row => row.name)}`);
    }
    expect(twice).toEqual([]);
  });

  test('every exclusion excludes something that the pattern would admit', () => {
    for (const row of TABLE_C) {
      for (const name in row.not) expect(row.format.operands, row.name).toContain(name);
    }
  });
});
