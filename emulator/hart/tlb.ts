// The TLB tables in the window: install, probe and flush. They are a pure cache: every entry can be
// dropped at any time, and guest-visible flushes may drop more than requested (ASIDs are stored in
// satp but not compared, because a satp write drops everything). Superpages are installed page by
// page; an `sfence.vma` of one address must drop all pages of its leaf (Priv §10.2.1), therefore
// the range that superpages cover is recorded, and a flush inside it drops everything.
//
// Under a schedule (machine/schedule.ts) harts alternate after some tens of instructions, and
// copying their tables would cost more than running them. So a hart that is parked writes back only
// the groups of entries that have changed while it was active. That is right because the copy of
// its window stays as it was meanwhile: all others who change entries change those of every window.
// A flush, too, clears only groups in use: small programs use few.

import {
  EPOCH,
  EXEC_BYTES,
  EXEC_ENTRIES,
  execEntryOf,
  LARGE_END,
  LARGE_FIRST,
  LEAF_TAG,
  TLB_BYTES,
  TLB_ENTRIES,
  TLB_ENTRY_BYTES,
  TLB_EXEC,
  TLB_GROUP_ENTRIES,
  TLB_GROUP_SHIFT,
  TLB_MASK,
  TLB_READ,
  TLB_SLOW,
  TLB_USED,
  TLB_WRITE,
  VIEWS,
  WINDOW,
  WINDOW_BYTES,
} from './layout.ts';
import type { State } from './state.ts';

const TABLES = [TLB_READ, TLB_WRITE, TLB_EXEC] as const;
/** By kind. */
const BYTES = [TLB_BYTES, TLB_BYTES, EXEC_BYTES] as const;
/** Numbers of pages in a table of the last level (Priv §10.3). */
const LEAVES = 512;
/** Where each table begins, by kind * VIEWS + view, and the last one ends. */
const STARTS = TABLES.flatMap((table, kind) =>
  Array.from({ length: VIEWS }, (_, view) => table + view * BYTES[kind]!),
).concat(TLB_EXEC + VIEWS * EXEC_BYTES);
/** Views whose translations depend on satp: all but M. */
const TRANSLATED = 3;
const PAGE_MASK = ~0xfff;
/** Of a table. */
const GROUPS = 32;
const GROUP_BYTES = TLB_GROUP_ENTRIES * TLB_ENTRY_BYTES;
const TABLE_COUNT = TABLES.length * VIEWS;

export class Tlb {
  readonly #state: State;
  /** By table: groups that may hold entries, apart from those in TLB_USED. */
  readonly #kept = new Int32Array(TABLE_COUNT);
  /** The same for the copy that the last parking left behind. */
  readonly #atHome = new Int32Array(TABLE_COUNT).fill(~0);
  readonly #onFlush: () => void;

  /** `onFlush`: called when translations of U and S, or permissions, may have changed. */
  constructor(state: State, onFlush: () => void = () => {}) {
    this.#state = state;
    this.#onFlush = onFlush;
  }

  /** Physical page number of a cached translation of `va` in a table, or -1. */
  probe(table: number, view: number, lo: number, hi: number): number {
    const at = (this.#state.base + this.#entry(table, view, lo)) >> 2;
    const i32 = this.#state.i32;
    if (i32[at + 1] !== hi || (i32[at]! & ~TLB_SLOW) !== (lo & PAGE_MASK)) return -1;
    return i32[at + 3]!;
  }

  /** True if the fast test never matches the entry for `lo`. Only valid after a hit of `probe`. */
  isSlow(table: number, view: number, lo: number): boolean {
    return (this.#state.get(this.#entry(table, view, lo)) & TLB_SLOW) !== 0;
  }

  /** True if the entry for `lo` is empty. */
  isFree(table: number, view: number, lo: number): boolean {
    return this.#state.get(this.#entry(table, view, lo)) === -1;
  }

  /**
   * Caches va page -> `addend`; `page` is the physical page number. `slow` entries never match the
   * fast test.
   */
  install(
    table: number,
    view: number,
    lo: number,
    hi: number,
    addend: number,
    page: number,
    slow: boolean,
  ): void {
    const at = (this.#state.base + this.#entry(table, view, lo)) >> 2;
    const i32 = this.#state.i32;
    i32[at] = (lo & PAGE_MASK) | (slow ? TLB_SLOW : 0);
    i32[at + 1] = hi;
    i32[at + 2] = addend;
    i32[at + 3] = page;
    this.#changed(table, view, lo);
  }

  /** The decoded page of the exec entry of this address was found. */
  attached(view: number, lo: number): void {
    this.#changed(TLB_EXEC, view, lo);
  }

  #changed(table: number, view: number, lo: number): void {
    const at = usedAt(tableIndex(table) * VIEWS + view);
    this.#state.set(at, this.#state.get(at) | (1 << (lo >>> TLB_GROUP_SHIFT)));
  }

  /**
   * Records that `pages` pages around a va came from one leaf; fewer than 512 (Svnapot) count as 2
   * MiB.
   */
  noteLarge(lo: number, hi: number, pages: number): void {
    const s = this.#state;
    const units = Math.max(1, pages >> 9);
    const first = largeNumber(lo, hi) & -units;
    const end = first + units;
    if (first < s.get(LARGE_FIRST)) s.set(LARGE_FIRST, first);
    if (end > s.get(LARGE_END)) s.set(LARGE_END, end);
  }

  /** After satp writes and `sfence.vma` without an address. */
  flushTranslated(): void {
    for (let kind = 0; kind < TABLES.length; kind++) {
      for (let view = 0; view < TRANSLATED; view++) this.#flushTable(kind, view);
    }
    this.#state.set(LARGE_FIRST, 0x7fff_ffff);
    this.#state.set(LARGE_END, 0);
    this.#forgetLeafTable();
    this.#onFlush();
    this.#bump();
  }

  /** After reset, when the contents of the tables are unknown. */
  clear(): void {
    for (let table = 0; table < TABLE_COUNT; table++) this.#state.set(usedAt(table), -1);
    this.flushAll();
  }

  /** After PMP writes and restores: M is affected, too. */
  flushAll(): void {
    for (let kind = 0; kind < TABLES.length; kind++) this.#flushTable(kind, VIEWS - 1);
    this.flushTranslated();
  }

  /** `sfence.vma` with an address. */
  flushPage(lo: number, hi: number): void {
    const page = largeNumber(lo, hi);
    if (page >= this.#state.get(LARGE_FIRST) && page < this.#state.get(LARGE_END)) {
      this.flushTranslated();
      return;
    }
    const i32 = this.#state.i32;
    for (const table of TABLES) {
      for (let view = 0; view < TRANSLATED; view++) {
        const at = (this.#state.base + this.#entry(table, view, lo)) >> 2;
        if (i32[at + 1] !== hi || (i32[at]! & ~TLB_SLOW) !== (lo & PAGE_MASK)) continue;
        invalidate(i32, at);
        this.#changed(table, view, lo);
      }
    }
    this.#forgetLeafTable();
    this.#bump();
  }

  /**
   * After a store to the entry `index`, 0 to 511, of a table of the last level, wherever that is
   * mapped. The last table of leaves stays known: its entries are read at each walk.
   */
  flushEntry(index: number): void {
    const i32 = this.#state.i32;
    for (const table of TABLES)
      for (let view = 0; view < TRANSLATED; view++) {
        // A table has several places for pages of this number.
        const end = table === TLB_EXEC ? EXEC_ENTRIES : TLB_ENTRIES;
        for (let page = index; page < end; page += LEAVES) {
          const at = (this.#state.base + this.#entry(table, view, page << 12)) >> 2;
          if (((i32[at]! >>> 12) & (LEAVES - 1)) !== index) continue;
          invalidate(i32, at);
          this.#changed(table, view, page << 12);
        }
      }
    this.#bump();
  }

  /** After a change of MXR: only read permissions have changed. */
  flushReads(): void {
    for (let view = 0; view < TRANSLATED; view++) this.#flushTable(0, view);
    this.#bump();
  }

  /**
   * Stores to some pages must be seen again: forgets the write entries of physical pages for which
   * `isClean`.
   */
  flushWrites(isClean: (page: number) => boolean): void {
    const i32 = this.#state.i32;
    for (let view = 0; view < VIEWS; view++)
      this.#forRuns(VIEWS + view, this.#used(VIEWS + view), (from, to) => {
        const end = (this.#state.base + to) >> 2;
        for (let at = (this.#state.base + from) >> 2; at < end; at += TLB_ENTRY_BYTES / 4) {
          if (i32[at] === -1 || !isClean(i32[at + 3]!)) continue;
          this.#changed(TLB_WRITE, view, i32[at]!);
          invalidate(i32, at);
        }
      });
  }

  /**
   * The hart becomes active. `previous`: of the hart that was parked just before, whose tables are
   * at address 0; unknown ones are, if there is none.
   */
  activated(home: number, previous: Tlb | undefined): void {
    const { i32 } = this.#state;
    for (let table = 0; table < TABLE_COUNT; table++) {
      const kept = i32[(home + usedAt(table)) >> 2]!;
      this.#kept[table] = kept;
      this.#state.set(usedAt(table), 0);
      const occupied = previous ? previous.#used(table) : ~0;
      this.#move(table, home, WINDOW, kept, occupied & ~kept);
    }
  }

  /**
   * The hart is parked; the tables at address 0 are unchanged until the next hart becomes active.
   */
  parked(home: number): void {
    const { i32 } = this.#state;
    for (let table = 0; table < TABLE_COUNT; table++) {
      const changed = i32[(WINDOW + usedAt(table)) >> 2]!;
      const used = this.#kept[table]! | changed;
      this.#kept[table] = 0;
      this.#state.set(usedAt(table), used);
      this.#move(table, WINDOW, home, changed, this.#atHome[table]! & ~used);
      this.#atHome[table] = used;
    }
  }

  /** Groups of a table that may hold entries. */
  #used(table: number): number {
    return this.#kept[table]! | this.#state.get(usedAt(table));
  }

  /** Copies some groups of a table, and empties `stale` ones at the target. */
  #move(table: number, source: number, target: number, filled: number, stale: number): void {
    this.#forRuns(table, stale, (from, to) => this.#state.fill(from, to, 0xff));
    this.#forRuns(table, filled, (from, to) => this.#state.move(from, to, source, target));
  }

  /** Calls `action` with the places in the window of these groups, for those in a row once. */
  #forRuns(table: number, groups: number, action: (from: number, to: number) => void): void {
    let rest = groups;
    while (rest !== 0) {
      const first = lowestBit(rest);
      const count = ~(rest >> first) === 0 ? GROUPS - first : lowestBit(~(rest >> first));
      const from = STARTS[table]! + first * GROUP_BYTES;
      action(from, from + count * GROUP_BYTES);
      if (first + count >= GROUPS) return;
      rest &= -1 << (first + count);
    }
  }

  #flushTable(kind: number, view: number): void {
    const table = kind * VIEWS + view;
    const used = this.#used(table);
    if (used === 0) return;
    this.#forRuns(table, used, (from, to) => this.#state.fill(from, to, 0xff));
    this.#kept[table] = 0;
    this.#state.set(usedAt(table), 0);
  }

  #entry(table: number, view: number, lo: number): number {
    if (table === TLB_EXEC) return execEntryOf(view, lo);
    return table + view * TLB_BYTES + ((lo >>> 8) & TLB_MASK);
  }

  #forgetLeafTable(): void {
    this.#state.put(LEAF_TAG, -1, -1);
  }

  #bump(): void {
    this.#state.add(EPOCH, 1);
  }
}

/**
 * Called when a page of RAM begins to hold translated code: makes its write entries in the window
 * at `base` slow. `hostPage` is the page's address in linear memory. The engine calls this for
 * every window.
 */
export function purgeWrites(i32: Int32Array, base: number, hostPage: number): void {
  let at = (base + TLB_WRITE) >> 2;
  const end = at + (VIEWS * TLB_BYTES) / 4;
  for (; at < end; at += TLB_ENTRY_BYTES / 4) {
    const tag = i32[at]!;
    if ((tag & 0xfff) === 0 && ((tag + i32[at + 2]!) | 0) === (hostPage | 0)) i32[at] = tag | TLB_SLOW;
  }
}

/** Purges the windows of all harts: the running one and `count` homes after it. */
export function purgeWritesOfAll(i32: Int32Array, count: number, hostPage: number): void {
  for (let window = 0; window <= count; window++) purgeWrites(i32, window * WINDOW_BYTES, hostPage);
}

const usedAt = (table: number): number => TLB_USED + 4 * table;
const lowestBit = (bits: number): number => 31 - Math.clz32(bits & -bits);
const tableIndex = (table: number): number => TABLES.indexOf(table as (typeof TABLES)[number]);
/** Number of the 2 MiB around a va, of its low 48 bits. */
const largeNumber = (lo: number, hi: number): number => ((hi & 0xffff) << 11) | (lo >>> 21);

function invalidate(i32: Int32Array, at: number): void {
  i32[at] = -1;
  i32[at + 1] = -1;
}
