// Random programs whose functions lie in two pages each, under page tables that change: by stores
// of the program and by the host, who also flushes the TLB and forbids pages by PMP. A function
// loops at the end of its first page and mostly, but not always, goes on in the next one, so that
// what an engine looks up for it in advance differs from what the guest fetches. A page fault makes
// its page whole again and goes back.

import * as L from '../../emulator/hart/layout.ts';
import { setPriv } from '../../emulator/hart/view.ts';
import { encode as e } from '../../emulator/isa/index.ts';
import { type EngineFactory, Flat, RAM_BASE } from './flat.ts';
import type { Random } from './random.ts';

const PAGE = 4096;
const CODE = RAM_BASE + 0x1_0000;
/** The same functions with other constants, which page table entries lead to as well. */
const COPY = RAM_BASE + 0x2_0000;
/** Page tables; the last two are of leaves. */
const [ROOT48, ROOT39, MIDDLE, LEAVES, MORE_LEAVES] = [0, 1, 2, 3, 4].map(
  i => RAM_BASE + 0x5_0000 + i * PAGE,
) as [number, number, number, number, number];
const DATA = RAM_BASE + 0x6_0000;
/** Virtual address that the first entry of LEAVES maps. */
const WINDOW = 0x4000_0000;
/** Entries of LEAVES for the tables and the data. */
const [LEAVES_ENTRY, DATA_ENTRY] = [100, 101];
/** A page of code that stores of the program move. */
const MOVED = 3;
const PAGES = 8;
const NAPOT = 1n << 63n;
const NAPOT_MARK = 8;
const [SFENCE, MRET] = [0x1200_0073, 0x3020_0073];
const ADUE = 1n << 61n;
const [ALL, NO_A, NO_X] = [0xcf, 0x8f, 0xc7];

export interface Paged {
  readonly words: ReadonlyMap<number, number>;
  readonly isUser: boolean;
  readonly isNapot: boolean;
  readonly isSv48: boolean;
  /** Does the hart set A? */
  readonly setsA: boolean;
  /** Entries in front of the code's in LEAVES; MORE_LEAVES has what does not fit. */
  readonly first: number;
}

/**
 * One instruction. Registers: x10..x13 values, x20 the code's entries, x21 the moved page, x22
 * data, x23..x25 entries of the moved page.
 */
function some(r: Random, isUser: boolean): number {
  const rd = 10 + r.below(4);
  switch (r.below(isUser ? 8 : 12)) {
    case 0:
      return e('ld', { rd, rs1: 22, imm: 8 * r.below(16) });
    case 1:
      return e('sd', { rs1: 22, rs2: rd, imm: 8 * r.below(16) });
    case 8:
      return e('sd', { rs1: 20, rs2: 23 + r.below(3), imm: 8 * MOVED });
    case 9:
      return r.oneIn(2) ? SFENCE : e('sfence.vma', { rs1: 21, rs2: 0 });
    default: {
      const name = r.pick(['add', 'sub', 'xor', 'mul', 'or'] as const);
      return e(name, { rd, rs1: 10 + r.below(4), rs2: 10 + r.below(4) });
    }
  }
}

export function pagedProgram(r: Random): Paged {
  const isUser = r.oneIn(3);
  const isNapot = r.oneIn(4);
  const words = new Map<number, number>();
  let at = 0;
  const put = (...insns: readonly number[]): void => {
    for (const insn of insns) {
      words.set(at, insn);
      at += 4;
    }
  };
  const starts = Array.from({ length: PAGES - 2 }, (_, i) => PAGE * (1 + i) - 36 - 4 * r.below(12));
  for (const start of starts) {
    at = start;
    put(e('addi', { rd: 5, rs1: 0, imm: 1 + r.below(12) }));
    const loop = at;
    for (let n = 1 + r.below(4); n > 0; n--) put(some(r, isUser));
    put(e('addi', { rd: 5, rs1: 5, imm: -1 }));
    put(e('bne', { rs1: 5, rs2: 0, imm: loop - at }));
    // Mostly back already in this page.
    const back = e('jalr', { rd: 0, rs1: 1, imm: 0 });
    if (r.oneIn(2)) put(e('andi', { rd: 6, rs1: 11, imm: 7 }), e('beq', { rs1: 6, rs2: 0, imm: 8 }), back);
    for (let n = 12 + r.below(24); n > 0; n--) put(some(r, isUser));
    put(back);
  }
  at = 0;
  for (let calls = 0; calls < 10; calls++) {
    const to = r.pick(starts) - at;
    if (r.oneIn(3)) {
      put(e('auipc', { rd: 7, imm: (to + 0x800) & ~0xfff }));
      put(e('jalr', { rd: 1, rs1: 7, imm: (to << 20) >> 20 }));
    } else put(e('jal', { rd: 1, imm: to }));
    if (!isUser && r.oneIn(5)) put(SFENCE);
  }
  put(e('addi', { rd: 11, rs1: 11, imm: 1 }));
  put(e('jal', { rd: 0, imm: -at }));
  const first = !isNapot && r.oneIn(4) ? 508 : 0;
  return { words, isUser, isNapot, isSv48: r.oneIn(3), setsA: r.oneIn(2), first };
}

const entry = (pa: number, bits: number): bigint => (BigInt(pa / PAGE) << 10n) | BigInt(bits);
const pointer = (table: number): bigint => entry(table, 1);

/** Physical address of the entry of a page of code. */
const entryAt = ({ first }: Paged, page: number): number =>
  first + page < 512 ? LEAVES + 8 * (first + page) : MORE_LEAVES + 8 * (first + page - 512);

/**
 * x27 = rotate(x27, 5) ^ csr, for cause, epc and tval; then the entry of tval gets the bits of x17.
 */
function handler(): number[] {
  const mix = [0x342, 0x341, 0x343].flatMap(csr => [
    e('slli', { rd: 30, rs1: 27, imm: 5 }),
    e('srli', { rd: 27, rs1: 27, imm: 59 }),
    e('or', { rd: 27, rs1: 27, rs2: 30 }),
    e('csrrs', { rd: 30, rs1: 0, imm: csr }),
    e('xor', { rd: 27, rs1: 27, rs2: 30 }),
  ]);
  return [
    ...mix,
    e('srli', { rd: 30, rs1: 30, imm: 12 }),
    e('andi', { rd: 30, rs1: 30, imm: 511 }),
    e('slli', { rd: 30, rs1: 30, imm: 3 }),
    e('add', { rd: 30, rs1: 30, rs2: 18 }),
    e('ld', { rd: 31, rs1: 30, imm: 0 }),
    e('or', { rd: 31, rs1: 31, rs2: 17 }),
    e('sd', { rs1: 30, rs2: 31, imm: 0 }),
    MRET,
  ];
}

/** At its first instruction. `pages`: decoded pages of the engine. */
export function startPaged(p: Paged, engine: EngineFactory, pages: number): Flat {
  const flat = new Flat({ engine, pages });
  const { ram, hart } = flat;
  const { state } = hart;
  const user = p.isUser ? 16 : 0;
  flat.load(handler());
  for (const [at, word] of p.words) {
    ram.write32(CODE + at, word);
    const isOther = (word & 0x7f) === 0x33 && at % 12 === 0;
    ram.write32(COPY + at, isOther ? e('addi', { rd: 12, rs1: 12, imm: 77 }) : word);
  }
  for (let page = 0; page < 2 * PAGES; page++) {
    const napot = NAPOT | entry(CODE + PAGE * NAPOT_MARK, ALL | user);
    ram.write64(entryAt(p, page), p.isNapot ? napot : entry(CODE + PAGE * page, ALL | user));
  }
  ram.write64(LEAVES + 8 * LEAVES_ENTRY, entry(LEAVES, NO_X | user));
  ram.write64(LEAVES + 8 * DATA_ENTRY, entry(DATA, NO_X | user));
  ram.write64(MIDDLE, pointer(LEAVES));
  ram.write64(MIDDLE + 8, pointer(MORE_LEAVES));
  ram.write64(ROOT39 + 8, pointer(MIDDLE));
  ram.write64(ROOT48, pointer(ROOT39));
  state.set64(L.SATP, p.isSv48 ? (9n << 60n) | BigInt(ROOT48 / PAGE) : (8n << 60n) | BigInt(ROOT39 / PAGE));
  state.set64(L.MENVCFG, p.setsA ? ADUE : 0n);
  state.set64(L.MTVEC, BigInt(RAM_BASE));
  // Entry 1 permits everything; entry 0 is for `disturb`.
  state.set64(L.PMPCFG, 0x1f00n);
  state.set64(L.PMPADDR + 8, (1n << 54n) - 1n);
  const code = WINDOW + PAGE * p.first;
  const moved = [
    entry(CODE + PAGE * MOVED, ALL),
    entry(CODE + PAGE * MOVED, NO_A),
    entry(COPY + PAGE * MOVED, 0x4f),
  ];
  flat.setX(17, BigInt(ALL | user));
  flat.setX(18, BigInt(LEAVES));
  flat.setX(20, BigInt(WINDOW + PAGE * LEAVES_ENTRY + 8 * p.first));
  flat.setX(21, BigInt(code + PAGE * MOVED));
  flat.setX(22, BigInt(WINDOW + PAGE * DATA_ENTRY));
  for (const [i, value] of moved.entries()) flat.setX(23 + i, value | BigInt(user));
  for (let i = 10; i < 14; i++) flat.setX(i, BigInt(i * 12_345));
  setPriv(state, p.isUser ? 0 : 1);
  hart.restored();
  flat.pc = BigInt(code);
  return flat;
}

/** One change by the host, the same for all. */
export function disturb(r: Random, p: Paged, flats: readonly Flat[]): void {
  const page = r.below(PAGES);
  const at = entryAt(p, page);
  const user = p.isUser ? 16 : 0;
  const bits = r.pick([ALL, NO_A, NO_X, 0xdf, 0x4f, 0xce, 0xcb]) | user;
  const isOdd = r.oneIn(2);
  const kind = r.below(10);
  for (const { ram, hart } of flats) {
    const { state } = hart;
    switch (kind) {
      case 0:
        hart.mmu.tlb.flushAll();
        break;
      case 1:
        ram.write64(at, entry(CODE + PAGE * page, bits));
        break;
      case 2:
        ram.write64(at, entry((isOdd ? COPY : CODE) + PAGE * page, ALL | user));
        break;
      case 3:
        ram.write64(at, 0n);
        break;
      case 4:
        state.set64(L.MENVCFG, isOdd ? ADUE : 0n);
        hart.restored();
        break;
      case 5:
        // Nobody, or everybody, may do anything in the page.
        state.set64(L.PMPADDR, BigInt(((CODE + PAGE * page) / 4) | (PAGE / 8 - 1)));
        state.set64(L.PMPCFG, isOdd ? 0x1f18n : 0x1f00n);
        hart.restored();
        break;
      case 6:
        ram.write32(CODE + PAGE * page + 4, e('addi', { rd: 13, rs1: 13, imm: 9 }));
        break;
      default:
        // A is cleared.
        ram.write64(at, ram.read64(at) & ~0x40n);
    }
  }
}

/** Registers, CSRs, privilege and pc, as text. */
export function stateOf(flat: Flat): string {
  const { state } = flat.hart;
  const values = [flat.pc, BigInt(state.get(L.PRIV))];
  for (let i = 1; i < 32; i++) values.push(flat.x(i));
  for (let at = L.CSR; at < L.CSR_END; at += 8) values.push(state.get64(at));
  return values.map(value => value.toString(16)).join(' ');
}
