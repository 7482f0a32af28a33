// Physical memory protection (Priv §3.7): 16 entries, granularity 4 bytes, OFF, TOR, NA4 and NAPOT,
// locks. The rules are decoded once per CSR write; accesses compare numbers. Addresses are below
// 2^53, which is exact; rules above that are rounded, which no access can detect because nothing is
// mapped there. WARL choices: R = 0 with W = 1 (reserved) clears W; bits 6:5 read zero. Without an
// active entry S and U may access nothing, as the specification demands of harts that implement
// PMP.

import type { Ram } from '../bus/ram.ts';
import { PMPADDR, PMPCFG } from './layout.ts';
import type { State } from './state.ts';

export const PMP_R = 1;
export const PMP_W = 2;
export const PMP_X = 4;
const ALL = PMP_R | PMP_W | PMP_X;
const A_SHIFT = 3;
const TOR = 1;
const NA4 = 2;
const LOCK = 0x80;
const COUNT = 16;
const PAGE = 4096;
/** Result of `page` if one rule does not cover the whole page. */
export const MIXED = -1;

interface Rule {
  first: number;
  end: number;
  /** Permissions of S and U, and of M. */
  user: number;
  machine: number;
}

export class Pmp {
  readonly #state: State;
  readonly #firstPage: number;
  /** Results of `page` for each page of RAM, plus 2; 0 = not computed yet. */
  readonly #user: Uint8Array;
  readonly #machine: Uint8Array;
  #rules: Rule[] = [];
  readonly #first: number;
  readonly #end: number;

  constructor(state: State, ram: Ram) {
    this.#state = state;
    this.#first = ram.base;
    this.#end = ram.base + ram.bytes;
    this.#firstPage = ram.base / PAGE;
    this.#user = new Uint8Array(Math.floor(ram.bytes / PAGE));
    this.#machine = new Uint8Array(this.#user.length);
  }

  /** Decodes the CSRs again; after writes and after a restore. */
  update(): void {
    this.#rules = [];
    this.#user.fill(0);
    this.#machine.fill(0);
    let previous = 0n;
    for (let i = 0; i < COUNT; i++) {
      const cfg = this.#cfg(i);
      const addr = this.#state.get64(PMPADDR + 8 * i);
      const range = decodeRange((cfg >> A_SHIFT) & 3, previous, addr);
      previous = addr;
      if (!range) continue;
      const user = cfg & ALL;
      this.#rules.push({ ...range, user, machine: cfg & LOCK ? user : ALL });
    }
  }

  /**
   * True if an access of `bytes` at `pa` is permitted. An entry that matches only a part of it
   * denies it.
   */
  allows(pa: number, bytes: number, need: number, machine: boolean): boolean {
    for (const rule of this.#rules) {
      if (pa + bytes <= rule.first || pa >= rule.end) continue;
      if (pa < rule.first || pa + bytes > rule.end) return false;
      return ((machine ? rule.machine : rule.user) & need) === need;
    }
    return machine;
  }

  /**
   * True if S and U, or M, have all permissions for all of RAM. False if an entry begins or ends
   * within RAM, because no access may straddle its bounds.
   */
  allowsAll(machine: boolean): boolean {
    for (const rule of this.#rules) {
      if (this.#end <= rule.first || this.#first >= rule.end) continue;
      const coversAll = this.#first >= rule.first && this.#end <= rule.end;
      return coversAll && (machine ? rule.machine : rule.user) === ALL;
    }
    return machine;
  }

  /** Permissions of a whole physical page, or MIXED when an entry covers only a part of it. Hot. */
  page(ppn: number, machine: boolean): number {
    const index = ppn - this.#firstPage;
    const pages = machine ? this.#machine : this.#user;
    if (!(index >= 0 && index < pages.length)) return this.#compare(ppn, machine);
    const known = pages[index]!;
    if (known !== 0) return known - 2;
    const permissions = this.#compare(ppn, machine);
    pages[index] = permissions + 2;
    return permissions;
  }

  #compare(ppn: number, machine: boolean): number {
    const pa = ppn * PAGE;
    for (const rule of this.#rules) {
      if (pa + PAGE <= rule.first || pa >= rule.end) continue;
      if (pa < rule.first || pa + PAGE > rule.end) return MIXED;
      return machine ? rule.machine : rule.user;
    }
    return machine ? ALL : 0;
  }

  /** Sets one entry that permits S and U everything, as firmware would. */
  open(): void {
    this.#state.set64(PMPADDR, (1n << 54n) - 1n);
    this.#setCfg(0, ALL | (3 << A_SHIFT));
    this.update();
  }

  /**
   * Writes eight entries' configuration bytes; locked ones keep theirs. `half` 0 = pmpcfg0, 1 =
   * pmpcfg2.
   */
  writeCfg(half: number, lo: number, hi: number): void {
    for (let i = 0; i < 8; i++) {
      const index = 8 * half + i;
      if (this.#cfg(index) & LOCK) continue;
      const byte = ((i < 4 ? lo : hi) >>> (8 * (i & 3))) & (LOCK | ALL | (3 << A_SHIFT));
      this.#setCfg(index, byte & PMP_R ? byte : byte & ~PMP_W);
    }
    this.update();
  }

  writeAddr(index: number, lo: number, hi: number): void {
    const next = index + 1 < COUNT ? this.#cfg(index + 1) : 0;
    const boundsLocked = (next & LOCK) !== 0 && ((next >> A_SHIFT) & 3) === TOR;
    if (this.#cfg(index) & LOCK || boundsLocked) return;
    this.#state.put(PMPADDR + 8 * index, lo, hi & 0x3f_ffff);
    this.update();
  }

  #cfg(index: number): number {
    return (this.#state.get(PMPCFG + (index & ~3)) >>> (8 * (index & 3))) & 0xff;
  }

  #setCfg(index: number, byte: number): void {
    const at = PMPCFG + (index & ~3);
    const shift = 8 * (index & 3);
    this.#state.set(at, (this.#state.get(at) & ~(0xff << shift)) | (byte << shift));
  }
}

function decodeRange(
  mode: number,
  previous: bigint,
  addr: bigint,
): { first: number; end: number } | undefined {
  if (mode === 0) return undefined;
  if (mode === TOR) {
    const range = { first: Number(previous << 2n), end: Number(addr << 2n) };
    return range.first < range.end ? range : undefined;
  }
  if (mode === NA4) return { first: Number(addr << 2n), end: Number((addr << 2n) + 4n) };
  // NAPOT: the number of trailing ones gives the size, 8 << ones bytes.
  let mask = 1n;
  while ((addr & mask) === mask) mask = (mask << 1n) | 1n;
  const first = (addr & ~mask) << 2n;
  return { first: Number(first), end: Number(first + ((mask + 1n) << 2n)) };
}
