// Thresholds of the JIT: a brief guest is interpreted, and one that goes on is compiled.

import { expect, test } from 'vitest';
import { InterpEngine } from '../../emulator/engine/engine.ts';
import { Jit } from '../../emulator/engine/jit/jit.ts';
import {
  HEAT_BRIEF,
  HEAT_DEFAULT,
  HEAT_REPEATED,
  type HeatThresholds,
} from '../../emulator/engine/jit/policy/heat.ts';
import { encode as e } from '../../emulator/isa/index.ts';
import { Flat } from '../support/flat.ts';

/** Guest instructions that are compiled while a loop of eight instructions runs for `units`. */
function compiled(heat: HeatThresholds, units: number): number {
  let regions: Jit | undefined;
  const flat = new Flat({
    engine: (ram, harts, area) => {
      regions = new Jit(ram, { heat, base: area.base + InterpEngine.areaBytes(area.pages) });
      const engine = new InterpEngine(ram, harts, area, { jit: regions });
      regions.attach(engine);
      return engine;
    },
  });
  const add = e('addi', { rd: 5, rs1: 5, imm: 1 });
  flat.load([...Array.from({ length: 7 }, () => add), e('jal', { rd: 0, imm: -28 })]);
  flat.run(units);
  return regions!.stats.insns;
}

test('a guest of ten million instructions is compiled by default, and not when guests are brief', () => {
  expect(compiled(HEAT_DEFAULT, 10_000_000)).toBeGreaterThan(0);
  expect(compiled(HEAT_BRIEF, 10_000_000)).toBe(0);
});

test('a loop without end is compiled with any thresholds', () => {
  expect(compiled(HEAT_BRIEF, 100_000_000)).toBeGreaterThan(0);
});

test('a guest that repeats itself is compiled sooner', () => {
  const at = (heat: HeatThresholds): number => {
    let units = 2_400_000; // the warm-up
    while (compiled(heat, units) === 0) units += 5000;
    return units;
  };
  expect(at(HEAT_REPEATED)).toBeLessThan(at(HEAT_DEFAULT));
});
