// The code cache: compiled modules, the pages that they were translated from, and their slots.
//
// Invalidation: each page of a region is write-protected like a page of decoded records. A store to
// it reaches the interpreter, because compiled code leaves before it, and all modules with code of
// the page are dropped: calls inside a module are direct, so the module is the unit.
//
// Eviction. The problem: the cache is bounded, but regions do not record that they run. The trick
// is a second chance, as for pages without a hardware reference bit: above a high-water mark the
// oldest quarter of the modules is *parked*, that is unlinked from its slots and its callers but
// kept; the first arrival at one of its entry points links it again and makes it the youngest.
// Eviction takes parked modules first. Why it is right: an unlinked entry point is the same to
// callers as one that was never compiled, and a module that is still parked when space is needed
// was not entered in the meantime.

import type { DecodedPages } from '../../interp/decoded-pages.ts';
import { ENTRY_COMPILED } from '../../interp/records.ts';
import { cool } from '../policy/heat.ts';
import type { CompiledModule, EntryPoint, EntryPoints } from './entry-points.ts';
import type { Links } from './links.ts';
import { NO_SLOT, type SlotTable } from './slots.ts';

export interface CacheLimits {
  /** Entry points that can be compiled or linked at once. */
  readonly slots: number;
  /** Bytes of WebAssembly in all modules; machine code takes about as much again for each tier. */
  readonly wasmBytes: number;
}

export const CACHE_DEFAULT: CacheLimits = { slots: 4095, wasmBytes: 64 << 20 };

/** Figures since the start, for tests and profiles. */
export interface CacheStats {
  regions: number;
  /** Those that were made hot, which warm ones may have preceded. */
  hot: number;
  insns: number;
  modules: number;
  wasmBytes: number;
  /** Entry points that lost their code, and those among them that lost it to eviction. */
  dropped: number;
  evicted: number;
  /** Modules that got their second chance. */
  revived: number;
  /** Entry points that were due while their code was not mapped, and were queued again. */
  deferred: number;
}

/** A module that is unlinked can be linked again as it is; a module that is dropped cannot. */
export interface CacheEvents {
  /** The slots of a module were emptied: no cached slot may lead to it. */
  unlinked(module: CompiledModule): void;
  dropped(module: CompiledModule): void;
}

export class CodeCache {
  readonly slots: SlotTable;
  readonly links: Links;
  readonly stats: CacheStats = {
    regions: 0,
    hot: 0,
    insns: 0,
    modules: 0,
    wasmBytes: 0,
    dropped: 0,
    evicted: 0,
    revived: 0,
    deferred: 0,
  };
  readonly #pages: DecodedPages;
  readonly #entries: EntryPoints;
  readonly #limits: CacheLimits;
  /** R_ENTRY of an entry point that lost its code. */
  readonly #arrivals: number;
  readonly #events: CacheEvents;
  /** Linked modules and parked modules, each with the oldest first. */
  readonly #linked = new Set<CompiledModule>();
  readonly #parked = new Set<CompiledModule>();
  readonly #modulesOfPage = new Map<number, Set<CompiledModule>>();
  /** By slot. */
  readonly #owners = new Map<number, EntryPoint>();
  #wasmBytes = 0;

  constructor(
    slots: SlotTable,
    links: Links,
    pages: DecodedPages,
    entries: EntryPoints,
    limits: CacheLimits,
    arrivals: number,
    events: CacheEvents,
  ) {
    this.slots = slots;
    this.links = links;
    this.#pages = pages;
    this.#entries = entries;
    this.#limits = limits;
    this.#arrivals = arrivals;
    this.#events = events;
  }

  /** Modules that exist now, and their bytes of WebAssembly. */
  get modules(): number {
    return this.#linked.size + this.#parked.size;
  }

  get wasmBytes(): number {
    return this.#wasmBytes;
  }

  /** Modules with code of a RAM page. */
  modulesOf(page: number): readonly CompiledModule[] {
    return [...(this.#modulesOfPage.get(page) ?? [])];
  }

  /** Makes space for a module with this many entry points, as far as the limits allow. */
  reserve(count: number): void {
    const wanted = Math.min(count, this.#limits.slots);
    const fits = (): boolean => this.slots.available >= wanted && this.#wasmBytes < this.#limits.wasmBytes;
    for (const modules of [this.#parked, this.#linked]) {
      for (const module of modules) {
        if (fits()) break;
        this.stats.evicted += module.entries.size;
        for (const { heat } of module.entries) cool(heat);
        this.drop(module);
      }
    }
    const isHigh =
      this.slots.available < this.#limits.slots / 4 || this.#wasmBytes > (this.#limits.wasmBytes / 4) * 3;
    if (isHigh && this.#parked.size === 0) this.#parkOldest();
  }

  /** A module was instantiated; its slots are filled. */
  install(module: CompiledModule): void {
    this.#linked.add(module);
    this.#wasmBytes += module.wasmBytes;
    this.stats.modules++;
    this.stats.regions += module.entries.size;
    this.stats.wasmBytes += module.wasmBytes;
    for (const page of module.pages) {
      this.#pages.protect(page);
      const modules = this.#modulesOfPage.get(page);
      if (modules) modules.add(module);
      else this.#modulesOfPage.set(page, new Set([module]));
    }
    for (const entry of module.entries) {
      entry.module = module;
      this.#owners.set(entry.slot, entry);
      this.#setState(entry, ENTRY_COMPILED);
      this.links.connect(entry, this.slots.get(entry.slot));
    }
    this.links.add(module);
  }

  /**
   * The entry point is about to run the code of another module. It keeps its slot. No region may be
   * running.
   */
  supersede(entry: EntryPoint): void {
    const { module } = entry;
    if (!module) return;
    module.entries.delete(entry);
    module.parked?.delete(entry);
    entry.module = undefined;
    if (module.entries.size === 0) this.drop(module);
  }

  /** The entry point whose region is in a slot. */
  entryIn(slot: number): EntryPoint | undefined {
    return this.#owners.get(slot);
  }

  /**
   * Called when control arrives at an entry point of the module: links it again if it was parked.
   */
  revive(module: CompiledModule): void {
    if (!module.parked) return;
    for (const [entry, region] of module.parked) {
      this.slots.set(entry.slot, region);
      this.links.connect(entry, region);
      this.#setState(entry, ENTRY_COMPILED);
    }
    module.parked = undefined;
    this.#parked.delete(module);
    this.#linked.add(module);
    this.stats.revived++;
  }

  /** Called when records of a page were decoded again: marks its compiled entry points in them. */
  decoded(page: number): void {
    for (const module of this.#modulesOfPage.get(page) ?? [])
      if (!module.parked) for (const entry of module.entries) this.#setState(entry, ENTRY_COMPILED);
  }

  /** Drops a module. Its entry points remain. */
  drop(module: CompiledModule): void {
    if (!this.#linked.delete(module) && !this.#parked.delete(module)) return;
    this.#wasmBytes -= module.wasmBytes;
    this.stats.dropped += module.entries.size;
    for (const entry of module.entries) {
      entry.module = undefined;
      this.links.disconnect(entry);
      this.#owners.delete(entry.slot);
      this.slots.give(entry.slot);
      entry.slot = NO_SLOT;
      this.#setState(entry, this.#arrivals);
    }
    this.links.remove(module);
    for (const page of module.pages) {
      const modules = this.#modulesOfPage.get(page)!;
      modules.delete(module);
      if (modules.size > 0) continue;
      this.#modulesOfPage.delete(page);
      this.#pages.unprotect(page);
    }
    this.#events.dropped(module);
    this.#events.unlinked(module);
  }

  /** Drops everything. */
  clear(): void {
    for (const modules of [this.#parked, this.#linked]) for (const module of modules) this.drop(module);
    this.#entries.clear();
  }

  #parkOldest(): void {
    let left = Math.ceil(this.#linked.size / 4);
    for (const module of this.#linked) {
      if (left-- <= 0) break;
      module.parked = new Map([...module.entries].map(entry => [entry, this.slots.get(entry.slot)]));
      this.#linked.delete(module);
      this.#parked.add(module);
      for (const entry of module.entries) {
        this.slots.clear(entry.slot);
        this.links.disconnect(entry);
        // The next arrival calls the JIT.
        this.#setState(entry, 1);
      }
      this.#events.unlinked(module);
    }
  }

  #setState({ place }: EntryPoint, state: number): void {
    this.#pages.setEntry(Math.floor(place / 2048), (place % 2048) * 2, state);
  }
}
