// Compiled code has only what control has reached; what it reaches later is found there, too.

import { expect, test } from 'vitest';
import type { Jit } from '../../emulator/engine/jit/jit.ts';
import { HEAT_EAGER, type HeatThresholds } from '../../emulator/engine/jit/policy/heat.ts';
import { encode as e } from '../../emulator/isa/index.ts';
import { type Flat, flatWithJit, RAM_BASE } from '../support/flat.ts';

const CODE = RAM_BASE;
const COLD_INSNS = 30;
const UNITS = 20_000;
/** Of a loop that counts x11, and in whose midst x10 decides whether x12 is counted, too. */
const LOOP = [
  e('addi', { rd: 11, rs1: 11, imm: 1 }),
  e('beq', { rs1: 10, rs2: 0, imm: 4 * (COLD_INSNS + 1) }),
  ...Array.from({ length: COLD_INSNS }, () => e('addi', { rd: 12, rs1: 12, imm: 1 })),
];
const BACK = e('jal', { rd: 0, imm: -4 * LOOP.length });
const HOT_INSNS = 3;
const DECODED_PAGES = 3;

interface Prepared {
  readonly flat: Flat;
  readonly jit: Jit;
}

function machine(heat: Partial<HeatThresholds>, words: readonly number[] = [...LOOP, BACK]): Prepared {
  const prepared = flatWithJit({ heat: { ...HEAT_EAGER, ...heat } }, { pages: DECODED_PAGES });
  const { flat } = prepared;
  flat.load(words, CODE);
  flat.pc = BigInt(CODE);
  return prepared;
}

const tiers = [
  { tier: 'hot', unitsToPromote: 0 },
  { tier: 'warm', unitsToPromote: Infinity },
] as const;

test.each(tiers)('a $tier region has the reached side of a branch only', ({ unitsToPromote }) => {
  const compiled = ([false, true] as const).map(onlyReached => {
    const { flat, jit } = machine({ unitsToPromote, onlyReached });
    flat.run(UNITS);
    expect(jit.units).toBeGreaterThan(0.9 * UNITS);
    return jit.stats.insns;
  });
  expect(compiled[0]! - compiled[1]!).toBeGreaterThanOrEqual(COLD_INSNS);
  expect(compiled[1]).toBeLessThan(COLD_INSNS);
});

test.each(tiers)('the other side of a branch is compiled when it is hot: $tier', ({ unitsToPromote }) => {
  const { flat, jit } = machine({ unitsToPromote, onlyReached: true });
  flat.run(UNITS);
  const rounds = Number(flat.x(11));
  expect(rounds).toBe(Math.ceil(UNITS / HOT_INSNS));
  expect(flat.x(12)).toBe(0n);
  flat.setX(10, 1n);
  flat.run(UNITS);
  const before = jit.units;
  flat.run(UNITS);
  expect((jit.units - before) / UNITS).toBeGreaterThan(0.95);
});

/** A loop whose two sides both jump back to its start, which is an entry point. */
const TURNS = [
  e('addi', { rd: 11, rs1: 11, imm: 1 }),
  e('beq', { rs1: 10, rs2: 0, imm: 12 }),
  e('addi', { rd: 12, rs1: 12, imm: 1 }),
  e('jal', { rd: 0, imm: -12 }),
  e('addi', { rd: 13, rs1: 13, imm: 1 }),
  e('jal', { rd: 0, imm: -20 }),
];

test('a hot region is made again with a side that it has left out and that is hot now', () => {
  const { flat, jit } = machine({ unitsToPromote: 0, onlyReached: true }, TURNS);
  flat.run(UNITS);
  expect(jit.stats).toMatchObject({ hot: 1, insns: 4 });
  flat.setX(10, 1n);
  for (let i = 0; i < 5; i++) flat.run(UNITS);
  // Side and loop again, not again and again.
  expect(jit.stats).toMatchObject({ hot: 3, insns: 4 + 2 + TURNS.length });
});

test('what was reached is still known when all records have been dropped', () => {
  const { flat, jit } = machine({ unitsToPromote: 1000, onlyReached: true });
  const whole = LOOP.length + 1;
  flat.run(3);
  flat.setX(10, 1n);
  flat.run(UNITS);
  expect(jit.stats).toMatchObject({ hot: 0, insns: whole });
  for (let page = 1; page <= DECODED_PAGES; page++) {
    flat.load([e('addi', { rd: 5, rs1: 0, imm: 1 })], CODE + 4096 * page);
    flat.pc = BigInt(CODE + 4096 * page);
    flat.run(1);
  }
  flat.pc = BigInt(CODE);
  flat.setX(10, 0n);
  let before = 0;
  for (let i = 0; i < 100 && jit.stats.hot === 0; i++) {
    before = jit.stats.insns;
    flat.run(UNITS / 10);
  }
  expect(jit.stats.hot).toBe(1);
  expect(jit.stats.insns - before).toBe(whole);
});
