// Random programs about privilege: page tables, PMP, mstatus, modes, interrupts, and code that
// changes by stores, by DMA and by the page walker. A program is a list of steps; every step can be
// left out, so a failing program can be shrunk.
//
// The generator knows no behaviour. It knows where things lie (layout below) and how control comes
// back: every trap ends in an M-mode handler, which mixes cause, epc and tval into a register and
// goes on with the next step.

import { encode as e } from '../../../emulator/isa/index.ts';
import type { Random } from '../random.ts';

export const RAM = 0x8000_0000;
export const PAGE = 4096;
/** Steps of the program, at most. */
export const CODE_BYTES = 0x2_0000;
/** The S-mode handler; two pages of snippets and functions; tables; data. */
export const S_HANDLER = RAM + CODE_BYTES;
export const SNIPPETS = S_HANDLER + PAGE;
export const SNIPPET_BYTES = 0x100;
/** One crosses into the second page; the last four lie in the upper half of a page table. */
export const ROOTS = SNIPPETS + 3 * PAGE;
export const ROOT_COUNT = 3;
export const LEVEL1 = ROOTS + ROOT_COUNT * PAGE;
export const LEVEL0 = LEVEL1 + 2 * PAGE;
export const LEVEL0_COUNT = 4;
export const DATA = LEVEL0 + LEVEL0_COUNT * PAGE;
export const DATA_PAGES = 8;
/**
 * A page above all data, with snippets in its upper half: code that appears above the boundary of
 * flat regions.
 */
export const HIGH = DATA + DATA_PAGES * PAGE;
export const IMAGE_BYTES = HIGH + PAGE - RAM;
/**
 * The virtual window: 2 MiB of 4 KiB pages for S, 2 MiB for U. Nothing is there physically, here
 * and on QEMU.
 */
export const WINDOW = 0xc000_0000;

/** Physical addresses of the snippets. */
export const SNIPPET_AT: readonly number[] = [
  ...Array.from({ length: 14 }, (_, i) => SNIPPETS + i * SNIPPET_BYTES),
  SNIPPETS + PAGE - 16,
  ...Array.from({ length: 4 }, (_, i) => SNIPPETS + PAGE + (1 + i) * SNIPPET_BYTES),
  ...Array.from({ length: 4 }, (_, i) => HIGH + PAGE / 2 + i * SNIPPET_BYTES),
  ...Array.from({ length: 4 }, (_, i) => LEVEL0 + PAGE / 2 + i * SNIPPET_BYTES),
];
/** Leaf functions that snippets call, eight words each. */
export const FUNCTION_WORDS = 8;
export const FUNCTION_AT: readonly number[] = Array.from(
  { length: 8 },
  (_, i) => SNIPPETS + 2 * PAGE + i * 4 * FUNCTION_WORDS,
);

export type Mode = 0 | 1 | 3;

export type Step =
  /** Runs a snippet `times` times in a mode; `bases` go to x16..x19; MPRV with MPP for M. */
  | {
      readonly kind: 'call';
      readonly snippet: number;
      readonly at: number;
      readonly mode: Mode;
      readonly mprv: number;
      readonly times: number;
      readonly bases: readonly number[];
      /** For x20: a page whose table entry is code. */
      readonly entry: number;
    }
  | { readonly kind: 'satp'; readonly value: bigint; readonly isFenced: boolean }
  /** Stores `words` to RAM; then maybe a fence. */
  | {
      readonly kind: 'store';
      readonly at: number;
      readonly words: readonly number[];
      readonly fence: 'none' | 'sfence' | 'sfence-page' | 'fence.i';
      readonly va: number;
    }
  /** The same by DMA of the edu device, some hundred instructions later. */
  | {
      readonly kind: 'dma';
      readonly at: number;
      readonly from: number;
      readonly bytes: number;
      readonly out: boolean;
    }
  | {
      readonly kind: 'pmp';
      readonly index: number;
      readonly address: number;
      readonly config: number;
      readonly isFenced: boolean;
    }
  | { readonly kind: 'status'; readonly set: number; readonly clear: number }
  | { readonly kind: 'delegate'; readonly value: number }
  /** Enables interrupts, the timer's in `delta` ticks. */
  | { readonly kind: 'interrupts'; readonly mie: number; readonly delta: number };

export interface PrivilegedProgram {
  readonly isPortable: boolean;
  readonly rounds: number;
  readonly steps: readonly Step[];
  /** Words of each snippet without its end, and of each function without its return. */
  readonly snippets: readonly (readonly number[])[];
  readonly functions: readonly (readonly number[])[];
  /** First contents of the tables and of the data. */
  readonly tables: ReadonlyMap<number, bigint>;
  readonly data: Uint8Array;
}

export interface PrivilegedProfile {
  readonly steps: number;
  readonly rounds: number;
  /**
   * Only what the manual determines and QEMU has: no DMA, no timer, every change of a table with
   * its fence, no store of a snippet to code or to a table.
   */
  readonly isPortable: boolean;
}

/** Values, pointers. */
const VALUES = [10, 11, 12, 13, 14, 15];
const POINTERS = [16, 17, 18, 19];

const ALU = [
  'add',
  'sub',
  'xor',
  'or',
  'and',
  'sll',
  'srl',
  'sltu',
  'addw',
  'subw',
  'mul',
  'mulh',
  'divu',
] as const;
const ALU_IMM = ['addi', 'xori', 'andi', 'slti', 'addiw'] as const;
const LOADS = [
  ['lb', 1],
  ['lbu', 1],
  ['lh', 2],
  ['lw', 4],
  ['lwu', 4],
  ['ld', 8],
] as const;
const STORES = [
  ['sb', 1],
  ['sh', 2],
  ['sw', 4],
  ['sd', 8],
] as const;

/** One instruction that neither jumps nor needs a place. */
export function plain(r: Random, isPortable: boolean): number {
  const [rd, rs1, rs2] = [r.pick(VALUES), r.pick(VALUES), r.pick(VALUES)];
  switch (r.below(10)) {
    case 0:
    case 1:
      return e(r.pick(ALU), { rd, rs1, rs2 });
    case 2:
    case 3:
      return e(r.pick(ALU_IMM), { rd, rs1, imm: r.below(4096) - 2048 });
    case 4:
    case 5: {
      const [name, bytes] = r.pick(LOADS);
      return e(name, { rd, rs1: r.pick(POINTERS), imm: offset(r, bytes, isPortable) });
    }
    case 6:
    case 7: {
      const [name, bytes] = r.pick(STORES);
      return e(name, { rs1: r.pick(POINTERS), rs2, imm: offset(r, bytes, isPortable) });
    }
    case 8:
      // Walks through memory, page by page or line by line.
      // QEMU says of an atomic outside of RAM that it is a load.
      if (isPortable || r.oneIn(2)) {
        const p = r.pick(POINTERS);
        const step = r.pick([8, 64, -8, -64, r.oneIn(4) ? 2040 : 16]);
        // A portable pointer stays in its half of a page, so that it never reaches code.
        return isPortable
          ? e('xori', { rd: p, rs1: p, imm: Math.abs(step) })
          : e('addi', { rd: p, rs1: p, imm: step });
      }
      return e(r.pick(['amoadd.w', 'amoswap.d', 'amoor.d'] as const), { rd, rs1: r.pick(POINTERS), rs2 });
    default:
      return r.oneIn(12)
        ? r.pick([e('fence.i', {}), 0x0ff0_000f, e('csrrs', { rd, rs1: 0, imm: 0x100 }), 0x1200_0073])
        : e(r.pick(ALU), { rd, rs1, rs2 });
  }
}

/** Aligned mostly. */
function offset(r: Random, bytes: number, isPortable: boolean): number {
  const at = r.pick([0, 8, 16, 64, 512, -8]) + (r.oneIn(4) ? bytes * r.below(8) : 0);
  return !isPortable && r.oneIn(20) ? at + 1 : at;
}

function snippet(r: Random, index: number, isPortable: boolean): number[] {
  const words: number[] = [];
  const length = 3 + r.below(16);
  while (words.length < length) {
    const here = SNIPPET_AT[index]! + 4 * words.length;
    if (r.oneIn(8))
      words.push(e('beq', { rs1: r.pick(VALUES), rs2: r.pick(VALUES), imm: 8 }), plain(r, isPortable));
    else if (r.oneIn(6)) words.push(e('jal', { rd: 1, imm: r.pick(FUNCTION_AT) - here }));
    else if (r.oneIn(10)) words.push(e('jalr', { rd: 1, rs1: 9, imm: 0 }));
    else words.push(plain(r, isPortable));
  }
  // QEMU does not see that its walker changes code (docs/oracles.md).
  if (!isPortable && index >= SNIPPET_AT.length - 4) throughEntry(words);
  return words;
}

const ENTRY_INSN = 0x2002_8067;

/**
 * Appends a page table entry that is run as code: `jalr x0, 512(x5)` is a leaf with V, R, W, G and
 * A, and D makes it write x1. It stands on 8 bytes, x5 leads behind it, and its page number is that
 * of a data page.
 */
function throughEntry(words: number[]): void {
  if (words.length % 2 === 1) words.push(e('addi', { rd: 0, rs1: 0, imm: 0 }));
  // Late in the loop, when all of it is compiled, a store may set D: x20 leads to the page of some
  // such entry.
  words.push(e('addi', { rd: 6, rs1: 8, imm: -9 }), e('bne', { rs1: 6, rs2: 0, imm: 8 }));
  words.push(e('sd', { rs1: 20, rs2: 10, imm: 0 }), e('addi', { rd: 0, rs1: 0, imm: 0 }));
  words.push(e('auipc', { rd: 5, imm: 0 }), e('addi', { rd: 5, rs1: 5, imm: 24 - 512 }));
  words.push(e('addi', { rd: 1, rs1: 0, imm: 7 }), e('addi', { rd: 0, rs1: 0, imm: 0 }));
  words.push(ENTRY_INSN, 0, e('sub', { rd: 10, rs1: 10, rs2: 1 }), e('xor', { rd: 11, rs1: 11, rs2: 1 }));
}

const PAGES = IMAGE_BYTES / PAGE;

function leaf(r: Random, isPortable: boolean): bigint {
  const flags = r.pick([0xcf, 0xdf, 0xc7, 0xd7, 0x4f, 0x0f, 0x1f, 0x07, 0x47, 0xcb, 0x5b, 0x43, 0x00]);
  const anywhere = isPortable ? (ROOTS - RAM) / PAGE : PAGES;
  const first = r.oneIn(3) ? r.below(anywhere) : (DATA - RAM) / PAGE + r.below(DATA_PAGES);
  const low = r.oneIn(12) ? r.below(256) : flags;
  return (BigInt(RAM / PAGE + first) << 10n) | BigInt(low);
}

/**
 * Pages of a window that most accesses and most changes of the tables are about; 4 to 7 are code.
 */
const HOT = [0, 1, 2, 3, 5, 8, 9, 10, 11];

/** Index in a level-0 table, of those that the bases use. */
const entryIndex = (r: Random): number => (r.oneIn(5) ? 256 + r.below(128) : r.pick(HOT));

function firstTables(r: Random): Map<number, bigint> {
  const tables = new Map<number, bigint>();
  const pointer = (at: number): bigint => (BigInt(at / PAGE) << 10n) | 1n;
  for (let root = 0; root < ROOT_COUNT; root++) {
    tables.set(ROOTS + root * PAGE + 8 * 2, (BigInt(RAM / PAGE) << 10n) | 0xcfn);
    tables.set(ROOTS + root * PAGE + 8 * 3, pointer(LEVEL1 + (root & 1) * PAGE));
  }
  for (let i = 0; i < LEVEL0_COUNT; i++)
    tables.set(LEVEL1 + (i >> 1) * PAGE + 8 * (i & 1), pointer(LEVEL0 + i * PAGE));
  for (let table = 0; table < LEVEL0_COUNT; table++) {
    for (let i = 0; i < 32; i++) {
      // The first pages of the window are the snippets, as user code in the odd tables.
      const code = i >= 4 && i < 8;
      const page = BigInt((code ? SNIPPETS + (i - 4) * PAGE : DATA + (i % DATA_PAGES) * PAGE) / PAGE);
      const flags = table & 1 ? 0xdf : r.oneIn(2) ? 0xcf : 0x4f;
      tables.set(LEVEL0 + table * PAGE + 8 * i, (page << 10n) | BigInt(flags));
    }
  }
  return tables;
}

const DEVICES = [0x10_1000, 0x200_0000, 0xc00_0000, 0x400_0000, 0x401_0000];

/** What most pointers of a call are: physical, or in the half of the window that S or U reaches. */
const PHYSICAL = -1;

/** A page of the data, but not the one next to the tables. */
const dataBase = (r: Random): number => DATA + (1 + r.below(DATA_PAGES - 1)) * PAGE;

/**
 * An address for a pointer register, mostly one that `space` reaches; `entries`: pages whose table
 * entries are code.
 */
function base(r: Random, space: number, isPortable: boolean, entries: readonly number[]): number {
  const at = 8 * r.below(500);
  if (entries.length > 0 && space !== PHYSICAL && r.oneIn(8)) return r.pick(entries) + at;
  switch (r.below(20)) {
    case 0:
    case 5:
      if (isPortable) return dataBase(r) + at;
      return r.pick([SNIPPETS, SNIPPETS + PAGE, SNIPPETS + 2 * PAGE, LEVEL0, LEVEL1, ROOTS]) + at;
    case 1:
      return r.pick([0x30_0000, RAM + IMAGE_BYTES, ...(isPortable ? [] : DEVICES)]) + 8 * r.below(16);
    case 2:
      return WINDOW + r.below(4) * 0x20_0000 + (256 + r.below(128)) * PAGE + at;
    case 3:
      return WINDOW + r.below(2) * 0x20_0000 + r.below(32) * PAGE + at;
    case 4:
      return dataBase(r) + at;
    default:
      if (space === PHYSICAL) return dataBase(r) + at;
      return WINDOW + space * 0x20_0000 + r.pick(HOT) * PAGE + at;
  }
}

function call(r: Random, portable: boolean, entries: readonly number[]): Step {
  const pa = r.pick(SNIPPET_AT.filter(at => at < HIGH || portable));
  const snippet = SNIPPET_AT.indexOf(pa);
  const inPages = pa >= SNIPPETS && pa < SNIPPETS + 2 * PAGE;
  const mode = r.pick([0, 1, 1, 3, 3] as const);
  const isWindow = inPages && mode !== 3 && (mode === 0 || r.oneIn(2));
  const at = isWindow ? WINDOW + (mode === 0 ? 0x20_0000 : 0) + 4 * PAGE + (pa - SNIPPETS) : pa;
  const mprv = mode === 3 && r.oneIn(2) ? r.pick([0, 1, 1]) : -1;
  const times = r.pick([1, 2, 20, 60, 150, 400]);
  const entry = entries.length > 0 ? r.pick(entries) : DATA;
  const space = mode === 3 ? (mprv < 0 ? PHYSICAL : mprv === 0 ? 1 : 0) : mode === 0 ? 1 : 0;
  return {
    kind: 'call',
    snippet,
    at,
    mode,
    mprv,
    times,
    bases: POINTERS.map(() => base(r, space, portable, entries)),
    entry,
  };
}

/**
 * Four calls in M-mode: a snippet that may store to a snippet of HIGH, this one, and both again. At
 * the first time HIGH holds no code yet.
 */
function codeAppears(r: Random, snippets: readonly (readonly number[])[]): Step[] {
  const stores = SNIPPET_AT.filter(
    (at, i) => at < ROOTS && snippets[i]!.some(word => (word & 0x7f) === 0x23),
  );
  const high = r.pick(SNIPPET_AT.filter(at => at >= HIGH));
  const run = (at: number): Step => ({
    kind: 'call',
    snippet: SNIPPET_AT.indexOf(at),
    at,
    mode: 3,
    mprv: -1,
    times: r.pick([60, 150]),
    bases: POINTERS.map(() => high + r.pick([0, 0, -64, 8, -512])),
    entry: DATA,
  });
  const [low, above] = [run(r.pick(stores.length > 0 ? stores : [SNIPPETS])), run(high)];
  return [low, above, low, above];
}

function store(r: Random, portable: boolean, entries: readonly number[]): Step {
  const word = (): number => plain(r, portable);
  if (entries.length > 0 && r.oneIn(4)) {
    // D is cleared again.
    const va = r.pick(entries);
    const at = LEVEL0 + (va - WINDOW) / 512;
    return {
      kind: 'store',
      at,
      words: [ENTRY_INSN],
      va,
      fence: r.pick(['none', 'sfence', 'sfence-page', 'sfence-page', 'sfence-page'] as const),
    };
  }
  switch (r.below(3)) {
    case 0: {
      // A page table entry.
      const table = r.below(LEVEL0_COUNT);
      const index = entryIndex(r);
      const value = leaf(r, portable);
      const at = LEVEL0 + table * PAGE + 8 * index;
      // Not over the snippets in the upper half of the first table.
      if (table === 0 && index >= 256) return store(r, portable, entries);
      const va = WINDOW + (table & 1) * 0x20_0000 + index * PAGE;
      const words = [Number(value & 0xffff_ffffn), Number(value >> 32n)];
      const fence = portable
        ? 'sfence'
        : r.pick(['none', 'sfence', 'sfence-page', 'sfence-page', 'sfence-page'] as const);
      return { kind: 'store', at, words, va, fence };
    }
    case 1: {
      const at = r.pick(SNIPPET_AT) + 4 * r.below(3);
      return {
        kind: 'store',
        at,
        words: [word()],
        va: 0,
        fence: portable || r.oneIn(2) ? 'fence.i' : 'none',
      };
    }
    default: {
      const at = r.pick(FUNCTION_AT) + 4 * r.below(3);
      return {
        kind: 'store',
        at,
        words: [word()],
        va: 0,
        fence: portable || r.oneIn(2) ? 'fence.i' : 'none',
      };
    }
  }
}

const MODES = [8n, 8n, 8n, 9n, 0n];
/** SUM, MXR, MPRV is set by calls, FS and TVM, TSR stay. */
const STATUS_BITS = [1 << 18, 1 << 19, 3 << 13];

function step(r: Random, { isPortable }: PrivilegedProfile, entries: readonly number[]): Step {
  switch (r.below(isPortable ? 19 : 22)) {
    case 0: {
      const root = BigInt(ROOTS / PAGE + r.below(ROOT_COUNT));
      const mode = isPortable ? r.pick([8n, 8n, 0n]) : r.pick(MODES);
      return {
        kind: 'satp',
        value: (mode << 60n) | (BigInt(isPortable ? 0 : r.below(4)) << 44n) | root,
        isFenced: isPortable,
      };
    }
    case 2:
    case 3:
    case 4:
      return store(r, isPortable, entries);
    case 5: {
      const index = 1 + r.below(3);
      const drawn = r.oneIn(2) ? 0 : r.pick([0x18, 0x19, 0x1b, 0x1f, 0x08, 0x0f, 0x0b]);
      // QEMU's walker stores A and D where PMP allows no store (docs/oracles.md).
      const config = isPortable && drawn & 1 ? drawn | 2 : drawn;
      const size = r.pick([PAGE, 64, 0x1_0000]);
      const at = r.pick([DATA, SNIPPETS, LEVEL0, ROOTS]) + size * r.below(4);
      const napot = (at >>> 2) | ((size >> 3) - 1);
      return { kind: 'pmp', index, address: config >= 0x18 ? napot : at >>> 2, config, isFenced: isPortable };
    }
    case 6: {
      const bits = r.pick(STATUS_BITS);
      return r.oneIn(2) ? { kind: 'status', set: bits, clear: 0 } : { kind: 'status', set: 0, clear: bits };
    }
    case 7:
      // Neither fetch faults, which would repeat in the handler, nor `ecall` from S, with which it
      // ends.
      return { kind: 'delegate', value: r.u32() & 0xa1fc };
    case 19: {
      const at = r.pick([r.pick(SNIPPET_AT), DATA, LEVEL0 + PAGE, r.pick(FUNCTION_AT)]);
      return { kind: 'dma', at, from: 8 * r.below(8), bytes: r.pick([4, 16, 64, 256]), out: r.oneIn(3) };
    }
    case 20:
    case 21:
      return { kind: 'interrupts', mie: r.u32() & 0xaaa, delta: r.below(20) };
    default:
      return call(r, isPortable, entries);
  }
}

export function privilegedProgram(r: Random, profile: PrivilegedProfile): PrivilegedProgram {
  const data = Uint8Array.from({ length: DATA_PAGES * PAGE }, () => (r.oneIn(3) ? r.u32() : 0));
  const { isPortable } = profile;
  const snippets = SNIPPET_AT.map((_, i) => snippet(r, i, isPortable));
  const entries = snippets.flatMap((words, i) => {
    const at = words.indexOf(ENTRY_INSN);
    return at < 0 ? [] : [WINDOW + ((SNIPPET_AT[i]! - LEVEL0) / 8 + at / 2) * PAGE];
  });
  const body = (): number[] =>
    Array.from({ length: 1 + r.below(FUNCTION_WORDS - 2) }, () => plain(r, isPortable));
  const steps = Array.from({ length: profile.steps }, () => step(r, profile, entries));
  if (!isPortable) steps.splice(r.below(4), 0, ...codeAppears(r, snippets));
  return {
    isPortable,
    rounds: profile.rounds,
    steps,
    snippets,
    functions: FUNCTION_AT.map(body),
    tables: firstTables(r),
    data,
  };
}
