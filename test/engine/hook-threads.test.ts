// Coverage hooks in a function that calls another one which comes back in another thread, at the
// same return address: the hook behind the call belongs to that thread.

import { expect, test } from 'vitest';
import { RAM_BASE } from '../support/flat.ts';
import { runHooked } from '../support/hooked.ts';
import { Assembly, Place } from '../support/shapes/assembly.ts';
import { HOOK_KINDS, THREAD_POINTER, type Tracing, writeHooks } from '../support/shapes/hooks.ts';

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

const records = (isCompiled: boolean) =>
  runHooked(
    {
      ...assemble(),
      tracing: TRACING,
      x: { [TP]: THREAD_POINTER, [GP]: THREAD_POINTER ^ OTHER, [COUNT]: ROUNDS },
      insns: ROUNDS * (LONG + 30),
    },
    isCompiled,
  );

test('the hook behind a call records for the thread that comes back', () => {
  const [expected, actual] = [records(false), records(true)];
  expect(expected.count).toBe(ROUNDS / 2);
  expect(actual.compiled).toBeGreaterThan(0);
  expect({ ...actual, compiled: 0 }).toEqual({ ...expected, compiled: 0 });
});
