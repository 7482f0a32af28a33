// Profiles: the code that was hot in earlier runs. A profile says when code is compiled, and which
// of its paths; it never changes what the code does. So one that is wrong or damaged costs time and
// nothing else.

import { hasBit } from '../../../base/bits.ts';
import type { Ram } from '../../../bus/ram.ts';
import type { DecodedPages } from '../../interp/decoded-pages.ts';
import type { EntryPoint } from '../cache/entry-points.ts';
import type { MappedPage } from '../guest-code.ts';
import { type Heat, type HeatThresholds, MOST_HINTS } from './heat.ts';

/** Of one page of code: a bit for each half-word. */
export interface PageProfile {
  /** An entry point was compiled there. */
  readonly hot: Uint8Array;
  /** Control has been there. */
  readonly reached: Uint8Array;
}

/** A page that a region was compiled from. */
export interface CodePage {
  readonly va: bigint;
  /** As they are in RAM, also later. */
  readonly contents: Int32Array;
  /** Whether control has been at an offset, as far as the interpreter knows now. */
  wasReached(offset: number): boolean;
}

/** The profile of earlier runs; this one is added to it. */
export interface JitProfile {
  /** False if no page at this virtual address had a hot entry point there, with any contents. */
  mayBeHot(va: bigint): boolean;
  /** The facts about a page with these contents at this virtual address, if there are any. */
  pageAt(va: bigint, contents: Int32Array): PageProfile | undefined;
  /** Regions were compiled from this page; those entry points are in it. */
  compiled(page: CodePage, entries: readonly bigint[]): void;
}

const HALF_WORDS = 2048;

/** The words of a page, counted from the start of RAM. */
const contentsOf = ({ memory, hostBase }: Ram, page: number): Int32Array =>
  new Int32Array(memory.buffer, hostBase + page * 4096, 1024);

/** A profile, asked about code in RAM. Places are numbers of half-words of RAM. */
export class ProfiledCode {
  readonly #profile: JitProfile | undefined;
  readonly #ram: Ram;

  constructor(ram: Ram, profile: JitProfile | undefined) {
    this.#ram = ram;
    this.#profile = profile;
  }

  /**
   * Makes an entry point that was hot due, at a few of its first ticks: code may be patched in
   * between. It then waits for a batch for `ticksToFillHinted` ticks. True if it was.
   */
  hint(va: bigint, place: number, heat: Heat, thresholds: HeatThresholds): boolean {
    const { ticks, hints } = heat;
    const { ticksToMeasure, ticksToFillBatch, ticksToFillHinted } = thresholds;
    const asks = ticks < ticksToMeasure && (ticks & (ticks - 1)) === 0 && hints < MOST_HINTS;
    if (!asks || !this.#profile?.mayBeHot(va)) return false;
    if (!hasBit(this.#pageOf(va, place)?.hot, place % HALF_WORDS)) return false;
    heat.hints++;
    heat.due = ticks + ticksToFillHinted - ticksToFillBatch;
    return true;
  }

  /** Whether control has been at a place, for one discovery: each page is looked up once. */
  reached(): ((va: bigint, place: number) => boolean) | undefined {
    if (!this.#profile) return undefined;
    const pages = new Map<number, PageProfile | undefined>();
    return (va, place) => {
      if (place < 0) return false;
      const page = Math.floor(place / HALF_WORDS);
      if (!pages.has(page)) pages.set(page, this.#pageOf(va, place));
      return hasBit(pages.get(page)?.reached, place % HALF_WORDS);
    };
  }

  /** A batch was compiled. */
  compiled(entries: Iterable<EntryPoint>, decoded: DecodedPages): void {
    if (!this.#profile) return;
    const pages = new Map<string, MappedPage & { readonly entries: bigint[] }>();
    for (const entry of entries)
      for (const { va, ppn } of entry.pages) {
        const key = `${va} ${ppn}`;
        const page = pages.get(key) ?? { va, ppn, entries: [] };
        pages.set(key, page);
        if (entry.va >> 12n === va >> 12n) page.entries.push(entry.va);
      }
    for (const { va, ppn, entries } of pages.values()) {
      const page = ppn - this.#ram.base / 4096;
      const contents = contentsOf(this.#ram, page);
      this.#profile.compiled({ va, contents, wasReached: at => decoded.isDecoded(page, at) }, entries);
    }
  }

  #pageOf(va: bigint, place: number): PageProfile | undefined {
    return this.#profile?.pageAt(va & ~0xfffn, contentsOf(this.#ram, Math.floor(place / HALF_WORDS)));
  }
}
