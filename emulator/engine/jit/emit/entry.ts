// The entry check of a region: (depth: i32, ic: i32) -> (next pc: i64, ic: i32). If memory still
// holds the translated code, in the same view, it calls the body, which has the same type. Calls
// between regions of one module skip the check if the callee's pages are among the caller's: its
// inputs do not change while regions run.

import { execEntryOf, FETCH_VIEW, WALK_BARE } from '../../../hart/layout.ts';
import { type FunctionHandle, I32, I64, type ValType } from '../../../wasm/module.ts';
import type { Region } from '../region/region.ts';
import type { FlatRam } from './memory.ts';

/** The place of the code, and the views in which it runs. */
export interface Placement {
  readonly fetchView: number;
  readonly dataView: number;
  /**
   * Present if loads and stores use physical addresses: RAM, and the word of the window that must
   * hold WALK_BARE.
   */
  readonly flat?: FlatRam & { readonly walk: number };
  /** Physical page numbers of `region.pages`. */
  readonly ppns: readonly number[];
  /** Present in a warm region: it stores `slot` at this address when a quantum ends in it. */
  readonly sample?: { readonly at: number; readonly slot: number };
}

/** The cache of indirect targets: two ways of entries { i64 pc, i32 slot, i32 0 }. */
export interface JumpCache {
  /** Byte address of the first way; the index is pc >> 1. */
  readonly jumpCache: number;
  /** Entries of a way - 1. */
  readonly jumpCacheMask: number;
}

/** Bytes from an entry of the first way to that of the second. */
export const secondWay = ({ jumpCacheMask }: JumpCache): number => (jumpCacheMask + 1) << 4;

/**
 * Parameters of the entry check and of the body: the nesting depth of calls, and the instructions
 * left.
 */
export const REGION_PARAMS = [I32, I32] as const;
export const REGION_RESULTS: readonly ValType[] = [I64, I32];

export type RegionFunction = FunctionHandle<typeof REGION_PARAMS>;

/** Writes the entry check; `body` is the function that it calls. */
export function emitEntry(
  { code: c, params: [depth, count] }: RegionFunction,
  { entry, pages }: Region,
  { fetchView, dataView, flat, ppns }: Placement,
  { jumpCache, jumpCacheMask }: JumpCache,
  body: number,
): void {
  const stale = c.block();
  c.i32_const(0)
    .i64_load(FETCH_VIEW)
    .i64_const((BigInt(dataView) << 32n) | BigInt(fetchView))
    .i64_ne();
  c.br_if(stale, 'unlikely');
  if (flat) c.i32_const(0).i32_load(flat.walk).i32_const(WALK_BARE).i32_ne().br_if(stale, 'unlikely');
  for (const [i, displacement] of pages.entries()) {
    const va = BigInt.asUintN(64, (entry & ~0xfffn) + BigInt(displacement) * 4096n);
    const at = execEntryOf(fetchView, Number(va & 0xffff_ffffn));
    c.i32_const(0).i64_load(at).i64_const(BigInt.asIntN(64, va)).i64_ne().br_if(stale, 'unlikely');
    c.i32_const(0)
      .i32_load(at + 12)
      .i32_const(ppns[i]!)
      .i32_ne()
      .br_if(stale, 'unlikely');
  }
  c.local_get(depth).local_get(count).return_call(body).end();
  // The code differs, or is not in the TLB: the host must find the region.
  c.i32_const(jumpCache + ((Number(entry & 0xffffn) << 3) & (jumpCacheMask << 4)))
    .i64_const(-1)
    .i64_store(0);
  c.i64_const(BigInt.asIntN(64, entry)).local_get(count);
}
