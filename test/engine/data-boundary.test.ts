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

/** Ends in a store of x12 to where x8 points. */
const STORING = 0x400;
/** Functions that fill the cache. */
const FILLING = Array.from({ length: 6 }, (_, i) => 0x1000 + 0x400 * i);
/** Adds 1 to x11; above all other code. */
const ADDING = 0x9000;
const DATA = 0x8000;

test('a module that was parked and linked again is dropped when code appears where it stores', () => {
  const phases: [times: number, to: number, pointer: number][] = [
    // The boundary rises above all of them first.
    ...FILLING.map((to): [number, number, number] => [1, to, DATA]),
    [500, STORING, DATA],
    ...FILLING.map((to): [number, number, number] => [200, to, DATA]),
    [500, STORING, DATA],
    [3, ADDING, DATA],
    [1, STORING, ADDING],
    [3, ADDING, DATA],
  ];
  const words = phases.flatMap(([times, to, pointer], i) => [
    e('auipc', { rd: 8, imm: pointer }),
    e('addi', { rd: 8, rs1: 8, imm: -24 * i }),
    e('addi', { rd: 5, rs1: 0, imm: times }),
    e('jal', { rd: 1, imm: to - 4 * (6 * i + 3) }),
    e('addi', { rd: 5, rs1: 5, imm: -1 }),
    e('bne', { rs1: 5, rs2: 0, imm: -8 }),
  ]);
  const body = Array.from({ length: LONG }, () => e('addi', { rd: 10, rs1: 10, imm: 1 }));
  const executed = (engine: EngineFactory): bigint => {
    const flat = new Flat({ engine });
    flat.hart.mmu.pmp.open();
    flat.load([...words, e('jal', { rd: 0, imm: 0 })]);
    flat.load([...body, e('sw', { rs1: 8, rs2: 12, imm: 0 }), RETURN], RAM_BASE + STORING);
    for (const at of FILLING) flat.load([...body, RETURN], RAM_BASE + at);
    flat.load([e('addi', { rd: 11, rs1: 11, imm: 1 }), RETURN], RAM_BASE + ADDING);
    flat.setX(12, BigInt(e('addi', { rd: 11, rs1: 11, imm: 16 })));
    flat.run(2_000_000);
    return flat.x(11);
  };
  let regions: Jit | undefined;
  const jit: EngineFactory = (ram, harts, area) => {
    const base = area.base + InterpEngine.areaBytes(area.pages);
    regions = new Jit(ram, { heat: HEAT_EAGER, cache: { wasmBytes: 24_000 }, base });
    const engine = new InterpEngine(ram, harts, area, { jit: regions });
    regions.attach(engine);
    return engine;
  };
  expect(executed(interpreter)).toBe(3n + 3n * 16n);
  expect(executed(jit)).toBe(3n + 3n * 16n);
  expect(regions!.stats.revived).toBeGreaterThan(0);
});

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
