// Behaviour of CSRs beyond slot and mask, by the rule that a row of emulator/isa/csr-table.ts
// names. A rule replaces the row's plain read, write, or both. The type checker demands one entry
// for every name and no other.

import { type CsrRow, type CsrRule, csrNamed } from '../isa/csr.ts';
import * as F from '../isa/csr-fields.ts';
import type { Extensions } from '../isa/extensions.ts';
import { COUNTER_RULES } from './csr-counters.ts';
import type { CsrState, Rule } from './csr-rule.ts';
import * as L from './layout.ts';
import { legalMstatus, sdHi } from './mstatus.ts';
import { updateDataView } from './view.ts';

const PMPCFG0 = csrNamed('pmpcfg0').number;
const PMPADDR0 = csrNamed('pmpaddr0').number;

export const CSR_RULES: Readonly<Record<CsrRule, Rule>> = {
  ...COUNTER_RULES,

  mhartid: { read: csrs => csrs.value(csrs.state.get(L.HARTID), 0) },

  fflags: {
    read: csrs => csrs.value(csrs.state.get(L.FFLAGS), 0),
    write: (csrs, _row, lo) => csrs.state.set(L.FFLAGS, lo & 31),
  },
  frm: {
    read: csrs => csrs.value(csrs.state.get(L.FRM), 0),
    write: (csrs, _row, lo) => csrs.state.set(L.FRM, lo & 7),
  },
  fcsr: {
    read: csrs => csrs.value((csrs.state.get(L.FRM) << 5) | csrs.state.get(L.FFLAGS), 0),
    write: (csrs, _row, lo) => {
      csrs.state.set(L.FFLAGS, lo & 31);
      csrs.state.set(L.FRM, (lo >> 5) & 7);
    },
  },

  mstatus: {
    read: csrs => {
      const lo = csrs.state.get(L.MSTATUS);
      csrs.value(lo, F.XLEN_HI | sdHi(lo));
    },
    write: writeMstatus,
  },

  /** Modes 0 and 1 exist, a write of another mode is ignored (Priv §3.1.7). */
  tvec: {
    write: (csrs, row, lo, hi) => {
      if ((lo & 2) === 0) csrs.state.put(L.csrAt(row), lo, hi);
    },
  },

  /** Interrupt enables changed: check for interrupts before the next instruction. */
  enables: {
    write: ({ state: s }, row, lo) => {
      s.set(L.csrAt(row), lo & Number(row.writable));
      s.set(L.RECHECK, 1);
    },
  },
  sie: {
    read: csrs => csrs.value(csrs.state.get(L.MIE) & csrs.state.get(L.MIDELEG), 0),
    write: (csrs, _row, lo) => {
      const s = csrs.state;
      const delegated = s.get(L.MIDELEG);
      s.set(L.MIE, (s.get(L.MIE) & ~delegated) | (lo & delegated));
      s.set(L.RECHECK, 1);
    },
  },

  /**
   * Software bits and wires; writes, csrrs and csrrc modify only the software bits (Priv §3.1.9).
   */
  mip: {
    read: csrs => csrs.value(csrs.state.get(L.MIP) | csrs.state.hi(L.MIP), 0),
    base: csrs => csrs.value(csrs.state.get(L.MIP), 0),
    // stimecmp drives STIP while STCE is set (Sstc §2).
    write: (csrs, row, lo) => writeMip(csrs, lo, Number(row.writable) & (csrs.hasStimecmp ? ~F.STIP : -1)),
  },
  sip: {
    read: csrs => csrs.value((csrs.state.get(L.MIP) | csrs.state.hi(L.MIP)) & csrs.state.get(L.MIDELEG), 0),
    base: csrs => csrs.value(csrs.state.get(L.MIP) & csrs.state.get(L.MIDELEG), 0),
    write: (csrs, row, lo) => writeMip(csrs, lo, Number(row.writable) & csrs.state.get(L.MIDELEG)),
  },

  menvcfg: { write: writeMenvcfg },
  senvcfg: {
    write: ({ state: s }, _row, lo) => s.set(L.SENVCFG, legalEnvcfg(s.get(L.SENVCFG), lo)),
  },
  stimecmp: {
    write: (csrs, row, lo, hi) => {
      csrs.state.put(L.csrAt(row), lo, hi);
      timerChanged(csrs);
    },
  },

  /** A write with a mode that does not exist is ignored as a whole (Priv §10.1.11). */
  satp: {
    write: (csrs, row, lo, hi) => {
      const mode = hi >>> 28;
      if (mode !== F.SATP_BARE && mode !== F.SATP_SV39 && mode !== F.SATP_SV48) return;
      csrs.state.put(L.csrAt(row), lo, hi);
      csrs.mmu.tlb.flushTranslated();
      csrs.changedView = true;
    },
  },

  pmpcfg: {
    write: (csrs, row, lo, hi) => {
      csrs.mmu.pmp.writeCfg((row.number - PMPCFG0) >> 1, lo, hi);
      permissionsChanged(csrs);
    },
  },
  pmpaddr: {
    write: (csrs, row, lo, hi) => {
      csrs.mmu.pmp.writeAddr(row.number - PMPADDR0, lo, hi);
      permissionsChanged(csrs);
    },
  },
};

function writeMstatus(csrs: CsrState, _row: CsrRow, lo: number): void {
  const s = csrs.state;
  const old = s.get(L.MSTATUS);
  const value = legalMstatus(old, lo, F.MSTATUS_MASK);
  s.set(L.MSTATUS, value);
  s.set(L.RECHECK, 1);
  if ((old ^ value) & F.MXR) csrs.mmu.tlb.flushReads();
  if (updateDataView(s) || (old ^ value) & F.MXR) csrs.changedView = true;
}

function writeMip(csrs: CsrState, lo: number, mask: number): void {
  const s = csrs.state;
  s.set(L.MIP, (s.get(L.MIP) & ~mask) | (lo & mask));
  s.set(L.RECHECK, 1);
}

/** The low half of menvcfg or senvcfg after a write; a reserved CBIE keeps the old field. */
function legalEnvcfg(old: number, value: number): number {
  const mask = (value & F.CBIE) === F.CBIE_RESERVED ? F.ENVCFG_MASK & ~F.CBIE : F.ENVCFG_MASK;
  return (old & ~mask) | (value & mask);
}

/** The fields of the high half of menvcfg that a hart with these extensions has. */
export const menvcfgFields = (has: Extensions): number =>
  (has.has('sstc') ? F.STCE_HI : 0) |
  (has.has('svpbmt') ? F.PBMTE_HI : 0) |
  (has.has('svadu') ? F.ADUE_HI : 0);

function writeMenvcfg(csrs: CsrState, _row: CsrRow, lo: number, hi: number): void {
  const s = csrs.state;
  const had = csrs.hasStimecmp;
  const old = s.hi(L.MENVCFG);
  const value = hi & menvcfgFields(csrs.ports.extensions);
  s.put(L.MENVCFG, legalEnvcfg(s.get(L.MENVCFG), lo), value);
  if ((old ^ value) & (F.PBMTE_HI | F.ADUE_HI)) {
    // The legality of translations depends on both, so a change drops all cached ones.
    csrs.mmu.tlb.flushTranslated();
    csrs.changedView = true;
  }
  if (csrs.hasStimecmp !== had) timerChanged(csrs);
}

function timerChanged(csrs: CsrState): void {
  const s = csrs.state;
  csrs.ports.timerChanged?.(s.get(L.HARTID));
  s.set(L.RECHECK, 1);
}

function permissionsChanged(csrs: CsrState): void {
  csrs.mmu.tlb.flushAll();
  csrs.changedView = true;
}
