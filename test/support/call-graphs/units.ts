// The units of which functions of a random call graph are made.
//
// Registers: x9 counts rounds, x26 the calls that the round may still make; x27 is the end of the
// round, x16 the data area, x17 an address that faults, x19 the kcov device; units use x10 to x15,
// x18 and x28 to x30.

import type { Random } from '../random.ts';
import { type Assembly, Place } from '../shapes/assembly.ts';
import { setLive } from '../shapes/hooks.ts';
import { access, calculate, hook, loop, type Surroundings, VALUES } from '../shapes/pieces.ts';
import { ROOTS, SWAPS } from './layout.ts';

export interface Unit {
  readonly kind: keyof typeof UNITS;
  readonly seed: number;
}

/** Data that the units of a program share. */
export interface Graph extends Surroundings {
  readonly isPaged: boolean;
  readonly functions: readonly Place[];
  /** An instruction of each function that other functions change. */
  readonly patched: readonly Place[];
  /** Addresses of TABLE_SIZE functions. */
  readonly table: Place;
}

export const TABLE_SIZE = 8;
const [LINK, ROUND, DATA, NOWHERE, DEVICE, CALLS, END] = [1, 9, 16, 17, 19, 26, 27];

type Write = (a: Assembly, s: Graph) => void;

const at = (address: number): Place => Object.assign(new Place(), { at: address });

/** Runs `body` in the rounds whose number has these bits clear. */
function nowAndThen(a: Assembly, mask: number, body: () => void): void {
  const skip = new Place();
  a.put('andi', { rd: 29, rs1: ROUND, imm: mask });
  a.toward('bne', skip, { rs1: 29, rs2: 0 });
  body();
  a.here(skip);
}

/** An access to one of eight pages, which page tables may have moved. */
const touch: Write = (a, s) => {
  a.put('lui', { rd: 18, imm: s.random.below(8) << 12 }).put('add', { rd: 18, rs1: 18, rs2: DATA });
  access(a, s, 18, 8 * s.random.below(200));
};

/** Calls a function of the table; in other rounds, or with other calls left, another one. */
const indirect: Write = (a, { random, table }) => {
  a.address(30, table);
  a.put('andi', { rd: 29, rs1: random.pick([ROUND, CALLS]), imm: random.pick([0, 1, 3, 7]) });
  a.put('slli', { rd: 29, rs1: 29, imm: 3 }).put('add', { rd: 30, rs1: 30, rs2: 29 });
  a.put('ld', { rd: 30, rs1: 30, imm: 0 }).put('jalr', { rd: LINK, rs1: 30, imm: 0 });
};

/** Changes an instruction of any function, perhaps of one that runs. */
const patch: Write = (a, { random, patched }) =>
  nowAndThen(a, random.pick([3, 7, 15]), () => {
    a.address(30, random.pick(patched)).put('lw', { rd: 29, rs1: 30, imm: 0 });
    a.put('lui', { rd: 28, imm: 2 << 20 }).put('xor', { rd: 29, rs1: 29, rs2: 28 });
    a.put('sw', { rs1: 30, rs2: 29, imm: 0 });
  });

/** Leaves all functions at once, as longjmp does. */
const leave: Write = (a, { random }) => {
  const skip = new Place();
  a.put('andi', { rd: 29, rs1: random.pick([ROUND, CALLS]), imm: random.pick([7, 15, 31]) });
  a.put('addi', { rd: 29, rs1: 29, imm: -random.below(7) });
  a.toward('bne', skip, { rs1: 29, rs2: 0 });
  a.put('jalr', { rd: 0, rs1: END, imm: 0 });
  a.here(skip);
};

/** Stores an entry of a page table, a leaf or above, without a flush. */
const pages: Write = (a, s) => {
  const { random } = s;
  if (!s.isPaged) {
    touch(a, s);
    return;
  }
  nowAndThen(a, random.pick([1, 3, 7]), () => {
    const { entries, values } = random.pick(SWAPS);
    a.address(30, at(random.pick(entries))).address(28, at(values));
    a.put('ld', { rd: 29, rs1: 28, imm: random.pick([0, 8]) }).put('sd', { rs1: 30, rs2: 29, imm: 0 });
  });
};

/** Flushes, or takes another root of the page tables. */
const flush: Write = (a, s) => {
  const { random } = s;
  if (!s.isPaged) touch(a, s);
  else if (random.oneIn(2)) a.put('sfence.vma', { rs1: random.pick([18, DATA, 0]), rs2: 0 });
  else {
    a.address(30, at(ROOTS)).put('ld', { rd: 30, rs1: 30, imm: random.pick([0, 8]) });
    a.put('csrrw', { rd: 0, rs1: 30, imm: 0x180 });
  }
};

const UNITS = {
  touch,
  indirect,
  patch,
  leave,
  pages,
  flush,
  hook,
  calculate,
  call: (a, { random, functions }) => void a.toward('jal', random.pick(functions), { rd: LINK }),
  fault: (a, { random }) => void a.put('ld', { rd: random.pick(VALUES), rs1: NOWHERE, imm: 0 }),
  device: a => void a.put('ld', { rd: 12, rs1: DEVICE, imm: 0x28 }),
  live: (a, { random }) => setLive(a, !random.oneIn(4)),
  odd: a => void a.cNop(),
  tight: (a, s) =>
    loop(a, 1 + s.random.below(9), () => {
      if (s.random.oneIn(2)) hook(a, s);
      else calculate(a, s);
      if (s.random.oneIn(3)) touch(a, s);
    }),
} satisfies Readonly<Record<string, Write>>;

const MIXED = [
  ...(['hook', 'hook', 'hook', 'touch', 'touch', 'calculate', 'calculate', 'call', 'call', 'call'] as const),
  ...(['indirect', 'patch', 'fault', 'device', 'live', 'leave', 'pages', 'tight'] as const),
];
/** Kinds as often as they stand here. */
const PROFILES: readonly (readonly Unit['kind'][])[] = [
  MIXED,
  [...MIXED, 'hook', 'hook', 'calculate', 'call', 'touch', 'touch', 'odd'],
  ['call', 'call', 'call', 'indirect', 'patch', 'patch', 'calculate', 'hook', 'touch', 'leave'],
  [
    ...(['hook', 'touch', 'touch', 'touch', 'calculate', 'call', 'device'] as const),
    ...(['pages', 'pages', 'pages', 'pages', 'flush', 'flush', 'touch'] as const),
  ],
];

/** Draws units of one profile. */
export function drawUnits(random: Random): () => Unit {
  const kinds = random.pick(PROFILES);
  return () => ({ kind: random.pick(kinds), seed: random.u32() });
}

export const writeUnit = (a: Assembly, { kind }: Unit, s: Graph): void => UNITS[kind](a, s);
