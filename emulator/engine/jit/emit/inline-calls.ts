// The inlined calls of one region (jit/inline-call.ts): the families in use, and the entry check
// that their addresses lead to the compared code.

import { execEntryOf } from '../../../hart/layout.ts';
import { type Insn, rowOf } from '../../../isa/index.ts';
import { I32, type Local } from '../../../wasm/module.ts';
import type { InlineCall, InlineEmitter, InlineFamily, InlineSite } from '../inline-call.ts';
import { type Block, insnsOf, type Region } from '../region/region.ts';
import type { Structure } from '../region/structure.ts';
import type { Placement } from './entry.ts';
import type { RamPlace } from './memory.ts';
import type { JitOps } from './ops.ts';
import type { RunCounts } from './run-counts.ts';

/** A family in this region. */
interface Part {
  readonly emitter: InlineEmitter;
  /** By block position: see `cleanBlocks`. */
  readonly clean: Uint8Array;
}

export class InlineCalls {
  readonly #ops: JitOps;
  readonly #fetchView: number;
  readonly #calls: ReadonlySet<InlineCall>;
  readonly #parts = new Map<InlineFamily, Part>();
  readonly #isVerified: Local<I32> | undefined;

  constructor(
    ops: JitOps,
    region: Region,
    shape: Structure,
    placement: Placement,
    ram: RamPlace,
    runs: RunCounts,
  ) {
    const { dataView } = placement;
    this.#ops = ops;
    this.#fetchView = placement.fetchView;
    const calls = shape.order.flatMap(({ end }) => (end.kind === 'inline' ? [end.call] : []));
    this.#calls = new Set(calls.filter(({ family }) => family.accepts(insnsOf(region))));
    if (this.#calls.size === 0) return;
    const { c, x, ic } = ops;
    const isVerified = c.zeroed(I32);
    const ran = ({ address }: InlineCall, from: number, to: number): void =>
      runs.ran(address + BigInt(from), address + BigInt(to));
    this.#isVerified = isVerified;
    const helperOf = (call: InlineCall): number | undefined => ops.helperOf(call, dataView);
    const modes = { isWarm: region.tier === 'warm', isCounted: runs.isCounting };
    for (const { family } of this.#calls) {
      if (this.#parts.has(family)) continue;
      const host = ops.hostOf(family);
      const emitter = family.begin({ c, x, ic, isVerified, host, helperOf, ...modes, dataView, ram, ran });
      this.#parts.set(family, { emitter, clean: cleanBlocks(shape, family) });
    }
  }

  /** True if a call of the region is executed inline. */
  get isUsed(): boolean {
    return this.#parts.size > 0;
  }

  /** At the region's entry, before registers are loaded. */
  enter(): void {
    if (!this.#isVerified) return;
    this.#verify(this.#isVerified);
    for (const { emitter } of this.#parts.values()) emitter.enter();
  }

  /**
   * Sets the local to 1 if all calls lead to their code, by the exec TLB, as if the interpreter
   * fetched it.
   */
  #verify(isVerified: Local<I32>): void {
    const { c } = this.#ops;
    const unknown = c.block();
    for (const [page, ppn] of pagesOf(this.#calls)) {
      const va = BigInt.asUintN(64, page);
      const at = execEntryOf(this.#fetchView, Number(va & 0xffff_ffffn));
      c.i32_const(0).i64_load(at).i64_const(BigInt.asIntN(64, va)).i64_ne().br_if(unknown, 'unlikely');
      c.i32_const(0)
        .i32_load(at + 12)
        .i32_const(ppn)
        .i32_ne()
        .br_if(unknown, 'unlikely');
    }
    c.i32_const(1).local_set(isVerified);
    c.end();
  }

  /** The call at the end of `block`. */
  site(call: InlineCall, block: Block, site: Omit<InlineSite, 'isClean'>): void {
    const part = this.#calls.has(call) ? this.#parts.get(call.family) : undefined;
    if (part) part.emitter.site(call, { ...site, isClean: part.clean[block.order] === 1 });
    else site.generic();
  }

  /** At each exit of the region, the call of another region that does not come back among them. */
  leave(): void {
    for (const { emitter } of this.#parts.values()) emitter.leave();
  }

  /** The region is written. */
  release(): void {
    for (const { emitter } of this.#parts.values()) emitter.release();
    if (this.#isVerified) this.#ops.c.release(this.#isVerified);
  }
}

/** Virtual pages and physical page numbers of the code of some calls. */
function pagesOf(calls: Iterable<InlineCall>): Map<bigint, number> {
  const pages = new Map<bigint, number>();
  for (const { address, pa, words } of calls)
    for (const offset of [0, 4 * words.length - 1])
      pages.set((address + BigInt(offset)) & ~0xfffn, Math.floor((pa + offset) / 4096));
  return pages;
}

/**
 * By block position: 1 if, on every path from the entry or the last call of the family, the inlined
 * call at the block's end is reached without a store, a call or a call of another family.
 */
export function cleanBlocks({ order, next }: Structure, family: InlineFamily): Uint8Array {
  const mayStore = order.map(({ insns }) => insns.some(({ insn }) => isStore(insn)));
  /** State at the start of a block: clean until a path proves otherwise. */
  const start = new Uint8Array(order.length).fill(1);
  const isClean = (i: number): boolean => start[i] === 1 && !mayStore[i];
  for (let changed = true; changed; ) {
    changed = false;
    for (const [i, { end }] of order.entries()) {
      const isOwn = end.kind === 'inline' && end.call.family === family;
      const isOther = !isOwn && (end.kind === 'inline' || end.kind === 'call' || end.kind === 'callIndirect');
      if (isOwn || (isClean(i) && !isOther)) continue;
      for (const to of next[i]!) {
        if (start[to] === 0) continue;
        start[to] = 0;
        changed = true;
      }
    }
  }
  return start.map((_, i) => Number(isClean(i)));
}

function isStore(insn: Insn): boolean {
  const { mem, ext } = rowOf(insn.op);
  return (mem.kind !== 'none' && mem.kind !== 'load') || ext === 'zicsr';
}
