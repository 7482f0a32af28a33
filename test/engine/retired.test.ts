// Counters of retired instructions against a program whose counts are known: loops, calls, traps
// and compressed code, interpreted and compiled.

import { describe, expect, test } from 'vitest';
import { Machine } from '../../emulator/index.ts';
import { encode as e } from '../../emulator/isa/index.ts';
import { PROBE_WORDS, probeCall } from '../support/probe.ts';

const BASE = 0x8000_0000;
const NOP = e('addi', { rd: 0, rs1: 0, imm: 0 });
const RA = 1;

type Kind = 'interp' | 'jit';

interface Window {
  /** Bytes from BASE. */
  readonly low: number;
  readonly high: number;
}

function machineOf(words: readonly number[], engine: Kind, window?: Window): Machine {
  const bytes = new Uint8Array(Uint32Array.from(words).buffer);
  const { low, high } = window ?? { low: 0, high: bytes.length };
  return Machine.create({
    bios: { name: 'program', bytes },
    ramBytes: 2 << 20,
    engine,
    eager: true,
    retired: { low: BigInt(BASE + low), high: BigInt(BASE + high) },
  });
}

/** A flat M-mode program, run to its budget. Counts by instruction. */
function counts(words: readonly number[], insns: number, engine: Kind): number[] {
  const machine = machineOf(words, engine);
  machine.run(insns);
  if (engine === 'jit') expect(machine.jit!.usage.modules, 'compiled').toBeGreaterThan(0);
  const all = machine.retired!.read();
  return words.map((_, i) => Number(all[2 * i]));
}

const LOOP = [
  e('addi', { rd: 5, rs1: 0, imm: 700 }),
  e('addi', { rd: 5, rs1: 5, imm: -1 }),
  e('bne', { rs1: 5, rs2: 0, imm: -4 }),
  e('jal', { rd: 0, imm: 8 }),
  NOP,
  e('jal', { rd: 0, imm: 0 }),
];

/** x8 rounds; in each a call of a function, which stores to what is no memory every time. */
const TRAPS = [
  e('auipc', { rd: 5, imm: 0 }),
  e('addi', { rd: 5, rs1: 5, imm: 48 }),
  e('csrrw', { rd: 0, rs1: 5, imm: 0x305 }), // mtvec
  e('addi', { rd: 8, rs1: 0, imm: 500 }),
  e('jal', { rd: RA, imm: 16 }), // 4: to 8
  e('addi', { rd: 8, rs1: 8, imm: -1 }),
  e('bne', { rs1: 8, rs2: 0, imm: -8 }),
  e('jal', { rd: 0, imm: 0 }),
  e('addi', { rd: 6, rs1: 6, imm: 1 }), // 8: the function
  e('sd', { rs1: 0, rs2: 6, imm: 8 }), // nothing is mapped there
  e('addi', { rd: 7, rs1: 7, imm: 1 }),
  e('jalr', { rd: 0, rs1: RA, imm: 0 }),
  e('csrrs', { rd: 9, rs1: 0, imm: 0x341 }), // 12: the vector skips the instruction
  e('addi', { rd: 9, rs1: 9, imm: 4 }),
  e('csrrw', { rd: 0, rs1: 9, imm: 0x341 }),
  e('mret', {}),
];

describe.each(['interp', 'jit'] as const)('%s', engine => {
  test('a loop counts each turn, and what is never reached stays 0', () => {
    expect(counts(LOOP, 3000, engine).slice(0, 5)).toEqual([1, 700, 700, 1, 0]);
  });

  test('an instruction that traps did not retire, those around it did', () => {
    expect(counts(TRAPS, 20_000, engine)).toEqual([
      ...[1, 1, 1, 1],
      ...[500, 500, 500],
      expect.any(Number),
      ...[500, 0, 500, 500],
      ...[500, 500, 500, 500],
    ]);
  });

  test('one that calls the environment did run', () => {
    const words = [
      e('auipc', { rd: 5, imm: 0 }),
      e('addi', { rd: 5, rs1: 5, imm: 12 }),
      e('csrrw', { rd: 0, rs1: 5, imm: 0x305 }),
      e('addi', { rd: 7, rs1: 7, imm: 1 }), // the trap vector
      NOP,
      e('ecall', {}),
    ];
    const [, , , vector, , ecall] = counts(words, 10_000, engine);
    expect(vector).toBeGreaterThan(2000);
    expect(Math.abs(ecall! - vector!)).toBeLessThanOrEqual(1);
  });
});

describe('an inlined call', () => {
  const at = 0x100;
  const loop = [
    e('addi', { rd: 9, rs1: 0, imm: 500 }),
    e('jal', { rd: RA, imm: at - 4 }),
    e('addi', { rd: 9, rs1: 9, imm: -1 }),
    e('bne', { rs1: 9, rs2: 0, imm: -8 }),
    e('jal', { rd: 0, imm: 0 }),
  ];
  const words: number[] = Array(at / 4 + 5).fill(NOP);
  for (const [i, word] of loop.entries()) words[i] = word;
  for (const [i, word] of PROBE_WORDS(BASE + at).entries()) words[at / 4 + i] = word;

  test.each([
    ['the caller and the function', 0, 4 * words.length],
    ['the caller', 0, 0x40],
    ['the function', at, at + 20],
    ['part of the function', at + 4, at + 12],
    ['code between the two', 0x40, at],
    ['code behind the function', at + 20, at + 40],
  ])('counts in a window of %s', (_, low, high) => {
    const [a, b] = (['interp', 'jit'] as const).map(kind => {
      const machine = machineOf(words, kind, { low, high });
      let sites = 0;
      machine.jit?.setInlineCalls('probe', [probeCall(BASE + at, { onSite: () => sites++ })]);
      machine.run(6000);
      if (kind === 'jit') expect(sites).toBeGreaterThan(0);
      return [...machine.retired!.read()].filter((_, i) => i % 2 === 0).map(Number);
    });
    expect(b).toEqual(a);
  });
});

test('wherever the quantum ends and the window begins, both engines count the same', () => {
  for (const [words, low, high] of [
    [LOOP, 4, 12],
    [TRAPS, 0, 40],
    [TRAPS, 20, 64],
  ] as const) {
    const machines = (['interp', 'jit'] as const).map(kind => machineOf(words, kind, { low, high }));
    for (let budget = 0; budget < 60; budget++) {
      const [a, b] = machines.map(machine => {
        machine.reset();
        machine.run(1000 + budget);
        machine.run(7 * budget);
        // An instruction here has two half-words.
        return [...machine.retired!.read()].filter((_, i) => i % 2 === 0);
      });
      expect(b, `budget ${budget}`).toEqual(a);
    }
  }
});
