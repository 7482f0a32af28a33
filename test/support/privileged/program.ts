// Random programs about privilege: page tables, PMP, mstatus, modes, interrupts, and code that
// changes by stores, by DMA and by the page walker.
//
// The generator knows no behaviour. It knows where things lie (layout.ts) and how control comes
// back: every trap ends in an M-mode handler, which mixes cause, epc and tval into a register and
// goes on with the next step.
//
// Each hart has steps of its own. Snippets, functions, tables and data belong to all of them, so
// they change code and translations under one another.

import { PTE_U, PTE_X } from '../../../emulator/hart/walk.ts';
import type { Random } from '../random.ts';
import { ENTRY_INSN, plain, snippet, some } from './code.ts';
import {
  DATA,
  DATA_PAGES,
  DISK_BYTES,
  FUNCTION_AT,
  FUNCTION_WORDS,
  HIGH,
  IMAGE_BYTES,
  LEVEL0,
  LEVEL0_COUNT,
  LEVEL1,
  PAGE,
  POINTERS,
  QUEUE,
  QUEUE_BYTES,
  RAM,
  ROOT_COUNT,
  ROOTS,
  SNIPPET_AT,
  SNIPPETS,
  WINDOW,
} from './layout.ts';
import {
  calleeChanges,
  codeAppears,
  codeChanges,
  dataBase,
  entryCodes,
  leafTableChanges,
  statusChanges,
  walkerChangesCode,
} from './scenes.ts';
import type { Action, PrivilegedProfile, PrivilegedProgram, Step } from './step.ts';

const PAGES = IMAGE_BYTES / PAGE;

function leaf(r: Random, isPortable: boolean): bigint {
  const flags = r.pick([0xcf, 0xdf, 0xc7, 0xd7, 0x4f, 0x0f, 0x1f, 0x07, 0x47, 0xcb, 0x5b, 0x43, 0x00]);
  const anywhere = isPortable ? (ROOTS - RAM) / PAGE : PAGES;
  const first = r.oneIn(3) ? r.below(anywhere) : (DATA - RAM) / PAGE + r.below(DATA_PAGES);
  const low = r.oneIn(12) ? r.below(256) : flags;
  return (BigInt(RAM / PAGE + first) << 10n) | BigInt(low);
}

/**
 * A leaf without X if it has U: QEMU 7.2 lets S execute such a page, if S has loaded from it with
 * SUM (docs/oracles.md).
 */
const notForBoth = (low: number): number => ((low & PTE_U) === 0 ? low : low & ~PTE_X);

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

const MODES_OF_CALLS = [0, 1, 1, 3, 3] as const;
const MODES_WITH_CSRS = [0, 1, 1, 1, 1, 3] as const;

/** Most pointers of a call: physical, or in the half of the window that S or U reaches. */
const PHYSICAL = -1;

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
      // In the first table these entries are instructions. As entries they are mostly reserved, and
      // QEMU ignores reserved bits (docs/oracles.md).
      return (
        WINDOW + (isPortable ? 1 + r.below(3) : r.below(4)) * 0x20_0000 + (256 + r.below(128)) * PAGE + at
      );
    case 3:
      return WINDOW + r.below(2) * 0x20_0000 + r.below(32) * PAGE + at;
    case 4:
      return dataBase(r) + at;
    default:
      if (space === PHYSICAL) return dataBase(r) + at;
      return WINDOW + space * 0x20_0000 + r.pick(HOT) * PAGE + at;
  }
}

function call(r: Random, portable: boolean, hasCsrs: boolean, entries: readonly number[]): Action {
  const pa = r.pick(SNIPPET_AT.filter(at => at < HIGH || portable));
  const snippet = SNIPPET_AT.indexOf(pa);
  const inPages = pa >= SNIPPETS && pa < SNIPPETS + 2 * PAGE;
  const mode = r.pick(hasCsrs ? MODES_WITH_CSRS : MODES_OF_CALLS);
  const isWindow = inPages && mode !== 3 && (mode === 0 || r.oneIn(2));
  const at = isWindow ? WINDOW + (mode === 0 ? 0x20_0000 : 0) + 4 * PAGE + (pa - SNIPPETS) : pa;
  const mprv = mode === 3 && r.oneIn(2) ? r.pick([0, 1, 1]) : -1;
  const times = r.pick([1, 2, 20, 60, 150, 400]);
  const entry = entries.length > 0 ? r.pick(entries) : DATA;
  // With SUM, S reaches the half of U.
  const half = hasCsrs && mode === 1 ? r.below(2) : mode === 0 ? 1 : 0;
  const space = mode === 3 ? (mprv < 0 ? PHYSICAL : mprv === 0 ? 1 : 0) : half;
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

function store(r: Random, portable: boolean, entries: readonly number[]): Action {
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
      const isCodeOfS = (table & 1) === 0 && index >= 4 && index < 8;
      const low = Number(value & 0xffff_ffffn);
      const words = [portable && isCodeOfS ? notForBoth(low) : low, Number(value >> 32n)];
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

/**
 * Where a queue or a request may lie: in the page of a snippet, over its beginning, among functions
 * and page table entries, in data.
 */
function structure(r: Random): number {
  const at = r.pick(SNIPPET_AT.filter(pa => pa < ROOTS));
  const place = r.pick([
    at + 0x80,
    at + 0x80,
    at - QUEUE.USED,
    at,
    SNIPPETS + 2 * PAGE + 0x200,
    LEVEL0 + PAGE * (1 + r.below(3)) + 0x800 + QUEUE_BYTES * r.below(8),
    LEVEL0 + PAGE * r.below(2) + 8 * r.pick(HOT) - QUEUE.USED,
    dataBase(r) + QUEUE_BYTES,
  ]);
  return place - (place % 8);
}

/** DMA of the other devices into code and page tables, with their descriptors there too. */
function transfer(r: Random): Action {
  const at = r.pick([
    r.pick(SNIPPET_AT),
    r.pick(SNIPPET_AT),
    r.pick(FUNCTION_AT),
    LEVEL0 + PAGE * r.below(2) + 8 * r.pick(HOT),
    DATA + PAGE,
  ]);
  const isTable = at >= LEVEL0 && at < DATA;
  const bytes = r.pick(isTable ? [8, 16] : [4, 8, 12, 64]);
  const from = (isTable ? DISK_BYTES / 2 : 0) + 8 * r.below(100);
  if (r.oneIn(2)) return { kind: 'fw_cfg', request: structure(r), at, bytes, from };
  const device = r.oneIn(4) ? 'random' : 'disk';
  return { kind: 'virtio', device, rings: structure(r), at, bytes, from: 512 * Math.floor(from / 512) };
}

const MODES = [8n, 8n, 8n, 9n, 0n];
/** SUM, MXR, MPRV is set by calls, FS and TVM, TSR stay. */
const STATUS_BITS = [1 << 18, 1 << 19, 3 << 13];

function action(
  r: Random,
  { isPortable, hasCsrs = false, harts = 1 }: PrivilegedProfile,
  entries: readonly number[],
): Action {
  if (harts > 1 && r.oneIn(6)) {
    return r.oneIn(3)
      ? { kind: 'ipi', target: r.below(harts), value: r.oneIn(2) ? 1 : 0 }
      : { kind: 'nap', delta: r.below(30) };
  }
  switch (r.below(isPortable ? 19 : 25)) {
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
    case 22:
    case 23:
    case 24:
      return transfer(r);
    case 20:
    case 21:
      return { kind: 'interrupts', mie: r.u32() & 0xaaa, delta: r.below(20) };
    default:
      return call(r, isPortable, hasCsrs, entries);
  }
}

function diskOf(r: Random, isPortable: boolean): Uint8Array {
  const view = new DataView(new ArrayBuffer(DISK_BYTES));
  if (isPortable) return new Uint8Array(view.buffer);
  for (let at = 0; at < DISK_BYTES / 2; at += 4) view.setUint32(at, plain(r, false), true);
  for (let at = DISK_BYTES / 2; at < DISK_BYTES; at += 8) view.setBigUint64(at, leaf(r, false), true);
  return new Uint8Array(view.buffer);
}

export function privilegedProgram(r: Random, profile: PrivilegedProfile): PrivilegedProgram {
  const data = Uint8Array.from({ length: DATA_PAGES * PAGE }, () => (r.oneIn(3) ? r.u32() : 0));
  const { isPortable, hasCsrs = false, harts = 1 } = profile;
  const snippets = SNIPPET_AT.map((_, i) => snippet(r, i, isPortable, hasCsrs));
  const codes = entryCodes(snippets);
  const entries = codes.map(({ va }) => va);
  const body = (): number[] =>
    Array.from({ length: 1 + r.below(FUNCTION_WORDS - 2) }, () => some(r, isPortable, hasCsrs));
  const someHart = (): number => (harts === 1 ? 0 : r.below(harts));
  const onHart = (scene: readonly Action[]): Step[] => {
    const hart = someHart();
    return scene.map(part => ({ ...part, hart }));
  };
  const steps: Step[] = [];
  // Near the start: HIGH holds no code yet, and PMP forbids nothing.
  const beginning = r.below(4);
  if (hasCsrs) steps.push(...onHart(statusChanges(r)));
  const first = steps.length;
  while (steps.length < first + profile.steps) {
    if (!isPortable && steps.length === first + beginning)
      for (const scene of [
        leafTableChanges(r, snippets),
        codeAppears(r, snippets),
        calleeChanges(r, snippets),
        walkerChangesCode(r, codes),
      ])
        steps.push(...onHart(scene));
    const isScene = !isPortable && r.oneIn(25);
    steps.push(...onHart(isScene ? codeChanges(r) : [action(r, profile, entries)]));
  }
  return {
    isPortable,
    hasCsrs,
    harts,
    rounds: profile.rounds,
    steps,
    snippets,
    functions: FUNCTION_AT.map(body),
    tables: firstTables(r),
    data,
    disk: diskOf(r, isPortable),
  };
}
