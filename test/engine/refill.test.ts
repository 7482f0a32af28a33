// The walk in wasm against the hart's walk: two machines with the same random page tables execute
// the same loads and stores, one of them with the fast path switched off. Registers, traps and the
// A and D bits in memory must be the same.

import { describe, expect, test } from 'vitest';
import * as L from '../../emulator/hart/layout.ts';
import type { State } from '../../emulator/hart/state.ts';
import { setPriv } from '../../emulator/hart/view.ts';
import { encode as e } from '../../emulator/isa/index.ts';
import { Flat, RAM_BASE } from '../support/flat.ts';
import { Random, seedFromEnvironment } from '../support/random.ts';

const SEED = seedFromEnvironment(77);
const RAM_BYTES = 0x40_0000;
const CODE = RAM_BASE + 0x1000;
const TABLES = RAM_BASE + 0x10_0000;
const DATA = RAM_BASE + 0x20_0000;
/** MPRV with MPP lets M-mode code access memory as U or S. */
const MPRV = 1 << 17;
const SUM = 1 << 18;
const MXR = 1 << 19;

const PROGRAM = [
  e('ld', { rd: 5, rs1: 10, imm: 0 }),
  e('sd', { rs1: 11, rs2: 12, imm: 0 }),
  e('lw', { rd: 6, rs1: 11, imm: 4 }),
  e('sb', { rs1: 10, rs2: 12, imm: 3 }),
  e('lhu', { rd: 7, rs1: 10, imm: 1 }),
  e('ld', { rd: 8, rs1: 11, imm: 0 }),
];

const pte = (pa: number, flags: number): bigint => ((BigInt(pa) >> 12n) << 10n) | BigInt(flags);

/** Three levels of tables with random faults; every leaf lies in RAM, mostly. */
function tables(random: Random): [at: number, value: bigint][] {
  const entries: [number, bigint][] = [];
  const leaf = () => {
    const flags = (random.u32() & 0xfe) | (random.oneIn(12) ? 0 : 1) | (random.oneIn(3) ? 0 : 0xc6);
    const pa = random.oneIn(20) ? 0x1000_0000 : DATA + random.below(64) * 4096;
    return pte(pa, flags) | (random.oneIn(30) ? 1n << BigInt(54 + random.below(10)) : 0n);
  };
  const large = (level: number) => {
    const flags = (random.u32() & 0xfe) | 1;
    return pte(random.oneIn(4) ? DATA + 4096 : RAM_BASE & -(4096 * 512 ** level), flags | 2);
  };
  const pointer = (pa: number) => pte(random.oneIn(25) ? 0x4000_0000 : pa, random.oneIn(25) ? 0x41 : 1);
  for (let i = 0; i < 4; i++) {
    entries.push([TABLES + 8 * i, random.oneIn(6) ? large(2) : pointer(TABLES + 0x1000)]);
    entries.push([TABLES + 0x1000 + 8 * i, random.oneIn(4) ? large(1) : pointer(TABLES + 0x2000)]);
  }
  for (let i = 0; i < 16; i++) entries.push([TABLES + 0x2000 + 8 * i, random.oneIn(30) ? 0n : leaf()]);
  return entries;
}

const address = (random: Random): bigint => {
  const [a, b, c] = [random.below(4), random.below(4), random.below(16)];
  const inPage = random.below(512) * 8 + (random.oneIn(3) ? random.below(8) : 0);
  const va = BigInt(a) * 2n ** 30n + BigInt(b) * 2n ** 21n + BigInt(c) * 4096n + BigInt(inPage);
  return random.oneIn(40) ? va | (1n << 39n) : va;
};

interface Compared {
  /** Rounds whose outcome differed. */
  readonly differ: number;
  /** Rounds in which the walk in wasm filled the TLB: one table at a time, the hart fills both. */
  readonly refilled: number;
  readonly sameRam: boolean;
}

/**
 * Runs both machines: with a new TLB, again with tables that are watched (only the hart makes them
 * so), and again after the host has changed some entries, which needs no flush by the guest.
 * `keepsLeafTable`: that change does not forget the last table of leaves, a fault.
 */
function compare(seed: number, rounds: number, keepsLeafTable = false): Compared {
  const random = new Random(seed);
  const flats = [new Flat({ ramBytes: RAM_BYTES }), new Flat({ ramBytes: RAM_BYTES })] as const;
  for (const flat of flats) {
    flat.hart.mmu.pmp.open();
    flat.load(PROGRAM, CODE);
    flat.load([e('jal', { rd: 0, imm: 0 })], CODE + 0x800);
  }
  let [differ, refilled] = [0, 0];
  for (let round = 0; round < rounds; round++) {
    const entries = tables(random);
    const changes = tables(random).filter((_, i) => (i < 8 ? random.oneIn(4) : random.oneIn(40)));
    const [x10, x11, x12] = [address(random), address(random), random.u64()];
    const status = MPRV | (random.below(2) << 11) | (random.oneIn(2) ? SUM : 0) | (random.oneIn(3) ? MXR : 0);
    const used: string[] = [];
    const [fast, slow] = flats.map((flat, which) => {
      const s = flat.hart.state;
      const { tlb } = flat.hart.mmu;
      for (const [at, value] of entries) flat.ram.write64(at, value);
      s.set64(L.SATP, (8n << 60n) | BigInt(TABLES / 4096));
      s.set64(L.MTVEC, BigInt(CODE + 0x800));
      return [0, 1, 2].map(pass => {
        s.set64(L.MSTATUS, BigInt(status));
        setPriv(s, 3);
        const [tag, table] = [s.get64(L.LEAF_TAG), s.get(L.LEAF_TABLE)];
        if (pass < 2) tlb.flushAll();
        else for (const [at, value] of changes) flat.ram.write64(at, value);
        if (pass === 2 && keepsLeafTable) {
          s.set64(L.LEAF_TAG, tag);
          s.set(L.LEAF_TABLE, table);
        }
        if (which === 1) for (const field of [L.WALK, L.WALK_M]) s.set(field, L.WALK_NONE);
        for (const r of [5, 6, 7, 8]) flat.setX(r, 0n);
        for (const [r, v] of [[10, x10] as const, [11, x11] as const, [12, x12] as const]) flat.setX(r, v);
        flat.pc = BigInt(CODE);
        flat.run(PROGRAM.length);
        if (pass === 1) used[which] = tablesUsed(s);
        return JSON.stringify(state(flat), (_, value) => (typeof value === 'bigint' ? `${value}` : value));
      });
    });
    if (fast!.join() !== slow!.join()) differ++;
    if (used[0] !== used[1]) refilled++;
  }
  return { differ, refilled, sameRam: Buffer.compare(flats[0].ram.data, flats[1].ram.data) === 0 };
}

const tablesUsed = (s: State): string =>
  Array.from({ length: 3 * L.VIEWS }, (_, table) => s.get(L.TLB_USED + 4 * table)).join();

describe('translation misses', () => {
  test(`are served in wasm as the hart serves them (seed ${SEED.toString(16)})`, () => {
    const { differ, refilled, sameRam } = compare(SEED, 700);
    expect({ differ, sameRam }).toEqual({ differ: 0, sameRam: true });
    expect(refilled).toBeGreaterThan(20);
  });

  test('a table of leaves that a changed table does not forget is found', () => {
    expect(compare(SEED, 300, true).differ).toBeGreaterThan(0);
  });
});

function state(flat: Flat) {
  const s = flat.hart.state;
  const tables = Array.from({ length: 0x3000 / 8 }, (_, i) => flat.ram.read64(TABLES + 8 * i)).filter(
    v => v !== 0n,
  );
  const x = [5, 6, 7, 8].map(r => flat.x(r));
  return { pc: flat.pc, x, cause: s.get(L.MCAUSE), tval: s.get64(L.MTVAL), epc: s.get64(L.MEPC), tables };
}
