// Which pages of RAM were stored to since the last checkpoint. A page that was not is *clean*: a
// bit of the map of code pages says so (interp/decoded-pages.ts), and no TLB has a write entry for
// it.
//
// The trick: stores pay nothing. The first store to a clean page misses in the TLB, or is sent the
// slow way by the map where compiled code asks no TLB, and the slow path clears the bit and adds
// the page to the list. From then on the page is like any other until the next checkpoint, which
// sets the bits of the listed pages and withdraws their write entries. Proof that nothing is
// missed: a store needs a write entry, a look at the map, or host code that announces it; entries
// are only made for pages that are not clean, a checkpoint happens between two quanta, when no
// compiled code runs that could remember a page, and host stores come here. The guest sees nothing
// of it, because it sees nothing of the TLB (docs/adr/0010).
//
// The first store costs as much as a hundred instructions, because compiled code is left. So who
// knows which pages will be stored to, has them *kept*: a checkpoint lists them at once.

/** In the map of code pages: not stored to since the last checkpoint. */
export const CLEAN = 0x80;
/** Pages of the largest RAM. */
const PAGES_MAX = 0x10_0000;
/** For the number of pages; keeps what follows aligned. */
const HEAD = 0x1_0000;

/** Where WebAssembly finds the list: the number of pages, an i32, and one i32 for each. */
export interface DirtyPlace {
  readonly dirtyCount: number;
  readonly dirtyList: number;
}

export class DirtyPages implements DirtyPlace {
  static readonly bytes = HEAD + 4 * PAGES_MAX;

  readonly dirtyCount: number;
  readonly dirtyList: number;
  readonly #map: Uint8Array;
  readonly #count: Int32Array;
  readonly #list: Int32Array;
  #isTracking = false;
  /** So many pages at the beginning of the list are kept. */
  #kept = 0;
  /** Called when stores must be seen from now on; between two quanta. */
  onTracking: () => void = () => {};
  /** Called when the harts must forget their write entries of clean pages. */
  onCheckpoint: () => void = () => {};

  /** `base`: of `bytes` in linear memory; `map`: a byte for each page of RAM. */
  constructor(buffer: ArrayBufferLike, base: number, map: Uint8Array) {
    this.dirtyCount = base;
    this.dirtyList = base + HEAD;
    this.#map = map;
    this.#count = new Int32Array(buffer, base, 1);
    this.#list = new Int32Array(buffer, this.dirtyList, map.length);
  }

  /** Are stores seen? Else no page is clean. */
  get isTracking(): boolean {
    return this.#isTracking;
  }

  /** Numbers of the pages stored to, counted from the start of RAM, each once; a view. */
  get pages(): Int32Array {
    return this.#list.subarray(0, this.#count[0]);
  }

  isClean(page: number): boolean {
    return (this.#map[page]! & CLEAN) !== 0;
  }

  /** A store to the page happens now. */
  mark(page: number): void {
    const marks = this.#map[page]!;
    if ((marks & CLEAN) === 0) return;
    this.#map[page] = marks & ~CLEAN;
    this.#list[this.#count[0]!++] = page;
  }

  /** Begins to track; every page is clean. Only between two quanta. */
  track(): void {
    const map = this.#map;
    for (let page = 0; page < map.length; page++) map[page]! |= CLEAN;
    this.#begin();
  }

  /** The same on a machine that has not run: no page has another mark, and no hart an entry. */
  trackNew(): void {
    this.#map.fill(CLEAN);
    this.#begin();
  }

  #begin(): void {
    this.#count[0] = 0;
    this.#kept = 0;
    this.onCheckpoint();
    if (this.#isTracking) return;
    this.#isTracking = true;
    this.onTracking();
  }

  /** The listed pages are clean again, apart from the kept ones. Only between two quanta. */
  checkpoint(): void {
    const count = this.#count[0]!;
    if (count === this.#kept) return;
    const map = this.#map;
    const list = this.#list;
    for (let i = this.#kept; i < count; i++) map[list[i]!]! |= CLEAN;
    this.#count[0] = this.#kept;
    this.onCheckpoint();
  }

  /** From now on these pages are listed after each checkpoint, and no others. */
  keep(pages: readonly number[]): void {
    const kept = new Set(pages);
    const listed = [...this.pages].filter(page => !kept.has(page));
    for (const page of kept) this.#map[page]! &= ~CLEAN;
    this.#list.set([...kept, ...listed]);
    this.#kept = kept.size;
    this.#count[0] = kept.size + listed.length;
  }
}
