// Translation from virtual to physical: privilege, walk, PMP and the choice of TLB entries
// (docs/architecture.md, "Views and TLBs"). Every slow access finds its physical address through
// `locate`, which alone maps named failures to trap causes. Hot after every TLB miss: no
// allocation, no BigInt.

import * as C from './cause.ts';
import {
  DATA_VIEW,
  FETCH_VIEW,
  MSTATUS,
  SATP,
  TLB_EXEC,
  TLB_READ,
  TLB_WRITE,
  TRAP_CAUSE,
  TRAP_TVAL,
  WALK,
  WALK_BARE,
  WALK_M,
  WALK_NONE,
} from './layout.ts';
import { MXR } from './mstatus.ts';
import { MIXED, PMP_R, PMP_W, PMP_X, Pmp } from './pmp.ts';
import type { HartPorts } from './ports.ts';
import type { State } from './state.ts';
import { Tlb } from './tlb.ts';
import {
  ACCESS_FAULT,
  type Access,
  FETCH,
  LOAD,
  PAGE_FAULT,
  PTE_D,
  PTE_R,
  PTE_W,
  PTE_X,
  STORE,
  SV39,
  Walker,
} from './walk.ts';

const VIEW_U = 0;
const VIEW_SUM = 2;
export const VIEW_M = 3;

/** Causes by access (load, store, fetch). */
const PAGE_CAUSE = [C.LOAD_PAGE, C.STORE_PAGE, C.INSN_PAGE] as const;
const ACCESS_CAUSE = [C.LOAD_ACCESS, C.STORE_ACCESS, C.INSN_ACCESS] as const;
const NEED = [PMP_R, PMP_W, PMP_X] as const;
const TABLE = [TLB_READ, TLB_WRITE, TLB_EXEC] as const;

export class Mmu {
  readonly tlb: Tlb;
  readonly pmp: Pmp;
  readonly #state: State;
  readonly #ports: HartPorts;
  readonly #walker: Walker;
  readonly #firstPage: number;
  readonly #pages: number;
  readonly #hostBase: number;

  constructor(state: State, ports: HartPorts) {
    this.#state = state;
    this.#ports = ports;
    this.#firstPage = ports.ram.base / 4096;
    this.#pages = Math.floor(ports.ram.bytes / 4096);
    this.#hostBase = ports.ram.hostBase;
    this.pmp = new Pmp(state, ports.ram);
    this.tlb = new Tlb(state, () => this.#chooseWalk());
    this.#walker = new Walker(state, ports, this.pmp);
  }

  /**
   * Stores in the window how the engine may serve misses itself: only if PMP restricts no page of
   * RAM.
   */
  #chooseWalk(): void {
    const s = this.#state;
    s.set(WALK_M, this.pmp.allowsAll(true) ? WALK_BARE : WALK_NONE);
    let walk = WALK_NONE;
    if (this.pmp.allowsAll(false)) {
      const mode = s.hi(SATP) >>> 28;
      const root = (s.hi(SATP) & 0xfff) * 2 ** 32 + (s.get(SATP) >>> 0) - this.#firstPage;
      if (mode === 0) walk = WALK_BARE;
      else if (mode === SV39 && root >= 0 && root < this.#pages) {
        walk = this.#hostBase + root * 4096;
        // The walk in WebAssembly checks only the tables below the root. A store to the root
        // flushes, and a flush calls this function again.
        this.#ports.code.tableRead?.(root, 2);
      }
    }
    s.set(WALK, walk | 0);
  }

  /**
   * Physical address of [va, va + bytes), which must not cross a page, or -1 after recording cause
   * and tval. Fills the TLB. Guest failures: page fault or access fault of the access' kind, tval =
   * va.
   */
  locate(lo: number, hi: number, access: Access, bytes: number): number {
    const page = this.locatePage(lo, hi, access, bytes);
    return page < 0 ? -1 : page * 4096 + (lo & 0xfff);
  }

  /** Like `locate`, but only the page number, a small integer. */
  locatePage(lo: number, hi: number, access: Access, bytes: number): number {
    const view = this.#state.get(access === FETCH ? FETCH_VIEW : DATA_VIEW);
    const cached = this.#tlbPage(lo, hi, access, view);
    if (cached >= 0) return cached;
    const page = this.#translate(lo, hi, access, view, true);
    if (page < 0) return this.#fail(page, lo, hi, access);
    const permissions = this.pmp.page(page, view === VIEW_M);
    if (access === FETCH && this.#isRam(page)) this.#ports.code.fetched?.(lo, hi, page - this.#firstPage);
    if (permissions === MIXED) {
      const pa = page * 4096 + (lo & 0xfff);
      return this.pmp.allows(pa, bytes, NEED[access], view === VIEW_M)
        ? page
        : this.#fail(ACCESS_FAULT, lo, hi, access);
    }
    if ((permissions & NEED[access]) === 0) return this.#fail(ACCESS_FAULT, lo, hi, access);
    this.#refill(lo, hi, access, view, page, permissions);
    return page;
  }

  /**
   * Puts a page of code into the TLB before it is fetched, where the guest cannot see that: its PTE
   * has A, and PMP permits all of it.
   */
  prefetch(lo: number, hi: number): void {
    const view = this.#state.get(FETCH_VIEW);
    const page = this.#translate(lo, hi, FETCH, view, false);
    if (page < 0 || !(this.#isBare(view) || this.#walker.wasMarked)) return;
    const permissions = this.pmp.page(page, view === VIEW_M);
    if (permissions !== MIXED && (permissions & PMP_X) !== 0) this.locatePage(lo, hi, FETCH, 2);
  }

  /**
   * Physical address for a debugger, in the current view or another, without side effects; below
   * zero = none.
   */
  peek(
    lo: number,
    hi: number,
    access: Access,
    view = this.#state.get(access === FETCH ? FETCH_VIEW : DATA_VIEW),
  ): number {
    const page = this.#translate(lo, hi, access, view, false);
    return page < 0 ? page : page * 4096 + (lo & 0xfff);
  }

  /** Records a trap of the slow path, which `takeTrap` enters later. Returns -1. */
  fail(cause: number, lo: number, hi: number): number {
    this.#state.set(TRAP_CAUSE, cause);
    this.#state.put(TRAP_TVAL, lo, hi);
    return -1;
  }

  #fail(failure: number, lo: number, hi: number, access: Access): number {
    return this.fail((failure === PAGE_FAULT ? PAGE_CAUSE : ACCESS_CAUSE)[access], lo, hi);
  }

  #tlbPage(lo: number, hi: number, access: Access, view: number): number {
    const page = this.tlb.probe(TABLE[access], view, lo, hi);
    if (access !== STORE || page < 0) return page;
    // The page no longer holds code: the access misses, and the refill makes the entry fast again.
    const stale =
      this.tlb.isSlow(TLB_WRITE, view, lo) &&
      this.#isRam(page) &&
      !this.#ports.code.holdsCode(page - this.#firstPage);
    return stale ? -1 : page;
  }

  #translate(lo: number, hi: number, access: Access, view: number, update: boolean): number {
    if (this.#isBare(view)) {
      // Page numbers below 2^31 only, as in `walk`.
      return hi >>> 0 < 2 ** 11 ? (hi << 20) | (lo >>> 12) : ACCESS_FAULT;
    }
    const mxr = (this.#state.get(MSTATUS) & MXR) !== 0;
    return this.#walker.walk(lo, hi, access, view === VIEW_U, view === VIEW_SUM, mxr, update);
  }

  /** Are virtual addresses physical ones? */
  #isBare(view: number): boolean {
    return view === VIEW_M || this.#state.hi(SATP) >>> 28 === 0;
  }

  #isRam(page: number): boolean {
    const index = page - this.#firstPage;
    return index >= 0 && index < this.#pages;
  }

  #refill(lo: number, hi: number, access: Access, view: number, page: number, permissions: number): void {
    const isRam = this.#isRam(page);
    const bare = this.#isBare(view);
    const pte = bare ? PTE_R | PTE_W | PTE_X | PTE_D : this.#walker.pte;
    if (!bare && this.#walker.pages > 1) this.tlb.noteLarge(lo, hi, this.#walker.pages);
    if (access === FETCH) {
      // The engine fills in the decoded page; it is 0 until then.
      if (isRam) this.tlb.install(TLB_EXEC, view, lo, hi, 0, page, false);
      return;
    }
    const index = page - this.#firstPage;
    const addend = isRam ? (this.#hostBase + index * 4096 - (lo & ~0xfff)) | 0 : 0;
    // The PTE of a store is readable, and a load from a page is often followed by a store: one walk
    // fills both tables. But it fills the other table only if its entry is free; otherwise a copy
    // between pages of equal index would miss at every access.
    if ((permissions & PMP_R) !== 0 && (access === LOAD || this.tlb.isFree(TLB_READ, view, lo)))
      this.tlb.install(TLB_READ, view, lo, hi, addend, page, !isRam);
    if (access === LOAD && !this.tlb.isFree(TLB_WRITE, view, lo)) return;
    if ((permissions & PMP_W) === 0 || (pte & (PTE_W | PTE_D)) !== (PTE_W | PTE_D)) return;
    const { code } = this.#ports;
    if (isRam && access === STORE) code.dirtied?.(index);
    else if (isRam && code.isClean?.(index)) return;
    const slow = !isRam || code.holdsCode(index);
    this.tlb.install(TLB_WRITE, view, lo, hi, addend, page, slow);
  }
}
