// Discovery of regions: inlined callees, the cases of a switch, unrolled loops, and their limits.

import { describe, expect, test } from 'vitest';
import {
  type Block,
  type CodeView,
  discover,
  REGION_INSNS,
  type Region,
  type Tier,
  WARM_INSNS,
} from '../../emulator/engine/jit/region/region.ts';
import { decode, encode as e } from '../../emulator/isa/index.ts';

const ENTRY = 0x8000_1000n;
const RETURN = e('jalr', { rd: 0, rs1: 1, imm: 0 });
const NOP = e('addi', { rd: 0, rs1: 0, imm: 0 });
const SSTATUS = 0x100;
const SATP = 0x180;
const call = (at: number, to: number): number => e('jal', { rd: 1, imm: to - at });

function regionOf(
  code: Readonly<Record<number, readonly number[]>>,
  more: Partial<CodeView> = {},
  tier: Tier = 'hot',
): Region {
  const words = new Map(
    Object.entries(code).flatMap(([start, list]) =>
      list.map((word, i) => [Number(start) + 4 * i, word] as const),
    ),
  );
  return discover(
    ENTRY,
    {
      fetch: at => (words.has(at) ? decode(words.get(at)!) : undefined),
      isEntry: () => true,
      wasReached: () => true,
      inlineAt: () => undefined,
      word: () => undefined,
      pointer: () => undefined,
      lastTarget: () => undefined,
      ...more,
    },
    tier,
  );
}

const kinds = ({ blocks }: Region): string[] => blocks.map((block: Block) => block.end.kind).sort();

describe('a small callee', () => {
  const callee = [NOP, RETURN];

  test('is copied into its caller, at each call', () => {
    const region = regionOf({ 0: [call(0, 0x100), call(4, 0x100), RETURN], 256: callee });
    expect(kinds(region)).toEqual(['indirect', 'jump', 'jump', 'return', 'return']);
    const ends = region.blocks.flatMap(({ end }) => (end.kind === 'return' ? [end.behind] : []));
    expect(ends.sort()).toEqual([4, 8]);
    expect(region.size).toBe(3 + 2 * callee.length);
  });

  test('is called when nobody has come there yet', () => {
    const region = regionOf({ 0: [call(0, 0x100), RETURN], 256: callee }, { isEntry: () => false });
    expect(kinds(region)).toEqual(['call', 'indirect']);
  });

  test('is called when it is long', () => {
    const long = [...Array.from({ length: 100 }, () => NOP), RETURN];
    expect(kinds(regionOf({ 0: [call(0, 0x100), RETURN], 256: long }))).toEqual(['call', 'indirect']);
  });

  test('is called when control may leave it otherwise than by its return', () => {
    const tail = [NOP, e('jal', { rd: 0, imm: 0x100 })];
    const region = regionOf({ 0: [call(0, 0x100), RETURN], 256: tail, 516: callee });
    expect(kinds(region)).toEqual(['call', 'indirect']);
  });

  test('that calls itself is unrolled once', () => {
    const recursive = [e('beq', { rs1: 10, rs2: 0, imm: 8 }), call(0x104, 0x100), RETURN];
    const region = regionOf({ 0: [call(0, 0x100), RETURN], 256: recursive });
    expect(kinds(region).filter(kind => kind === 'call')).toHaveLength(1);
    expect(region.size).toBe(2 + 2 * recursive.length);
  });
});

test('an instruction for a CSR is inside a block, unless the hart has to execute it', () => {
  const status = [e('csrrs', { rd: 10, rs1: 0, imm: SSTATUS }), e('csrrci', { rd: 0, rs1: 2, imm: SSTATUS })];
  const blocks = (words: readonly number[]) =>
    regionOf({ 0: words }).blocks.map(({ insns, end }) => [insns.length, end.kind]);
  expect(blocks([NOP, ...status, NOP, RETURN])).toEqual([[5, 'indirect']]);
  expect(blocks([NOP, e('csrrw', { rd: 0, rs1: 10, imm: SATP }), NOP, RETURN])).toEqual([[1, 'leave']]);
});

describe('a call through a register', () => {
  const code = { 0: [e('jalr', { rd: 1, rs1: 10, imm: 0 }), RETURN], 256: [NOP, RETURN] };

  test('copies the callee of the last time, and still calls others', () => {
    const region = regionOf(code, { lastTarget: () => 0x100 });
    expect(kinds(region)).toEqual(['callIndirect', 'guess', 'indirect', 'jump', 'return']);
  });

  test('guesses nothing that is not hot', () => {
    const region = regionOf(code, { lastTarget: () => 0x100, isEntry: () => false });
    expect(kinds(region)).toEqual(['callIndirect', 'indirect']);
  });
});

describe('code that control has never reached', () => {
  const never =
    (...places: readonly number[]) =>
    (at: number): boolean =>
      !places.includes(at);
  const branch = [e('beq', { rs1: 10, rs2: 0, imm: 12 }), NOP, RETURN, NOP, RETURN];

  test.each([
    { taken: 'both sides', wasReached: never(), size: 5, exits: [] },
    { taken: 'only the next', wasReached: never(12), size: 3, exits: [12] },
    { taken: 'only the target', wasReached: never(4), size: 3, exits: [4] },
    { taken: 'none, yet', wasReached: never(4, 12), size: 1, exits: [4, 12] },
  ])('behind a branch: $taken', ({ wasReached, size, exits }) => {
    const region = regionOf({ 0: branch }, { wasReached });
    expect(region.size).toBe(size);
    const { end } = region.blocks[0]!;
    const edges = end.kind === 'branch' ? [end.next, end.taken] : [];
    expect(edges.flatMap(edge => ('exit' in edge ? [edge.exit] : []))).toEqual(exits);
  });

  test('behind a call that has not returned is left out', () => {
    const region = regionOf({ 0: [call(0, 0x100), NOP, RETURN] }, { wasReached: never(4) }, 'warm');
    expect(region.blocks.map(({ end }) => end)).toEqual([
      { kind: 'call', target: 0x100, behind: 4, next: { exit: 4 } },
    ]);
  });

  test('is copied with a small callee, which has no exit of its own', () => {
    const region = regionOf({ 0: [call(0, 0x100), RETURN], 256: branch }, { wasReached: never(0x10c) });
    expect(region.size).toBe(2 + branch.length);
  });
});

describe('a computed jump', () => {
  // The bounds check, the sum of the table's address and the scaled index, the load, the jump.
  const jump = [
    e('addi', { rd: 12, rs1: 0, imm: 2 }),
    e('bltu', { rs1: 12, rs2: 10, imm: 28 }),
    e('slli', { rd: 10, rs1: 10, imm: 3 }),
    e('auipc', { rd: 12, imm: 0 }),
    e('addi', { rd: 12, rs1: 12, imm: 0x200 - 12 }),
    e('add', { rd: 10, rs1: 10, rs2: 12 }),
    e('ld', { rd: 10, rs1: 10, imm: 0 }),
    e('jalr', { rd: 0, rs1: 10, imm: 0 }),
    RETURN,
  ];
  const TABLE = [0x44, 0x40, 0x48, 0x4000];
  const table = { pointer: (at: number) => TABLE[(at - 0x200) / 8] };
  const cases = { 64: [RETURN], 68: [NOP, RETURN], 72: [RETURN] };

  test('goes to the entries of its table, as many as were compared with the index', () => {
    const region = regionOf({ 0: jump, ...cases }, { ...table, isEntry: () => false });
    const ends = region.blocks.flatMap(({ end }) =>
      end.kind === 'switch' ? [end.cases.map(({ at }) => at)] : [],
    );
    expect(ends).toEqual([[0x40, 0x44, 0x48]]);
  });

  test('leaves the region when its table cannot be read', () => {
    expect(kinds(regionOf({ 0: jump, ...cases }, { isEntry: () => false }))).not.toContain('switch');
  });

  test('by a register that nothing nearby set leaves the region', () => {
    expect(kinds(regionOf({ 0: [e('jalr', { rd: 0, rs1: 10, imm: 0 })] }))).toEqual(['indirect']);
  });
});

describe('a loop', () => {
  const loop = (length: number): number[] => [
    ...Array.from({ length: length - 1 }, () => NOP),
    e('bne', { rs1: 10, rs2: 0, imm: -4 * (length - 1) }),
    RETURN,
  ];

  test('of few instructions is repeated', () => {
    expect(regionOf({ 0: loop(4) }).blocks.filter(block => block.at === 0)).toHaveLength(8);
  });

  test('of many is not', () => {
    expect(regionOf({ 0: loop(20) }).blocks.filter(block => block.at === 0)).toHaveLength(1);
  });
});

test.each([
  ['warm', WARM_INSNS],
  ['hot', REGION_INSNS],
] as const)('a %s region of a long function has %d instructions; the next one follows', (tier, most) => {
  const region = regionOf({ 0: [...Array.from({ length: 1000 }, () => NOP), RETURN] }, {}, tier);
  expect(region.size).toBe(most);
  expect(region.blocks.map(({ end }) => end)).toEqual([{ kind: 'fall', to: { exit: 4 * most } }]);
});
