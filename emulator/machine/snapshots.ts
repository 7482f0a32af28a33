// Takes and restores snapshots of one machine. A machine remembers the snapshot that it was taken
// from or set to last, its *base*, and the pages stored to since then: a snapshot copies only
// these, and so does a return to the base. A fuzzer returns to one base a million times; nothing
// here grows with the number of returns.

import { HostError } from '../base/errors.ts';
import { PageSet } from './page-set.ts';
import {
  checkFits,
  restOf,
  type Snapshot,
  type SnapshotSource,
  setState,
  stateHash,
  stateOf,
} from './snapshot.ts';
import { checkState } from './snapshot-check.ts';
import { UsualPages } from './usual-pages.ts';

const PAGE = 4096;

/** The state of a moment behind power-on. */
export type LaterState = Omit<Snapshot, 'pages' | 'hash' | 'observed'> & {
  /** Pages in which RAM is not as at power-on. */
  readonly pages: ReadonlyMap<number, Uint8Array>;
  /** Coverage records up to then. */
  readonly records: number;
};

const ZEROS = new Uint8Array(PAGE);

/** The state is hashed whole at each so many returns to the same base. */
export const RESET_CHECK = 1024;

export class Snapshots {
  readonly #m: SnapshotSource;
  #base: Snapshot | undefined;
  /** Pages that may differ from the base. */
  readonly #since: PageSet;
  readonly #usual: UsualPages;
  /** All of RAM. */
  readonly #words: Int32Array;
  #returns = 0;
  #restoredPages = 0;

  constructor(m: SnapshotSource) {
    this.#m = m;
    const { data, bytes } = m.ram;
    const pages = bytes / PAGE;
    this.#words = new Int32Array(data.buffer, data.byteOffset, bytes / 4);
    this.#since = new PageSet(pages);
    this.#usual = new UsualPages(RESET_CHECK, pages, kept => m.memoryHash.keep(kept));
  }

  /** How often the machine went back to its base. */
  get returns(): number {
    return this.#returns;
  }

  /** Pages that all returns together have given their contents. */
  get restoredPages(): number {
    return this.#restoredPages;
  }

  take(): Snapshot {
    const m = this.#m;
    this.#watch();
    this.#usual.forget();
    const hash = stateHash(m);
    const pages = this.#base ? this.#changedPages(this.#base) : this.#allPages();
    this.#base = { ...stateOf(m), pages, hash };
    this.#since.clear();
    return this.#base;
  }

  /**
   * Errors: HostError when the snapshot is of another kind of machine, and when the state after one
   * of RESET_CHECK returns to the same snapshot is not the one it was taken of.
   */
  restore(s: Snapshot): void {
    const m = this.#m;
    const base = this.#base;
    if (s !== base) checkFits(m, s);
    this.#watch();
    m.memoryHash.collect();
    if (s === base) this.#usual.returned(this.#since, page => !m.memoryHash.holdsCode(page));
    else {
      this.#usual.forget();
      this.#addDifferences(base?.pages, s.pages);
    }
    for (let i = 0; i < this.#since.size; i++) this.#set(this.#since.at(i), s.pages);
    this.#restoredPages += this.#since.size;
    // The pages of code were announced, and are listed; they are what the base says.
    m.memoryHash.collect();
    this.#since.clear();
    setState(m, s);
    this.#base = s;
    if (s === base && ++this.#returns % RESET_CHECK === 0) this.check();
  }

  /**
   * Takes over a snapshot that somebody else may have made. Errors: HostError when it is of another
   * kind of machine, or not what it says; the machine must then be reset.
   */
  load(s: Snapshot): void {
    const m = this.#m;
    checkFits(m, s);
    const own = restOf(m);
    checkState(m, s, own);
    try {
      this.restore(s);
    } catch (error) {
      if (error instanceof HostError) throw error;
      throw new HostError(`the snapshot is damaged: ${(error as Error).message.slice(0, 100)}`);
    }
    const hash = stateHash(m);
    if (hash !== s.hash) throw new HostError(`the snapshot is damaged: its state is ${hash}, not ${s.hash}`);
  }

  /**
   * Takes over the state of a later moment of the same run, before input and the second link of the
   * hash chain, on a machine that was just switched on. The hash of the state is not computed.
   * Errors: HostError when it is of another kind of machine, or no state of one; the machine must
   * then be reset.
   */
  resume({ pages, records, ...state }: LaterState): void {
    const m = this.#m;
    const runHash = m.hasher?.save() ?? null;
    const s = { ...state, pages, hash: '', observed: { records, journal: [], runHash } };
    checkFits(m, s);
    checkState(m, s, restOf(m));
    for (const [page, bytes] of pages) {
      const at = m.ram.base + page * PAGE;
      if (!Number.isInteger(page) || !m.ram.has(at, PAGE) || bytes.length !== PAGE)
        throw new HostError(`the snapshot is damaged: page ${page}`);
      m.ram.write(at, bytes);
    }
    setState(m, s);
  }

  /** Hashes all of the state again. Errors: HostError if it is not that of the base. */
  check(): void {
    const { memoryHash } = this.#m;
    memoryHash.rescan();
    const hash = stateHash(this.#m);
    if (hash !== this.#base?.hash)
      throw new HostError(`the state after a reset is ${hash}, and was ${this.#base?.hash} before`);
  }

  /** The machine was switched off: its memory has nothing in common with the base. */
  forget(): void {
    this.#base = undefined;
  }

  #watch(): void {
    const { memoryHash } = this.#m;
    memoryHash.track();
    memoryHash.watcher = this.#since;
  }

  /** `sum` was just asked for, so the table of page hashes is up to date: 0 is a page of zeros. */
  #allPages(): Map<number, Uint8Array> {
    const { ram, memoryHash } = this.#m;
    const numbers = memoryHash.pagesNotZero();
    const data = new Uint8Array(numbers.length * PAGE);
    const pages = new Map<number, Uint8Array>();
    for (const [i, page] of numbers.entries()) {
      const bytes = data.subarray(i * PAGE, (i + 1) * PAGE);
      bytes.set(ram.data.subarray(page * PAGE, (page + 1) * PAGE));
      pages.set(page, bytes);
    }
    return pages;
  }

  #changedPages(base: Snapshot): Map<number, Uint8Array> {
    const { ram, memoryHash } = this.#m;
    const pages = new Map(base.pages);
    for (let i = 0; i < this.#since.size; i++) {
      const page = this.#since.at(i);
      if (memoryHash.isZero(page)) pages.delete(page);
      else pages.set(page, ram.data.slice(page * PAGE, (page + 1) * PAGE));
    }
    return pages;
  }

  /** Pages in which two snapshots may differ; without `from`, whatever RAM holds now. */
  #addDifferences(from: Snapshot['pages'] | undefined, to: Snapshot['pages']): void {
    const now = from?.keys() ?? this.#m.memoryHash.upToDate().pagesNotZero();
    for (const page of now) if (!from || from.get(page) !== to.get(page)) this.#since.add(page);
    for (const [page, bytes] of to) if (!from || from.get(page) !== bytes) this.#since.add(page);
  }

  /** Does a page have these bytes? A loop over words takes a tenth of the time over bytes. */
  #isAlready(page: number, bytes: Uint8Array): boolean {
    const { buffer, byteOffset } = bytes;
    const { data } = this.#m.ram;
    if (byteOffset % 4 !== 0) return bytes.every((byte, i) => byte === data[page * PAGE + i]);
    const first = (page * PAGE) / 4;
    const wanted = new Int32Array(buffer, byteOffset, PAGE / 4);
    for (let i = 0; i < PAGE / 4; i++) if (this.#words[first + i] !== wanted[i]) return false;
    return true;
  }

  /** Gives a page its contents; stores to code are announced, unless they change nothing. */
  #set(page: number, pages: Snapshot['pages']): void {
    const { ram, memoryHash } = this.#m;
    const at = page * PAGE;
    const bytes = pages.get(page);
    memoryHash.changed(page);
    if (memoryHash.holdsCode(page)) {
      const then = bytes ?? ZEROS;
      if (this.#isAlready(page, then)) return;
      ram.write(ram.base + at, then);
    } else if (bytes) ram.data.set(bytes, at);
    else ram.data.fill(0, at, at + PAGE);
  }
}
