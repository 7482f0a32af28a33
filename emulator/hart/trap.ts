// Traps in and out (Priv §3.1.6, §3.1.7, §3.1.8, §3.3.2, §10.1.1): entry with delegation and
// vectoring, mret, sret, and the choice among pending interrupts. Hot: every system call uses it
// twice; no allocation, no BigInt. Reservations survive traps, as the specification allows; a
// kernel that must end one executes an SC.

import * as C from './cause.ts';
import * as L from './layout.ts';
import * as B from './mstatus.ts';
import type { State } from './state.ts';
import { setPriv } from './view.ts';

/** Decreasing priority (Priv §3.1.9): MEI, MSI, MTI, SEI, SSI, STI. */
const PRIORITY = [11, 3, 7, 9, 1, 5] as const;

/**
 * Enters the trap in TRAP_CAUSE and TRAP_TVAL; PC is the instruction that trapped or, for
 * interrupts, the next one. An exception spends one unit of the instruction count, so that time
 * passes in a trap loop.
 */
export function takeTrap(s: State): void {
  const cause = s.get(L.TRAP_CAUSE);
  const code = cause & 0x7fff_ffff;
  const interrupt = cause < 0;
  if (!interrupt) {
    s.set(L.IC, s.get(L.IC) - 1);
    s.add(L.EXCEPTIONS, 1);
  }
  const priv = s.get(L.PRIV);
  const delegation = s.get(interrupt ? L.MIDELEG : L.MEDELEG);
  const toS = priv !== C.M && ((delegation >>> code) & 1) === 1;
  const mstatus = s.get(L.MSTATUS);
  if (toS) {
    enter(s, L.SEPC, L.SCAUSE, L.STVAL, L.STVEC, code, interrupt);
    const spie = mstatus & B.SIE ? B.SPIE : 0;
    s.set(L.MSTATUS, (mstatus & ~(B.SIE | B.SPIE | B.SPP)) | spie | (priv === C.S ? B.SPP : 0));
    setPriv(s, C.S);
  } else {
    enter(s, L.MEPC, L.MCAUSE, L.MTVAL, L.MTVEC, code, interrupt);
    const mpie = mstatus & B.MIE_BIT ? B.MPIE : 0;
    s.set(L.MSTATUS, (mstatus & ~(B.MIE_BIT | B.MPIE | B.MPP)) | mpie | (priv << B.MPP_SHIFT));
    setPriv(s, C.M);
  }
}

function enter(
  s: State,
  epc: number,
  cause: number,
  tval: number,
  tvec: number,
  code: number,
  interrupt: boolean,
): void {
  s.copy(epc, L.PC);
  s.put(cause, code, interrupt ? 0x8000_0000 | 0 : 0);
  s.copy(tval, L.TRAP_TVAL);
  const vector = s.get(tvec);
  s.put(L.PC, vector & ~3, s.hi(tvec));
  if (interrupt && vector & 1) s.add(L.PC, 4 * code);
}

/** Precondition: M-mode. */
export function mret(s: State): void {
  const mstatus = s.get(L.MSTATUS);
  const priv = (mstatus & B.MPP) >> B.MPP_SHIFT;
  const mie = mstatus & B.MPIE ? B.MIE_BIT : 0;
  const mprv = priv === C.M ? mstatus & B.MPRV : 0;
  s.set(L.MSTATUS, (mstatus & ~(B.MIE_BIT | B.MPP | B.MPRV)) | mie | B.MPIE | mprv);
  s.copy(L.PC, L.MEPC);
  setPriv(s, priv);
  s.set(L.RECHECK, 1);
}

/** Precondition: S- or M-mode, TSR checked. */
export function sret(s: State): void {
  const mstatus = s.get(L.MSTATUS);
  const priv = mstatus & B.SPP ? C.S : C.U;
  const sie = mstatus & B.SPIE ? B.SIE : 0;
  s.set(L.MSTATUS, (mstatus & ~(B.SIE | B.SPP | B.MPRV)) | sie | B.SPIE);
  s.copy(L.PC, L.SEPC);
  setPriv(s, priv);
  s.set(L.RECHECK, 1);
}

/** Code of the interrupt that must be taken before the next instruction, or -1. */
export function pendingInterrupt(s: State): number {
  const pending = (s.get(L.MIP) | s.hi(L.MIP)) & s.get(L.MIE);
  if (pending === 0) return -1;
  const priv = s.get(L.PRIV);
  const mstatus = s.get(L.MSTATUS);
  const delegated = s.get(L.MIDELEG);
  let ready = 0;
  if (priv < C.M || mstatus & B.MIE_BIT) ready = pending & ~delegated;
  if (ready === 0 && (priv < C.S || (priv === C.S && mstatus & B.SIE))) ready = pending & delegated;
  if (ready === 0) return -1;
  for (const code of PRIORITY) if ((ready >>> code) & 1) return code;
  return -1;
}
