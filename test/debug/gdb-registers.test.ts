// Data derived from the CSR table: every register has a name in GDB's target description and in the
// disassembler.

import { expect, test } from 'vitest';
import { targetDescription } from '../../emulator/debug/gdb-registers.ts';
import { plainCsr } from '../../emulator/engine/semantics/system.ts';
import { CSRS, decode, disassemble } from '../../emulator/isa/index.ts';

const CSR0 = 65;

test('gdb knows every csr of the table by its name and number', () => {
  const xml = targetDescription();
  for (const { name, number } of CSRS) {
    expect(xml).toMatch(new RegExp(`<reg name="${name}" bitsize="(32|64)" regnum="${CSR0 + number}"`));
  }
});

test('the disassembler prints the name of every csr', () => {
  for (const { name, number } of CSRS) {
    const csrrs = ((number << 20) | (5 << 15) | (2 << 12) | (6 << 7) | 0x73) >>> 0;
    expect(disassemble(decode(csrrs)!, 0n)).toContain(name);
  }
});

test('the trap registers have a fast path, and nothing with a rule has', () => {
  const plain = CSRS.filter(row => plainCsr(row.number) !== undefined).map(row => row.name);
  expect(plain.sort()).toEqual(
    ['mcause', 'mepc', 'mscratch', 'mtval', 'scause', 'sepc', 'sscratch', 'stval'].sort(),
  );
});
