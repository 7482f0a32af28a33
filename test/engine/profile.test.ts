// A profile makes hot code compiled early, and never changes what it does.

import { expect, test } from 'vitest';
import type { Jit } from '../../emulator/engine/jit/jit.ts';
import { HEAT_DEFAULT, MOST_HINTS } from '../../emulator/engine/jit/policy/heat.ts';
import type { CodePage, JitProfile, PageProfile } from '../../emulator/engine/jit/policy/profile.ts';
import { encode as e } from '../../emulator/isa/index.ts';
import { type Flat, flatWithJit, RAM_BASE } from '../support/flat.ts';

const CODE = RAM_BASE;
const COLD_INSNS = 30;
/** Of a loop that counts x11, and in whose midst x10 decides whether x12 is counted, too. */
const LOOP = [
  e('addi', { rd: 11, rs1: 11, imm: 1 }),
  e('beq', { rs1: 10, rs2: 0, imm: 4 * (COLD_INSNS + 1) }),
  ...Array.from({ length: COLD_INSNS }, () => e('addi', { rd: 12, rs1: 12, imm: 1 })),
  e('jal', { rd: 0, imm: -4 * (COLD_INSNS + 2) }),
];
/** Of a round without the cold part. */
const HOT_INSNS = 3;
const { arrivalsPerTick, ticksToFillHinted } = HEAT_DEFAULT;

function machine(profile?: JitProfile): { flat: Flat; jit: Jit } {
  const prepared = flatWithJit(
    { heat: { ...HEAT_DEFAULT, warmUpTicks: 0 }, ...(profile && { profile }) },
    { pages: 3 },
  );
  const { flat } = prepared;
  flat.load(LOOP, CODE);
  flat.pc = BigInt(CODE);
  return prepared;
}

/** Of a page with the loop: its entry is hot, and so many instructions from it were reached. */
function page(reached: number): PageProfile {
  const profile = { hot: new Uint8Array(256), reached: new Uint8Array(256) };
  profile.hot[0] = 1;
  for (let i = 0; i < reached; i++) profile.reached[i >> 2]! |= 1 << (2 * (i & 3));
  return profile;
}

const NONE = () => undefined;
const always = (known: PageProfile): JitProfile => ({
  mayBeHot: () => true,
  pageAt: () => known,
  compiled: NONE,
});
/** Rounds behind which hinted code runs compiled, and other code does not. */
const EARLY = arrivalsPerTick * (ticksToFillHinted + 2);

test('code that was hot is compiled behind a few ticks', () => {
  for (const [profile, isEarly] of [
    [undefined, false],
    [always(page(0)), true],
    [{ mayBeHot: () => true, pageAt: NONE, compiled: NONE }, false],
    [{ ...always(page(0)), mayBeHot: () => false }, false],
  ] as const) {
    const { flat, jit } = machine(profile);
    flat.run(EARLY * HOT_INSNS);
    expect(jit.stats.regions > 0).toBe(isEarly);
    expect(flat.x(11)).toBe(BigInt(EARLY));
  }
});

test('a profile is asked with the contents of the page', () => {
  const asked: [bigint, number][] = [];
  const { flat } = machine({
    mayBeHot: () => true,
    pageAt: (va, contents) => {
      asked.push([va, contents[0]!]);
      return undefined;
    },
    compiled: NONE,
  });
  flat.run(EARLY * HOT_INSNS);
  expect(asked.length).toBeGreaterThan(0);
  for (const [va, word] of asked) expect([va, word]).toEqual([BigInt(CODE), LOOP[0]! | 0]);
});

test('a region has the code that was reached in earlier runs', () => {
  const sizes = [0, LOOP.length].map(reached => {
    const { flat, jit } = machine(always(page(reached)));
    flat.run(EARLY * HOT_INSNS);
    return jit.stats.insns;
  });
  expect(sizes[0]).toBeLessThan(COLD_INSNS);
  expect(sizes[1]).toBeGreaterThan(COLD_INSNS);
});

test('code that is patched again and again must become hot by itself', () => {
  const { flat, jit } = machine(always(page(0)));
  const compiledAfterPatch = Array.from({ length: MOST_HINTS + 2 }, () => {
    const before = jit.stats.regions;
    flat.load(LOOP, CODE);
    flat.pc = BigInt(CODE);
    flat.run(EARLY * HOT_INSNS);
    return jit.stats.regions > before;
  });
  expect(compiledAfterPatch).toEqual([...Array.from({ length: MOST_HINTS }, () => true), false, false]);
});

test('a run is added to its profile: the page, the entry and the code that was reached', () => {
  const added: [CodePage, readonly bigint[]][] = [];
  const { flat } = machine({ ...always(page(0)), compiled: (...page) => added.push(page) });
  flat.run(EARLY * HOT_INSNS);
  expect(added).toHaveLength(1);
  const [[code, entries]] = added as [[CodePage, readonly bigint[]]];
  expect([entries, code.va, code.contents[0]]).toEqual([[BigInt(CODE)], BigInt(CODE), LOOP[0]! | 0]);
  const reached = LOOP.flatMap((_, i) => (code.wasReached(4 * i) ? [i] : []));
  expect(reached).toEqual([0, 1, LOOP.length - 1]);
});
