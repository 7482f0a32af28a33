// Two entry points whose addresses meet in the jump cache, and that go to each other by computed
// jumps: each round, the interpreter looks up one of them at least.

import { afterEach, expect, test, vi } from 'vitest';
import { JumpCacheMemory } from '../../emulator/engine/jit/cache/jump-cache.ts';
import { HEAT_EAGER } from '../../emulator/engine/jit/policy/heat.ts';
import { encode as e } from '../../emulator/isa/index.ts';
import { Flat, flatWithJit, interpreter, RAM_BASE } from '../support/flat.ts';

afterEach(() => void vi.restoreAllMocks());

/** The last instruction of a page. */
const FIRST = RAM_BASE + 0xffc;
const APART = JumpCacheMemory.covers;
const ROUND = 4;

/** `others`: entry points that meet the first one. They go round. */
function prepare(flat: Flat, others: number): void {
  for (let i = 0; i <= others; i++)
    flat.load([e('addi', { rd: 9, rs1: 9, imm: 1 }), e('jalr', { rs1: 10 + i })], FIRST + i * APART);
  for (let i = 0; i <= others; i++) flat.setX(10 + i, BigInt(FIRST + ((i + 1) % (others + 1)) * APART));
  flat.hart.mmu.pmp.open();
  flat.pc = BigInt(FIRST);
}

/** How often the host was asked, in so many units behind the first ones. */
function asked(flat: Flat, units: number): number {
  flat.run(20_000);
  const set = vi.spyOn(JumpCacheMemory.prototype, 'set');
  flat.run(units);
  return set.mock.calls.length;
}

test('the host is not asked for two that meet', () => {
  const { flat, jit } = flatWithJit({ heat: HEAT_EAGER });
  prepare(flat, 1);
  expect(asked(flat, 10_000 * ROUND)).toBe(0);
  expect(flat.x(9)).toBe(BigInt(10_000 * 2 + 10_000));
  expect(jit.units).toBeGreaterThan(30_000);
});

test('three that meet take turns, with the effects of the interpreter', () => {
  const { flat } = flatWithJit({ heat: HEAT_EAGER });
  const plain = new Flat({ engine: interpreter });
  for (const each of [flat, plain]) {
    prepare(each, 2);
    each.run(20_000);
  }
  expect(asked(flat, 2998)).toBeGreaterThan(500);
  plain.run(22_998);
  expect([flat.pc, flat.x(9)]).toEqual([plain.pc, plain.x(9)]);
});

// The interpreter fetches the first page of an entry point, not the second. If the second way kept
// an entry point that is not in the TLB as a whole, the interpreter would enter it without end.
test('behind a flush, both are found again', () => {
  const { flat } = flatWithJit({ heat: HEAT_EAGER });
  prepare(flat, 1);
  flat.run(20_000);
  for (let i = 0; i < 10; i++) {
    flat.hart.mmu.tlb.flushAll();
    flat.run(1001);
  }
  expect(flat.x(9)).toBe(BigInt((20_000 + 10 * 1001) / 2));
  expect(asked(flat, 1000)).toBe(0);
});
