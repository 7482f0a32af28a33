// The walk in wasm against the hart's walk: two machines with the same random page tables execute
// the same loads and stores, one of them with the fast path switched off. Registers, traps and the
// A and D bits in memory must be the same.

import { describe, expect, test } from 'vitest';
import * as L from '../../emulator/hart/layout.ts';
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
  const va =
    BigInt(a) * 2n ** 30n + BigInt(b) * 2n ** 21n + BigInt(c) * 4096n + BigInt(random.below(512) * 8);
  return random.oneIn(40) ? va | (1n << 39n) : va;
};

describe('translation misses', () => {
  test(`are served in wasm as the hart serves them (seed ${SEED.toString(16)})`, () => {
    const random = new Random(SEED);
    const flats = [new Flat({ ramBytes: RAM_BYTES }), new Flat({ ramBytes: RAM_BYTES })] as const;
    for (const flat of flats) {
      flat.hart.mmu.pmp.open();
      flat.load(PROGRAM, CODE);
      flat.load([e('jal', { rd: 0, imm: 0 })], CODE + 0x800);
    }
    let refilled = 0;
    for (let round = 0; round < 700; round++) {
      const entries = tables(random);
      const [x10, x11, x12] = [address(random), address(random), random.u64()];
      const status =
        MPRV | (random.below(2) << 11) | (random.oneIn(2) ? SUM : 0) | (random.oneIn(3) ? MXR : 0);
      const passes: ReturnType<typeof state>[][] = [[], []];
      for (const [which, flat] of flats.entries()) {
        const s = flat.hart.state;
        for (const [at, value] of entries) flat.ram.write64(at, value);
        s.set64(L.SATP, (8n << 60n) | BigInt(TABLES / 4096));
        s.set64(L.MTVEC, BigInt(CODE + 0x800));
        // The first pass makes the tables watched, which only the hart does.
        for (let pass = 0; pass < 2; pass++) {
          s.set64(L.MSTATUS, BigInt(status));
          setPriv(s, 3);
          flat.hart.mmu.tlb.flushAll();
          if (which === 1) for (const field of [L.WALK, L.WALK_M]) s.set(field, L.WALK_NONE);
          for (const [r, v] of [
            [5, 0n],
            [6, 0n],
            [7, 0n],
            [8, 0n],
            [10, x10],
            [11, x11],
            [12, x12],
          ] as const)
            flat.setX(r, v);
          flat.pc = BigInt(CODE);
          flat.run(PROGRAM.length);
          passes[which]![pass] = state(flat);
        }
      }
      expect({ round, left: passes[0] }).toEqual({ round, left: passes[1] });
      if (flats[0].hart.state.get(L.TLB_USED) !== flats[1].hart.state.get(L.TLB_USED)) refilled++;
    }
    expect(Buffer.compare(flats[0].ram.data, flats[1].ram.data)).toBe(0);
    // The shortcut was taken: it fills one table at a time, the hart both.
    expect(refilled).toBeGreaterThan(20);
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
