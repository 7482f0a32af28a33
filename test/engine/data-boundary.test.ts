// Code that appears above the data boundary while modules rely on it (jit/cache/data-boundary.ts).

import { expect, test } from 'vitest';
import { InterpEngine } from '../../emulator/engine/engine.ts';
import { Jit } from '../../emulator/engine/jit/jit.ts';
import { HEAT_EAGER } from '../../emulator/engine/jit/policy/heat.ts';
import { encode as e } from '../../emulator/isa/index.ts';
import { type EngineFactory, Flat, interpreter, RAM_BASE } from '../support/flat.ts';

const RETURN = e('jalr', { rd: 0, rs1: 1, imm: 0 });
/** Instructions of a function: more than what is copied into a caller. */
const LONG = 150;
/** The last function's return lies across the end of this page; nothing else is on the next one. */
const END = 0x2000;

/** So many functions; their addresses. */
function functions(flat: Flat, count: number): number[] {
  return Array.from({ length: count }, (_, i) => {
    const at = END - 2 - 4 * LONG - 0x300 * (count - 1 - i);
    const body = Array.from({ length: LONG }, () => e('addi', { rd: 10, rs1: 10, imm: i + 1 }));
    flat.load([...body, RETURN], RAM_BASE + at);
    return at;
  });
}

/** A loop of 1000 rounds that calls the functions in the last 500. */
function run(engine: EngineFactory, count: number): Flat {
  const flat = new Flat({ engine });
  flat.hart.mmu.pmp.open();
  const calls = functions(flat, count);
  const words = [e('sltiu', { rd: 6, rs1: 5, imm: 500 }), e('beq', { rs1: 6, rs2: 0, imm: 4 * (count + 1) })];
  for (const to of calls) words.push(e('jal', { rd: 1, imm: to - 4 * words.length }));
  words.push(e('sd', { rs1: 8, rs2: 10, imm: 0 }), e('addi', { rd: 5, rs1: 5, imm: -1 }));
  words.push(e('bne', { rs1: 5, rs2: 0, imm: -4 * words.length }), e('jal', { rd: 0, imm: 0 }));
  flat.load(words);
  flat.setX(5, 1000n);
  flat.setX(8, BigInt(RAM_BASE + 0x8000));
  flat.run(2_000_000);
  return flat;
}

test.each([1, 2, 3])('callees of a module that is dropped when they are compiled have slots: %d', count => {
  let regions: Jit | undefined;
  const jit: EngineFactory = (ram, harts, area) => {
    regions = new Jit(ram, { heat: HEAT_EAGER, base: area.base + InterpEngine.areaBytes(area.pages) });
    const engine = new InterpEngine(ram, harts, area, { jit: regions });
    regions.attach(engine);
    return engine;
  };
  const compiled = run(jit, count);
  expect(compiled.x(10)).toBe(run(interpreter, count).x(10));
  expect(regions!.stats.dropped).toBeGreaterThan(0);
  // The slot that means "none" still holds the stub, as one does that was never taken.
  expect(regions!.table.get(0)).toBe(regions!.table.get(regions!.table.length - 1));
});
