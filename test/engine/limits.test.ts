// The most work of one action of a guest in the hart and the engine, as docs/threat-model.md states
// it ("Limits of one guest action"). Work is counted, never timed.

import { afterEach, describe, expect, test, vi } from 'vitest';
import { DecodedPages } from '../../emulator/engine/interp/decoded-pages.ts';
import { JumpCacheMemory } from '../../emulator/engine/jit/cache/jump-cache.ts';
import { Compiler } from '../../emulator/engine/jit/compiler.ts';
import { HEAT_EAGER } from '../../emulator/engine/jit/policy/heat.ts';
import { discover, REGION_INSNS } from '../../emulator/engine/jit/region/region.ts';
import type { Hart } from '../../emulator/hart/hart.ts';
import * as L from '../../emulator/hart/layout.ts';
import { Pmp } from '../../emulator/hart/pmp.ts';
import { NO_CODE } from '../../emulator/hart/ports.ts';
import { State } from '../../emulator/hart/state.ts';
import { Tlb } from '../../emulator/hart/tlb.ts';
import { setPriv } from '../../emulator/hart/view.ts';
import { Machine, MIB } from '../../emulator/index.ts';
import { decode, encode as e } from '../../emulator/isa/index.ts';
import { MAX_HARTS } from '../../emulator/machine/memory-map.ts';
import { bench, fetch, load, PTE, pte, RAM, runs, store, writeCsr } from '../hart/fixture.ts';
import { Flat, RAM_BASE } from '../support/flat.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';
import { codeWriter } from './code-cache.ts';

const SEED = seedFromEnvironment(0x11b7);
const SATP = 0x180;
const SFENCE = 0x1200_0073;

afterEach(() => {
  vi.restoreAllMocks();
});

describe('the page walker', () => {
  test.each([
    ['Sv39', 8n, 3],
    ['Sv48', 9n, 4],
  ])(`reads a table for each level and stores once: %s, seed ${seedText(SEED)}`, (_, mode, levels) => {
    const random = new Random(SEED);
    const { hart, ram, ports } = bench();
    let tables = 0;
    let stores = 0;
    ports.code = {
      ...NO_CODE,
      holdsCode: () => true,
      tableRead: () => void tables++,
      stored: (_pa, _bytes, effect) => void (effect === 'none' && stores++),
    };
    const checks = [vi.spyOn(Pmp.prototype, 'page'), vi.spyOn(Pmp.prototype, 'allows')];
    const most = { tables: 0, stores: 0, checks: 0 };
    for (let round = 0; round < 300; round++) {
      // Four pages of tables that lead anywhere, mostly to one another or to themselves.
      for (let i = 0; i < 4 * 512; i += 1 + random.below(3)) {
        const to = RAM + 4096 * (1 + random.below(6));
        const bits = random.oneIn(2) ? PTE.V : BigInt(random.below(256)) | PTE.V | PTE.R | PTE.W;
        ram.write64(RAM + 4096 + 8 * i, pte(to, bits));
      }
      setPriv(hart.state, 3);
      writeCsr(hart, 0x30a, random.oneIn(2) ? 1n << 61n : 0n);
      // Entry 0 may end within the tables, so that pages have no single permission.
      writeCsr(hart, 0x3a0, 0n);
      hart.mmu.pmp.open();
      if (random.oneIn(3)) {
        writeCsr(hart, 0x3b1, (1n << 54n) - 1n);
        writeCsr(hart, 0x3b0, BigInt(RAM + 4096 * random.below(5) + 8 * random.below(512)) >> 2n);
        writeCsr(hart, 0x3a0, 0x1f0fn);
      }
      writeCsr(hart, SATP, (mode << 60n) | BigInt((RAM + 4096) >>> 12));
      setPriv(hart.state, random.below(2));
      for (let i = 0; i < 20; i++) {
        const va = (BigInt(random.u32() & 0x3fff_ffff) << 17n) >> BigInt(random.below(20));
        tables = stores = 0;
        for (const check of checks) check.mockClear();
        const access = random.pick([load, fetch, (h: typeof hart, at: bigint) => store(h, at, 0n)]);
        access(hart, va & ~7n);
        most.tables = Math.max(most.tables, tables);
        most.stores = Math.max(most.stores, stores);
        most.checks = Math.max(
          most.checks,
          checks.reduce((sum, check) => sum + check.mock.calls.length, 0),
        );
      }
    }
    expect(most.tables).toBe(levels);
    expect(most.stores).toBe(1);
    // Each level, the store of A and D, and the page itself; each twice where a rule ends within.
    expect(most.checks).toBeGreaterThan(levels);
    expect(most.checks).toBeLessThanOrEqual(2 * (levels + 2));
  });

  test('walks twice for an access across pages', () => {
    const { hart, ram, ports } = bench();
    let tables = 0;
    ports.code = { ...NO_CODE, tableRead: () => void tables++ };
    for (const [at, to] of [
      [0x1000, 0x2000],
      [0x2000, 0x3000],
    ] as const)
      ram.write64(RAM + at, pte(RAM + to, PTE.V));
    for (const i of [0, 1]) ram.write64(RAM + 0x3000 + 8 * i, pte(RAM + 0x5000, PTE.V | PTE.R | PTE.A));
    writeCsr(hart, SATP, (8n << 60n) | BigInt((RAM + 0x1000) >>> 12));
    hart.mmu.pmp.open();
    setPriv(hart.state, 1);
    tables = 0;
    expect(load(hart, 0xffdn)).toBe(0n);
    expect(tables).toBe(6);
  });
});

describe('a flush', () => {
  test('has tables of a constant size', () => {
    expect(L.VIEWS * L.TLB_ENTRIES).toBe(4096);
    // Groups of both have the same numbers.
    expect(L.EXEC_ENTRIES).toBe(L.TLB_ENTRIES);
    expect(L.TLB_USED).toBeGreaterThanOrEqual(L.CSR_END);
    expect(L.TLB_USED + 4 * 3 * L.VIEWS).toBeLessThanOrEqual(L.TLB_READ);
    expect(MAX_HARTS).toBe(8);
  });

  /** Bytes of the TLB that an action clears, after which all of it is in use again. */
  function cleared(action: (hart: ReturnType<typeof bench>['hart']) => void): number {
    const { hart } = bench();
    for (let table = 0; table < 3 * L.VIEWS; table++) hart.state.set(L.TLB_USED + 4 * table, -1);
    const fill = vi.spyOn(State.prototype, 'fill');
    fill.mockClear();
    action(hart);
    return fill.mock.calls.reduce((sum, [from, to]) => sum + to - from, 0);
  }

  test('of all translations clears 144 KiB, of one address nothing but its entries', () => {
    expect(cleared(hart => runs(hart, SFENCE))).toBe(144 * 1024);
    expect(cleared(hart => runs(hart, SFENCE | (5 << 15)))).toBe(0);
    expect(cleared(hart => writeCsr(hart, SATP, 0n))).toBeLessThanOrEqual(144 * 1024);
  });

  test('clears only what is in use, in groups of 512 bytes', () => {
    const { hart } = bench();
    for (const lo of [0x0, 0x1f000, 0x20000, 0x3ff000])
      hart.mmu.tlb.install(L.TLB_READ, 1, lo, 0, 0, 5, false);
    const fill = vi.spyOn(State.prototype, 'fill');
    fill.mockClear();
    runs(hart, SFENCE);
    const at = L.TLB_READ + L.TLB_BYTES;
    expect(fill.mock.calls).toEqual([
      [at, at + 1024, 0xff],
      [at + 31 * 512, at + 32 * 512, 0xff],
    ]);
  });

  test('by a write to PMP clears 192 KiB, and two bytes for each page of RAM', () => {
    const update = vi.spyOn(Pmp.prototype, 'update');
    const fill = vi.spyOn(Uint8Array.prototype, 'fill');
    const bytes = cleared(hart => {
      update.mockClear();
      fill.mockClear();
      writeCsr(hart, 0x3b0, 0n);
    });
    expect(bytes).toBe(192 * 1024);
    expect(update).toHaveBeenCalledTimes(1);
    const pages = (fill.mock.contexts as Uint8Array[]).filter(({ length }) => length === 0x40_0000 / 4096);
    expect(pages).toHaveLength(2);
  });
});

test('a turn of a hart copies the entries that it has used, in groups of 512 bytes', () => {
  const [a, b] = bench(2).harts as [Hart, Hart];
  for (const hart of [a, b]) hart.mmu.tlb.flushAll();
  b.activate(a);
  a.activate(b);
  for (const lo of [0x0, 0x20000, 0x3ff000]) a.mmu.tlb.install(L.TLB_WRITE, 0, lo, 0, 0, 5, false);
  const move = vi.spyOn(State.prototype, 'move');
  const fill = vi.spyOn(State.prototype, 'fill');
  const moved = (): number =>
    move.mock.calls.reduce((sum, [from, to]) => (from >= L.TLB_READ ? sum + to - from : sum), 0);
  b.activate(a);
  expect(moved()).toBe(3 * 512);
  expect(fill.mock.calls.reduce((sum, [from, to]) => sum + to - from, 0)).toBe(3 * 512);
  move.mockClear();
  a.activate(b);
  expect(moved()).toBe(3 * 512);
  for (const lo of [0x0, 0x20000, 0x3ff000]) expect(a.mmu.tlb.probe(L.TLB_WRITE, 0, lo, 0)).toBe(5);
});

/** Eight harts, and their view of code pages. */
function eightHarts() {
  const machine = Machine.create({
    kernel: { name: 'none.bin', bytes: new Uint8Array(4) },
    ...{ bios: 'none', kcov: 'off', engine: 'interp', harts: 8, ramBytes: 2 * MIB },
  });
  return machine.harts[0]!.ports.code;
}

test('a store to a page table flushes each hart once, and none until the next walk', () => {
  const code = eightHarts();
  const flush = vi.spyOn(Tlb.prototype, 'flushTranslated');
  for (let round = 0; round < 3; round++) {
    code.tableRead!(16, 1);
    flush.mockClear();
    code.stored(RAM_BASE + 16 * 4096, 8, 'changes');
    expect(flush).toHaveBeenCalledTimes(8);
    code.stored(RAM_BASE + 16 * 4096 + 8, 8, 'changes');
    expect(flush).toHaveBeenCalledTimes(8);
  }
});

test('a store to a table of the last level flushes one entry, or all after many', () => {
  const code = eightHarts();
  const all = vi.spyOn(Tlb.prototype, 'flushTranslated');
  const one = vi.spyOn(Tlb.prototype, 'flushEntry');
  code.tableRead!(16, 0);
  all.mockClear();
  for (let round = 0; round < 1000; round++) code.stored(RAM_BASE + 16 * 4096 + 8 * 7, 8, 'changes');
  expect([one.mock.calls.length, all.mock.calls.length]).toEqual([8000, 0]);
  for (let entry = 100; entry < 300; entry++) code.stored(RAM_BASE + 16 * 4096 + 8 * entry, 8, 'changes');
  expect(all).toHaveBeenCalledTimes(8);
  one.mockClear();
  // A table of two levels at once, and a store to two entries.
  code.tableRead!(17, 0);
  code.tableRead!(17, 1);
  code.stored(RAM_BASE + 17 * 4096, 8, 'changes');
  code.tableRead!(18, 0);
  code.stored(RAM_BASE + 18 * 4096 + 4, 8, 'changes');
  expect([one.mock.calls.length, all.mock.calls.length]).toEqual([0, 24]);
});

describe('decoded records', () => {
  const RECORD = 16;
  const PAGES = 16;

  /** Records that an action changes. */
  function changed(flat: Flat, action: () => void): number {
    const { codeMap } = (flat.engine as unknown as { pages: DecodedPages }).pages;
    const pool = new Int32Array(flat.ram.memory.buffer, codeMap, DecodedPages.bytes(PAGES) / 4);
    const records = pool.subarray(pool.length - (PAGES + 1) * 2052 * 4);
    const before = records.slice();
    action();
    let count = 0;
    for (let i = 0; i < records.length; i += RECORD / 4)
      if ([0, 1, 2, 3].some(word => records[i + word] !== before[i + word])) count++;
    return count;
  }

  /** A page of instructions, and the hart in front of them. */
  function page(): Flat {
    const flat = new Flat({ pages: PAGES });
    flat.hart.mmu.pmp.open();
    flat.load(Array.from({ length: 2048 }, (_, i) => e('addi', { rd: 5, rs1: 5, imm: i })));
    return flat;
  }

  test('an instruction that is not decoded yet decodes 16, and the end of its page', () => {
    const flat = page();
    expect(changed(flat, () => flat.run(1))).toBeLessThanOrEqual(16 + 2);
    expect(changed(flat, () => flat.run(15))).toBe(0);
    expect(changed(flat, () => flat.run(1))).toBe(16);
  });

  test('a store drops those that it overlaps; the 65th one without a decode all of the page', () => {
    const flat = page();
    flat.run(1024);
    const most = Array.from({ length: 65 }, (_, i) =>
      changed(flat, () => flat.ram.write64(RAM_BASE + 8 * i, 0n)),
    );
    expect(Math.max(...most.slice(0, 64))).toBeLessThanOrEqual(5);
    expect(most[64]).toBeGreaterThan(500);
    expect(most[64]).toBeLessThanOrEqual(2049);
    expect(changed(flat, () => flat.ram.write64(RAM_BASE + 1024, 0n))).toBe(0);
  });
});

describe('compiled code', () => {
  test('a store drops the modules of its page, each with a look at its places in the jump cache', () => {
    const places = 32;
    const machine = codeWriter({
      ...{ places, iterations: 200, rewrites: false },
      tuning: { heat: { ...HEAT_EAGER, batchEntries: 1, ticksToFillBatch: 0 } },
    });
    machine.run(400_000);
    const { usage, stats } = machine.jit!;
    const before = { ...usage, dropped: stats.dropped };
    expect(before.modules).toBeGreaterThan(places);
    const clear = vi.spyOn(JumpCacheMemory.prototype, 'clear');
    const forget = vi.spyOn(JumpCacheMemory.prototype, 'forget');
    // 16 functions in the first of the two pages that hold all of them.
    machine.ram.write32(RAM_BASE + 0x1_0000, 0);
    const dropped = machine.jit!.stats.dropped - before.dropped;
    expect(dropped).toBeGreaterThanOrEqual(16);
    expect(dropped).toBeLessThan(before.modules);
    expect(before.modules - machine.jit!.usage.modules).toBe(dropped);
    expect(clear).not.toHaveBeenCalled();
    expect(forget.mock.calls.length).toBe(dropped);
    forget.mockClear();
    machine.ram.write32(RAM_BASE + 0x1_0000, 0);
    expect(forget).not.toHaveBeenCalled();
  });

  test('a batch has as many regions as the policy says', () => {
    const compile = vi.spyOn(Compiler.prototype, 'compile');
    const machine = codeWriter({
      ...{ places: 256, iterations: 200, rewrites: false },
      tuning: { heat: { ...HEAT_EAGER, batchEntries: 12, ticksToFillBatch: 1000 } },
    });
    machine.run(2_000_000);
    const sizes = compile.mock.calls.map(([regions]) => regions.size);
    expect(Math.max(...sizes)).toBe(12);
  });
});

describe('a region', () => {
  /** Instructions with the copies of unrolled loops. */
  const INSNS_MAX = 32 * REGION_INSNS;
  /** The same with copies of instructions that overlap others: 200 blocks may have some. */
  const COPIES_MAX = INSNS_MAX + 200 * REGION_INSNS;
  /** Its own instructions, and 129 for each call in it, or in a callee, that might be copied. */
  const DECODED_MAX = REGION_INSNS + (REGION_INSNS + 260) * 129;

  function measure(fetchAt: (at: number) => number | undefined, isEntry: boolean) {
    let decoded = 0;
    const region = discover(0x8000_1000n, {
      fetch: at => {
        const word = fetchAt(at);
        if (word === undefined) return undefined;
        decoded++;
        return decode(word);
      },
      isEntry: () => isEntry,
      wasReached: () => true,
      inlineAt: () => undefined,
      word: () => undefined,
      pointer: () => undefined,
      lastTarget: () => undefined,
    });
    const copies = region.blocks.reduce((sum, { insns }) => sum + insns.length, 0);
    return { size: region.size, decoded, copies };
  }

  const toItself = e('bne', { rs1: 5, rs2: 0, imm: 0 });
  const ret = e('jalr', { rd: 0, rs1: 1, imm: 0 });
  const far = (at: number): number => e('jal', { rd: 1, imm: 8192 - at });
  test.each<readonly [string, (at: number) => number, number, number]>([
    ['nothing but loops of one instruction', () => toItself, INSNS_MAX, REGION_INSNS],
    ['calls of functions that are too long', at => (at < 4096 ? far(at) : toItself), 199, 25_741],
    ['calls of the shortest function', at => (at < 4096 ? far(at) : ret), 397, 597],
  ])('is bounded: %s', (_, fetchAt, size, decoded) => {
    const measured = measure(fetchAt, true);
    expect(measured.size).toBeLessThanOrEqual(size);
    expect(measured.decoded).toBeLessThanOrEqual(decoded + 2);
    expect(measured.size).toBeGreaterThan(0.9 * size);
  });

  test('is bounded: branches into the middle of the instructions of a long block', () => {
    const branches = 95;
    // Its upper half is a compressed instruction.
    const line = e('lui', { rd: 5, imm: 0x0001_0000 });
    const { size, copies } = measure(at => {
      if (at < 0 || at >= 4 * 700) return undefined;
      if (at < 4 * branches && at % 4 === 0) return e('bne', { rs1: 5, rs2: 6, imm: 4 * branches + 2 });
      return at % 4 === 0 ? line : 0x0001;
    }, false);
    expect(size).toBeLessThanOrEqual(REGION_INSNS);
    expect(copies).toBeGreaterThan(40_000);
    expect(copies).toBeLessThanOrEqual(COPIES_MAX);
  });

  test(`is bounded, whatever the code is (seed ${seedText(SEED)})`, () => {
    const random = new Random(SEED);
    for (let program = 0; program < 150; program++) {
      const reach = random.pick([16, 64, 400, 2000]);
      const words = Array.from({ length: 4096 }, () => {
        const imm = 4 * (random.below(2 * reach) - reach);
        switch (random.below(random.pick([4, 5, 12]))) {
          case 0:
            return e('jal', { rd: random.pick([0, 1, 1, 1]), imm });
          case 1:
            return e('bne', { rs1: 5, rs2: 6, imm: random.oneIn(2) ? 0 : 4 * (random.below(512) - 256) });
          case 2:
            return e('jalr', { rd: random.below(2), rs1: random.pick([1, 1, 10]), imm: 0 });
          default:
            return e('addi', { rd: 5, rs1: 5, imm: 1 });
        }
      });
      const measured = measure(at => words[at / 4 + 1000], random.oneIn(2));
      expect(measured.size).toBeLessThanOrEqual(INSNS_MAX);
      expect(measured.decoded).toBeLessThanOrEqual(DECODED_MAX);
      expect(measured.copies).toBeLessThanOrEqual(COPIES_MAX);
    }
  });
});
