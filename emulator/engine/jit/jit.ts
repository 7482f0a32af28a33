// The region JIT: decides what is compiled and when. The interpreter counts arrivals and asks
// (`hot`, `enter`); entry points that are hot enough are compiled in batches, one WebAssembly
// module each.
//
//   policy/     the threshold of hotness, and the effect of invalidations on it
//   cache/      entry points, slots, modules; invalidation and eviction
//   region/     from an entry point to blocks, and emit/ from blocks to WebAssembly
//   compiler.ts a batch becomes a module; guest-code.ts reads the guest through its TLBs
//
// A region runs exactly when the interpreter would fetch the same bytes: its guard (emit/entry.ts)
// compares the exec TLB with the pages that it was made from.

import type { Ram } from '../../bus/ram.ts';
import type { Hart } from '../../hart/index.ts';
import { VIEWS } from '../../hart/layout.ts';
import type { RegionHost, RegionSlow } from '../engine.ts';
import type { DecodedPages } from '../interp/decoded-pages.ts';
import { ENTRY_COMPILED } from '../interp/records.ts';
import type { RetiredPlace } from '../retired.ts';
import { CACHE_DEFAULT, type CacheLimits, type CacheStats, CodeCache } from './cache/code-cache.ts';
import { DataBoundary } from './cache/data-boundary.ts';
import { type EntryPoint, EntryPoints } from './cache/entry-points.ts';
import { JumpCacheMemory } from './cache/jump-cache.ts';
import { Links } from './cache/links.ts';
import { NO_SLOT, SlotTable } from './cache/slots.ts';
import { Compiler, type JitTimes } from './compiler.ts';
import type { RamPlace } from './emit/memory.ts';
import { GuestCode, sameViews } from './guest-code.ts';
import { type InlineCall, SCRATCH_BYTES } from './inline-call.ts';
import { InlineTable } from './inline-table.ts';
import { cool, HEAT_DEFAULT, type HeatThresholds, MOST_EARLY } from './policy/heat.ts';
import { InvalidationCounts } from './policy/invalidations.ts';
import { type JitProfile, ProfiledCode } from './policy/profile.ts';
import { SampleTimes } from './policy/samples.ts';
import { discover, hasInlineCalls, type Region, type Tier } from './region/region.ts';

/** Settings for tests and experiments; none changes the guest's results. */
export interface JitTuning {
  readonly heat?: Partial<HeatThresholds>;
  readonly cache?: Partial<CacheLimits>;
  /** Of earlier runs. */
  readonly profile?: JitProfile;
  /** Count the units spent in regions: `Jit.units`. Costs a few per cent. */
  readonly countUnits?: boolean;
  /** Milliseconds of the host, to measure the cost of compiling: `Jit.times`. */
  readonly clock?: () => number;
}

export interface JitOptions extends JitTuning {
  /** `Jit.areaBytes` of linear memory. */
  readonly base: number;
  /** Counters to keep. */
  readonly retired?: RetiredPlace | undefined;
}

/** The JIT's interface to its engine. */
export interface JitEngine {
  readonly pages: DecodedPages;
  /** The hart that runs. */
  readonly hart: Hart;
  /** Units of virtual time that the engine has executed. */
  readonly now: number;
  /** Reports that a store has dropped compiled code. */
  invalidated(): void;
}

export class Jit implements RegionHost {
  /** The jump cache, and 64 KiB for counters. */
  static readonly areaBytes = JumpCacheMemory.bytes + 0x1_0000;
  readonly arrivals: number;
  readonly jumpCache: number;
  readonly jumpCacheMask: number;
  readonly unitsAt: number | undefined;
  readonly table: WebAssembly.Table;
  readonly times: JitTimes = { discover: 0, emit: 0, instantiate: 0 };
  readonly #sampleAt: number;
  readonly #scratchAt: number;
  readonly #sample: Int32Array;
  readonly #clock: () => number;
  readonly #ram: Ram;
  readonly #heat: HeatThresholds;
  readonly #limits: CacheLimits;
  readonly #retired: RetiredPlace | undefined;
  readonly #profiled: ProfiledCode;
  readonly #jumps: JumpCacheMemory;
  readonly #slots: SlotTable;
  readonly #invalidations: InvalidationCounts;
  readonly #inline = new InlineTable();
  readonly #entries = new EntryPoints();
  #slow!: RegionSlow;
  #engine!: JitEngine;
  #code!: GuestCode;
  #cache!: CodeCache;
  #boundary!: DataBoundary;
  #compiler!: Compiler;
  #waiting: EntryPoint[] = [];
  /** Those in whose warm regions a sample was taken. */
  readonly #sampled = new Set<EntryPoint>();
  /** Those whose hot regions have left out what is hot now. */
  readonly #partial = new Set<EntryPoint>();
  /** The time at which the next of them may be made again. */
  #completeAt = 0;
  readonly #samples: SampleTimes | undefined;
  #warmUp: number;
  /** How often functions became due because they ask the host. */
  #early = 0;

  constructor(ram: Ram, options: JitOptions) {
    this.#ram = ram;
    this.#heat = { ...HEAT_DEFAULT, ...options.heat };
    const { unitsToSample } = this.#heat;
    this.#samples = unitsToSample > 0 ? new SampleTimes(unitsToSample) : undefined;
    this.#limits = { ...CACHE_DEFAULT, ...options.cache };
    this.#retired = options.retired;
    this.#profiled = new ProfiledCode(ram, options.profile);
    this.#clock = options.clock ?? (() => 0);
    this.arrivals = this.#heat.arrivalsPerTick;
    this.#warmUp = this.#heat.warmUpTicks;
    this.#invalidations = new InvalidationCounts(this.#heat.forgiveUnits);
    this.#jumps = new JumpCacheMemory(ram.memory, options.base);
    this.jumpCache = this.#jumps.jumpCache;
    this.jumpCacheMask = this.#jumps.jumpCacheMask;
    this.#sampleAt = options.base + JumpCacheMemory.bytes + 8;
    this.#sample = new Int32Array(ram.memory.buffer, this.#sampleAt, 1);
    this.#scratchAt = options.base + JumpCacheMemory.bytes + 16;
    this.#forgetFacts();
    if (options.countUnits) this.unitsAt = options.base + JumpCacheMemory.bytes;
    this.#slots = new SlotTable(ram.memory, this.#limits.slots);
    this.table = this.#slots.table;
  }

  useSlow(slow: RegionSlow): void {
    this.#slow = slow;
  }

  /** The interpreter's side; called once, after `useSlow` and before the first instruction. */
  attach(engine: JitEngine): void {
    const { pages } = engine;
    const ram = this.#ram;
    this.#engine = engine;
    this.#code = new GuestCode(ram, pages);
    this.#cache = new CodeCache(
      this.#slots,
      new Links(this.#slow.jump, this.#slots),
      pages,
      this.#entries,
      this.#limits,
      this.arrivals,
      {
        unlinked: ({ entries }) => {
          for (const { va } of entries) this.#jumps.forget(va);
        },
        dropped: module => this.#boundary.dropped(module),
      },
    );
    this.#boundary = new DataBoundary(ram.bytes / 4096, module => this.#cache.drop(module));
    this.#compiler = new Compiler({
      ram,
      ramPlace: this.#ramPlace,
      code: this.#code,
      entries: this.#entries,
      cache: this.#cache,
      boundary: this.#boundary,
      jumpCache: { jumpCache: this.jumpCache, jumpCacheMask: this.jumpCacheMask },
      sampleAt: this.#sampleAt,
      scratchAt: this.#scratchAt,
      slow: this.#slow,
      hart: () => engine.hart,
      retired: this.#retired,
      clock: this.#clock,
      times: this.times,
    });
    pages.onCodeStored = page => this.#invalidate(page);
    pages.onReset = () => this.#forgetAll();
    pages.onCode = page => this.#boundary.raise(page);
    pages.dirty.onTracking = () => this.#boundary.raiseToEnd();
    pages.onDecoded = page => this.#cache.decoded(page);
  }

  get stats(): Readonly<CacheStats> {
    return this.#cache.stats;
  }

  /** Units spent in regions since the start, if they are counted. */
  get units(): number {
    if (this.unitsAt === undefined) return 0;
    return Number(new DataView(this.#ram.memory.buffer).getBigInt64(this.unitsAt, true));
  }

  /** The current contents of the code cache. */
  get usage(): { modules: number; wasmBytes: number; slots: number; entries: number } {
    const { modules, wasmBytes, slots } = this.#cache;
    return { modules, wasmBytes, slots: slots.taken, entries: this.#entries.size };
  }

  /**
   * Sets the calls that may be inlined from now on for one owner; those of others stay.
   * Drops all compiled code.
   */
  setInlineCalls(owner: string, calls: readonly InlineCall[]): void {
    if (this.#inline.announce(owner, calls)) this.#forgetAll();
  }

  get #ramPlace(): RamPlace {
    const { hostBase, base, bytes } = this.#ram;
    return { hostBase, base, bytes, codeMap: this.#engine.pages.codeMap };
  }

  // Calls from the interpreter.

  /** Called when the arrivals of a record have run out. Returns its new R_ENTRY. */
  hot(rec: number): number {
    const { page, offset } = this.#engine.pages.placeOf(rec);
    const place = page * 2048 + (offset >> 1);
    const { pc } = this.#code;
    if (this.#warmUp > 0 && !this.#asksHost(pc, place)) {
      this.#warmUp--;
      return this.arrivals;
    }
    const entry = this.#tick(pc, place);
    return entry.module ? ENTRY_COMPILED : this.arrivals;
  }

  /** The table slot of the region to run at PC, or -1 to interpret. Fills the jump cache. */
  enter(rec: number): number {
    const { page, offset } = this.#engine.pages.placeOf(rec);
    const { pc } = this.#code;
    const place = page * 2048 + (offset >> 1);
    const found = this.#entries.find(pc, place, this.#code.views());
    // The same code at another address or in another view is an entry point of its own.
    if (!found?.module) {
      const entry = this.#tick(pc, place);
      return entry.module ? entry.slot : -1;
    }
    this.#cache.revive(found.module);
    if (!this.#isMapped(found) && !this.#isMappable(found)) return -1;
    this.#jumps.set(pc, found.slot);
    return found.slot;
  }

  get untilSample(): number | undefined {
    return this.#samples?.left;
  }

  /**
   * Called after a quantum of `units`, while no region runs. Where it ends with a sample, compiles
   * the warm region that it ended in or near again as a hot one, if that has run long enough, and
   * others that nearly have.
   */
  ran(spent: number): void {
    const slot = this.#sample[0]!;
    this.#sample[0] = NO_SLOT;
    const units = this.#samples?.passed(spent) ?? spent;
    if (units === 0) return;
    const entry = slot === NO_SLOT ? this.#warmAtPc() : this.#cache.entryIn(slot);
    this.#completePartial();
    // A hot one may have taken over the slot since.
    if (!entry?.module || !entry.warmSpan) return;
    entry.heat.units += units;
    this.#sampled.add(entry);
    if (this.#tierOf(entry) === 'hot') this.#promote();
  }

  /** A warm region whose code the interpreter was executing, because a region had left. */
  #warmAtPc(): EntryPoint | undefined {
    const { pc } = this.#code;
    const views = this.#code.views();
    const place = this.#code.placeOf(pc, views.fetchView);
    if (place < 0) return undefined;
    for (const { entries } of this.#cache.modulesOf(Math.floor(place / 2048)))
      for (const entry of entries) {
        const at = Number(BigInt.asIntN(64, pc - entry.va));
        const { warmSpan } = entry;
        if (warmSpan && at >= warmSpan.from && at <= warmSpan.to && sameViews(entry, views)) return entry;
      }
    return undefined;
  }

  #promote(): void {
    const regions = new Map<EntryPoint, Region>();
    for (const entry of this.#sampled) {
      const { units, size } = entry.heat;
      const isNear = entry.module && entry.warmSpan && units >= (this.#heat.unitsToPromote * size) / 2;
      if (!isNear || regions.size >= this.#heat.batchEntries || !this.#isMapped(entry)) continue;
      const region = this.#discover(entry, 'hot');
      if (region.size > 0) regions.set(entry, region);
    }
    this.#compile(regions);
    for (const entry of this.#sampled) if (!entry.module || !entry.warmSpan) this.#sampled.delete(entry);
  }

  /**
   * Finds the hot regions that have left out the code of a new one. Perhaps both form one loop, of
   * which each round would leave one for the other.
   */
  #findPartial(entry: EntryPoint): void {
    for (const page of entry.module?.pages ?? [])
      for (const { entries } of this.#cache.modulesOf(page))
        for (const other of entries) {
          if (!other.leftOut || other.leftOut.size === 0 || !sameViews(other, entry)) continue;
          const at = Number(BigInt.asIntN(64, entry.va - other.va));
          if (other.leftOut.has(at)) this.#partial.add(other);
        }
  }

  /**
   * Makes the first of those again that can be. The guest has to repay it before the next one, as
   * if that were promoted, so moving paths cost no guest much.
   */
  #completePartial(): void {
    if (this.#engine.now < this.#completeAt) return;
    for (const entry of this.#partial) {
      const isHot = entry.module !== undefined && entry.leftOut !== undefined;
      if (isHot && !this.#isMapped(entry)) continue;
      this.#partial.delete(entry);
      if (!isHot) continue;
      const region = this.#discover(entry, 'hot');
      this.#completeAt = this.#engine.now + this.#heat.unitsToPromote * region.size;
      if (region.size > 0) this.#compile(new Map([[entry, region]]));
      return;
    }
  }

  // Heat.

  /** Counts a tick of the entry point at PC in the current views; may compile it. */
  #tick(va: bigint, place: number): EntryPoint {
    const entry = this.#entries.obtain(va, place, this.#code.views());
    if (entry.module) {
      this.#cache.revive(entry.module);
      return entry;
    }
    const { heat } = entry;
    const isMeasured = ++heat.ticks === this.#heat.ticksToMeasure;
    if (heat.due === Infinity) {
      if (this.#asksHost(va, place)) {
        this.#early++;
        heat.due = -this.#heat.ticksToFillBatch;
      } else if (isMeasured) this.#measure(entry);
      else if (this.#profiled.hint(va, place, heat, this.#heat)) this.#expect(entry);
    }
    if (heat.ticks >= heat.due && !entry.isWaiting) {
      entry.isWaiting = true;
      this.#waiting.push(entry);
    }
    const isLate = heat.ticks >= heat.due + this.#heat.ticksToFillBatch;
    if (isLate || this.#waiting.length >= this.#heat.batchEntries) this.#compileBatch(entry);
    return entry;
  }

  /**
   * The function at this address can be inlined, and asks the host if it is not. So it is due at
   * its first tick: that took the interpreter 0.2 to 1 ms, and compiling it takes up to 1 ms. Code
   * that is dropped again and again is not, once that happened often for the time that the guest
   * has run.
   */
  #asksHost(va: bigint, place: number): boolean {
    if (this.#early >= MOST_EARLY + this.#engine.now / this.#heat.forgiveUnits) return false;
    const call = this.#inline.at(va, this.#code);
    return call?.pa === this.#ram.base + 2 * place && call.asksHost?.() === true;
  }

  /**
   * Sets when a warm entry point is due: by its size, doubled for each recent invalidation of its
   * page.
   */
  #measure(entry: EntryPoint): void {
    const { heat } = entry;
    heat.recycled = this.#engine.pages.recycled;
    const { ticksToMeasure, ticksPerInsn, ticksPerInsnWithCalls, hotTicksPerInsn } = this.#heat;
    const region = this.#discover(entry, this.#tierOf(entry));
    const { size, tier } = region;
    const forWarm = hasInlineCalls(region) ? ticksPerInsnWithCalls : ticksPerInsn;
    const perInsn = tier === 'hot' ? hotTicksPerInsn : forWarm;
    const page = Math.floor(entry.place / 2048);
    const backoff = 2 ** this.#invalidations.of(page, this.#engine.now);
    heat.due = size === 0 ? Infinity : (ticksToMeasure + perInsn * size) * backoff;
  }

  /**
   * An entry point that waits without being measured: it has its page, so that a batch of another
   * address space never reads other code at its address.
   */
  #expect(entry: EntryPoint): void {
    entry.heat.recycled = this.#engine.pages.recycled;
    const ppn = this.#code.firstPage + Math.floor(entry.place / 2048);
    entry.pages = [{ va: entry.va & ~0xfffn, ppn }];
  }

  #compileBatch(current: EntryPoint): void {
    const batch = this.#waiting;
    this.#waiting = [];
    const regions = new Map<EntryPoint, Region>();
    for (const entry of batch) {
      entry.isWaiting = false;
      // Discovery reads through the current TLB, so an entry point of another address space must
      // wait until that runs again.
      if (entry !== current && !this.#isMapped(entry)) {
        this.#cache.stats.deferred++;
        continue;
      }
      const region = this.#discover(entry, this.#tierOf(entry));
      if (region.size > 0) regions.set(entry, region);
      else cool(entry.heat);
    }
    this.#compile(regions);
  }

  #tierOf({ heat: { units, size } }: EntryPoint): Tier {
    const { unitsToPromote, narrowInsns } = this.#heat;
    const isNarrow = this.#cache.stats.insns < narrowInsns;
    // An entry point that was never compiled has no size yet.
    const hasRun = size > 0 && units >= unitsToPromote * size;
    return isNarrow || unitsToPromote === 0 || hasRun ? 'hot' : 'warm';
  }

  #compile(regions: Map<EntryPoint, Region>): void {
    if (regions.size === 0) return;
    // Modules that are dropped give back their slots, so slots are taken behind both.
    this.#boundary.raise(Math.max(...this.#compiler.pagesOf(regions)));
    this.#cache.reserve(regions.size);
    this.#takeSlots(regions);
    for (const entry of regions.keys()) this.#cache.supersede(entry);
    if (regions.size === 0) return;
    this.#cache.install(this.#compiler.compile(regions));
    this.#profiled.compiled(regions.keys(), this.#engine.pages);
    for (const [entry, { tier }] of regions) if (tier === 'hot') this.#findPartial(entry);
  }

  /**
   * Assigns slots to entry points without one; entry points without a free slot leave the batch.
   */
  #takeSlots(regions: Map<EntryPoint, Region>): void {
    for (const entry of regions.keys()) {
      if (entry.slot === NO_SLOT) entry.slot = this.#slots.take();
      if (entry.slot === NO_SLOT) regions.delete(entry);
    }
  }

  #discover(entry: EntryPoint, tier: Tier): Region {
    const from = this.#clock();
    const code = this.#code.codeView(entry.va, entry, {
      isEntry: va => {
        const place = this.#code.placeOf(va, entry.fetchView);
        return place >= 0 && this.#entries.find(va, place, entry) !== undefined;
      },
      inlineAt: va => this.#inline.at(va, this.#code),
      onlyReached: this.#heat.onlyReached && entry.heat.recycled === this.#engine.pages.recycled,
      wasReached: this.#profiled.reached(),
    });
    const region = discover(entry.va, code, tier);
    const page = entry.va & ~0xfffn;
    entry.pages = region.pages.map(displacement => {
      const va = BigInt.asUintN(64, page + BigInt(displacement) * 4096n);
      return { va, ppn: this.#code.ppnOf(va, entry.fetchView) };
    });
    this.times.discover += this.#clock() - from;
    return region;
  }

  /**
   * True if the exec TLB holds the pages of the entry point's region as they were at its discovery.
   */
  #isMapped({ pages, fetchView }: EntryPoint): boolean {
    return pages.every(({ va, ppn }) => this.#code.ppnOf(va, fetchView) === ppn);
  }

  /**
   * The same after an attempt to fill the TLB. Without it a region whose last page is never reached
   * would wait for that page in the interpreter, after each flush. A fetch may drop the region: a
   * debugger marks its breakpoints then, and a walk may find a page table above the data boundary.
   */
  #isMappable(entry: EntryPoint): boolean {
    const { mmu } = this.#engine.hart;
    for (const { va, ppn } of entry.pages)
      if (this.#code.ppnOf(va, entry.fetchView) !== ppn)
        mmu.prefetch(Number(va & 0xffff_ffffn) | 0, Number(va >> 32n) | 0);
    return entry.module !== undefined && this.#isMapped(entry);
  }

  // Invalidation.

  /** Called after a store to a RAM page with compiled code. */
  #invalidate(page: number): void {
    this.#engine.invalidated();
    this.#invalidations.add(page, this.#engine.now);
    for (const module of this.#cache.modulesOf(page)) {
      for (const { heat } of module.entries) cool(heat);
      this.#cache.drop(module);
    }
  }

  /** Drops everything: after a reset, and when inlined calls are announced. */
  #forgetAll(): void {
    this.#cache.clear();
    this.#waiting = [];
    this.#sampled.clear();
    this.#partial.clear();
    this.#jumps.clear();
    this.#forgetFacts();
  }

  /** Those of helpers. */
  #forgetFacts(): void {
    new Uint8Array(this.#ram.memory.buffer, this.#scratchAt, SCRATCH_BYTES * VIEWS).fill(0xff);
  }
}
