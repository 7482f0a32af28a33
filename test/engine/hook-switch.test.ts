// The cases of a switch that lie around the buffer of its records, as in a kernel of the user's:
// each record, and the count, may change the next case.

import { expect, test } from 'vitest';
import { HOOK } from '../../devices/kcov-layout.ts';
import { RAM_BASE } from '../support/flat.ts';
import { runHooked } from '../support/hooked.ts';
import { Assembly, Place } from '../support/shapes/assembly.ts';
import { AREA, HOOK_KINDS, THREAD_POINTER, type Tracing, writeHooks } from '../support/shapes/hooks.ts';

const ROUNDS = 100;
const CASES = 5;
const [RA, TP, COUNT, A0, A1, BUFFER, LEFT, SUM, WORD] = [1, 4, 9, 10, 11, 18, 19, 20, 21];
const tracing = (heard: Tracing['heard']): Tracing => ({
  ...{ mode: 'cmp', words: 3000, place: 'apart', isFreebsd: false, heard },
});

/** Each round empties the buffer, writes a table, calls the hook. The end sums the words. */
function assemble(offset: number) {
  const a = new Assembly(RAM_BASE);
  const [round, sum] = [new Place(), new Place()];
  const hooks = Array.from({ length: HOOK_KINDS }, () => new Place());
  const word = (at: number, value: number): void => {
    a.put('addi', { rd: WORD, rs1: 0, imm: value });
    a.put('sd', { rs1: BUFFER, rs2: WORD, imm: at });
  };
  a.here(round);
  for (let at = 8; at <= 8 + 32 * CASES; at += 8) word(at, 0);
  word(offset, CASES);
  word(offset + 8, 32);
  for (let i = 0; i < CASES; i++) word(offset + 16 + 8 * i, 3 + i);
  word(0, 0);
  a.put('addi', { rd: A0, rs1: 0, imm: 77 });
  a.put('addi', { rd: A1, rs1: BUFFER, imm: offset });
  a.toward('jal', hooks[HOOK.SWITCH]!, { rd: RA });
  a.put('addi', { rd: COUNT, rs1: COUNT, imm: -1 });
  a.toward('bne', round, { rs1: COUNT, rs2: 0 });
  a.put('addi', { rd: LEFT, rs1: 0, imm: 1 + 4 * CASES });
  a.here(sum);
  a.put('ld', { rd: WORD, rs1: BUFFER, imm: 0 });
  a.put('slli', { rd: SUM, rs1: SUM, imm: 1 });
  a.put('add', { rd: SUM, rs1: SUM, rs2: WORD });
  a.put('addi', { rd: BUFFER, rs1: BUFFER, imm: 8 });
  a.put('addi', { rd: LEFT, rs1: LEFT, imm: -1 });
  a.toward('bne', sum, { rs1: LEFT, rs2: 0 });
  const end = a.here();
  a.toward('jal', end, { rd: 0 });
  writeHooks(a, hooks);
  return { bytes: a.finish(), hooks: hooks.map(({ at }) => at) };
}

test.each(
  ([-32, -24, -16, 8, 24, 40] as const).flatMap(offset =>
    (['no', 'records', 'counts'] as const).map(heard => [offset, heard] as const),
  ),
)('a table at %i of the buffer, listener: %s', (offset, heard) => {
  const program = {
    ...assemble(offset),
    tracing: tracing(heard),
    x: { [TP]: THREAD_POINTER, [BUFFER]: AREA, [COUNT]: ROUNDS },
    insns: ROUNDS * 200,
  };
  const [expected, actual] = [runHooked(program, false), runHooked(program, true)];
  expect(expected.x[LEFT]).toBe(0n);
  expect(expected.count).toBeGreaterThan(0);
  expect({ ...actual, compiled: 0 }).toEqual({ ...expected, compiled: 0 });
});
