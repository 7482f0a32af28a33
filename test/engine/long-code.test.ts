// Code that is longer than a region: the next region begins where the first one ends.

import { expect, test } from 'vitest';
import type { Jit } from '../../emulator/engine/jit/jit.ts';
import { HEAT_EAGER } from '../../emulator/engine/jit/policy/heat.ts';
import { REGION_INSNS, WARM_INSNS } from '../../emulator/engine/jit/region/region.ts';
import { encode as e } from '../../emulator/isa/index.ts';
import { type Flat, flatWithJit, RAM_BASE } from '../support/flat.ts';

const CODE = RAM_BASE;
const add = e('addi', { rd: 11, rs1: 11, imm: 1 });
const RA = 1;

function machine(words: readonly number[], unitsToPromote: number): { flat: Flat; jit: Jit } {
  const prepared = flatWithJit({ heat: { ...HEAT_EAGER, unitsToPromote } }, { pages: 3 });
  const { flat } = prepared;
  flat.load(words, CODE);
  flat.pc = BigInt(CODE);
  return prepared;
}

const tiers = [
  { tier: 'hot', unitsToPromote: 0, most: REGION_INSNS },
  { tier: 'warm', unitsToPromote: Number.POSITIVE_INFINITY, most: WARM_INSNS },
] as const;

/** Rounds until everything is compiled: the regions behind one another need their arrivals each. */
const WARM_UP = 600;

test.each(tiers)('a long loop without branches is compiled whole: $tier', ({ unitsToPromote, most }) => {
  const length = 2.5 * most;
  const body = Array.from({ length }, () => add);
  const { flat, jit } = machine([...body, e('jal', { rd: 0, imm: -4 * length })], unitsToPromote);
  flat.run(WARM_UP * length);
  const [before, rounds] = [jit.units, 20];
  flat.run(rounds * (length + 1));
  expect((jit.units - before) / (rounds * (length + 1))).toBeGreaterThan(0.95);
  const units = WARM_UP * length + rounds * (length + 1);
  expect(flat.x(11)).toBe(BigInt(units - Math.floor(units / (length + 1))));
});

test.each(tiers)(
  'so is a long function, whose end returns to compiled code: $tier',
  ({ unitsToPromote, most }) => {
    const length = 2.5 * most;
    const body = Array.from({ length }, () => add);
    const loop = [e('jal', { rd: RA, imm: 8 }), e('jal', { rd: 0, imm: -4 })];
    const { flat, jit } = machine([...loop, ...body, e('jalr', { rd: 0, rs1: RA, imm: 0 })], unitsToPromote);
    const round = length + 3;
    // Each of the three pieces is compiled at its second tick.
    flat.run(4 * 2 * HEAT_EAGER.arrivalsPerTick * round);
    const [before, rounds] = [jit.units, 20];
    flat.run(rounds * round);
    expect((jit.units - before) / (rounds * round)).toBeGreaterThan(0.95);
    expect(flat.x(11)).toBe(BigInt((4 * 2 * HEAT_EAGER.arrivalsPerTick + rounds) * length));
  },
);
