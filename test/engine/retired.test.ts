// Counters of retired instructions against a program whose counts are known: loops, traps and compressed code.

import { expect, test } from 'vitest';
import { Machine } from '../../emulator/index.ts';
import { encode as e } from '../../emulator/isa/index.ts';

const BASE = 0x8000_0000;
const NOP = e('addi', { rd: 0, rs1: 0, imm: 0 });

/** A flat M-mode program, run to its budget. Counts by instruction, up to the last that is not 0. */
function counts(words: readonly number[], insns: number): number[] {
  const bytes = new Uint8Array(Uint32Array.from(words).buffer);
  const machine = Machine.create({
    bios: { name: 'program', bytes },
    ramBytes: 2 << 20,
    engine: 'interp',
    retired: { low: BigInt(BASE), high: BigInt(BASE + bytes.length) },
  });
  machine.run(insns);
  const all = machine.retired!.counts;
  return words.map((_, i) => Number(all[2 * i]));
}

test('a loop counts each turn, and what is never reached stays 0', () => {
  const words = [
    e('addi', { rd: 5, rs1: 0, imm: 7 }),
    e('addi', { rd: 5, rs1: 5, imm: -1 }),
    e('bne', { rs1: 5, rs2: 0, imm: -4 }),
    e('jal', { rd: 0, imm: 8 }),
    NOP,
    e('jal', { rd: 0, imm: 0 }),
  ];
  expect(counts(words, 200).slice(0, 5)).toEqual([1, 7, 7, 1, 0]);
});

test('an instruction that traps did not retire; one that calls the environment did run', () => {
  const words = [
    e('auipc', { rd: 5, imm: 0 }),
    e('addi', { rd: 5, rs1: 5, imm: 24 }),
    e('csrrw', { rd: 0, rs1: 5, imm: 0x305 }),
    e('ld', { rd: 6, rs1: 0, imm: 8 }), // nothing is mapped there
    NOP,
    NOP,
    e('addi', { rd: 7, rs1: 7, imm: 1 }), // the trap vector
    e('ecall', {}),
  ];
  const [, , , load, , , vector, ecall] = counts(words, 100);
  expect(load).toBe(0);
  expect(vector).toBeGreaterThan(10);
  expect(Math.abs(ecall! - vector!)).toBeLessThanOrEqual(1);
});
