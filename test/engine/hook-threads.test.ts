// Coverage hooks in a function that calls another one which comes back in another thread, at the
// same return address: the hook behind the call belongs to that thread.

import { expect, test } from 'vitest';
import { InterpEngine } from '../../emulator/engine/engine.ts';
import { Jit } from '../../emulator/engine/jit/jit.ts';
import { HEAT_EAGER } from '../../emulator/engine/jit/policy/heat.ts';
import { kcovInlineCalls } from '../../emulator/machine/kcov-inline/index.ts';
import { type EngineFactory, Flat, interpreter, RAM_BASE } from '../support/flat.ts';
import { Assembly, Place } from '../support/shapes/assembly.ts';
import {
  addKcov,
  HOOK_KINDS,
  THREAD_POINTER,
  type Tracing,
  writeHookData,
  writeHooks,
} from '../support/shapes/hooks.ts';

const ROUNDS = 4000;
const [RA, GP, TP, COUNT] = [1, 3, 4, 9];
/** A second thread, which has no live context. */
const OTHER = THREAD_POINTER + 0x400;
const TRACING: Tracing = { mode: 'pc', words: 30_000, place: 'apart', isFreebsd: false, heard: 'no' };

/** More instructions than a callee that is inlined has. */
const LONG = 80;

function assemble() {
  const a = new Assembly(RAM_BASE);
  const [loop, swap] = [new Place(), new Place()];
  const hooks = Array.from({ length: HOOK_KINDS }, () => new Place());
  a.here(loop);
  a.toward('jal', swap, { rd: RA });
  a.toward('jal', hooks[0]!, { rd: RA });
  a.put('addi', { rd: COUNT, rs1: COUNT, imm: -1 });
  a.toward('bne', loop, { rs1: COUNT, rs2: 0 });
  const end = a.here();
  a.toward('jal', end, { rd: 0 });
  a.here(swap);
  for (let i = 0; i < LONG; i++) a.put('addi', { rd: 20, rs1: 20, imm: 1 });
  a.put('xor', { rd: TP, rs1: TP, rs2: GP });
  a.put('jalr', { rd: 0, rs1: RA, imm: 0 });
  writeHooks(a, hooks);
  return { bytes: a.finish(), hooks: hooks.map(({ at }) => at) };
}

function records(isCompiled: boolean) {
  const { bytes, hooks } = assemble();
  let jit: Jit | undefined;
  const compiling: EngineFactory = (ram, harts, area) => {
    jit = new Jit(ram, { base: area.base + InterpEngine.areaBytes(area.pages), heat: HEAT_EAGER });
    const engine = new InterpEngine(ram, harts, area, { jit });
    jit.attach(engine);
    return engine;
  };
  const flat = new Flat({ engine: isCompiled ? compiling : interpreter });
  flat.load(bytes);
  const free = { codeEnd: RAM_BASE + 0x8000, tableEnd: RAM_BASE + 0x9000 };
  writeHookData((pa, value) => flat.ram.write64(pa, value), hooks, TRACING, free);
  const made = addKcov(flat, table => jit?.setInlineCalls('kcov', kcovInlineCalls(table)));
  flat.hart.mmu.pmp.open();
  flat.setX(TP, BigInt(THREAD_POINTER));
  flat.setX(GP, BigInt(THREAD_POINTER ^ OTHER));
  flat.setX(COUNT, BigInt(ROUNDS));
  flat.run(ROUNDS * (LONG + 30));
  const { device, compiled } = made();
  return { count: device + compiled, compiled, x: Array.from({ length: 32 }, (_, i) => flat.x(i)) };
}

test('the hook behind a call records for the thread that comes back', () => {
  const [expected, actual] = [records(false), records(true)];
  expect(expected.count).toBe(ROUNDS / 2);
  expect(actual.compiled).toBeGreaterThan(0);
  expect({ ...actual, compiled: 0 }).toEqual({ ...expected, compiled: 0 });
});
