// The page-table walk of Sv39 and Sv48 (Priv §10.3.2, §10.4, §10.5). A walk ends in a physical page
// or in a named failure; `mmu.ts` turns the name into a cause. Hot: small integers only, because
// addresses above 2^31 would be allocated on V8's heap whenever they are returned. A and D: with
// menvcfg.ADUE the hart sets A, and D on stores, in the PTE (Svadu); without, a page fault (Svade).
// Svpbmt: with menvcfg.PBMTE a leaf may have PBMT 1 (NC) or 2 (IO) in bits 62:61; both have no
// effect here, because every access is ordered and nothing is cached; 3 is reserved. Svnapot: N in
// bit 63 of a leaf of level 0 with ppn[3:0] = 8 stands for 64 KiB. Everything else in bits 63:54,
// and N, PBMT, A, D or U in a non-leaf PTE, is reserved: page fault.
// Divergence: page tables in device memory are an access fault, although a bus would serve the
// access.

import { ADUE_HI, PBMTE_HI } from '../isa/csr-fields.ts';
import { MENVCFG, SATP } from './layout.ts';
import { MIXED, PMP_R, PMP_W, type Pmp } from './pmp.ts';
import type { HartPorts } from './ports.ts';
import type { State } from './state.ts';

export const LOAD = 0;
export const STORE = 1;
export const FETCH = 2;
export type Access = typeof LOAD | typeof STORE | typeof FETCH;

/** Results of a walk below zero. */
export const PAGE_FAULT = -1;
export const ACCESS_FAULT = -2;

export const PTE_V = 1;
export const PTE_R = 2;
export const PTE_W = 4;
export const PTE_X = 8;
export const PTE_U = 16;
export const PTE_A = 64;
export const PTE_D = 128;
/** N, PBMT and the reserved bits 60:54, in the high half. */
const PTE_N = 0x8000_0000 | 0;
const PTE_PBMT = 3 << 29;
const PTE_RESERVED = 0x1fc0_0000;
/** Bits 53:32, the rest of the page number. */
const PTE_PPN = 0x003f_ffff;
/** The one size of Svnapot: 16 pages, marked by ppn[3:0] = 8. */
const NAPOT_PAGES = 16;
const NAPOT_MARK = 8;

export const SV39 = 8;
const PAGE = 4096;
/**
 * Page numbers from here on are refused: nothing is mapped there, and smaller ones are small
 * integers for V8.
 */
export const PPN_END = 2 ** 31;

export class Walker {
  /** Low half of the leaf PTE of the last successful walk, with the current A and D. */
  pte = 0;
  /** Pages that the leaf maps. */
  pages = 1;
  /** True if its PTE in memory had A, and D for a store, when the walk came. */
  wasMarked = true;
  readonly #state: State;
  readonly #pmp: Pmp;
  readonly #ports: Pick<HartPorts, 'code'>;
  readonly #firstPage: number;
  readonly #pages: number;
  readonly #hasNapot: boolean;
  /** Index of the first word of RAM. */
  readonly #ramWord: number;

  constructor(state: State, ports: Pick<HartPorts, 'code' | 'extensions' | 'ram'>, pmp: Pmp) {
    const { ram } = ports;
    this.#hasNapot = ports.extensions.has('svnapot');
    this.#state = state;
    this.#pmp = pmp;
    this.#ports = ports;
    this.#firstPage = ram.base / PAGE;
    this.#pages = Math.floor(ram.bytes / PAGE);
    this.#ramWord = ram.hostBase / 4;
  }

  /**
   * Physical page number of a va under the current satp (not Bare), or PAGE_FAULT or ACCESS_FAULT.
   * `user`: effective privilege U, else S. With `update` false A and D are not changed (debuggers);
   * otherwise the result may be cached.
   */
  walk(
    lo: number,
    hi: number,
    access: Access,
    user: boolean,
    sum: boolean,
    mxr: boolean,
    update = true,
  ): number {
    const i32 = this.#state.i32;
    const satpHi = this.#state.hi(SATP);
    const sv39 = satpHi >>> 28 === SV39;
    // Bits above the va's size must copy its top bit.
    const top = sv39 ? (hi << 25) >> 25 : (hi << 16) >> 16;
    if (top !== hi) return PAGE_FAULT;
    const envcfg = this.#state.hi(MENVCFG);
    let ppn = (satpHi & 0xfff) * 2 ** 32 + (this.#state.get(SATP) >>> 0);
    for (let level = sv39 ? 2 : 3; level >= 0; level--) {
      const at = this.#entry(ppn, vpnField(lo, hi, level), PMP_R);
      if (at < 0) return ACCESS_FAULT;
      if (update) this.#ports.code.tableRead?.(ppn - this.#firstPage, level);
      const pte = i32[at]!;
      const pteHi = i32[at + 1]!;
      if ((pte & PTE_V) === 0 || (pteHi & PTE_RESERVED) !== 0) return PAGE_FAULT;
      if ((pte & (PTE_R | PTE_W)) === PTE_W) return PAGE_FAULT;
      const table = ppn;
      ppn = (pteHi & PTE_PPN) * 2 ** 22 + (pte >>> 10);
      if ((pte & (PTE_R | PTE_X)) === 0) {
        if ((pte & (PTE_A | PTE_D | PTE_U)) !== 0 || (pteHi & ~PTE_PPN) !== 0) return PAGE_FAULT;
        continue;
      }
      if ((pteHi & PTE_PBMT) !== 0 && !this.#legalType(pteHi, envcfg)) return PAGE_FAULT;
      if (!permitted(pte, access, user, sum, mxr)) return PAGE_FAULT;
      let inLeaf = (1 << (9 * level)) - 1;
      if ((pteHi & PTE_N) !== 0) {
        if (!this.#hasNapot || level !== 0 || ppn % NAPOT_PAGES !== NAPOT_MARK) return PAGE_FAULT;
        inLeaf = NAPOT_PAGES - 1;
        ppn -= NAPOT_MARK;
      }
      if (ppn % (inLeaf + 1) !== 0) return PAGE_FAULT;
      const wanted = pte | PTE_A | (access === STORE ? PTE_D : 0);
      if (wanted !== pte && (envcfg & ADUE_HI) === 0) return PAGE_FAULT;
      if (wanted !== pte && update) {
        if (this.#entry(table, vpnField(lo, hi, level), PMP_W) < 0) return ACCESS_FAULT;
        i32[at] = wanted;
        this.#announce(table, at);
      }
      this.pte = wanted;
      this.wasMarked = wanted === pte;
      this.pages = inLeaf + 1;
      const page = ppn + (((hi << 20) | (lo >>> 12)) & inLeaf);
      return page < PPN_END ? page : ACCESS_FAULT;
    }
    return PAGE_FAULT;
  }

  /**
   * A page table may be code, too: the store of its new bits is reported like every store. With an
   * engine `holdsCode` is true, because the walk has just reported its read of the table; so the
   * page becomes dirty, too.
   */
  #announce(table: number, at: number): void {
    const { code } = this.#ports;
    if (code.holdsCode(table - this.#firstPage))
      code.stored(table * PAGE + ((at * 4) & (PAGE - 1)), 8, 'none');
  }

  /** For a nonzero PBMT: true if Svpbmt allows it. */
  #legalType(pteHi: number, envcfg: number): boolean {
    return (envcfg & PBMTE_HI) !== 0 && (pteHi & PTE_PBMT) !== PTE_PBMT;
  }

  /**
   * Index into i32 of an entry of the table in page `ppn`, or -1 when it is not in RAM or PMP
   * forbids the access.
   */
  #entry(ppn: number, index: number, need: number): number {
    const page = ppn - this.#firstPage;
    if (!(page >= 0 && page < this.#pages)) return -1;
    const permissions = this.#pmp.page(ppn, false);
    if (permissions === MIXED) {
      if (!this.#pmp.allows(ppn * PAGE + 8 * index, 8, need, false)) return -1;
    } else if ((permissions & need) === 0) return -1;
    return this.#ramWord + page * (PAGE / 4) + 2 * index;
  }
}

/** Nine bits of the va: VPN[level]. */
function vpnField(lo: number, hi: number, level: number): number {
  switch (level) {
    case 0:
      return (lo >>> 12) & 0x1ff;
    case 1:
      return (lo >>> 21) & 0x1ff;
    case 2:
      return (lo >>> 30) | ((hi & 0x7f) << 2);
    default:
      return (hi >>> 7) & 0x1ff;
  }
}

function permitted(pte: number, access: Access, user: boolean, sum: boolean, mxr: boolean): boolean {
  if (user) {
    if ((pte & PTE_U) === 0) return false;
  } else if ((pte & PTE_U) !== 0 && (access === FETCH || !sum)) {
    return false;
  }
  if (access === FETCH) return (pte & PTE_X) !== 0;
  if (access === STORE) return (pte & PTE_W) !== 0;
  return (pte & PTE_R) !== 0 || (mxr && (pte & PTE_X) !== 0);
}
