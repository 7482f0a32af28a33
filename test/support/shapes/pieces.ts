// The pieces of which programs for the region JIT are made: each goes for a limit or a trick of its
// own. A piece is a row of numbers, so it can be drawn at random, made smaller, and printed.
//
// Registers: x9 counts rounds, x16 is the data area (32 KiB); pieces use x5 to x8, x10 to x15 and
// x18 to x31.

import { HOOK } from '../../../devices/kcov-layout.ts';
import type { Random } from '../random.ts';
import { type Assembly, Place } from './assembly.ts';
import { meddle, setLive, switchTable } from './hooks.ts';

export interface Piece {
  readonly kind: keyof typeof KINDS;
  /** How much of it: instructions, groups, rounds. */
  readonly size: number;
  readonly seed: number;
}

/** Data that pieces share. */
export interface Surroundings {
  readonly probe: Place;
  /** Coverage hooks, by kind. */
  readonly hooks: readonly Place[];
  random: Random;
}

const [ROUND, DATA] = [9, 16];
const LINK = 1;
const PAGE = 4096;
const DATA_BYTES = 8 * PAGE;
export const VALUES = [10, 11, 12, 13, 14, 15];

type Write = (a: Assembly, size: number, s: Surroundings) => void;

const value = ({ random }: Surroundings): number => random.pick(VALUES);

/** rd = data area + offset. */
function pointTo(a: Assembly, rd: number, offset: number): void {
  a.put('lui', { rd, imm: (offset + 0x800) & ~0xfff });
  a.put('addi', { rd, rs1: rd, imm: (offset << 20) >> 20 });
  a.put('add', { rd, rs1: rd, rs2: DATA });
}

export function calculate(a: Assembly, s: Surroundings): void {
  const name = s.random.pick(['add', 'sub', 'xor', 'mul', 'sltu', 'addw'] as const);
  a.put(name, { rd: value(s), rs1: value(s), rs2: value(s) });
}

/** Repeats `body` with x28 as counter. */
export function loop(a: Assembly, rounds: number, body: () => void): void {
  a.put('addi', { rd: 28, rs1: 0, imm: rounds });
  const head = a.here();
  body();
  a.put('addi', { rd: 28, rs1: 28, imm: -1 });
  a.toward('bne', head, { rs1: 28, rs2: 0 });
}

export function access(a: Assembly, s: Surroundings, rs1: number, imm: number): void {
  const { random } = s;
  if (random.oneIn(3)) a.put(random.pick(['sd', 'sw', 'sb'] as const), { rs1, rs2: value(s), imm });
  else a.put(random.pick(['ld', 'lw', 'lbu', 'lhu'] as const), { rd: value(s), rs1, imm });
}

/** A call of a coverage hook; its operands are what x10 and x11 hold. */
export function hook(a: Assembly, s: Surroundings, kinds: 'pc' | 'any' = 'any'): void {
  const { random } = s;
  const kind = kinds === 'pc' || random.oneIn(2) ? HOOK.PC : random.below(HOOK.COUNT);
  if (kind === HOOK.SWITCH) a.address(11, Object.assign(new Place(), { at: switchTable(random) }));
  a.toward('jal', s.hooks[kind]!, { rd: LINK });
}

/**
 * Coverage hooks among loads and stores, some of which stop and continue the recording, or change
 * its buffer.
 */
const hooks: Write = (a, size, s) => {
  pointTo(a, 18, 0x1000);
  for (let i = 0; i < size; i++) {
    if (s.random.oneIn(8)) setLive(a, s.random.oneIn(2));
    if (s.random.oneIn(8)) meddle(a, s.random);
    hook(a, s);
    if (s.random.oneIn(2)) access(a, s, 18, 8 * s.random.below(64));
    else calculate(a, s);
  }
};

/** As many address groups as a region can hold: two instructions each. */
function denseGroups(a: Assembly, count: number, s: Surroundings): void {
  for (let i = 0; i < count; i++) {
    access(a, s, 18, 520 * (i % 3));
    access(a, s, 18, 520 * (i % 3) + 8);
  }
}

/** Dense groups behind a hook, and hooks after so many of them. */
const hooked: Write = (a, size, s) => {
  const gap = s.random.pick([8, 90, size]);
  pointTo(a, 18, 256 * s.random.below(64));
  hook(a, s, 'pc');
  for (let done = 0; done < size; done += gap) {
    denseGroups(a, Math.min(gap, size - done), s);
    hook(a, s, s.random.oneIn(2) ? 'pc' : 'any');
  }
};

/** Many address groups in one block, in some programs as many as a region can hold. */
const groups: Write = (a, size, s) => {
  const { random } = s;
  if (random.oneIn(3)) {
    pointTo(a, 18, 256 * random.below(64));
    denseGroups(a, size, s);
    return;
  }
  const bases = Array.from({ length: 1 + random.below(9) }, (_, i) => 18 + i);
  for (const base of bases) {
    const nearEnd = PAGE * (1 + random.below(3)) - 8 * (1 + random.below(8));
    pointTo(a, base, random.oneIn(2) ? nearEnd : 256 * random.below(16));
  }
  for (let i = 0; i < size; i++) {
    const base = bases[i % bases.length]!;
    const low = random.oneIn(2) ? 8 * random.below(16) : 520 * (i % 4);
    access(a, s, base, low & ~7);
    access(a, s, base, (low & ~7) + 8);
    if (random.oneIn(2)) a.put('addi', { rd: base, rs1: base, imm: random.pick([8, 16, 64]) });
  }
};

const block: Write = (a, size, s) => {
  for (let i = 0; i < size; i++) calculate(a, s);
};

/** Calls of the probe that is inlined, among loads and stores. */
const probes: Write = (a, size, s) => {
  pointTo(a, 18, 0x1000);
  for (let i = 0; i < size; i++) {
    a.toward('jal', s.probe, { rd: LINK });
    if (s.random.oneIn(2)) access(a, s, 18, 8 * s.random.below(64));
    else calculate(a, s);
  }
};

/** Goes over a page's end byte by byte, with a group that has a page cache. */
const crossing: Write = (a, size, s) => {
  const { random } = s;
  pointTo(a, 19, PAGE * (1 + random.below(6)) - 8 - random.below(24));
  loop(a, 8 + size, () => {
    a.put('lw', { rd: 12, rs1: 19, imm: 0 });
    a.put('add', { rd: 10, rs1: 10, rs2: 12 });
    if (random.oneIn(2)) a.put('lbu', { rd: 13, rs1: 19, imm: random.below(8) });
    if (random.oneIn(2)) a.put('sb', { rs1: 19, rs2: 10, imm: random.below(6) });
    a.put('addi', { rd: 19, rs1: 19, imm: 1 });
  });
};

/** A base register that an AMO or LR reloads in the middle of its accesses. */
const atomics: Write = (a, size, s) => {
  const { random } = s;
  pointTo(a, 20, 0x7800);
  pointTo(a, 19, 0x3000 + 8 * random.below(64));
  pointTo(a, 21, 0x5000 + 8 * random.below(64));
  a.put('sd', { rs1: 20, rs2: 21, imm: 0 });
  for (let i = 0; i < size; i++) {
    a.put('ld', { rd: 12, rs1: 19, imm: 0 });
    access(a, s, 19, 8);
    if (random.oneIn(3)) a.put('lr.d', { rd: 19, rs1: 20 });
    else a.put('amoswap.d', { rd: 19, rs1: 20, rs2: 19 });
    a.put('ld', { rd: 13, rs1: 19, imm: 0 });
    access(a, s, 19, 16);
    a.put('xor', { rd: 10, rs1: 12, rs2: 13 });
  }
};

/** A `switch` through a table of addresses. */
const cases: Write = (a, size, s) => {
  const count = 2 + (size % 14);
  const table = new Place();
  const places = Array.from({ length: count }, () => new Place());
  const done = new Place();
  a.put('andi', { rd: 29, rs1: ROUND, imm: 15 });
  a.put('addi', { rd: 30, rs1: 0, imm: count - 1 });
  a.toward('bltu', done, { rs1: 30, rs2: 29 });
  a.put('slli', { rd: 29, rs1: 29, imm: 3 });
  a.address(30, table);
  a.put('add', { rd: 29, rs1: 29, rs2: 30 });
  a.put('ld', { rd: 29, rs1: 29, imm: 0 });
  a.put('jalr', { rd: 0, rs1: 29, imm: 0 });
  for (const [i, place] of places.entries()) {
    a.here(place);
    a.put('addi', { rd: 10, rs1: 10, imm: i + 1 });
    calculate(a, s);
    if (!s.random.oneIn(3)) a.toward('jal', done, { rd: 0 });
  }
  a.here(done);
  a.later(() => {
    while (a.pc % 8 !== 0) a.cNop();
    a.here(table);
    for (const place of places) a.pointer(place);
  });
};

/** A function of so many instructions; `inner` runs in its middle, with ra saved. */
function define(a: Assembly, s: Surroundings, size: number, inner?: () => void): Place {
  const place = new Place();
  const { random } = s;
  a.later(() => {
    s.random = random;
    a.here(place);
    if (inner) a.put('sd', { rs1: DATA, rs2: LINK, imm: 0x700 }).put('ld', { rd: 31, rs1: DATA, imm: 0x700 });
    for (let i = 0; i < size; i++) calculate(a, s);
    inner?.();
    a.put('jalr', { rd: 0, rs1: inner ? 31 : LINK, imm: 0 });
  });
  return place;
}

/** Calls of small and large functions, one inside of another. */
const calls: Write = (a, size, s) => {
  const leaf = define(a, s, size % 90);
  const outer = define(a, s, 3, () => a.toward('jal', leaf, { rd: LINK }));
  for (let i = 0; i < 1 + (size % 3); i++) a.toward('jal', s.random.pick([leaf, outer]), { rd: LINK });
};

/** Calls through a register that mostly has the same target. */
const indirect: Write = (a, size, s) => {
  const [often, seldom] = [define(a, s, size % 20), define(a, s, 5)];
  const go = new Place();
  a.address(30, often);
  a.put('andi', { rd: 29, rs1: ROUND, imm: 7 });
  a.toward('bne', go, { rs1: 29, rs2: 0 });
  a.address(30, seldom);
  a.here(go);
  a.put('jalr', { rd: LINK, rs1: 30, imm: 0 });
};

/** A loop of few instructions, which is unrolled. */
const tight: Write = (a, size, s) => {
  loop(a, 3 + (size % 20), () => {
    for (let i = size % 10; i >= 0; i--) calculate(a, s);
  });
};

/** A linked list. */
const chase: Write = (a, size, s) => {
  for (const register of [21, 22]) pointTo(a, register, 0x2000 + 512 * s.random.below(20));
  a.put('sd', { rs1: 21, rs2: 22, imm: 0 }).put('sd', { rs1: 22, rs2: 21, imm: 0 });
  loop(a, 2 + (size % 30), () => {
    a.put('ld', { rd: 21, rs1: 21, imm: 0 });
    a.put('lw', { rd: 12, rs1: 21, imm: 4 });
    a.put('add', { rd: 11, rs1: 11, rs2: 12 });
  });
};

/** A function on another page whose instruction is changed now and then, and runs at once. */
const patches: Write = (a, size, s) => {
  const [target, skip, fn] = [new Place(), new Place(), new Place()];
  const mask = s.random.pick([15, 31]);
  a.put('andi', { rd: 29, rs1: ROUND, imm: mask });
  a.put('addi', { rd: 29, rs1: 29, imm: -(size % 15) });
  a.toward('bne', skip, { rs1: 29, rs2: 0 });
  a.address(30, target);
  a.put('lw', { rd: 29, rs1: 30, imm: 0 });
  a.put('lui', { rd: 28, imm: 2 << 20 });
  a.put('xor', { rd: 29, rs1: 29, rs2: 28 });
  a.put('sw', { rs1: 30, rs2: 29, imm: 0 });
  if (s.random.oneIn(2)) a.put('fence.i');
  a.here(skip);
  a.toward('jal', fn, { rd: LINK });
  a.later(() => {
    // On a page of its own, with whatever else is written later.
    if (s.random.oneIn(2)) a.skipTo((a.pc - a.base + 0x1000) & ~0xfff);
    a.here(fn);
    a.put('xor', { rd: 14, rs1: 14, rs2: 10 });
    a.here(target);
    a.put('addi', { rd: 15, rs1: 15, imm: 1 });
    a.put('jalr', { rd: 0, rs1: LINK, imm: 0 });
  });
};

/** Shifts the following code by a half-word, so that instructions may cross a page's end. */
const odd: Write = a => void a.cNop();

const KINDS = {
  groups,
  hooked,
  hooks,
  block,
  probes,
  crossing,
  atomics,
  cases,
  calls,
  indirect,
  tight,
  chase,
  patches,
  odd,
};

/** Most of each kind: of some as much as a region can hold. */
const LIMITS: Readonly<Record<Piece['kind'], number>> = {
  ...{
    groups: 400,
    hooked: 380,
    hooks: 60,
    block: 780,
    probes: 40,
    crossing: 24,
    atomics: 6,
    cases: 14,
    calls: 90,
  },
  ...{ indirect: 40, tight: 200, chase: 30, patches: 40, odd: 1 },
};

const ALL_KINDS = Object.keys(KINDS) as Piece['kind'][];

export function drawPiece(random: Random, kinds: readonly Piece['kind'][] = ALL_KINDS): Piece {
  const kind = random.pick(kinds);
  const limit = LIMITS[kind];
  // Mostly small, so that programs have many; the large ones are rare, and to the limit.
  const size = random.oneIn(12) ? limit - random.below(4) : random.below(Math.min(limit, 30) + 1);
  return { kind, size: Math.max(size, 1), seed: random.u32() };
}

export const writePiece = (a: Assembly, { kind, size }: Piece, s: Surroundings): void =>
  KINDS[kind](a, size, s);
export { DATA_BYTES };
