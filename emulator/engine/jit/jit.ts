// The region JIT: decides what is compiled, when, and when it must be forgotten. The interpreter counts arrivals and asks
// (`hot`, `enter`); regions are emitted in batches (jit/emit/emit.ts), one WebAssembly module each.
//
// Identity: a region belongs to the physical place of its entry, to the virtual address and to the views for which it was emitted; its own
// entry checks compare the exec TLB with the pages it was made from, so it runs exactly when the interpreter would fetch the same bytes.
// Invalidation: every page of a region is protected like a page of decoded records. A store to one of them reaches
// the interpreter (compiled code leaves before it), which reports the page; then all regions of the modules that
// hold code of that page are dropped, because calls inside a module are direct. A page that flips often is not compiled again.

import type { Ram } from '../../bus/ram.ts';
import { fpHelper, type Hart } from '../../hart/index.ts';
import {
  DATA_VIEW,
  FETCH_VIEW,
  PC,
  TLB_BYTES,
  TLB_EXEC,
  TLB_READ,
  WALK,
  WALK_BARE,
  WALK_M,
} from '../../hart/layout.ts';
import { VIEW_M } from '../../hart/mmu.ts';
import { decode, type Insn } from '../../isa/index.ts';
import { I32, I64, ModuleBuilder } from '../../wasm/module.ts';
import type { RegionHost, RegionSlow } from '../engine.ts';
import type { DecodedPages } from '../interp/decoded-pages.ts';
import { ENTRY_COLD, ENTRY_COMPILED } from '../interp/records.ts';
import { emitRegion, type HookPort, type Linker, type RegionFunctions } from './emit/emit.ts';
import { REGION_PARAMS, REGION_RESULTS } from './emit/entry.ts';
import { FpHelpers } from './emit/fp-helpers.ts';
import { type HookTable, verifyHook } from './emit/kcov.ts';
import type { FlatRam, RamPlace } from './emit/memory.ts';
import { discover, type Region } from './region/region.ts';

/** Arrivals at a jump target until it is offered; fits R_ENTRY. */
const ARRIVALS = 200;
/**
 * Offers until its region is looked at, and from then on for each of its instructions: by then interpreting has cost about what
 * compiling will (50 us per instruction, most of it TurboFan's), so a wrong guess never costs more than twice the best.
 */
const WARM = 20;
const OFFERS_PER_INSN = 1;
/**
 * Offers of all entries until anything is compiled: some ten milliseconds. A kernel that boots for one small program is through by then, and
 * the emitter itself has to be compiled first.
 */
const PATIENCE = 1500;
const ARRIVALS_EAGER = 40;
const WARM_EAGER = 1;
const OFFERS_PER_INSN_EAGER = 0;
/** Entries that make a batch. */
const BATCH = 12;
/** A warm entry that is offered so often again does not wait for the batch to fill. */
const OFFERS = 2;
/** Instantiation costs time in proportion to the table. */
const SLOTS = 4096;
const CACHE_ENTRIES = 4096;
const CACHE_BYTES = CACHE_ENTRIES * 16;
/** Times that code may appear above all known code. */
const RAISES = 100;
/** Times that regions of a page are dropped until the page is left to the interpreter. */
const FLIPS = 6;

/** How code sees memory; the same bytes are another region in another view. */
interface Views {
  readonly fetchView: number;
  readonly dataView: number;
  /** Loads and stores use physical addresses and PMP lets them everywhere in RAM. */
  readonly isFlat: boolean;
}

const sameViews = (a: Views, b: Views): boolean =>
  a.fetchView === b.fetchView && a.dataView === b.dataView && a.isFlat === b.isFlat;

/** The word of the window that tells whether a data view is flat. */
const walkOf = (dataView: number): number => (dataView === VIEW_M ? WALK_M : WALK);

interface Entry extends Views {
  readonly va: bigint;
  /** Physical half-word number of the entry: its place in guest RAM. */
  readonly place: number;
  readonly slot: number;
  module: CompiledModule | undefined;
  /** How often it was found hot without having a region, and without being told to be patient. */
  offers: number;
  /** Offers at which it is compiled. */
  due: number;
  /** va and physical page of every page. */
  pages: readonly { readonly va: bigint; readonly ppn: number }[];
}

/** A region of the batch that is being compiled. */
interface Job extends RegionFunctions {
  readonly region: Region;
}

interface CompiledModule {
  readonly entries: Entry[];
}

export interface JitArea {
  /** CACHE_BYTES of linear memory. */
  readonly base: number;
  /** Compile at the first sign of heat, whether it pays or not: for tests of compiled code. */
  readonly eager?: boolean;
}

export class Jit implements RegionHost {
  static readonly areaBytes = CACHE_BYTES;
  readonly arrivals: number;
  readonly #warm: number;
  readonly #offersPerInsn: number;
  #patience: number;
  readonly jumpCache: number;
  readonly jumpCacheMask = CACHE_ENTRIES - 1;
  readonly table: WebAssembly.Table;
  readonly #ram: Ram;
  readonly #memory: WebAssembly.Memory;
  readonly #i32: Int32Array;
  readonly #view: DataView;
  readonly #stub: unknown;
  #regionSlow!: RegionSlow;
  /** Physical page number of the start of RAM, and its pages. */
  readonly #firstPage: number;
  readonly #ramPages: number;
  #hooks: HookPort | undefined;
  readonly #hookKinds = new Map<bigint, number>();
  #pages!: DecodedPages;
  #hart!: () => Hart;
  /** Known entries by place; several when one page is mapped at several addresses or run in several views. */
  readonly #entries = new Map<number, Entry[]>();
  readonly #byKey = new Map<string, Entry>();
  readonly #modulesOfPage = new Map<number, Set<CompiledModule>>();
  /** First RAM page above all code: regions without translation store there without looking at the map of code pages. */
  #dataPage = 0;
  #raises = 0;
  /** Modules that rely on it. */
  readonly #flatModules = new Set<CompiledModule>();
  readonly #flips = new Map<number, number>();
  /** Slots are given out from 1 upward. */
  #nextSlot = 1;
  #waiting: Entry[] = [];
  /** Regions and guest instructions compiled so far. */
  readonly stats = { regions: 0, insns: 0, modules: 0, dropped: 0 };

  constructor(ram: Ram, area: JitArea) {
    this.arrivals = area.eager ? ARRIVALS_EAGER : ARRIVALS;
    this.#warm = area.eager ? WARM_EAGER : WARM;
    this.#offersPerInsn = area.eager ? OFFERS_PER_INSN_EAGER : OFFERS_PER_INSN;
    this.#patience = area.eager ? 0 : PATIENCE;
    this.#ram = ram;
    this.#memory = ram.memory;
    this.#i32 = new Int32Array(ram.memory.buffer);
    this.#view = new DataView(ram.memory.buffer);
    this.#firstPage = ram.base / 4096;
    this.#ramPages = ram.bytes / 4096;
    this.jumpCache = area.base;
    this.#stub = makeStub(this.#memory);
    const limits = { element: 'anyfunc', initial: SLOTS, maximum: SLOTS } as const;
    this.table = new WebAssembly.Table(limits, this.#stub);
    this.#purgeCache();
  }

  /** Coverage hooks that may be inlined; undefined = none. Everything compiled is forgotten. */
  setHooks(table: HookTable | undefined): void {
    if (!table && !this.#hooks) return;
    this.#hooks = undefined;
    this.#hookKinds.clear();
    this.#forget(-1);
    if (!table) return;
    for (const [kind, address] of table.addresses.entries()) {
      if (!verifyHook(kind, table, at => this.#fetchLinear(address + BigInt(at) - table.kvaOffset))) return;
    }
    for (const [kind, address] of table.addresses.entries()) this.#hookKinds.set(address, kind);
    this.#hooks = { table, ram: this.#ramPlace };
  }

  get #ramPlace(): RamPlace {
    const { hostBase, base, bytes } = this.#ram;
    return { hostBase, base, bytes, codeMap: this.#pages.codeMap };
  }

  /** Decodes at a physical address. */
  #fetchLinear(pa: bigint): Insn | undefined {
    const at = Number(pa) - this.#ram.base;
    if (!(at >= 0 && at + 4 <= this.#ram.bytes)) return undefined;
    return decode(this.#view.getUint32(this.#ram.hostBase + at, true));
  }

  /** RAM pages of the hooks' code: what is inlined from them goes when they change. */
  *#hookPages(): Generator<number> {
    if (!this.#hooks) return;
    const { addresses, kvaOffset } = this.#hooks.table;
    for (const address of addresses)
      for (const end of [0n, 47n]) yield Number((address + end - kvaOffset) >> 12n) - this.#firstPage;
  }

  /** The interpreter's side; called once, before the first instruction. */
  attach(pages: DecodedPages, hart: () => Hart): void {
    this.#pages = pages;
    this.#hart = hart;
    pages.onForget = page => this.#forget(page);
    pages.onCode = page => this.#raiseData(page);
  }

  useSlow(slow: RegionSlow): void {
    this.#regionSlow = slow;
  }

  #reset(): void {
    for (let slot = 0; slot < this.#nextSlot; slot++) this.table.set(slot, this.#stub as never);
    this.#nextSlot = 1;
    this.#entries.clear();
    this.#byKey.clear();
    this.#modulesOfPage.clear();
    this.#flatModules.clear();
    this.#waiting = [];
    this.#purgeCache();
  }

  #purgeCache(): void {
    this.#i32.fill(-1, this.jumpCache >> 2, (this.jumpCache + CACHE_BYTES) >> 2);
  }

  // Questions of the interpreter.

  /** The record's arrivals are used up. Its new R_ENTRY. */
  hot(rec: number): number {
    const { page, offset } = this.#pages.placeOf(rec);
    if (this.#isRestless(page)) return ENTRY_COLD;
    if (this.#patience > 0) {
      this.#patience--;
      return this.arrivals;
    }
    const entry = this.#offer(this.#view.getBigUint64(PC, true), page, offset);
    return entry ? ENTRY_COMPILED : this.arrivals;
  }

  #isRestless(page: number): boolean {
    return (this.#flips.get(page) ?? 0) >= FLIPS;
  }

  /** A hot entry: waits for a batch, or is compiled with those that wait. The entry if it now has a region. */
  #offer(va: bigint, page: number, offset: number): Entry | undefined {
    if (this.#isRestless(page)) return undefined;
    const entry = this.#entryAt(va, page * 2048 + (offset >> 1));
    if (!entry || entry.module) return entry;
    if (++entry.offers === this.#warm)
      entry.due = this.#warm + this.#offersPerInsn * this.#discover(entry).size;
    if (entry.offers === entry.due) this.#waiting.push(entry);
    const isDue = entry.offers >= entry.due + OFFERS - 1 || this.#waiting.length >= BATCH;
    if (isDue && this.#waiting.length > 0) this.#compileBatch();
    return entry.module && entry;
  }

  /** The table slot of the region to run at PC, or -1 to interpret. Fills the jump cache. */
  enter(rec: number): number {
    const i32 = this.#i32;
    const { page, offset } = this.#pages.placeOf(rec);
    const pc = this.#view.getBigUint64(PC, true);
    const views = this.#views();
    const found = this.#entries
      .get(page * 2048 + (offset >> 1))
      ?.find(e => e.module && e.va === pc && sameViews(e, views));
    // The same code at another address or in another view is an entry of its own.
    if (!found) return this.#offer(pc, page, offset)?.slot ?? -1;
    if (!found.pages.every(p => this.#ppnOf(p.va, found.fetchView) === p.ppn)) return -1;
    const at = this.jumpCache + ((Number(pc & 0xffffn) << 3) & (this.jumpCacheMask << 4));
    this.#view.setBigUint64(at, pc, true);
    i32[(at + 8) >> 2] = found.slot;
    return found.slot;
  }

  /** Physical page of a virtual page, if the exec TLB knows it; -1 otherwise. Changes nothing. */
  #ppnOf(va: bigint, view: number): number {
    const at = TLB_EXEC + view * TLB_BYTES + Number((va >> 8n) & 0xff0n);
    return this.#view.getBigUint64(at, true) === va ? this.#i32[(at + 12) >> 2]! : -1;
  }

  /** The views of now. */
  #views(): Views {
    const dataView = this.#i32[DATA_VIEW >> 2]!;
    const isFlat = this.#i32[walkOf(dataView) >> 2] === WALK_BARE;
    return { fetchView: this.#i32[FETCH_VIEW >> 2]!, dataView, isFlat };
  }

  /** The entry for an address in the current views; makes one. Undefined when there is no slot left. */
  #entryAt(va: bigint, place: number): Entry | undefined {
    const views = this.#views();
    const key = `${va} ${place} ${views.fetchView} ${views.dataView} ${views.isFlat}`;
    const known = this.#byKey.get(key);
    if (known) return known;
    if (this.#nextSlot === SLOTS) {
      this.#forget(-1);
      return undefined;
    }
    const slot = this.#nextSlot++;
    const entry: Entry = {
      va,
      ...views,
      place,
      slot,
      module: undefined,
      offers: 0,
      due: Infinity,
      pages: [],
    };
    this.#byKey.set(key, entry);
    const list = this.#entries.get(place);
    if (list) list.push(entry);
    else this.#entries.set(place, [entry]);
    return entry;
  }

  // Compilation.

  /** Decodes at va for a region in `view`; undefined where the exec TLB does not know the page. */
  #fetch(va: bigint, view: number): Insn | undefined {
    const half = (address: bigint): number => {
      const ppn = this.#ppnOf(address & ~0xfffn, view);
      const offset = ppn * 4096 - this.#ram.base + Number(address & 0xfffn);
      if (ppn < 0 || offset < 0 || offset + 2 > this.#ram.bytes) return -1;
      return this.#view.getUint16(this.#ram.hostBase + offset, true);
    };
    const low = half(va);
    if (low < 0) return undefined;
    if ((low & 3) !== 3) return decode(low);
    const high = half(BigInt.asUintN(64, va + 2n));
    return high < 0 ? undefined : decode((low | (high << 16)) >>> 0);
  }

  #discover(entry: Entry): Region {
    const { va, fetchView } = entry;
    const address = (at: number): bigint => BigInt.asUintN(64, va + BigInt(at));
    return discover(va, {
      fetch: at => this.#fetch(address(at), fetchView),
      isEntry: at => this.#isKnown(address(at), entry),
      hookAt: at => this.#hookKinds.get(address(at)) ?? -1,
      lastTarget: at => this.#lastTarget(address(at), va, fetchView),
      word: at => {
        const host = this.#readable(address(at), 4, entry);
        return host === undefined ? undefined : this.#view.getInt32(host, true);
      },
      pointer: at => {
        const host = this.#readable(address(at), 8, entry);
        if (host === undefined) return undefined;
        const distance = Number(BigInt.asIntN(64, this.#view.getBigUint64(host, true) - va));
        return Math.abs(distance) < 2 ** 31 ? distance : undefined;
      },
    });
  }

  /** The last target of the `jalr` at `at`, as a displacement from `entry`. */
  #lastTarget(at: bigint, entry: bigint, view: number): number | undefined {
    const place = this.#placeOf(at, view);
    const low = place < 0 ? undefined : this.#pages.lastTarget(Math.floor(place / 2048), (place % 2048) * 2);
    return low === undefined ? undefined : Number(BigInt.asIntN(33, BigInt(low) - entry));
  }

  /** Host address of data in RAM that can be read without asking the hart. */
  #readable(va: bigint, bytes: number, { dataView, isFlat }: Views): number | undefined {
    if (Number(va & 0xfffn) + bytes > 4096) return undefined;
    if (isFlat) {
      const at = Number(va) - this.#ram.base;
      return at >= 0 && at + bytes <= this.#ram.bytes ? this.#ram.hostBase + at : undefined;
    }
    const at = TLB_READ + dataView * TLB_BYTES + Number((va >> 8n) & 0xff0n);
    if (this.#view.getBigUint64(at, true) !== (va & ~0xfffn)) return undefined;
    return (this.#i32[(at + 8) >> 2]! + Number(BigInt.asIntN(32, va))) | 0;
  }

  /** Does a region of its own begin at va? */
  #isKnown(va: bigint, like: Entry): boolean {
    const place = this.#placeOf(va, like.fetchView);
    return place >= 0 && (this.#entries.get(place)?.some(e => e.va === va && sameViews(e, like)) ?? false);
  }

  #placeOf(va: bigint, view: number): number {
    const ppn = this.#ppnOf(va & ~0xfffn, view);
    const page = ppn - this.#firstPage;
    return ppn < 0 || page < 0 || page >= this.#ram.bytes / 4096
      ? -1
      : page * 2048 + Number((va & 0xfffn) >> 1n);
  }

  /** One module with a region for every waiting entry. */
  #compileBatch(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    const m = new ModuleBuilder();
    const slow = m.importFunction('env', 'slow', [I32], [I32]);
    const soft = m.importFunction('env', 'soft', [I32], []);
    const device = m.importFunction('env', 'device', [I64, I32, I32, I32], [I32]);
    const { isDeviceLoad } = this.#regionSlow;
    m.importMemory('env', 'memory', { min: 1 });
    m.importTable('env', 'table', { min: 1 });
    const type = m.type(REGION_PARAMS, REGION_RESULTS);
    const port = {
      slow,
      device,
      isDeviceLoad,
      fp: new FpHelpers(m, soft),
      physicalOffset: BigInt(this.#ram.base - this.#ram.hostBase),
    };
    const module: CompiledModule = { entries: [] };
    const jobs = new Map<Entry, Job>();
    for (const entry of batch) {
      if (entry.module) continue;
      const region = this.#discover(entry);
      if (region.size === 0) continue;
      const name = `r${entry.va.toString(16)}`;
      const body = m.func(REGION_PARAMS, REGION_RESULTS, name);
      jobs.set(entry, { region, body, door: m.func(REGION_PARAMS, REGION_RESULTS, `${name}_door`) });
    }
    for (const [entry, { region }] of jobs) {
      const page = entry.va & ~0xfffn;
      entry.pages = region.pages.map(displacement => {
        const va = BigInt.asUintN(64, page + BigInt(displacement) * 4096n);
        return { va, ppn: this.#ppnOf(va, entry.fetchView) };
      });
      this.#raiseData(Math.max(...entry.pages.map(({ ppn }) => ppn)) - this.#firstPage);
    }
    for (const [entry, { region, door, body }] of jobs) {
      const linker = this.#linker(entry, type, jobs);
      const placement = {
        fetchView: entry.fetchView,
        dataView: entry.dataView,
        ...(entry.isFlat && { flat: this.#flat(entry) }),
        ppns: entry.pages.map(p => p.ppn),
      };
      emitRegion({ door, body }, region, placement, port, linker, this.#hooks);
      m.element(0, entry.slot, [door.index]);
      module.entries.push(entry);
      this.stats.regions++;
      this.stats.insns += region.size;
    }
    if (jobs.size === 0) return;
    const wasm = new WebAssembly.Module(m.finish());
    new WebAssembly.Instance(wasm, {
      env: {
        memory: this.#memory,
        table: this.table,
        slow: this.#regionSlow.slow,
        device: this.#regionSlow.device,
        soft: this.#soft,
      },
    });
    this.stats.modules++;
    if (module.entries.some(({ isFlat }) => isFlat)) this.#flatModules.add(module);
    for (const entry of jobs.keys()) this.#install(entry, module);
  }

  #flat(entry: Entry): FlatRam & { readonly walk: number } {
    return { ...this.#ramPlace, dataFirst: this.#dataPage * 4096, walk: walkOf(entry.dataView) };
  }

  /** A RAM page holds code, or must be watched: regions that take it for data go. A guest that does this for ever gets the slower test. */
  #raiseData(page: number): void {
    if (page < this.#dataPage) return;
    const isRelied = this.#flatModules.size > 0;
    if (isRelied) this.#raises++;
    this.#dataPage = this.#raises > RAISES ? this.#ramPages : page + 1;
    if (!isRelied) return;
    for (const module of this.#flatModules) this.#drop(module);
    this.#flatModules.clear();
    this.#purgeCache();
  }

  #linker(from: Entry, type: number, jobs: ReadonlyMap<Entry, Job>): Linker {
    const target = (va: bigint): Entry | undefined => {
      const place = this.#placeOf(va, from.fetchView);
      if (place < 0) return undefined;
      const known = this.#entries.get(place)?.find(e => e.va === va && sameViews(e, from));
      // Entries are made for the views of now, which are those of `from` only if it is being entered.
      if (known) return known;
      const isPossible = this.#nextSlot < SLOTS - 64 && sameViews(this.#views(), from);
      return isPossible ? this.#entryAt(va, place) : undefined;
    };
    return {
      type,
      direct: va => {
        const entry = target(va);
        const callee = entry && jobs.get(entry);
        if (!callee) return undefined;
        const isVerified = entry.pages.every(({ va: page }) => from.pages.some(own => own.va === page));
        return (isVerified ? callee.body : callee.door).index;
      },
      slot: va => target(va)?.slot,
      jumpCache: this.jumpCache,
      jumpCacheMask: this.jumpCacheMask,
    };
  }

  #install(entry: Entry, module: CompiledModule): void {
    entry.module = module;
    const page = Math.floor(entry.place / 2048);
    this.#pages.setEntry(page, (entry.place % 2048) * 2, ENTRY_COMPILED);
    const own = entry.pages.map(({ ppn }) => ppn - this.#firstPage);
    for (const ramPage of new Set([...own, ...this.#hookPages()])) {
      this.#pages.protect(ramPage);
      const modules = this.#modulesOfPage.get(ramPage);
      if (modules) modules.add(module);
      else this.#modulesOfPage.set(ramPage, new Set([module]));
    }
  }

  readonly #soft = (op: number): void => fpHelper(this.#hart().state, op);

  // Forgetting.

  /** A RAM page was stored to, or (-1) all decoded pages are gone. */
  #forget(page: number): void {
    if (page < 0) {
      this.stats.dropped += this.#byKey.size;
      this.#reset();
      return;
    }
    const modules = this.#modulesOfPage.get(page);
    if (!modules) return;
    this.#flips.set(page, (this.#flips.get(page) ?? 0) + 1);
    for (const module of modules) this.#drop(module);
    this.#modulesOfPage.delete(page);
    this.#purgeCache();
  }

  /** Empties the slots; the entries stay known, so that callers' slots remain right. */
  #drop(module: CompiledModule): void {
    for (const entry of module.entries) {
      if (entry.module !== module) continue;
      entry.module = undefined;
      entry.offers = 0;
      this.table.set(entry.slot, this.#stub as never);
      this.#pages.setEntry(Math.floor(entry.place / 2048), (entry.place % 2048) * 2, this.arrivals);
      for (const { ppn } of entry.pages) this.#modulesOfPage.get(ppn - this.#firstPage)?.delete(module);
      this.stats.dropped++;
    }
  }
}

/** What an empty slot holds: answers with PC, which the caller set to its target. */
function makeStub(memory: WebAssembly.Memory): unknown {
  const m = new ModuleBuilder();
  m.importMemory('env', 'memory', { min: 1 });
  const stub = m.func(REGION_PARAMS, REGION_RESULTS, 'stub');
  stub.code.i32_const(0).i64_load(PC).local_get(stub.params[1]);
  m.export('stub', 'func', stub.index);
  return new WebAssembly.Instance(new WebAssembly.Module(m.finish()), { env: { memory } }).exports['stub'];
}
