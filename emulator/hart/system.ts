// The instructions that host code executes: Zicsr, ecall, ebreak, mret, sret, wfi, sfence.vma,
// Svinval and fence.i. `system` does everything: afterwards PC is the next instruction, IC has been
// counted down, rd is written and traps are entered. The engine syncs PC and IC before and reloads
// them after.

import { CBCFE, CBIE, CBZE } from '../isa/csr-fields.ts';
import { CACHE_BLOCK_BYTES } from '../isa/index.ts';
import type { SlowAccess } from './access.ts';
import * as C from './cause.ts';
import type { CsrFile } from './csr-file.ts';
import * as L from './layout.ts';
import type { Mmu } from './mmu.ts';
import { TSR, TVM, TW } from './mstatus.ts';
import type { State } from './state.ts';
import { mret, sret, takeTrap } from './trap.ts';

/** The engine's next action. */
export const CONTINUE = 0;
/** PC, privilege, view or mapping may have changed: leave compiled code, look up PC again. */
export const REDIRECT = 1;
/** `wfi` with nothing enabled pending: the machine advances time (WAITING is set). */
export const WAIT = 2;

const OPCODE_MISC_MEM = 0x0f;
/** By bits 31:20 of a cache-block instruction: inval, clean, flush, zero. */
const CBO_ENABLE: readonly (number | undefined)[] = [CBIE, CBCFE, CBCFE, undefined, CBZE];
const FUNCT7_SFENCE_VMA = 0x09;
const FUNCT7_SINVAL_VMA = 0x0b;
const SFENCE_W_INVAL = 0x1800_0073;
const SFENCE_INVAL_IR = 0x1810_0073;
const ECALL = 0x0000_0073;
const EBREAK = 0x0010_0073;
const SRET = 0x1020_0073;
const MRET = 0x3020_0073;
const WFI = 0x1050_0073;

export class SystemUnit {
  readonly #s: State;
  readonly #csr: CsrFile;
  readonly #mmu: Mmu;
  readonly #hasSvinval: boolean;
  readonly #access: SlowAccess;
  /**
   * Firmware built into the host: serves an `ecall` from S-mode, which has already retired, instead
   * of a trap to M. The result is one of the three above.
   */
  firmware: (() => number) | undefined;

  constructor(state: State, csr: CsrFile, mmu: Mmu, access: SlowAccess) {
    this.#s = state;
    this.#csr = csr;
    this.#mmu = mmu;
    this.#hasSvinval = csr.ports.extensions.has('svinval');
    this.#access = access;
  }

  /**
   * Executes the 32-bit instruction `word` at PC; `c.ebreak` arrives as EBREAK. Anything unknown is
   * illegal.
   */
  execute(word: number): number {
    if ((word & 0x7f) === OPCODE_MISC_MEM) return this.#miscMem(word);
    const funct3 = (word >>> 12) & 7;
    if (funct3 !== 0) return funct3 === 4 ? this.illegal(word) : this.#csrAccess(word, funct3);
    switch (word) {
      case ECALL:
        if (this.firmware && this.#s.get(L.PRIV) === C.S) {
          this.#next();
          return this.firmware();
        }
        return this.trap(C.ECALL_U + this.#s.get(L.PRIV), 0, 0);
      case EBREAK:
        // tval = 0 like QEMU 7.2; the specification also allows PC.
        return this.trap(C.BREAKPOINT, 0, 0);
      case MRET:
        if (this.#s.get(L.PRIV) !== C.M) return this.illegal(word);
        mret(this.#s);
        return this.#retired();
      case SRET:
        if (!this.#supervisorUnless(TSR)) return this.illegal(word);
        sret(this.#s);
        return this.#retired();
      case WFI:
        return this.#wfi(word);
      case SFENCE_W_INVAL:
      case SFENCE_INVAL_IR:
        // They order sinval.vma with stores and fetches; sinval.vma itself is complete here. TVM
        // does not apply.
        if (!this.#hasSvinval || this.#s.get(L.PRIV) === C.U) return this.illegal(word);
        this.#next();
        return REDIRECT;
      default:
        return this.#sfence(word);
    }
  }

  /** Illegal instruction; tval = its bits, 16 of them for a compressed one. */
  illegal(word: number): number {
    return this.trap(C.ILLEGAL, word, 0);
  }

  trap(cause: number, tvalLo: number, tvalHi: number): number {
    this.#mmu.fail(cause, tvalLo, tvalHi);
    takeTrap(this.#s);
    return REDIRECT;
  }

  #next(): number {
    this.#s.add(L.PC, 4);
    this.#s.set(L.IC, this.#s.get(L.IC) - 1);
    return CONTINUE;
  }

  #retired(): number {
    this.#s.set(L.IC, this.#s.get(L.IC) - 1);
    return REDIRECT;
  }

  #supervisorUnless(trapBit: number): boolean {
    const priv = this.#s.get(L.PRIV);
    return priv === C.M || (priv === C.S && (this.#s.get(L.MSTATUS) & trapBit) === 0);
  }

  #csrAccess(word: number, funct3: number): number {
    const csr = word >>> 20;
    const rd = (word >>> 7) & 31;
    const rs1 = (word >>> 15) & 31;
    const swap = (funct3 & 3) === 1;
    const write = swap || rs1 !== 0;
    const file = this.#csr;
    if (!file.mayAccess(csr, write)) return this.illegal(word);
    const s = this.#s;
    const immediate = (funct3 & 4) !== 0;
    const lo = immediate ? rs1 : s.get(L.X + 8 * rs1);
    const hi = immediate ? 0 : s.hi(L.X + 8 * rs1);
    if (!swap || rd !== 0) file.read(csr);
    const oldLo = file.lo;
    const oldHi = file.hi;
    file.changedView = false;
    if (swap) {
      file.write(csr, lo, hi);
    } else if (write) {
      file.readForUpdate(csr);
      if (funct3 & 1) file.write(csr, file.lo & ~lo, file.hi & ~hi);
      else file.write(csr, file.lo | lo, file.hi | hi);
    }
    s.setX(rd, oldLo, oldHi);
    this.#next();
    return file.changedView ? REDIRECT : CONTINUE;
  }

  #wfi(word: number): number {
    const s = this.#s;
    if (!this.#supervisorUnless(TW)) return this.illegal(word);
    this.#next();
    if (((s.get(L.MIP) | s.hi(L.MIP)) & s.get(L.MIE)) !== 0) {
      s.set(L.RECHECK, 1);
      return REDIRECT;
    }
    s.set(L.WAITING, 1);
    return WAIT;
  }

  /** sfence.vma, and sinval.vma, which may have the same effect at once (Svinval). */
  #sfence(word: number): number {
    const s = this.#s;
    const funct7 = word >>> 25;
    const exists = funct7 === FUNCT7_SFENCE_VMA || (funct7 === FUNCT7_SINVAL_VMA && this.#hasSvinval);
    if (!exists || ((word >>> 7) & 31) !== 0 || !this.#supervisorUnless(TVM)) return this.illegal(word);
    const rs1 = (word >>> 15) & 31;
    if (rs1 === 0) this.#mmu.tlb.flushTranslated();
    else this.#mmu.tlb.flushPage(s.get(L.X + 8 * rs1), s.hi(L.X + 8 * rs1));
    this.#next();
    return REDIRECT;
  }

  /**
   * Unpriv "CMO": enabled by menvcfg and senvcfg, permitted as a load or a store of the block, or
   * as a store (cbo.zero).
   */
  #cacheBlock(word: number): number {
    const enable = CBO_ENABLE[word >>> 20];
    if (enable === undefined || ((word >>> 7) & 31) !== 0 || !this.#isEnabled(enable))
      return this.illegal(word);
    const s = this.#s;
    const rs1 = L.X + 8 * ((word >>> 15) & 31);
    s.put(L.SLOW_ARG, s.get(rs1) & -CACHE_BLOCK_BYTES, s.hi(rs1));
    const isRefused = enable === CBZE ? this.#access.zeroBlock() : this.#access.manageBlock();
    if (isRefused !== 0) {
      // The effective address of a CMO is rs1, also in tval (CMO §2.5.3); the access is to its
      // block.
      s.put(L.TRAP_TVAL, s.get(rs1), s.hi(rs1));
      takeTrap(s);
      return REDIRECT;
    }
    return this.#next();
  }

  /** True if menvcfg and senvcfg enable the instructions of these bits (Priv §3.1.18, §10.1.10). */
  #isEnabled(bits: number): boolean {
    const s = this.#s;
    const priv = s.get(L.PRIV);
    if (priv === C.M) return true;
    return (s.get(L.MENVCFG) & bits & (priv === C.U ? s.get(L.SENVCFG) : -1)) !== 0;
  }

  /**
   * fence.i needs no work: stores to pages that hold code are reported to the engine when they
   * happen.
   */
  #miscMem(word: number): number {
    const funct3 = (word >>> 12) & 7;
    if (funct3 === 2) return this.#cacheBlock(word);
    if (funct3 > 1) return this.illegal(word);
    this.#next();
    return funct3 === 1 ? REDIRECT : CONTINUE;
  }
}
