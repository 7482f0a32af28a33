// The CSR rows are consistent in themselves; csr.oracle.test.ts in test/hart compares them with
// QEMU.

import { expect, test } from 'vitest';
import { CSRS, csrNamed, csrNumbered } from '../../emulator/isa/csr.ts';

test('numbers and names are unique', () => {
  expect(new Set(CSRS.map(row => row.number)).size).toBe(CSRS.length);
  expect(new Set(CSRS.map(row => row.name)).size).toBe(CSRS.length);
});

test('privilege and read-only follow from the number', () => {
  for (const row of CSRS) {
    expect(row.priv, row.name).toBe((row.number >>> 8) & 3);
    expect(row.readOnly, row.name).toBe(row.number >>> 10 === 3);
    if (row.readOnly) expect(row.writable, row.name).toBe(0n);
  }
});

test('a view names a register that exists and writes only bits it shows', () => {
  for (const row of CSRS) {
    if (row.of === undefined) continue;
    const target = csrNamed(row.of);
    expect(row.writable & ~row.readable, row.name).toBe(0n);
    expect(row.writable & ~target.writable, row.name).toBe(0n);
    expect(row.slot, row.name).toBeUndefined();
  }
});

test('lookup by number finds the same row as by name', () => {
  for (const row of CSRS) expect(csrNumbered(row.number)).toBe(csrNamed(row.name));
  expect(csrNumbered(0x5c0)).toBeUndefined();
});

test('storage is one word per row that has some, in table order', () => {
  const slots = CSRS.filter(row => row.slot !== undefined).map(row => row.slot);
  expect(slots).toEqual([...slots.keys()]);
});

test('pmp and counter rows lie one behind the other, as the hart addresses them', () => {
  for (const [first, step] of [
    ['pmpcfg0', 2],
    ['pmpaddr0', 1],
    ['mhpmcounter3', 1],
    ['mhpmevent3', 1],
  ] as const) {
    const row = csrNamed(first);
    const family = CSRS.filter(other => other.rule === row.rule && other.slot! >= row.slot!);
    for (const other of family) {
      expect(other.slot! - row.slot!, other.name).toBe((other.number - row.number) / step);
    }
  }
});
