// The hart's public API: CSR instructions, traps, translation, PMP, atomics and parking, without an
// engine.

import { describe, expect, it } from 'vitest';
import * as C from '../../emulator/hart/cause.ts';
import type { Hart } from '../../emulator/hart/hart.ts';
import * as L from '../../emulator/hart/layout.ts';
import { setPriv } from '../../emulator/hart/view.ts';
import { CSRS, type CsrRule } from '../../emulator/isa/csr.ts';
import {
  bench,
  fetch,
  load,
  PTE,
  pte,
  RAM,
  readCsr,
  runs,
  store,
  trapCause,
  trapTval,
  writeCsr,
} from './fixture.ts';

const MRET = 0x3020_0073;
const SRET = 0x1020_0073;
const WFI = 0x1050_0073;
const ECALL = 0x73;

describe('csr file', () => {
  it('keeps only what exists of mstatus and derives sd', () => {
    const { hart } = bench();
    writeCsr(hart, 0x300, -1n);
    expect(readCsr(hart, 0x300)).toBe(0x8000_000a_007e_79aan);
    expect(readCsr(hart, 0x100)).toBe(0x8000_0002_000c_6122n);
    writeCsr(hart, 0x300, 0x1000n);
    expect(readCsr(hart, 0x300)).toBe(0x0000_000a_0000_1800n);
  });

  it('ignores satp writes with a mode that does not exist', () => {
    const { hart } = bench();
    writeCsr(hart, 0x180, (8n << 60n) | 5n);
    writeCsr(hart, 0x180, (10n << 60n) | 7n);
    expect(readCsr(hart, 0x180)).toBe((8n << 60n) | 5n);
  });

  it('traps reads of higher privilege, writes of read-only and unknown csrs with the instruction as tval', () => {
    const { hart } = bench();
    expect(readCsr(hart, 0x8c0)).toBeUndefined();
    expect(writeCsr(hart, 0xf14, 0n)).toBe(false);
    hart.state.set(L.PRIV, 1);
    expect(readCsr(hart, 0x300)).toBeUndefined();
    expect(hart.state.get64(L.MTVAL)).toBe(0x3000_20f3n);
    expect(hart.state.get64(L.MCAUSE)).toBe(2n);
  });

  it('checks fs before fcsr and makes it dirty by writing', () => {
    const { hart } = bench();
    expect(readCsr(hart, 3)).toBeUndefined();
    writeCsr(hart, 0x300, 0x2000n);
    expect(writeCsr(hart, 3, 0xffn)).toBe(true);
    expect(readCsr(hart, 1)).toBe(31n);
    expect(readCsr(hart, 2)).toBe(7n);
    expect(readCsr(hart, 0x300)! & 0x6000n).toBe(0x6000n);
  });

  it('minstret reads what was written one instruction later', () => {
    const { hart } = bench();
    hart.state.set(L.IC, 100);
    hart.state.set(L.QUANTUM, 100);
    writeCsr(hart, 0xb02, 0xffff_ffff_ffff_ffffn);
    expect(readCsr(hart, 0xb02)).toBe(0xffff_ffff_ffff_ffffn);
    expect(readCsr(hart, 0xb02)).toBe(0n);
    writeCsr(hart, 0x320, 4n);
    const stopped = readCsr(hart, 0xb02);
    expect(readCsr(hart, 0xb02)).toBe(stopped);
    writeCsr(hart, 0x320, 0n);
    expect(readCsr(hart, 0xb02)).toBe(stopped);
    expect(readCsr(hart, 0xb02)).toBe(stopped! + 1n);
  });

  it('an exception costs a cycle but does not retire', () => {
    const { hart } = bench();
    hart.state.set(L.IC, 100);
    hart.state.set(L.QUANTUM, 100);
    runs(hart, ECALL);
    expect(hart.state.get(L.IC)).toBe(99);
    expect(readCsr(hart, 0xb00)).toBe(1n);
    expect(readCsr(hart, 0xb02)).toBe(1n);
  });

  it('does not leak the wire of seip into its software bit', () => {
    const { hart } = bench();
    hart.setLine(C.SEIP, true);
    hart.state.set64(L.X + 16, 2n);
    runs(hart, (0x344 << 20) | (2 << 15) | (2 << 12) | 0x73);
    expect(readCsr(hart, 0x344)).toBe(0x202n);
    hart.setLine(C.SEIP, false);
    expect(readCsr(hart, 0x344)).toBe(2n);
  });
});

describe('traps', () => {
  it('delegates, nests and returns', () => {
    const { hart } = bench();
    writeCsr(hart, 0x302, -1n);
    writeCsr(hart, 0x105, 0x8000_1000n);
    writeCsr(hart, 0x341, 0x8000_0100n);
    runs(hart, MRET);
    expect([hart.state.get(L.PRIV), hart.state.pc]).toEqual([0, 0x8000_0100n]);
    expect(runs(hart, ECALL)).toBe(false);
    expect([hart.state.get(L.PRIV), hart.state.pc]).toEqual([1, 0x8000_1000n]);
    expect(readCsr(hart, 0x142)).toBe(8n);
    expect(readCsr(hart, 0x141)).toBe(0x8000_0100n);
    runs(hart, SRET);
    expect([hart.state.get(L.PRIV), hart.state.pc]).toEqual([0, 0x8000_0100n]);
  });

  it('vectors interrupts only, and picks them by priority', () => {
    const { hart } = bench();
    writeCsr(hart, 0x305, 0x8000_0801n);
    writeCsr(hart, 0x304, -1n);
    writeCsr(hart, 0x344, 2n);
    hart.setLine(C.MTIP | C.MSIP, true);
    expect(hart.pendingInterrupt()).toBe(-1);
    writeCsr(hart, 0x300, 8n);
    expect(hart.takeInterrupt()).toBe(true);
    expect(hart.state.pc).toBe(0x8000_080cn);
    expect(hart.state.get64(L.MCAUSE)).toBe((1n << 63n) | 3n);
    expect(hart.takeInterrupt()).toBe(false);
    runs(hart, ECALL);
    expect(hart.state.pc).toBe(0x8000_0800n);
  });

  it('mret to a lower mode clears mprv', () => {
    const { hart } = bench();
    writeCsr(hart, 0x300, (1n << 17n) | (1n << 11n));
    expect(hart.state.get(L.DATA_VIEW)).toBe(1);
    runs(hart, MRET);
    expect(hart.state.get(L.MSTATUS) & (1 << 17)).toBe(0);
    expect(hart.state.get(L.PRIV)).toBe(1);
  });

  it('tsr, tvm and tw trap sret, satp, sfence.vma and wfi of s-mode', () => {
    const { hart } = bench();
    const inS = (word: number): boolean => {
      setPriv(hart.state, 1);
      return runs(hart, word);
    };
    const satpRead = (0x180 << 20) | (2 << 12) | 0x73;
    const sfence = 0x1200_0073;
    for (const word of [SRET, satpRead, sfence, WFI]) expect(inS(word)).toBe(true);
    writeCsr(hart, 0x300, 0n);
    setPriv(hart.state, 3);
    writeCsr(hart, 0x300, (1n << 20n) | (1n << 21n) | (1n << 22n));
    for (const word of [SRET, satpRead, sfence, WFI]) expect(inS(word)).toBe(false);
  });
});

/**
 * Maps va 0x40000000 (4 KiB pages) and a 2 MiB page at 0x40200000 through tables at RAM + 0x1000.
 */
function paged(): { hart: Hart; leaf: (index: number, entry: bigint) => void } {
  const { hart, ram } = bench();
  const [root, mid, last] = [RAM + 0x1000, RAM + 0x2000, RAM + 0x3000];
  ram.write64(root + 8, pte(mid, PTE.V));
  ram.write64(mid, pte(last, PTE.V));
  ram.write64(mid + 8, pte(RAM + 0x20_0000, PTE.V | PTE.R | PTE.W | PTE.A | PTE.D));
  writeCsr(hart, 0x180, (8n << 60n) | BigInt(root >>> 12));
  hart.mmu.pmp.open();
  setPriv(hart.state, 1);
  return { hart, leaf: (index, entry) => ram.write64(last + 8 * index, entry) };
}
const VA = 0x4000_0000n;

describe('sv39', () => {
  it('sets a on loads and d on stores', () => {
    const { hart, leaf } = paged();
    leaf(0, pte(RAM + 0x5000, PTE.V | PTE.R | PTE.W));
    const at = RAM + 0x3000;
    expect(load(hart, VA)).toBe(0n);
    expect(hart.ports.ram.read64(at) & 0xc0n).toBe(0x40n);
    expect(store(hart, VA + 8n, 0x1122334455667788n)).toBe(true);
    expect(hart.ports.ram.read64(at) & 0xc0n).toBe(0xc0n);
    expect(load(hart, VA + 9n, 5)).toBe(0x6677n);
  });

  it('names the first byte of the failing page of a crossing access', () => {
    const { hart, leaf } = paged();
    leaf(0, pte(RAM + 0x5000, PTE.V | PTE.R | PTE.W));
    expect(store(hart, VA + 0xffdn, -1n)).toBe(false);
    expect([trapCause(hart), trapTval(hart)]).toEqual([C.STORE_PAGE, VA + 0x1000n]);
    expect(load(hart, VA + 0xff8n)).toBe(0n);
    leaf(1, pte(RAM + 0x7000, PTE.V | PTE.R | PTE.W));
    expect(store(hart, VA + 0xffdn, 0x8877665544332211n)).toBe(true);
    expect(load(hart, VA + 0xffdn)).toBe(0x8877665544332211n);
    expect(hart.ports.ram.read32(RAM + 0x7000)).toBe(0x77665544);
  });

  it('refuses non-canonical addresses, misaligned superpages and reserved bits', () => {
    const { hart, leaf } = paged();
    expect(load(hart, (1n << 39n) + VA)).toBeUndefined();
    expect(trapCause(hart)).toBe(C.LOAD_PAGE);
    expect(load(hart, VA + 0x20_0000n)).toBe(0n);
    hart.ports.ram.write64(RAM + 0x2008, pte(RAM + 0x1000, PTE.V | PTE.R | PTE.A));
    runs(hart, 0x1200_0073);
    expect(load(hart, VA + 0x20_0000n)).toBeUndefined();
    leaf(2, pte(RAM + 0x5000, PTE.V | PTE.R | PTE.A) | (1n << 54n));
    expect(load(hart, VA + 0x2000n)).toBeUndefined();
    expect(fetch(hart, VA + 0x2000n)).toBe(false);
    expect(trapCause(hart)).toBe(C.INSN_PAGE);
  });

  it('sum and mxr open user and execute-only pages, tables pointing at themselves end', () => {
    const { hart, leaf } = paged();
    leaf(0, pte(RAM + 0x5000, PTE.V | PTE.X | PTE.U));
    expect(load(hart, VA)).toBeUndefined();
    writeCsr(hart, 0x100, 1n << 18n);
    expect(load(hart, VA)).toBeUndefined();
    writeCsr(hart, 0x100, (1n << 18n) | (1n << 19n));
    expect(load(hart, VA)).toBe(0n);
    writeCsr(hart, 0x100, 1n << 18n);
    expect(load(hart, VA)).toBeUndefined();
    expect(fetch(hart, VA)).toBe(false);
    hart.ports.ram.write64(RAM + 0x1008, pte(RAM + 0x1000, PTE.V));
    runs(hart, 0x1200_0073);
    expect(load(hart, VA + 0x20_0000n)).toBeUndefined();
    expect(trapCause(hart)).toBe(C.LOAD_PAGE);
  });

  it('page tables outside of ram are access faults of the access', () => {
    const { hart } = paged();
    hart.ports.ram.write64(RAM + 0x1008, pte(0x1000_0000, PTE.V));
    expect(load(hart, VA)).toBeUndefined();
    expect(trapCause(hart)).toBe(C.LOAD_ACCESS);
    expect(store(hart, VA, 0n)).toBe(false);
    expect(trapCause(hart)).toBe(C.STORE_ACCESS);
    expect(fetch(hart, VA)).toBe(false);
    expect(trapCause(hart)).toBe(C.INSN_ACCESS);
  });

  it('sfence.vma of one address drops all pages of its superpage', () => {
    const { hart } = paged();
    expect(load(hart, VA + 0x20_0000n)).toBe(0n);
    expect(load(hart, VA + 0x20_1000n)).toBe(0n);
    hart.ports.ram.write64(RAM + 0x2008, 0n);
    expect(load(hart, VA + 0x20_1000n)).toBe(0n);
    hart.state.set64(L.X + 40, VA + 0x20_0000n);
    runs(hart, 0x1200_0073 | (5 << 15));
    expect(load(hart, VA + 0x20_1000n)).toBeUndefined();
  });
});

describe('pmp', () => {
  it('denies s-mode what no entry allows, m-mode only what is locked', () => {
    const { hart } = bench();
    writeCsr(hart, 0x3b0, BigInt(RAM + 0x10_0000) >> 2n);
    writeCsr(hart, 0x3a0, 0x0fn);
    setPriv(hart.state, 1);
    expect(load(hart, BigInt(RAM))).toBe(0n);
    expect(load(hart, BigInt(RAM + 0x10_0000))).toBeUndefined();
    expect(trapCause(hart)).toBe(C.LOAD_ACCESS);
    setPriv(hart.state, 3);
    expect(load(hart, BigInt(RAM + 0x10_0000))).toBe(0n);
    writeCsr(hart, 0x3b1, BigInt(RAM + 0x2000) >> 2n);
    writeCsr(hart, 0x3a0, 0x910fn);
    expect(store(hart, BigInt(RAM + 0x2000), 1n, 2)).toBe(true);
    writeCsr(hart, 0x3a0, 0x0n);
    expect(readCsr(hart, 0x3a0)).toBe(0x9100n);
    expect(store(hart, BigInt(RAM + 0x2000), 1n, 2)).toBe(false);
    expect(store(hart, BigInt(RAM + 0x2000), 1n, 3)).toBe(false);
    expect(store(hart, BigInt(RAM + 0x2004), 1n, 2)).toBe(true);
  });
});

it('a pmp entry that an access matches in part denies it, to m-mode and without a lock, too', () => {
  const { hart } = bench();
  writeCsr(hart, 0x3b0, BigInt(RAM + 0x2000) >> 2n);
  writeCsr(hart, 0x3a0, 0x13n);
  expect(load(hart, BigInt(RAM + 0x2000), 2)).toBe(0n);
  expect(load(hart, BigInt(RAM + 0x2000), 3)).toBeUndefined();
});

describe('atomics and reservations', () => {
  const at = BigInt(RAM + 0x100);
  const sc = (hart: Hart, va: bigint): number => {
    hart.state.set64(L.SLOW_ARG, va);
    hart.state.set64(L.SLOW_VALUE, 7n);
    return hart.access.sc(2) === 0 ? hart.state.get(L.SLOW_VALUE) : -1;
  };
  const lr = (hart: Hart, va: bigint): number => {
    hart.state.set64(L.SLOW_ARG, va);
    return hart.access.lr(2);
  };

  it('sc succeeds once, at the reserved address only', () => {
    const { hart } = bench();
    expect(sc(hart, at)).toBe(1);
    lr(hart, at);
    expect(sc(hart, at + 4n)).toBe(1);
    expect(sc(hart, at)).toBe(1);
    lr(hart, at);
    expect(sc(hart, at)).toBe(0);
    expect(sc(hart, at)).toBe(1);
    expect(lr(hart, at + 1n)).toBe(1);
    expect(trapCause(hart)).toBe(C.LOAD_MISALIGNED);
  });

  it('a reservation is lost when another hart runs', () => {
    const { harts } = bench(2);
    const [a, b] = harts as [Hart, Hart];
    lr(a, at);
    b.activate(a);
    a.activate(b);
    expect(sc(a, at)).toBe(1);
  });

  it('amomax.w compares signed and returns the sign-extended old value', () => {
    const { hart } = bench();
    store(hart, at, 0x8000_0000n, 2);
    hart.state.set64(L.SLOW_ARG, at);
    hart.state.set64(L.SLOW_VALUE, 1n);
    expect(hart.access.amo(0x14, 2)).toBe(0);
    expect(hart.state.get64(L.SLOW_VALUE)).toBe(0xffff_ffff_8000_0000n);
    expect(load(hart, at, 2)).toBe(1n);
  });
});

describe('parking', () => {
  it('keeps registers, translations and wires apart', () => {
    const { harts } = bench(2);
    const [a, b] = harts as [Hart, Hart];
    a.state.set64(L.X + 40, 5n);
    store(a, BigInt(RAM), 1n);
    b.setLine(C.MSIP, true);
    b.activate(a);
    expect(b.state.getX(10)).toBe(1n);
    expect(b.state.hi(L.MIP)).toBe(C.MSIP);
    expect(b.state.get(L.TLB_WRITE + 3 * L.TLB_BYTES)).toBe(-1);
    a.activate(b);
    expect(a.state.getX(5)).toBe(5n);
    expect(a.state.get(L.TLB_WRITE + 3 * L.TLB_BYTES)).toBe(RAM | 0);
  });

  // A parked hart writes back only the tables that have changed while it was active.
  const first = L.TLB_WRITE + 3 * L.TLB_BYTES;
  const second = first + L.TLB_ENTRY_BYTES;

  it('an entry that is made in a later turn is there in the next one', () => {
    const [a, b] = bench(2).harts as [Hart, Hart];
    store(a, BigInt(RAM), 1n);
    b.activate(a);
    a.activate(b);
    store(a, BigInt(RAM) + 4096n, 1n);
    b.activate(a);
    expect(b.state.get(second)).toBe(-1);
    a.activate(b);
    expect([a.state.get(first), a.state.get(second)]).toEqual([RAM | 0, (RAM + 4096) | 0]);
  });

  it('tables that are flushed in a later turn stay empty', () => {
    const [a, b] = bench(2).harts as [Hart, Hart];
    store(a, BigInt(RAM), 1n);
    b.activate(a);
    a.activate(b);
    a.mmu.tlb.flushAll();
    b.activate(a);
    expect(a.state.get(first)).toBe(-1);
    a.activate(b);
    expect(a.state.get(first)).toBe(-1);
    store(a, BigInt(RAM) + 4096n, 1n);
    b.activate(a);
    a.activate(b);
    expect([a.state.get(first), a.state.get(second)]).toEqual([-1, (RAM + 4096) | 0]);
  });

  it('an entry that a store to its page table drops does not come back', () => {
    const [a, b] = bench(2).harts as [Hart, Hart];
    a.mmu.tlb.install(L.TLB_READ, 1, 0x5000, 0, 0, 5, false);
    a.mmu.tlb.install(L.TLB_READ, 1, 0x6000, 0, 0, 6, false);
    b.activate(a);
    a.activate(b);
    a.mmu.tlb.flushEntry(5);
    a.mmu.tlb.flushPage(0x6000, 0);
    b.activate(a);
    a.activate(b);
    expect(a.mmu.tlb.probe(L.TLB_READ, 1, 0x5000, 0)).toBe(-1);
    expect(a.mmu.tlb.probe(L.TLB_READ, 1, 0x6000, 0)).toBe(-1);
  });

  // The exec tables have two places for pages of one number in the last level.
  it('pages of one number in the last level of page tables are flushed in every table', () => {
    const { tlb } = bench().hart.mmu;
    const [other, kept] = [5, 6];
    for (const table of [L.TLB_READ, L.TLB_WRITE, L.TLB_EXEC])
      for (let above = 0; above < 4; above++)
        for (const number of [other, kept]) {
          const lo = (above * 512 + number) << 12;
          tlb.install(table, 1, lo, 0, 0, 7, false);
          if (number === other) tlb.flushEntry(other);
          const isThere = tlb.probe(table, 1, lo, 0) === 7;
          expect(isThere, `${table.toString(16)}: ${lo.toString(16)}`).toBe(number === kept);
        }
  });

  it('one that is flushed while the hart is parked is not there in its next turn', () => {
    const [a, b] = bench(2).harts as [Hart, Hart];
    store(a, BigInt(RAM), 1n);
    b.activate(a);
    a.mmu.tlb.flushAll();
    a.activate(b);
    expect(a.state.get(first)).toBe(-1);
  });
});

describe('the csr table and the csr file', () => {
  /** A write of all ones is more than a mask, or has no effect that stays. */
  const legalised = new Set<CsrRule | undefined>([
    'tvec',
    'satp',
    'sie',
    'sip',
    'mstatus',
    'time',
    'counter',
  ]);

  it('name the same registers', () => {
    expect(bench().hart.csr.implemented()).toEqual(CSRS.map(row => row.number).sort((a, b) => a - b));
  });

  it('have no register that needs an extension which the hart has not', () => {
    const { hart } = bench(1, 0x10_0000, new Set());
    const rows = CSRS.filter(row => row.needs === undefined);
    expect(hart.csr.implemented()).toEqual(rows.map(row => row.number).sort((a, b) => a - b));
  });

  it('agree on reset values and on what writing all ones leaves', () => {
    for (const row of CSRS) {
      if (legalised.has(row.rule) || row.of !== undefined) continue;
      const { hart } = bench();
      expect(hart.csr.peek(row.number), row.name).toBe(row.reset);
      hart.csr.write(row.number, -1, -1);
      if (!row.readOnly)
        expect(hart.csr.peek(row.number), row.name).toBe(row.writable | (row.reset & ~row.writable));
    }
  });
});
