// The TLB cannot be seen. Random programs change page tables without sfence.vma while loops access
// the pages: A and D bits are cleared, pages are exchanged, also those of the code. Both engines,
// in any pieces, leave what a hart leaves that has no TLB at all: here the interpreter, all of
// whose translations are dropped after every instruction.

import { afterEach, describe, expect, test, vi } from 'vitest';
import { DecodedPages } from '../../emulator/engine/interp/decoded-pages.ts';
import * as L from '../../emulator/hart/layout.ts';
import { Tlb } from '../../emulator/hart/tlb.ts';
import { setPriv } from '../../emulator/hart/view.ts';
import { encode as e } from '../../emulator/isa/index.ts';
import { describeOnce } from '../support/again.ts';
import { type EngineFactory, Flat, interpreter, jit, RAM_BASE } from '../support/flat.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';

const SEED = seedFromEnvironment(0x71b);
const PROGRAMS = Number(process.env['KCOVBOX_PROGRAMS'] ?? 4);
const ROOT = RAM_BASE + 0x1_0000;
const MIDDLE = ROOT + 0x1000;
const LEAVES = ROOT + 0x2000;
const FRAMES = RAM_BASE + 0x2_0000;
const VA = 0x4000_0000;
/** Numbers of pages at VA: those that differ by 256 share their TLB entries. */
const PAGES = [0, 1, 2, 256, 257, 258];
const POINTERS = [18, 19, 20, 21, 22, 23];
/**
 * Registers: where the leaf table lies, its middle, the root's entry for RAM; what is flipped: a
 * page number's last bit.
 */
const [LEAF, LEAF_MIDDLE, GIGA, FRAME_BIT] = [26, 27, 28, 29];
const [COUNT, SCRATCH, TEST] = [9, 5, 6];
const ROUNDS = 120;
const [A, D] = [0x40, 0x80];

const pte = (pa: number, flags: number): bigint => ((BigInt(pa) >> 12n) << 10n) | BigInt(flags);

/** Flips bits of the PTE at a register's address: A, D, the page, or all. */
function flip(random: Random): number[] {
  const isGiga = random.oneIn(5);
  const page = random.pick(PAGES);
  const [base, offset] = isGiga ? [GIGA, 0] : page < 256 ? [LEAF, 8 * page] : [LEAF_MIDDLE, 8 * (page - 256)];
  const bits = random.pick([A, D, A | D]);
  const change =
    isGiga || random.oneIn(2)
      ? e('andi', { rd: SCRATCH, rs1: SCRATCH, imm: ~bits })
      : e('xor', { rd: SCRATCH, rs1: SCRATCH, rs2: FRAME_BIT });
  return [
    e('ld', { rd: SCRATCH, rs1: base, imm: offset }),
    change,
    e('sd', { rs1: base, rs2: SCRATCH, imm: offset }),
  ];
}

function accesses(random: Random): number[] {
  const words: number[] = [];
  for (let i = 1 + random.below(4); i > 0; i--) {
    const rs1 = random.pick(POINTERS);
    const imm = 8 * random.below(random.oneIn(3) ? 255 : 8);
    const value = 10 + random.below(6);
    if (random.oneIn(3)) words.push(e('sd', { rs1, rs2: value, imm }));
    else if (random.oneIn(6)) words.push(e('amoadd.d', { rd: value, rs1, rs2: value }));
    else words.push(e('ld', { rd: value, rs1, imm }), e('add', { rd: 7, rs1: 7, rs2: value }));
    if (random.oneIn(8)) words.push(e('lw', { rd: value, rs1, imm: imm + 1 }));
  }
  return words;
}

/** A loop: accesses, and changes in some of its rounds. */
function program(random: Random): number[] {
  const body: number[] = [];
  for (let i = 2 + random.below(4); i > 0; i--) {
    body.push(...accesses(random));
    const change = [...flip(random), ...(random.oneIn(3) ? flip(random) : [])];
    const [mask, round] = random.pick([
      [15, 1],
      [31, 7],
      [63, 20],
    ]) as [number, number];
    body.push(
      e('andi', { rd: TEST, rs1: COUNT, imm: mask }),
      e('addi', { rd: TEST, rs1: TEST, imm: -round }),
      e('bne', { rs1: TEST, rs2: 0, imm: 4 * (change.length + 1) }),
      ...change,
    );
  }
  body.push(...accesses(random), e('addi', { rd: COUNT, rs1: COUNT, imm: -1 }));
  return [...body, e('bne', { rs1: COUNT, rs2: 0, imm: -4 * body.length }), e('jal', { rd: 0, imm: 0 })];
}

function prepare(engine: EngineFactory, code: readonly number[]): Flat {
  const flat = new Flat({ engine });
  const { hart, ram } = flat;
  hart.mmu.pmp.open();
  flat.load(code);
  ram.write64(ROOT + 8, pte(MIDDLE, 1));
  ram.write64(ROOT + 16, pte(RAM_BASE, 0xcf));
  ram.write64(MIDDLE, pte(LEAVES, 1));
  for (const [i, page] of PAGES.entries()) {
    ram.write64(LEAVES + 8 * page, pte(FRAMES + 0x1000 * i, 0xc7));
    flat.setX(POINTERS[i]!, BigInt(VA + 4096 * page));
  }
  for (let at = 0; at < 0x8000; at += 8)
    ram.write64(FRAMES + at, BigInt.asUintN(64, BigInt(at) * 0x9e3779b97f4a7c15n));
  flat.setX(LEAF, BigInt(LEAVES));
  flat.setX(LEAF_MIDDLE, BigInt(LEAVES + 2048));
  flat.setX(GIGA, BigInt(ROOT + 16));
  flat.setX(FRAME_BIT, 1n << 10n);
  flat.setX(COUNT, BigInt(ROUNDS));
  hart.state.set64(L.SATP, (8n << 60n) | BigInt(ROOT / 4096));
  hart.mmu.tlb.flushAll();
  setPriv(hart.state, 1);
  return flat;
}

const END = (code: readonly number[]): bigint => BigInt(RAM_BASE + 4 * (code.length - 1));

/** Everything that the guest can see. */
const observed = (flat: Flat) => ({
  pc: flat.pc,
  x: Array.from({ length: 32 }, (_, i) => flat.x(i)),
  tables: [ROOT + 8, ROOT + 16, MIDDLE, ...PAGES.map(page => LEAVES + 8 * page)].map(at =>
    flat.ram.read64(at),
  ),
  frames: flat.ram.read(FRAMES, 0x8000),
});

/** Runs to the loop's end in pieces of these lengths; `between` is what happens there. */
function run(
  engine: EngineFactory,
  code: readonly number[],
  piece: () => number,
  between: (flat: Flat) => void,
): Flat {
  const flat = prepare(engine, code);
  for (let left = 40_000; left > 0 && flat.pc !== END(code); ) {
    const count = Math.min(piece(), left);
    flat.run(count);
    left -= count;
    between(flat);
  }
  expect(flat.pc).toBe(END(code));
  return flat;
}

const nothing = (): void => {};
const dropAll = (flat: Flat): void => flat.hart.mmu.tlb.flushAll();

/** In one of the programs the engine differs from an interpreter that drops all translations. */
const isFaultFound = (programs: number): boolean =>
  Array.from({ length: programs }, (_, number) => program(new Random(SEED + number))).some(code => {
    const wanted = JSON.stringify(observed(run(interpreter, code, () => 1, dropAll)), asText);
    return JSON.stringify(observed(run(interpreter, code, () => 40_000, nothing)), asText) !== wanted;
  });
const asText = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value);

describeOnce('a fault is found', () => {
  afterEach(() => vi.restoreAllMocks());

  test('an entry of the last level keeps its translation', () => {
    vi.spyOn(Tlb.prototype, 'flushEntry').mockImplementation(() => {});
    expect(isFaultFound(12)).toBe(true);
  });

  test('a table above the last level counts as one of it', () => {
    const real = DecodedPages.prototype.tableRead;
    vi.spyOn(DecodedPages.prototype, 'tableRead').mockImplementation(function (this: DecodedPages, page) {
      real.call(this, page, 0);
    });
    expect(isFaultFound(12)).toBe(true);
  });
});

describe(`changed page tables are seen at once, seed ${seedText(SEED)}`, () => {
  test.each(Array.from({ length: PROGRAMS }, (_, i) => i))('program %i', number => {
    const random = new Random(SEED + number);
    const code = program(random);
    const wanted = observed(run(interpreter, code, () => 1, dropAll));
    expect(observed(run(interpreter, code, () => 40_000, nothing))).toEqual(wanted);
    expect(observed(run(jit, code, () => 40_000, nothing))).toEqual(wanted);
    for (const engine of [interpreter, jit])
      for (const between of [nothing, dropAll])
        expect(observed(run(engine, code, () => 1 + random.below(500), between))).toEqual(wanted);
  });
});
