// The aims of a search in a timeline, and its results.

import type { Hart } from '../../hart/index.ts';
import type { RunResult } from '../../machine/run-result.ts';

/** Physical memory. */
export interface Range {
  readonly pa: number;
  readonly bytes: number;
}

/** A search ends at any of these. */
export interface Stops {
  /** Virtual addresses of instructions, in the view of the hart that executes them. */
  readonly breakpoints?: ReadonlySet<bigint>;
  /** Does a breakpoint of this hart count? Default: each does. It must not change the machine. */
  readonly accepts?: (hart: Hart, pc: bigint) => boolean;
  /** Stores to these. */
  readonly stores?: readonly Range[];
  /** Backwards: nothing from this unit on is met. */
  readonly passed?: (unit: number) => void;
}

/** A place in front of an instruction that was asked for. */
export interface Moment {
  /** Units since power-on. */
  readonly unit: number;
  readonly hart: number;
}

/** A store to watched memory. */
export interface Store extends Moment {
  /** Of the instruction; of the one that ran meanwhile if a device stored. */
  readonly pc: bigint;
  /** `device`: the store was DMA, which the instruction may have started. */
  readonly by: 'hart' | 'device';
  readonly pa: number;
  readonly bytes: number;
}

export type Found =
  | ({ readonly kind: 'breakpoint'; readonly pc: bigint } & Moment)
  | ({ readonly kind: 'store' } & Store)
  /** Nothing up to the end of the run, which ended like this. */
  | { readonly kind: 'end'; readonly result: RunResult }
  /** Nothing since the first place. */
  | { readonly kind: 'begin' }
  /** Nothing up to the limit of the search. */
  | { readonly kind: 'limit' };

const PAGE = 4096;

export const overlaps = (a: Range, pa: number, bytes: number): boolean =>
  pa < a.pa + a.bytes && a.pa < pa + bytes;

/** Pages of the ranges, counted from the start of RAM at `base`. */
export function pagesOf(ranges: readonly Range[], base: number): Set<number> {
  const pages = new Set<number>();
  for (const { pa, bytes } of ranges)
    for (let page = Math.floor((pa - base) / PAGE); page * PAGE < pa - base + bytes; page++) pages.add(page);
  return pages;
}
