// Turns a batch of discovered regions into a running WebAssembly module, and connects its regions
// to others.

import type { Ram } from '../../bus/ram.ts';
import { fpHelper, type Hart } from '../../hart/index.ts';
import { rowOf } from '../../isa/index.ts';
import { I32, ModuleBuilder } from '../../wasm/module.ts';
import type { RegionSlow } from '../engine.ts';
import type { RetiredPlace } from '../retired.ts';
import type { CodeCache } from './cache/code-cache.ts';
import type { DataBoundary } from './cache/data-boundary.ts';
import type { CompiledModule, EntryPoint, EntryPoints } from './cache/entry-points.ts';
import type { CompiledEntry } from './cache/slots.ts';
import { emitRegion, type Linker, type RegionFunctions } from './emit/emit.ts';
import { type JumpCache, type Placement, REGION_PARAMS, REGION_RESULTS } from './emit/entry.ts';
import { FpHelpers } from './emit/fp-helpers.ts';
import type { RamPlace } from './emit/memory.ts';
import { type GuestCode, sameViews, walkOf } from './guest-code.ts';
import { type InlineCall, type InlineFamily, type InlineHelper, SCRATCH_BYTES } from './inline-call.ts';
import { pagesOfCalls } from './inline-table.ts';
import { insnsOf, type Region } from './region/region.ts';

/** The index of a function that the module does not import, because it does not call it. */
const ABSENT = -1;
/** Export of a module's table of links. */
const LINKS = 'links';

/** The functions that are being emitted for an entry point. */
interface Job extends RegionFunctions {
  readonly region: Region;
}

/** Milliseconds of the main thread, if there is a clock. V8's own threads are not among them. */
export interface JitTimes {
  /** Discovery, to measure regions and to compile them. */
  discover: number;
  /** From blocks to the bytes of a module. */
  emit: number;
  /** V8's validation, and linking. */
  instantiate: number;
}

/** The parts of the JIT that the compiler uses. */
export interface CompilerParts {
  readonly ram: Ram;
  readonly ramPlace: RamPlace;
  readonly code: GuestCode;
  readonly entries: EntryPoints;
  readonly cache: CodeCache;
  readonly boundary: DataBoundary;
  readonly jumpCache: JumpCache;
  /** Byte address where warm regions leave their slot; see Placement. */
  readonly sampleAt: number;
  /** Memory of helpers, by the view of loads and stores. */
  readonly scratchAt: number;
  readonly slow: RegionSlow;
  readonly hart: () => Hart;
  readonly retired: RetiredPlace | undefined;
  /** See `JitTuning.clock`. */
  readonly clock: () => number;
  readonly times: JitTimes;
}

function hasFloat(region: Region): boolean {
  for (const { op } of insnsOf(region)) if (rowOf(op).isFloat) return true;
  return false;
}

const inlineCalls = ({ blocks, called }: Region): InlineCall[] => [
  ...blocks.flatMap(({ end }) => (end.kind === 'inline' ? [end.call] : [])),
  ...(called ? [called] : []),
];
const inlineFamilies = (region: Region): InlineFamily[] => inlineCalls(region).map(({ family }) => family);

/** The addresses between the first and the last instruction. */
function spanOf({ blocks }: Region): { from: number; to: number } {
  let [from, to] = [0, 0];
  for (const { insns } of blocks) {
    from = Math.min(from, insns[0]?.at ?? 0);
    to = Math.max(to, insns.at(-1)?.at ?? 0);
  }
  return { from, to };
}

export class Compiler {
  readonly #p: CompilerParts;
  readonly #soft: (op: number) => void;

  constructor(parts: CompilerParts) {
    this.#p = parts;
    this.#soft = op => fpHelper(parts.hart().state, op);
  }

  /**
   * Compiles one module with a region for every entry point; each has a slot, and its `pages` are
   * those of its region. The data boundary is above all of them.
   */
  compile(regions: ReadonlyMap<EntryPoint, Region>): CompiledModule {
    const { ram, ramPlace, slow, boundary, cache, clock, times, scratchAt } = this.#p;
    const begin = clock();
    const m = new ModuleBuilder();
    // V8 compiles a wrapper for each imported function of JavaScript, in every module.
    const all = [...regions.values()];
    const hasFloats = all.some(hasFloat);
    const isHot = all.some(({ tier }) => tier === 'hot');
    const port = {
      slow: m.importFunction('env', 'slow', [I32], [I32]),
      soft: hasFloats ? m.importFunction('env', 'soft', [I32], []) : ABSENT,
      deviceLoad: isHot ? m.importFunction('env', 'deviceLoad', [I32, I32], [I32]) : ABSENT,
      deviceSettle: isHot ? m.importFunction('env', 'deviceSettle', [I32], [I32]) : ABSENT,
      dispatch: m.importFunction('env', 'dispatch', [...REGION_PARAMS, I32], REGION_RESULTS),
      jump: m.importFunction('env', 'jump', REGION_PARAMS, REGION_RESULTS),
    };
    const hosts = new Map<InlineFamily, number>();
    const imported: Record<string, unknown> = {};
    for (const family of new Set(all.flatMap(inlineFamilies))) {
      if (!family.host) continue;
      const name = `host${hosts.size}`;
      hosts.set(family, m.importFunction('env', name, [I32, I32, I32], []));
      imported[name] = family.host;
    }
    const helpers = new Map<InlineHelper, number>();
    const { memory } = ram;
    const helperIn = (call: InlineCall, dataView: number): InlineHelper | undefined =>
      call.helper?.({ memory, ram: ramPlace, dataView, scratch: scratchAt + SCRATCH_BYTES * dataView });
    const helperOf = (call: InlineCall, dataView: number): number | undefined => {
      const helper = helperIn(call, dataView);
      return helper && helpers.get(helper);
    };
    for (const [{ dataView }, region] of regions) {
      for (const call of inlineCalls(region)) {
        const helper = helperIn(call, dataView);
        if (!helper || helpers.has(helper)) continue;
        const name = `helper${helpers.size}`;
        helpers.set(helper, m.importFunction('env', name, helper.params, helper.results));
        imported[name] = helper.call;
      }
    }
    m.importMemory('env', 'memory', { min: 1 });
    const jit = {
      slow: port.slow,
      device: { load: port.deviceLoad, settle: port.deviceSettle, ramBase: ram.base },
      isDeviceLoad: slow.isDeviceLoad,
      fp: new FpHelpers(m, port.soft),
      physicalOffset: BigInt(ram.base - ram.hostBase),
      hosts,
      helperOf,
      retired: this.#p.retired,
    };
    const jobs = new Map<EntryPoint, Job>();
    for (const [entry, region] of regions) {
      const name = `r${entry.va.toString(16)}`;
      const body = m.func(REGION_PARAMS, REGION_RESULTS, name);
      jobs.set(entry, { region, body, door: m.func(REGION_PARAMS, REGION_RESULTS, `${name}_door`) });
    }
    const callees = new Map<EntryPoint, number>();
    const regionType = m.type(REGION_PARAMS, REGION_RESULTS);
    for (const [entry, { region, door, body }] of jobs) {
      const linker = this.#linker(entry, { ...port, regionType }, jobs, callees);
      emitRegion({ door, body }, region, this.#placement(entry, region), jit, linker, ramPlace);
      m.export(String(entry.slot), 'func', door.index);
      entry.heat.size = region.size;
      entry.warmSpan = region.tier === 'warm' ? spanOf(region) : undefined;
      entry.leftOut = region.tier === 'hot' ? region.leftOut : undefined;
      cache.stats.insns += region.size;
      if (region.tier === 'hot') cache.stats.hot++;
    }
    if (callees.size > 0) {
      const limits = { min: callees.size, max: callees.size };
      m.element(m.table(limits), 0, new Array(callees.size).fill(port.jump));
      m.export(LINKS, 'table', 0);
    }
    const bytes = m.finish();
    const emitted = clock();
    const functions = this.#instantiate(bytes, imported);
    times.emit += emitted - begin;
    times.instantiate += clock() - emitted;
    for (const { slot } of jobs.keys()) cache.slots.set(slot, functions[slot] as CompiledEntry);
    const module: CompiledModule = {
      entries: new Set(jobs.keys()),
      callees: [...callees.keys()],
      links: functions[LINKS] as WebAssembly.Table | undefined,
      pages: this.pagesOf(regions),
      wasmBytes: bytes.length,
      parked: undefined,
    };
    if ([...jobs.keys()].some(({ isFlat }) => isFlat)) boundary.rely(module);
    return module;
  }

  /** The module's entry points by slot, and its table of links. */
  #instantiate(
    bytes: Uint8Array<ArrayBuffer>,
    imported: Readonly<Record<string, unknown>>,
  ): Readonly<Record<string, unknown>> {
    const { memory } = this.#p.ram;
    const { slow, deviceLoad, deviceSettle, dispatch, jump } = this.#p.slow;
    const env = { memory, slow, deviceLoad, deviceSettle, dispatch, jump, soft: this.#soft, ...imported };
    return new WebAssembly.Instance(new WebAssembly.Module(bytes), { env }).exports;
  }

  /** RAM pages that a module of these regions is made from: theirs, and those of inlined calls. */
  pagesOf(regions: ReadonlyMap<EntryPoint, Region>): Set<number> {
    const { firstPage } = this.#p.code;
    const pages = new Set<number>();
    for (const [entry, region] of regions) {
      for (const { ppn } of entry.pages) pages.add(ppn - firstPage);
      for (const page of pagesOfCalls(inlineCalls(region), firstPage)) pages.add(page);
    }
    return pages;
  }

  #placement({ fetchView, dataView, isFlat, pages, slot }: EntryPoint, { tier }: Region): Placement {
    const { ramPlace, boundary, sampleAt } = this.#p;
    const flat = { ...ramPlace, dataFirst: boundary.first * 4096, walk: walkOf(dataView) };
    return {
      fetchView,
      dataView,
      ...(isFlat && { flat }),
      ppns: pages.map(({ ppn }) => ppn),
      ...(tier === 'warm' && { sample: { at: sampleAt, slot } }),
    };
  }

  #linker(
    from: EntryPoint,
    { dispatch, jump, regionType }: Pick<Linker, 'dispatch' | 'jump' | 'regionType'>,
    jobs: ReadonlyMap<EntryPoint, Job>,
    callees: Map<EntryPoint, number>,
  ): Linker {
    const { code, entries, jumpCache } = this.#p;
    const target = (va: bigint): EntryPoint | undefined => {
      const place = code.placeOf(va, from.fetchView);
      if (place < 0) return undefined;
      // New entry points get the current views, which are those of `from` only if it is being
      // entered.
      return sameViews(code.views(), from) ? entries.obtain(va, place, from) : entries.find(va, place, from);
    };
    return {
      ...jumpCache,
      dispatch,
      jump,
      regionType,
      direct: va => {
        const entry = target(va);
        const callee = entry && jobs.get(entry);
        // A warm callee may become hot by itself, and then only its links lead to the new code.
        if (!callee || callee.region.tier === 'warm') return undefined;
        const isVerified = entry.pages.every(({ va: page }) => from.pages.some(own => own.va === page));
        return (isVerified ? callee.body : callee.door).index;
      },
      link: va => {
        const entry = target(va);
        if (!entry) return undefined;
        const index = callees.get(entry) ?? callees.size;
        callees.set(entry, index);
        return index;
      },
    };
  }
}
