// The entry points that the JIT knows: addresses where control arrived often, or that compiled code
// calls. An entry point is identified by its physical address, its virtual address and its views,
// because the same bytes behave differently at another address or in another view.

import { type MappedPage, sameViews, type Views } from '../guest-code.ts';
import { coldHeat, type Heat } from '../policy/heat.ts';
import { type CompiledEntry, NO_SLOT } from './slots.ts';

export interface EntryPoint extends Views {
  readonly va: bigint;
  /** Number of its half-word of RAM. */
  readonly place: number;
  readonly heat: Heat;
  /** True while it is in the batch that is being collected. */
  isWaiting: boolean;
  /** While it is compiled; else NO_SLOT. */
  slot: number;
  /** Modules that call it from outside, and the index of its link in each. */
  readonly callers: Map<CompiledModule, number>;
  module: CompiledModule | undefined;
  /** While its region is warm: the addresses that it spans, as displacements from `va`. */
  warmSpan: { readonly from: number; readonly to: number } | undefined;
  /** While its region is hot: what that leaves out, as displacements from `va`. */
  leftOut: ReadonlySet<number> | undefined;
  /** The pages of its region, as of the last discovery. */
  pages: readonly MappedPage[];
}

/** Entry points that were compiled together. */
export interface CompiledModule {
  /** Those that still run its code: a hot region replaces a warm one of another module. */
  readonly entries: Set<EntryPoint>;
  /** Entry points outside that it calls, by their index in `links`. */
  readonly callees: readonly EntryPoint[];
  /** Its own table of their functions; absent if there are none. */
  readonly links: WebAssembly.Table | undefined;
  /** RAM pages that it was translated from. */
  readonly pages: Set<number>;
  readonly wasmBytes: number;
  /** While it is parked: the contents of its slots. */
  parked: Map<EntryPoint, CompiledEntry> | undefined;
}

/** Entry points beyond this number are dropped, unless they are referenced. */
const MOST = 16_384;

export class EntryPoints {
  /**
   * By physical address; several if one page is mapped at several addresses or runs in several
   * views.
   */
  readonly #points = new Map<number, EntryPoint[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  at(place: number): readonly EntryPoint[] {
    return this.#points.get(place) ?? [];
  }

  find(va: bigint, place: number, views: Views): EntryPoint | undefined {
    return this.#points.get(place)?.find(point => point.va === va && sameViews(point, views));
  }

  /** The known entry point, or a new cold one. */
  obtain(va: bigint, place: number, views: Views): EntryPoint {
    const known = this.find(va, place, views);
    if (known) return known;
    if (this.#size >= MOST) this.#sweep();
    const { fetchView, dataView, isFlat } = views;
    const point: EntryPoint = {
      va,
      place,
      fetchView,
      dataView,
      isFlat,
      heat: coldHeat(),
      isWaiting: false,
      slot: NO_SLOT,
      callers: new Map(),
      module: undefined,
      warmSpan: undefined,
      leftOut: undefined,
      pages: [],
    };
    const list = this.#points.get(place);
    if (list) list.push(point);
    else this.#points.set(place, [point]);
    this.#size++;
    return point;
  }

  clear(): void {
    this.#points.clear();
    this.#size = 0;
  }

  /**
   * Drops the entry points that neither wait nor are compiled nor called by compiled code; only
   * their hotness counters are lost.
   */
  #sweep(): void {
    for (const [place, list] of this.#points) {
      const kept = list.filter(point => point.isWaiting || point.module || point.callers.size > 0);
      this.#size -= list.length - kept.length;
      if (kept.length > 0) this.#points.set(place, kept);
      else this.#points.delete(place);
    }
  }
}
