// The interfaces that a hart needs: guest RAM, the device bus, the clock and the owner of
// translated code. The machine composes them; tests pass stubs.

import type { Bus } from '../bus/bus.ts';
import type { Ram } from '../bus/ram.ts';
import type { Extensions } from '../isa/index.ts';

/**
 * The effect of a store to a page table on cached translations: it may change some; it fills
 * invalid entries, which are never cached; or it is the walk's own store of A and D, which changes
 * no cached translation.
 */
export type TableEffect = 'changes' | 'fills' | 'none';

/**
 * The engine's knowledge of which RAM pages hold decoded or translated code, or page tables that a
 * walk has read. Pages count from the start of RAM.
 */
export interface CodePort {
  /**
   * True = no write entry may be installed for the page, and every store to it must be reported.
   */
  holdsCode(page: number): boolean;
  /** A store of a hart changed [pa, pa + bytes), inside one page for which `holdsCode` was true. */
  stored(pa: number, bytes: number, effect?: TableEffect): void;
  /**
   * No write entry may be installed for the page before `dirtied`: its first store must be seen.
   */
  isClean?(page: number): boolean;
  /** Somebody wants to know the times of stores, those of the walker too. */
  isObserved?(): boolean;
  /** A hart stores to the page now. */
  dirtied?(page: number): void;
  /**
   * A walk whose result is cached reads a table of this level, 0 = the last, in this page: stores
   * to it must be reported.
   */
  tableRead?(page: number, level: number): void;
  /** A hart is about to fetch code at a virtual address from this page, which is new to its TLB. */
  fetched?(lo: number, hi: number, page: number): void;
  /** Starts or stops reports of all stores to a page. */
  watch?(page: number, isOn: boolean): void;
}

export interface HartPorts {
  readonly memory: WebAssembly.Memory;
  readonly ram: Ram;
  readonly bus: Bus;
  /** Optional extensions of the hart; constant. */
  readonly extensions: Extensions;
  /** mtime, the value of the `time` CSR; exact in the middle of a quantum. Below 2^53. */
  time(): number;
  /**
   * Sstc: stimecmp or menvcfg.STCE of a hart has changed; STIP follows `time >= stimecmp` while
   * STCE is set.
   */
  timerChanged?(hart: number): void;
  /** A page of U-mode code is about to be looked up. True: the engine must stop in front of it. */
  stopsAtUser?: () => boolean;
  /** A hart that waited, or was stopped, can run again. */
  woken?: () => void;
  /** Replaced by the engine when it is attached. */
  code: CodePort;
}

/** For use before an engine is attached, and in tests without one. */
export const NO_CODE: CodePort = { holdsCode: () => false, stored: () => {} };
