// Guest code and data through the TLBs of the running hart. Reading through the TLB has no effect
// that the guest could see: pages that are not in it are treated as absent.

import type { Ram } from '../../bus/ram.ts';
import {
  DATA_VIEW,
  execEntryOf,
  FETCH_VIEW,
  PC,
  TLB_BYTES,
  TLB_MASK,
  TLB_READ,
  WALK,
  WALK_BARE,
  WALK_M,
} from '../../hart/layout.ts';
import { VIEW_M } from '../../hart/mmu.ts';
import { type Insn, newInsn } from '../../isa/index.ts';
import type { DecodedPages } from '../interp/decoded-pages.ts';
import type { InlineCall } from './inline-call.ts';
import type { CodeView } from './region/region.ts';

/** The views in which code accesses memory; the same bytes are another region in another view. */
export interface Views {
  readonly fetchView: number;
  readonly dataView: number;
  /** Loads and stores use physical addresses and PMP permits them everywhere in RAM. */
  readonly isFlat: boolean;
}

export const sameViews = (a: Views, b: Views): boolean =>
  a.fetchView === b.fetchView && a.dataView === b.dataView && a.isFlat === b.isFlat;

/** The word of the window that says whether a data view is flat. */
export const walkOf = (dataView: number): number => (dataView === VIEW_M ? WALK_M : WALK);

/** A virtual page of code and the physical page behind it. */
export interface MappedPage {
  readonly va: bigint;
  readonly ppn: number;
}

/** Facts that discovery needs besides the bytes of the code. */
export interface CodeQuestions {
  /** True if a separate region begins at this address. */
  isEntry(va: bigint): boolean;
  /** The function at this address that may be inlined. */
  inlineAt(va: bigint): InlineCall | undefined;
  /** Code that the interpreter has not decoded counts as not reached. */
  readonly onlyReached: boolean;
  /** Except where a profile knows better: true for the half-words of RAM that it names. */
  readonly wasReached: ((va: bigint, place: number) => boolean) | undefined;
}

export class GuestCode {
  /** Physical page number of the start of RAM. */
  readonly firstPage: number;
  readonly #ram: Ram;
  readonly #pages: DecodedPages;
  readonly #i32: Int32Array;
  readonly #view: DataView;

  constructor(ram: Ram, pages: DecodedPages) {
    this.#ram = ram;
    this.#pages = pages;
    this.#i32 = new Int32Array(ram.memory.buffer);
    this.#view = new DataView(ram.memory.buffer);
    this.firstPage = ram.base / 4096;
  }

  get pc(): bigint {
    return this.#view.getBigUint64(PC, true);
  }

  /** The current views. */
  views(): Views {
    const dataView = this.#i32[DATA_VIEW >> 2]!;
    const isFlat = this.#i32[walkOf(dataView) >> 2] === WALK_BARE;
    return { fetchView: this.#i32[FETCH_VIEW >> 2]!, dataView, isFlat };
  }

  /** Physical page of a virtual page if it is in the exec TLB, else -1. */
  ppnOf(va: bigint, view: number): number {
    const at = execEntryOf(view, Number(va & 0xffff_ffffn));
    return this.#view.getBigUint64(at, true) === va ? this.#i32[(at + 12) >> 2]! : -1;
  }

  /** Number of the half-word of RAM at a virtual address of code, -1 = not in the TLB. */
  placeOf(va: bigint, view: number): number {
    const ppn = this.ppnOf(va & ~0xfffn, view);
    const page = ppn - this.firstPage;
    if (ppn < 0 || page < 0 || page >= this.#ram.bytes / 4096) return -1;
    return page * 2048 + Number((va & 0xfffn) >> 1n);
  }

  /** The code around `entry` as discovery reads it: addresses are displacements from the entry. */
  codeView(entry: bigint, views: Views, questions: CodeQuestions): CodeView {
    const address = (at: number): bigint => BigInt.asUintN(64, entry + BigInt(at));
    const placeAt = this.#placer(entry, views.fetchView);
    const isDecoded = (at: number): boolean => {
      const place = placeAt(at);
      return place >= 0 && this.#pages.isDecoded(Math.floor(place / 2048), (place % 2048) * 2);
    };
    // The interpreter decodes a straight line when control reaches it. The records of a page may be
    // dropped later, and then they tell nothing.
    const tellsReached = questions.onlyReached && isDecoded(0);
    return {
      fetch: this.#fetcher(placeAt),
      wasReached: at =>
        !tellsReached || isDecoded(at) || questions.wasReached?.(address(at), placeAt(at)) === true,
      isEntry: at => questions.isEntry(address(at)),
      inlineAt: at => questions.inlineAt(address(at)),
      lastTarget: at => this.#lastTarget(address(at), entry, views.fetchView),
      word: at => {
        const host = this.#readable(address(at), 4, views);
        return host === undefined ? undefined : this.#view.getInt32(host, true);
      },
      pointer: at => {
        const host = this.#readable(address(at), 8, views);
        if (host === undefined) return undefined;
        const distance = Number(BigInt.asIntN(64, this.#view.getBigUint64(host, true) - entry));
        return Math.abs(distance) < 2 ** 31 ? distance : undefined;
      },
    };
  }

  /** 32 bits of code at a physical address; undefined outside of RAM, and where one is marked. */
  wordAt(pa: number): number | undefined {
    const at = pa - this.#ram.base;
    const { breaks } = this.#pages;
    if (!breaks.isEmpty && (breaks.has(at >> 1) || breaks.has((at >> 1) + 1))) return undefined;
    if (!(at >= 0 && at + 4 <= this.#ram.bytes)) return undefined;
    return this.#view.getUint32(this.#ram.hostBase + at, true);
  }

  /**
   * The number of the half-word of RAM at a displacement from `entry`, -1 = not in the exec TLB.
   * Each page is looked up once, and the rest is arithmetic of small integers.
   */
  #placer(entry: bigint, view: number): (at: number) => number {
    const inPage = Number(entry & 0xfffn);
    const first = entry & ~0xfffn;
    /** By page from that of the entry: the number of its first half-word of RAM, -1 = absent. */
    const places = new Map<number, number>();
    return at => {
      const offset = inPage + at;
      const page = offset >> 12;
      let place = places.get(page);
      if (place === undefined) {
        place = this.placeOf(BigInt.asUintN(64, first + BigInt(page) * 4096n), view);
        places.set(page, place);
      }
      return place < 0 ? -1 : place + ((offset & 0xfff) >> 1);
    };
  }

  /**
   * Decodes at a displacement; undefined if there is no half-word of RAM, or the instruction is
   * marked, because the interpreter has to ask a debugger before it.
   */
  #fetcher(placeAt: (at: number) => number): (at: number) => Insn | undefined {
    const { breaks } = this.#pages;
    const halfWord = (place: number): number => this.#view.getUint16(this.#ram.hostBase + place * 2, true);
    return at => {
      const place = placeAt(at);
      if (place < 0 || (!breaks.isEmpty && breaks.has(place))) return undefined;
      const low = halfWord(place);
      if ((low & 3) !== 3) return this.#decode(low);
      const next = placeAt(at + 2);
      return next < 0 ? undefined : this.#decode((low | (halfWord(next) << 16)) >>> 0);
    };
  }

  #decode(word: number): Insn | undefined {
    const insn = newInsn();
    return this.#pages.decodeWord(word, insn) ? insn : undefined;
  }

  /** The last target of the `jalr` at `at`, as a displacement from `entry`. */
  #lastTarget(at: bigint, entry: bigint, view: number): number | undefined {
    const place = this.placeOf(at, view);
    const low = place < 0 ? undefined : this.#pages.lastTarget(Math.floor(place / 2048), (place % 2048) * 2);
    return low === undefined ? undefined : Number(BigInt.asIntN(33, BigInt(low) - entry));
  }

  /** Host address of data in RAM that can be read without the hart. */
  #readable(va: bigint, bytes: number, { dataView, isFlat }: Views): number | undefined {
    if (Number(va & 0xfffn) + bytes > 4096) return undefined;
    if (isFlat) {
      const at = Number(va) - this.#ram.base;
      return at >= 0 && at + bytes <= this.#ram.bytes ? this.#ram.hostBase + at : undefined;
    }
    const at = TLB_READ + dataView * TLB_BYTES + Number((va >> 8n) & BigInt(TLB_MASK));
    if (this.#view.getBigUint64(at, true) !== (va & ~0xfffn)) return undefined;
    return (this.#i32[(at + 8) >> 2]! + Number(BigInt.asIntN(32, va))) >>> 0;
  }
}
