// One row per CSR: how it reads, what a write keeps, and conditions beyond the privilege in its number.
// Rows without `write` ignore writes (read-only fields of a writable CSR) unless the number itself is read-only.

import { ALL_INTERRUPTS, M, S_INTERRUPTS, SSIP, STIP } from './cause.ts';
import { counterRows } from './csr-counters.ts';
import type { CsrFile } from './csr-file.ts';
import { type CsrRow, constant, type Rows } from './csr-row.ts';
import * as L from './layout.ts';
import { legalMstatus, MSTATUS_MASK, MXR, SSTATUS_MASK, sdHi, TVM, UXL_HI, XLEN_HI } from './mstatus.ts';
import { updateDataView } from './view.ts';

/** RV64 with A C D F I M S U (Priv §3.1.1). */
const MISA_LO = 0x0014_112d;
const MISA_HI = 0x8000_0000 | 0;

/** Exceptions 0..9, 12, 13 and 15; a call from M cannot be delegated. */
const MEDELEG_MASK = 0xb3ff;
/** FIOM, which changes nothing because fences are total here, and the fields of Zicbom and Zicboz (Priv §3.1.18). */
const ENVCFG_LO = 0xf1;
/** CBIE: 2 is reserved. */
const CBIE = 0x30;
const CBIE_RESERVED = 0x20;
/** menvcfg.STCE, in the high half: S-mode has stimecmp (Sstc). */
const STCE_HI = 0x8000_0000 | 0;
const MCOUNTEREN_TM = 2;
const SATP_SV39 = 8;
const SATP_SV48 = 9;

export function rowsOf(file: CsrFile): Rows {
  const rows: Rows = new Array(4096);
  machineRows(file, rows);
  supervisorRows(file, rows);
  floatRows(file, rows);
  pmpRows(file, rows);
  counterRows(file, rows);
  // Trigger module (Debug 0.13 §5): tselect and tdata1..3 say that there is none.
  for (let csr = 0x7a0; csr <= 0x7a3; csr++) rows[csr] = constant(file, 0, 0);
  return rows;
}

/** A CSR whose writable bits are a mask of its slot. */
function stored(file: CsrFile, slot: number, maskLo = -1, maskHi = -1): CsrRow {
  const s = file.state;
  return {
    read: () => file.value(s.get(slot), s.hi(slot)),
    write: (lo, hi) => s.put(slot, lo & maskLo, hi & maskHi),
  };
}

/** mtvec, stvec: modes 0 and 1 exist, a write of another mode is ignored. */
function trapVector(file: CsrFile, slot: number): CsrRow {
  const s = file.state;
  return {
    read: () => file.value(s.get(slot), s.hi(slot)),
    write: (lo, hi) => {
      if ((lo & 2) === 0) s.put(slot, lo, hi);
    },
  };
}

function machineRows(file: CsrFile, rows: Rows): void {
  const s = file.state;
  // mvendorid, marchid, mimpid, mconfigptr: zero = not implemented.
  for (const csr of [0xf11, 0xf12, 0xf13, 0xf15]) rows[csr] = constant(file, 0, 0);
  rows[0xf14] = { read: () => file.value(s.get(L.HARTID), 0) };
  rows[0x300] = {
    read: () => file.value(s.get(L.MSTATUS), XLEN_HI | sdHi(s.get(L.MSTATUS))),
    write: lo => writeMstatus(file, lo, MSTATUS_MASK),
  };
  rows[0x301] = constant(file, MISA_LO, MISA_HI);
  rows[0x302] = stored(file, L.MEDELEG, MEDELEG_MASK, 0);
  rows[0x303] = recheck(file, stored(file, L.MIDELEG, S_INTERRUPTS, 0));
  rows[0x304] = recheck(file, stored(file, L.MIE, ALL_INTERRUPTS, 0));
  rows[0x305] = trapVector(file, L.MTVEC);
  rows[0x306] = stored(file, L.MCOUNTEREN, -1, 0);
  rows[0x30a] = {
    ...stored(file, L.MENVCFG),
    write: (lo, hi) => writeMenvcfg(file, lo, hi),
  };
  rows[0x340] = stored(file, L.MSCRATCH);
  rows[0x341] = stored(file, L.MEPC, ~1);
  rows[0x342] = stored(file, L.MCAUSE);
  rows[0x343] = stored(file, L.MTVAL);
  rows[0x344] = interruptPending(
    file,
    () => -1,
    () => (hasStimecmp(file) ? S_INTERRUPTS & ~STIP : S_INTERRUPTS),
  );
}

function supervisorRows(file: CsrFile, rows: Rows): void {
  const s = file.state;
  const delegated = (): number => s.get(L.MIDELEG);
  rows[0x100] = {
    read: () => {
      const lo = s.get(L.MSTATUS) & SSTATUS_MASK;
      file.value(lo, UXL_HI | sdHi(lo));
    },
    write: lo => writeMstatus(file, lo, SSTATUS_MASK),
  };
  rows[0x104] = recheck(file, {
    read: () => file.value(s.get(L.MIE) & delegated(), 0),
    write: lo => s.set(L.MIE, (s.get(L.MIE) & ~delegated()) | (lo & delegated())),
  });
  rows[0x105] = trapVector(file, L.STVEC);
  rows[0x106] = stored(file, L.SCOUNTEREN, -1, 0);
  rows[0x10a] = {
    ...stored(file, L.SENVCFG),
    write: lo => s.set(L.SENVCFG, legalEnvcfg(s.get(L.SENVCFG), lo)),
  };
  rows[0x140] = stored(file, L.SSCRATCH);
  rows[0x141] = stored(file, L.SEPC, ~1);
  rows[0x142] = stored(file, L.SCAUSE);
  rows[0x143] = stored(file, L.STVAL);
  rows[0x144] = interruptPending(file, delegated, () => SSIP);
  rows[0x14d] = {
    read: () => file.value(s.get(L.STIMECMP), s.hi(L.STIMECMP)),
    write: (lo, hi) => {
      s.put(L.STIMECMP, lo, hi);
      armTimer(file);
    },
    allowed: priv =>
      file.ports.extensions.has('sstc') &&
      (priv === M || (hasStimecmp(file) && (s.get(L.MCOUNTEREN) & MCOUNTEREN_TM) !== 0)),
  };
  rows[0x180] = {
    read: () => file.value(s.get(L.SATP), s.hi(L.SATP)),
    write: (lo, hi) => writeSatp(file, lo, hi),
    allowed: priv => priv === M || (s.get(L.MSTATUS) & TVM) === 0,
  };
}

function floatRows(file: CsrFile, rows: Rows): void {
  const s = file.state;
  rows[0x001] = {
    fp: true,
    read: () => file.value(s.get(L.FFLAGS), 0),
    write: lo => s.set(L.FFLAGS, lo & 31),
  };
  rows[0x002] = { fp: true, read: () => file.value(s.get(L.FRM), 0), write: lo => s.set(L.FRM, lo & 7) };
  rows[0x003] = {
    fp: true,
    read: () => file.value((s.get(L.FRM) << 5) | s.get(L.FFLAGS), 0),
    write: lo => {
      s.set(L.FFLAGS, lo & 31);
      s.set(L.FRM, (lo >> 5) & 7);
    },
  };
}

function pmpRows(file: CsrFile, rows: Rows): void {
  const s = file.state;
  const pmp = file.mmu.pmp;
  const flush = (): void => {
    file.mmu.tlb.flushAll();
    file.changedView = true;
  };
  for (const half of [0, 1]) {
    const slot = L.PMPCFG + 8 * half;
    rows[0x3a0 + 2 * half] = {
      read: () => file.value(s.get(slot), s.hi(slot)),
      write: (lo, hi) => {
        pmp.writeCfg(half, lo, hi);
        flush();
      },
    };
  }
  for (let i = 0; i < 16; i++) {
    const slot = L.PMPADDR + 8 * i;
    rows[0x3b0 + i] = {
      read: () => file.value(s.get(slot), s.hi(slot)),
      write: (lo, hi) => {
        pmp.writeAddr(i, lo, hi);
        flush();
      },
    };
  }
}

/** Interrupt enables changed: look for interrupts before the next instruction. */
function recheck(file: CsrFile, row: CsrRow): CsrRow {
  return {
    ...row,
    write: (lo, hi) => {
      row.write!(lo, hi);
      file.state.set(L.RECHECK, 1);
    },
  };
}

function interruptPending(file: CsrFile, visible: () => number, writable: () => number): CsrRow {
  const s = file.state;
  return recheck(file, {
    read: () => file.value((s.get(L.MIP) | s.hi(L.MIP)) & visible(), 0),
    base: () => file.value(s.get(L.MIP) & visible(), 0),
    write: lo => {
      const mask = writable() & visible();
      s.set(L.MIP, (s.get(L.MIP) & ~mask) | (lo & mask));
    },
  });
}

const hasStimecmp = (file: CsrFile): boolean => file.state.hi(L.MENVCFG) < 0;

/** The low half of menvcfg or senvcfg after a write; a reserved CBIE leaves that field as it was. */
function legalEnvcfg(old: number, value: number): number {
  const mask = (value & CBIE) === CBIE_RESERVED ? ENVCFG_LO & ~CBIE : ENVCFG_LO;
  return (old & ~mask) | (value & mask);
}

/** Sstc §1: stimecmp drives STIP while STCE is set. Like QEMU, setting STCE alone does not look at an old stimecmp. */
function writeMenvcfg(file: CsrFile, lo: number, hi: number): void {
  const had = hasStimecmp(file);
  file.state.put(
    L.MENVCFG,
    legalEnvcfg(file.state.get(L.MENVCFG), lo),
    hi & (file.ports.extensions.has('sstc') ? STCE_HI : 0),
  );
  if (had && !hasStimecmp(file)) file.ports.setTimer?.(file.state.get(L.HARTID), Infinity);
}

function armTimer(file: CsrFile): void {
  const s = file.state;
  const due = (s.hi(L.STIMECMP) >>> 0) * 2 ** 32 + (s.get(L.STIMECMP) >>> 0);
  file.ports.setTimer?.(s.get(L.HARTID), due);
  s.set(L.RECHECK, 1);
}

function writeMstatus(file: CsrFile, lo: number, mask: number): void {
  const s = file.state;
  const old = s.get(L.MSTATUS);
  const value = legalMstatus(old, lo, mask);
  s.set(L.MSTATUS, value);
  s.set(L.RECHECK, 1);
  if ((old ^ value) & MXR) file.mmu.tlb.flushReads();
  if (updateDataView(s) || (old ^ value) & MXR) file.changedView = true;
}

/** Modes other than Bare, Sv39 and Sv48 do not exist; the whole write is ignored (Priv §10.1.11). */
function writeSatp(file: CsrFile, lo: number, hi: number): void {
  const mode = hi >>> 28;
  if (mode !== 0 && mode !== SATP_SV39 && mode !== SATP_SV48) return;
  file.state.put(L.SATP, lo, hi);
  file.mmu.tlb.flushTranslated();
  file.changedView = true;
}
