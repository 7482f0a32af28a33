// A region runs while all of its pages are in the TLB, and enters them itself where the guest
// cannot see that: else a loop in the first page would be interpreted after each flush until
// control came to the last one.

import { afterEach, expect, test, vi } from 'vitest';
import { InterpEngine } from '../../emulator/engine/engine.ts';
import { JumpCacheMemory } from '../../emulator/engine/jit/cache/jump-cache.ts';
import { NO_SLOT } from '../../emulator/engine/jit/cache/slots.ts';
import { Jit } from '../../emulator/engine/jit/jit.ts';
import { HEAT_EAGER } from '../../emulator/engine/jit/policy/heat.ts';
import { S } from '../../emulator/hart/cause.ts';
import { MENVCFG, PMPADDR, PMPCFG, SATP } from '../../emulator/hart/layout.ts';
import { setPriv } from '../../emulator/hart/view.ts';
import { encode as e } from '../../emulator/isa/index.ts';
import { Flat, RAM_BASE } from '../support/flat.ts';

const LOOP = RAM_BASE + 0xff0;
const TABLE = RAM_BASE + 0x1_0000;
const LEAVES = TABLE + 0x2000;
const [V, R, X, A] = [1n, 2n, 8n, 0x40n];
/** Sv39 */
const MODE = 8n << 60n;

/** A loop at the end of a page, and the rest of its function in the next one. */
const CODE = [
  e('addi', { rd: 5, rs1: 5, imm: -1 }),
  e('bne', { rs1: 5, rs2: 0, imm: -4 }),
  e('addi', { rd: 6, rs1: 6, imm: 1 }),
  e('addi', { rd: 6, rs1: 6, imm: 1 }),
  e('addi', { rd: 5, rs1: 0, imm: 100 }),
  e('jal', { rd: 0, imm: -0x14 }),
];

interface Flushed {
  readonly flat: Flat;
  readonly engine: InterpEngine;
  /** Runs so many units, and answers how many of them, 0 to 1, were in compiled code. */
  share(units: number): number;
}

/** The loop, compiled in both pages, when nothing is in the TLB and it has long to go. */
function flushed(isTranslated: boolean): Flushed {
  let jit: Jit | undefined;
  let engine: InterpEngine | undefined;
  const flat = new Flat({
    engine: (ram, harts, area) => {
      const base = area.base + InterpEngine.areaBytes(area.pages);
      jit = new Jit(ram, { heat: HEAT_EAGER, countUnits: true, base });
      engine = new InterpEngine(ram, harts, area, { jit });
      jit.attach(engine);
      return engine;
    },
  });
  flat.load(CODE, LOOP);
  if (isTranslated) {
    // 1 GiB around RAM by tables of three levels; pages are where they are.
    flat.ram.write64(TABLE + 8 * 2, (BigInt(TABLE + 0x1000) >> 2n) | V);
    flat.ram.write64(TABLE + 0x1000, (BigInt(LEAVES) >> 2n) | V);
    for (const page of [0, 1])
      flat.ram.write64(LEAVES + 8 * page, (BigInt(RAM_BASE + 4096 * page) >> 2n) | V | R | X | A);
    flat.hart.state.set64(SATP, MODE | (BigInt(TABLE) >> 12n));
    flat.hart.state.set64(MENVCFG, 1n << 61n); // ADUE: walks set A
    // PMP: everything, for everybody.
    flat.hart.state.set64(PMPCFG, 0x1fn);
    flat.hart.state.set64(PMPADDR, (1n << 54n) - 1n);
    setPriv(flat.hart.state, S);
    flat.hart.restored();
  }
  // Both pages are in the TLB when the loop is compiled.
  flat.pc = BigInt(LOOP + 0x10);
  flat.run(20_000);
  flat.hart.mmu.tlb.flushAll();
  flat.setX(5, 1n << 40n);
  return {
    flat,
    engine: engine!,
    share: units => {
      const before = jit!.units;
      flat.run(units);
      return (jit!.units - before) / units;
    },
  };
}

test.each([false, true])('behind a flush, a loop goes on in compiled code (translated: %s)', isTranslated => {
  expect(flushed(isTranslated).share(20_000)).toBeGreaterThan(0.9);
});

test('a page whose entry has no A is not looked at', () => {
  const { flat, share } = flushed(true);
  const entry = LEAVES + 8;
  flat.ram.write64(entry, flat.ram.read64(entry) & ~A);
  const left = flat.x(5);
  expect(share(20_000)).toBeLessThan(0.1);
  expect(left - flat.x(5)).toBe(10_000n);
  expect(flat.ram.read64(entry) & A).toBe(0n);
});

afterEach(() => void vi.restoreAllMocks());

// A debugger marks a breakpoint when its page is fetched, and the mark drops the region.
test.each([false, true])(
  'a mark in the page that is entered drops the region (translated: %s)',
  isTranslated => {
    const { flat, engine, share } = flushed(isTranslated);
    const { breaks } = engine.pages;
    const marked = 4;
    flat.hart.ports.code.fetched = (lo, _hi, page) => {
      if (lo >>> 12 === (LOOP >>> 12) + 1) breaks.set(page * 2048 + marked / 2, true);
    };
    // A jump cache that leads to the empty slot would make the dispatcher turn forever.
    const { set } = JumpCacheMemory.prototype;
    vi.spyOn(JumpCacheMemory.prototype, 'set').mockImplementation(function (this: JumpCacheMemory, pc, slot) {
      if (slot === NO_SLOT) throw new Error(`no slot for ${pc.toString(16)}`);
      set.call(this, pc, slot);
    });
    flat.setX(5, 5000n);
    share(2);
    expect(breaks.isEmpty).toBe(false);
    flat.run(20_000);
    expect(flat.pc).toBe(BigInt(LOOP + 0x10 + marked));
    expect(flat.x(5)).toBe(100n);
  },
);
