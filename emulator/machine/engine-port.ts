// Chooses the engine and lays out the host memory in front of guest RAM: the running window, the
// windows at rest, the engine's own area, the hashes of RAM. Wraps the engine's knowledge of code
// pages, so that stores to one more page can be watched.

import type { Ram } from '../bus/ram.ts';
import type { Breaks } from '../engine/breaks.ts';
import type { DirtyPages } from '../engine/dirty-pages.ts';
import { DEFAULT_PAGES, type Engine, InterpEngine } from '../engine/engine.ts';
import { Jit } from '../engine/jit/jit.ts';
import { HEAT_BRIEF, HEAT_EAGER, HEAT_REPEATED } from '../engine/jit/policy/heat.ts';
import type { RetiredCounts } from '../engine/retired.ts';
import { type CodePort, type Hart, homeOf, type TableEffect } from '../hart/index.ts';
import { MemoryHash } from './memory-hash.ts';
import type { EngineKind, EngineTuning } from './options.ts';

const areaBase = (harts: number): number => homeOf(harts);

/** Offset of the hashes of RAM. */
export const memoryHashBase = (harts: number): number =>
  areaBase(harts) + InterpEngine.areaBytes(DEFAULT_PAGES) + Jit.areaBytes;

/** Offset of guest RAM in the memory. */
export function ramHostBase(harts: number): number {
  return memoryHashBase(harts) + MemoryHash.bytes;
}

/** For tests of compiled code: compile as early as possible. */
export const EAGER: EngineTuning = { heat: HEAT_EAGER };
/** For guests that run briefly: compile late. */
export const BRIEF: EngineTuning = { heat: HEAT_BRIEF };

/** For guests that go back to a snapshot again and again. */
export const REPEATED: EngineTuning = { heat: HEAT_REPEATED };

/** The engine, and the JIT inside it if there is one. */
export function createEngine(
  kind: EngineKind,
  ram: Ram,
  harts: readonly Hart[],
  tuning: EngineTuning = {},
  retired?: RetiredCounts,
): { engine: Engine; dirty: DirtyPages; breaks: Breaks; jit?: Jit } {
  const area = { base: areaBase(harts.length), pages: tuning.decodedPages ?? DEFAULT_PAGES };
  if (kind === 'interp') {
    const engine = new InterpEngine(ram, harts, area, retired && { retired });
    const { dirty, breaks } = engine.pages;
    return { engine, dirty, breaks };
  }
  const base = area.base + InterpEngine.areaBytes(DEFAULT_PAGES);
  const jit = new Jit(ram, { ...tuning, base, ...(retired && { retired: retired.place }) });
  const engine = new InterpEngine(ram, harts, area, { jit, ...(retired && { retired }) });
  jit.attach(engine);
  const { dirty, breaks } = engine.pages;
  return { engine, dirty, breaks, jit };
}

/** Where a store came from: an instruction, or a device that writes memory. */
export type StoreObserver = (pa: number, bytes: number, by: 'hart' | 'device') => void;
/** A page of RAM at whose code a hart begins to look, and the virtual address, in halves. */
export type FetchObserver = (lo: number, hi: number, page: number) => void;

/**
 * Reports stores to one page of RAM, and to others for an observer, besides those to pages that
 * hold code.
 */
export class PageWatch implements CodePort {
  readonly #code: CodePort;
  readonly #stored: (pa: number, bytes: number) => void;
  #page = -1;
  #observed: ReadonlySet<number> = new Set();
  #observer: StoreObserver | undefined;
  /** For a debugger. */
  onFetch: FetchObserver | undefined;

  constructor(code: CodePort, stored: (pa: number, bytes: number) => void) {
    this.#code = code;
    this.#stored = stored;
  }

  /** Watches a page, counted from the start of RAM; undefined = none. */
  watch(page: number | undefined): void {
    if (this.#page >= 0) this.#code.watch?.(this.#page, false);
    this.#page = page ?? -1;
    if (this.#page >= 0) this.#code.watch?.(this.#page, true);
  }

  /** Reports stores to `pages` to `observer` from now on; without them, to nobody. */
  observe(pages: Iterable<number>, observer?: StoreObserver): void {
    for (const page of this.#observed) if (page !== this.#page) this.#code.watch?.(page, false);
    this.#observed = new Set(pages);
    this.#observer = observer;
    for (const page of this.#observed) this.#code.watch?.(page, true);
  }

  /** A device has written memory. */
  written(pa: number, bytes: number): void {
    this.#observer?.(pa, bytes, 'device');
  }

  holdsCode(page: number): boolean {
    return page === this.#page || this.#observed.has(page) || this.#code.holdsCode(page);
  }

  isObserved(): boolean {
    return this.#observer !== undefined;
  }

  isClean(page: number): boolean {
    return this.#code.isClean?.(page) ?? false;
  }

  dirtied(page: number): void {
    this.#code.dirtied?.(page);
  }

  fetched(lo: number, hi: number, page: number): void {
    this.onFetch?.(lo, hi, page);
  }

  tableRead(page: number, level: number): void {
    this.#code.tableRead?.(page, level);
  }

  stored(pa: number, bytes: number, effect?: TableEffect): void {
    this.#code.stored(pa, bytes, effect);
    this.#stored(pa, bytes);
    this.#observer?.(pa, bytes, 'hart');
  }
}
