// A listener that counts records is told of the last one in front of each that the device makes,
// also when a buffer that was emptied has as many records again as when it was last told.

import { expect, test } from 'vitest';
import { HOOK } from '../../devices/kcov-layout.ts';
import { RAM_BASE } from '../support/flat.ts';
import { runHooked } from '../support/hooked.ts';
import { Assembly, Place } from '../support/shapes/assembly.ts';
import {
  AREA,
  HOOK_KINDS,
  LONG_SWITCH,
  THREAD_POINTER,
  type Tracing,
  writeHooks,
} from '../support/shapes/hooks.ts';

const ROUNDS = 100;
const [RA, TP, COUNT, A1, BUFFER, LEFT] = [1, 4, 9, 11, 18, 19];
const TRACING: Tracing = { mode: 'cmp', words: 3000, place: 'apart', isFreebsd: false, heard: 'counts' };

/** The device makes the records of a long switch, compiled code those of comparisons. */
function assemble() {
  const a = new Assembly(RAM_BASE);
  const [outer, inner] = [new Place(), new Place()];
  const hooks = Array.from({ length: HOOK_KINDS }, () => new Place());
  const reset = () => a.put('sd', { rs1: BUFFER, rs2: 0, imm: 0 });
  const long = () => {
    a.address(A1, Object.assign(new Place(), { at: LONG_SWITCH.table }));
    a.toward('jal', hooks[HOOK.SWITCH]!, { rd: RA });
  };
  a.here(outer);
  reset();
  long();
  reset();
  a.put('addi', { rd: LEFT, rs1: 0, imm: LONG_SWITCH.cases });
  a.here(inner);
  a.toward('jal', hooks[HOOK.CMP8]!, { rd: RA });
  a.put('addi', { rd: LEFT, rs1: LEFT, imm: -1 });
  a.toward('bne', inner, { rs1: LEFT, rs2: 0 });
  long();
  a.put('addi', { rd: COUNT, rs1: COUNT, imm: -1 });
  a.toward('bne', outer, { rs1: COUNT, rs2: 0 });
  const end = a.here();
  a.toward('jal', end, { rd: 0 });
  writeHooks(a, hooks);
  return { bytes: a.finish(), hooks: hooks.map(({ at }) => at) };
}

test('as many records again behind a reset are no change of the buffer', () => {
  const program = {
    ...assemble(),
    tracing: TRACING,
    x: { [TP]: THREAD_POINTER, [BUFFER]: AREA, [COUNT]: ROUNDS },
    insns: ROUNDS * LONG_SWITCH.cases * 20,
  };
  const [expected, actual] = [runHooked(program, false), runHooked(program, true)];
  expect(expected.count).toBe(3 * ROUNDS * LONG_SWITCH.cases);
  expect(actual.compiled).toBeGreaterThan(ROUNDS);
  expect({ ...actual, compiled: 0 }).toEqual({ ...expected, compiled: 0 });
});
