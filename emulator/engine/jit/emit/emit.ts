// The body of a region as one WebAssembly function: (depth: i32, ic: i32) -> (next pc: i64, ic:
// i32); jit/emit/entry.ts is its entry check. When it returns, the registers in the window are
// current. An even pc means that execution continues there, compiled or interpreted; an odd one
// means that the interpreter must execute the instruction at pc - 1 first (a device, a trap, a page
// to translate, the end of the quantum). A caller that receives any pc but the one after its call
// returns it at once, so traps, longjmp, context switches and the end of a quantum unwind without a
// special case (but see epilogues.ts). Layout: a check of the countdown, loads of live registers,
// blocks for the shared epilogues, the structured body, the epilogues. Counting: `ic` is reduced at
// the end of each block; a region starts, loops and returns from calls only if the longest path to
// the next such check fits, so the quantum never overshoots and ends exactly in the interpreter.

import { PC, X } from '../../../hart/layout.ts';
import { type Insn, rowOf } from '../../../isa/index.ts';
import { type CodeWriter, I32, type Label, type Local } from '../../../wasm/module.ts';
import { isReturn } from '../../interp/handlers.ts';
import { SEMANTICS } from '../../semantics/index.ts';
import type { InlineCall } from '../inline-call.ts';
import { type AccessBlock, assignCaches, findGroups, loadedInLoops } from '../region/groups.ts';
import { type Block, type Edge, LINK, type Region, type Terminator } from '../region/region.ts';
import { isCall, type Mask, planRegisters, type RegisterPlan, usage } from '../region/registers.ts';
import { emitStructured, loopBlocks, type Structure, structure } from '../region/structure.ts';
import { emitEntry, type JumpCache, type Placement, type RegionFunction } from './entry.ts';
import { Epilogues } from './epilogues.ts';
import { type FpPlan, planFp } from './fp.ts';
import { InlineCalls } from './inline-calls.ts';
import type { RamPlace } from './memory.ts';
import { JitOps, type JitPort } from './ops.ts';
import { RunCounts } from './run-counts.ts';

/** The connections of a region to others. */
export interface Linker extends JumpCache {
  /** Function index: (depth, count, slot) runs the region in a slot and returns its result. */
  readonly dispatch: number;
  /** Function index: (depth, count) runs the region at PC, and returns PC if none is known. */
  readonly jump: number;
  /**
   * Function index in the same module, if the callee is emitted with this region: its body if its
   * pages are among this one's.
   */
  direct(target: bigint): number | undefined;
  /** The type of regions. */
  readonly regionType: number;
  /**
   * Index of the link to the region at `target` in the module's only table; undefined for code that
   * is not mapped.
   */
  link(target: bigint): number | undefined;
}

/** wasm calls nested deeper than this return to the dispatcher instead. */
export const MAX_DEPTH = 200;

const CLEAN: Mask = { x: 0, f: 0 };

/** A terminator that calls another region. */
type Call = Extract<Terminator, { readonly kind: 'call' | 'callIndirect' | 'inline' }>;

/** Displacement behind the last instruction of a block. */
const endOf = ({ at, insns }: Block): number => {
  const last = insns.at(-1);
  return last ? last.at + last.insn.bytes : at;
};

const canLeave = (insn: Insn): boolean => {
  const row = rowOf(insn.op);
  return row.mem.kind !== 'none' || row.isFloat || row.ext === 'zicsr';
};

class RegionEmitter {
  readonly #c: CodeWriter;
  readonly #depth: Local<I32>;
  readonly #count: Local<I32>;
  readonly #region: Region;
  readonly #shape: Structure;
  readonly #plan: RegisterPlan;
  readonly #fp: FpPlan;
  readonly #linker: Linker;
  readonly #isWarm: boolean;
  readonly #sample: Placement['sample'];
  readonly #ops: JitOps;
  readonly #cost: Int32Array;
  /** See accessesOf; empty in a warm region. */
  readonly #accesses: readonly AccessBlock[];
  readonly #loaded: ReadonlySet<number>;
  readonly #inline: InlineCalls;
  readonly #runs: RunCounts;
  /**
   * Where the run of instructions that is open at the edge being written would end (run-counts.ts).
   */
  #open: number | null = null;
  #epilogues!: Epilogues;

  constructor(
    body: RegionFunction,
    region: Region,
    placement: Placement,
    port: JitPort,
    linker: Linker,
    ram: RamPlace,
  ) {
    this.#c = body.code;
    [this.#depth, this.#count] = body.params;
    this.#region = region;
    this.#shape = structure(region.blocks);
    this.#isWarm = region.tier === 'warm';
    this.#sample = placement.sample;
    this.#plan = planRegisters(this.#shape, this.#isWarm);
    this.#fp = planFp(this.#shape);
    this.#linker = linker;
    this.#cost = longestWays(this.#shape);
    const { flat } = placement;
    this.#accesses = this.#isWarm ? [] : accessesOf(this.#shape, flat !== undefined);
    this.#loaded = loadedInLoops(this.#accesses);
    assignCaches(this.#accesses, this.#loaded);
    const { entry } = region;
    const isWarm = this.#isWarm;
    const memory = { view: placement.dataView, leavesOnMiss: isWarm, ...(flat && { flat }) };
    this.#runs = new RunCounts(this.#c, region, port.retired);
    const exits = {
      leave: (pc: bigint, before: number, dirty: Mask) => this.#leaveFor(pc, before, dirty),
      epilogue: (dirty: Mask) => this.#epilogues.back(dirty),
    };
    this.#ops = new JitOps(body, port, this.#plan.used, { entry, isWarm, memory }, exits, this.#runs);
    this.#inline = new InlineCalls(this.#ops, region, this.#shape, placement, ram, this.#runs);
    this.#emit(placement);
  }

  #emit(placement: Placement): void {
    const c = this.#c;
    const ops = this.#ops;
    this.#checkStart();
    this.#callHelper(placement);
    this.#runs.begin(0);
    this.#inline.enter();
    ops.reload(this.#plan.liveIn[0]!);
    if (this.#fp.wanted[0]) ops.fp.enter();
    this.#epilogues = new Epilogues(c, this.#dirtySets());
    emitStructured(this.#shape, c, {
      loopHead: block => this.#checkTime(block, this.#plan.dirtyIn[block.order]!),
      block: (block, edge) => this.#block(block, edge),
      exit: at => this.#exit(at),
    });
    c.unreachable();
    this.#epilogues.write({
      pc: ops.leavePc,
      count: ops.ic,
      depth: this.#depth,
      jump: this.#linker.jump,
      spill: mask => {
        ops.spill(mask);
        this.#inline.leave();
      },
    });
    this.#inline.release();
    ops.release();
  }

  /**
   * Returns an odd pc if the longest path from the entry does not fit into the quantum. A helper
   * may take a path that the region leaves out. No register is loaded yet.
   */
  #checkStart(): void {
    const c = this.#c;
    const cost = Math.max(this.#cost[0]!, this.#region.called?.cost ?? 0);
    c.local_get(this.#count).i32_const(cost).i32_lt_s().if_(undefined, 'unlikely');
    this.#takeSample();
    c.i64_const(BigInt.asIntN(64, this.#region.entry | 1n))
      .local_get(this.#count)
      .return_();
    c.end();
  }

  /**
   * The region is a function that others execute inline, and was entered from the interpreter or by
   * an ordinary call: its helper does the same at once, and returns.
   */
  #callHelper(placement: Placement): void {
    const { called } = this.#region;
    if (!called?.callHelper || this.#runs.isCounting || !this.#liesAt(called, placement)) return;
    const helper = this.#ops.helperOf(called, placement.dataView);
    if (helper === undefined) return;
    const c = this.#c;
    const retired = c.local(I32);
    called.callHelper(c, helper);
    c.local_tee(retired).if_();
    c.i32_const(0)
      .i64_load(X + 8 * LINK)
      .i64_const(~1n)
      .i64_and();
    c.local_get(this.#count).local_get(retired).i32_sub().return_();
    c.end();
    c.release(retired);
  }

  /** The region's own code, and not other code at this virtual address, is what was announced. */
  #liesAt({ pa, words }: InlineCall, { ppns }: Placement): boolean {
    const { entry, pages } = this.#region;
    const offset = Number(entry & 0xfffn);
    return [0, 4 * words.length - 1].every(at => {
      const ppn = ppns[pages.indexOf((offset + at) >> 12)];
      return ppn === Math.floor((pa + at) / 4096) && pa % 4096 === offset;
    });
  }

  /** The quantum ends in a warm region: the policy counts it (policy/heat.ts). */
  #takeSample(): void {
    if (this.#sample) this.#c.i32_const(this.#sample.at).i32_const(this.#sample.slot).i32_store();
  }

  /** Registers that an instruction leaves dirty. */
  #written(insn: Insn): Mask {
    const { writes } = usage(insn);
    return this.#isWarm ? { x: 0, f: writes.f } : writes;
  }

  /** All sets of dirty registers at the exits of the region. */
  *#dirtySets(): Generator<Mask> {
    for (const block of this.#shape.order) {
      const dirty = { ...this.#plan.dirtyIn[block.order]! };
      if (this.#shape.isLoop[block.order]) yield { ...dirty };
      for (const { insn } of block.insns) {
        if (canLeave(insn)) yield { ...dirty };
        const written = this.#written(insn);
        dirty.x |= written.x;
        dirty.f |= written.f;
      }
      yield { ...dirty };
      if (isCall(block)) yield CLEAN;
      if (block.end.kind === 'inline') yield { x: dirty.x | block.end.call.writes, f: dirty.f };
    }
  }

  /**
   * Leaves for `at`, with an odd pc if the longest path from here does not fit into the quantum.
   */
  #checkTime(block: Block, dirty: Mask): void {
    const c = this.#c;
    c.local_get(this.#ops.ic).i32_const(this.#cost[block.order]!).i32_lt_s().if_(undefined, 'unlikely');
    this.#takeSample();
    this.#leaveTo(block.at, dirty, 1n);
    c.end();
  }

  /** `open`: where the run that is open ends, if one is. */
  #leaveTo(at: number, dirty: Mask, odd: bigint, open: number | null = at): void {
    if (open !== null) this.#runs.end(open);
    this.#leaveFor(this.#ops.addressOf(at) | odd, 0, dirty);
  }

  /** See RegionExits. Where nothing is to be stored, a return is shorter than a shared epilogue. */
  #leaveFor(pc: bigint, before: number, dirty: Mask): void {
    const c = this.#c;
    const { ic, leavePc } = this.#ops;
    const isShort = this.#isWarm && dirty.x === 0 && dirty.f === 0 && !this.#inline.isUsed;
    if (isShort) {
      c.i64_const(BigInt.asIntN(64, pc)).local_get(ic);
      if (before > 0) c.i32_const(before).i32_sub();
      c.return_();
      return;
    }
    if (before > 0) c.local_get(ic).i32_const(before).i32_sub().local_set(ic);
    c.i64_const(BigInt.asIntN(64, pc)).local_set(leavePc).br(this.#epilogues.back(dirty));
  }

  /** The region ends here: a tail call of the next one, so that the callers' frames remain. */
  #exit(at: number): void {
    const { leavePc, dirty } = this.#ops;
    if (this.#open !== null) this.#runs.end(this.#open);
    this.#c.i64_const(BigInt.asIntN(64, this.#ops.addressOf(at))).local_set(leavePc);
    this.#c.br(this.#epilogues.onward(dirty));
  }

  #block(block: Block, edge: (edge: Edge) => void): void {
    const ops = this.#ops;
    const c = this.#c;
    const dirty = { ...this.#plan.dirtyIn[block.order]! };
    const access = this.#accesses[block.order];
    ops.fp.beginBlock(this.#fp.checked[block.order] === 1);
    for (const [i, { at, insn }] of block.insns.entries()) {
      ops.insn = insn;
      ops.at = at;
      ops.before = i;
      ops.index = i;
      ops.group = access?.groups[i];
      ops.isChase = access?.inLoop === true && this.#loaded.has(insn.rs1);
      ops.dirty = { ...dirty };
      SEMANTICS[insn.name](ops);
      ops.endRule();
      const written = this.#written(insn);
      dirty.x |= written.x;
      dirty.f |= written.f;
    }
    ops.dirty = dirty;
    const length = block.insns.length;
    if (length > 0) c.local_get(ops.ic).i32_const(length).i32_sub().local_set(ops.ic);
    this.#terminate(block, dirty, edge);
  }

  #terminate(block: Block, dirty: Mask, edge: (edge: Edge) => void): void {
    const c = this.#c;
    const ops = this.#ops;
    const { end } = block;
    const from = endOf(block);
    /** `open`: where the run that is open would end, null when none is. */
    const follow = (to: Edge, mask: Mask = dirty, open: number | null = from): void => {
      ops.dirty = mask; // emission of another subtree changed it
      this.#open = open;
      if ('block' in to) {
        if (open === null) this.#runs.begin(to.block.at);
        else this.#runs.jump(open, to.block.at);
        this.#open = to.block.at;
      }
      edge(to);
    };
    switch (end.kind) {
      case 'branch':
        c.if_();
        follow(end.taken);
        c.end();
        follow(end.next);
        break;
      case 'jump':
        if ('exit' in end.to) this.#tailCall(end.to.exit, dirty, from);
        else follow(end.to);
        break;
      case 'guess':
        c.local_get(ops.target)
          .i64_const(BigInt.asIntN(64, ops.addressOf(end.target)))
          .i64_eq();
        c.if_(undefined, 'likely');
        follow(end.taken);
        c.end();
        follow(end.next);
        break;
      case 'fall':
        follow(end.to);
        break;
      case 'leave':
        this.#leaveTo(end.at, dirty, 1n);
        break;
      case 'indirect':
        this.#runs.end(from);
        c.local_get(ops.target).local_set(ops.leavePc);
        if (isReturn(block.insns.at(-1)!.insn)) {
          // Without a caller in WebAssembly, the dispatcher would only look for the region there.
          c.local_get(this.#depth).i32_eqz().br_if(this.#epilogues.onward(dirty));
          c.br(this.#epilogues.back(dirty));
        } else this.#jump(dirty);
        break;
      case 'switch': {
        this.#runs.end(from);
        const elsewhere = c.block();
        this.#cases(end.cases, elsewhere, to => follow(to, dirty, null));
        c.end();
        c.local_get(ops.target).local_set(ops.leavePc);
        this.#jump(dirty);
        break;
      }
      case 'return':
        c.local_get(ops.target)
          .i64_const(BigInt.asIntN(64, ops.addressOf(end.behind)))
          .i64_ne();
        c.if_(undefined, 'unlikely');
        this.#runs.end(from);
        c.local_get(ops.target).local_set(ops.leavePc).br(this.#epilogues.back(dirty));
        c.end();
        follow(end.next);
        break;
      case 'inline':
        this.#inlineCall(block, dirty);
        if (this.#isWarm) ops.spill({ x: end.call.writes, f: 0 });
        follow(end.next, { x: dirty.x | (this.#isWarm ? 0 : end.call.writes), f: dirty.f });
        break;
      case 'call':
      case 'callIndirect':
        this.#call(end, dirty);
        this.#resume(end.next);
        follow(end.next, CLEAN);
    }
  }

  /** Finds the target among the cases, which are sorted by address. */
  #cases(
    cases: readonly { readonly at: number; readonly to: Edge }[],
    elsewhere: Label,
    follow: (to: Edge) => void,
  ): void {
    const c = this.#c;
    const { target } = this.#ops;
    const address = (i: number): bigint => BigInt.asIntN(64, this.#ops.addressOf(cases[i]!.at));
    if (cases.length === 1) {
      c.local_get(target).i64_const(address(0)).i64_ne().br_if(elsewhere, 'unlikely');
      follow(cases[0]!.to);
      return;
    }
    const middle = cases.length >> 1;
    c.local_get(target).i64_const(address(middle)).i64_lt_u().if_();
    this.#cases(cases.slice(0, middle), elsewhere, follow);
    c.end();
    this.#cases(cases.slice(middle), elsewhere, follow);
  }

  /** To the epilogue if the i32 on the stack is not 0, where the open run ends at `open`. */
  #leaveWhen(epilogue: Label, open: number | null): void {
    const c = this.#c;
    if (open === null || !this.#runs.isActive) {
      c.br_if(epilogue, 'unlikely');
      return;
    }
    c.if_(undefined, 'unlikely');
    this.#runs.end(open);
    c.br(epilogue).end();
  }

  /**
   * Runs the callee, and returns its result unless that is the pc after the call. The run of
   * instructions stays open during a call that returns.
   */
  #call(end: Call, dirty: Mask): void {
    const c = this.#c;
    const ops = this.#ops;
    const behind = ops.addressOf(end.behind);
    const target = end.kind === 'callIndirect' ? undefined : ops.addressOf(end.target);
    const direct = target === undefined ? undefined : this.#linker.direct(target);
    if (target !== undefined) c.i64_const(BigInt.asIntN(64, target)).local_set(ops.leavePc);
    else c.local_get(ops.target).local_set(ops.leavePc);
    const epilogue = this.#epilogues.back(dirty);
    c.local_get(this.#depth).i32_const(MAX_DEPTH).i32_ge_s();
    this.#leaveWhen(epilogue, end.behind);
    const found = target === undefined ? this.#findIndirect(epilogue, end.behind) : undefined;
    ops.spill(dirty);
    if (found === undefined && direct === undefined) c.i32_const(0).local_get(ops.leavePc).i64_store(PC);
    c.local_get(this.#depth).i32_const(1).i32_add().local_get(ops.ic);
    if (found) c.local_get(found).call(this.#linker.dispatch).release(found);
    else if (direct !== undefined) c.call(direct);
    else this.#callLink(target!, false);
    c.local_set(ops.ic);
    c.local_tee(ops.leavePc).i64_const(BigInt.asIntN(64, behind)).i64_ne().if_(undefined, 'unlikely');
    this.#runs.end(end.behind);
    this.#inline.leave();
    c.local_get(ops.leavePc).local_get(ops.ic).return_();
    c.end();
  }

  /**
   * Executes the call inline if that is provably equal, else makes the real call. Both end after
   * the call.
   */
  #inlineCall(block: Block, dirty: Mask): void {
    const ops = this.#ops;
    const { end } = block;
    if (end.kind !== 'inline') return;
    const generic = (): void => {
      this.#call(end, dirty);
      // The callee may have changed any register; all locals are reloaded from the window, so the
      // set of possibly dirty registers remains valid.
      ops.reload(this.#plan.used);
      if ('block' in end.next && this.#fp.wanted[end.next.block.order]) ops.fp.enter();
      const cost = 'block' in end.next ? this.#cost[end.next.block.order]! : 0;
      this.#c.local_get(ops.ic).i32_const(cost).i32_lt_s().if_(undefined, 'unlikely');
      this.#leaveTo(end.behind, { x: dirty.x | end.call.writes, f: dirty.f }, 1n);
      this.#c.end();
    };
    this.#inline.site(end.call, block, { behind: ops.addressOf(end.behind), generic });
  }

  /** A jump to another function: a tail call of its region, so that the callers' frames remain. */
  #tailCall(at: number, dirty: Mask, open: number): void {
    const c = this.#c;
    const ops = this.#ops;
    this.#runs.end(open);
    const target = ops.addressOf(at);
    const direct = this.#linker.direct(target);
    ops.spill(dirty);
    this.#inline.leave();
    if (direct === undefined) c.i32_const(0).i64_const(BigInt.asIntN(64, target)).i64_store(PC);
    c.local_get(this.#depth).local_get(ops.ic);
    if (direct !== undefined) c.return_call(direct);
    else this.#callLink(target, true);
  }

  /** Calls the region at `target`, of another module. PC holds `target`; see cache/links.ts. */
  #callLink(target: bigint, isTail: boolean): void {
    const c = this.#c;
    const { jump, regionType } = this.#linker;
    const link = this.#linker.link(target);
    if (link !== undefined) {
      c.i32_const(link);
      if (isTail) c.return_call_indirect(regionType);
      else c.call_indirect(regionType);
    } else if (isTail) c.return_call(jump);
    else c.call(jump);
  }

  /**
   * A computed jump: a tail call of the region at the target, or the dispatcher if the cache
   * misses.
   */
  #jump(dirty: Mask): void {
    const c = this.#c;
    const ops = this.#ops;
    const slot = this.#findIndirect(this.#epilogues.back(dirty), null);
    ops.spill(dirty);
    this.#inline.leave();
    c.local_get(this.#depth).local_get(ops.ic).local_get(slot).return_call(this.#linker.dispatch);
    c.release(slot);
  }

  /**
   * Looks the target up in the jump cache; leaves with an even pc on a miss, where the open run
   * ends at `open`. The caller releases the local with the table slot that this returns.
   */
  #findIndirect(epilogue: Label, open: number | null): Local<I32> {
    const c = this.#c;
    const { jumpCache, jumpCacheMask } = this.#linker;
    const slot = c.local(I32);
    c.local_get(this.#ops.target)
      .i32_wrap_i64()
      .i32_const(3)
      .i32_shl()
      .i32_const(jumpCacheMask << 4)
      .i32_and();
    c.local_tee(slot).i64_load(jumpCache).local_get(this.#ops.target).i64_ne();
    this.#leaveWhen(epilogue, open);
    c.local_get(slot)
      .i32_load(jumpCache + 8)
      .local_set(slot);
    return slot;
  }

  /** After a call: the callee may have changed every register. */
  #resume(next: Edge): void {
    const ops = this.#ops;
    if (!('block' in next)) return;
    ops.reload(this.#plan.liveIn[next.block.order]!);
    if (this.#fp.wanted[next.block.order]) ops.fp.enter();
    if (!this.#shape.isLoop[next.block.order]) this.#checkTime(next.block, CLEAN);
  }
}

/** By block position: its range-check groups, and whether a TLB probe is in a loop. */
function accessesOf(shape: Structure, isFlat: boolean): AccessBlock[] {
  const inLoop = loopBlocks(shape);
  return shape.order.map(({ insns }, i) => ({
    insns,
    inLoop: inLoop[i] === 1 && !isFlat,
    groups: findGroups(insns, isFlat),
  }));
}

/**
 * By block: the maximum number of instructions until the next check of the countdown, including
 * this block.
 */
function longestWays({ order, next, isLoop }: Structure): Int32Array {
  const cost = new Int32Array(order.length);
  for (let i = order.length - 1; i >= 0; i--) {
    const block = order[i]!;
    let rest = 0;
    if (!isCall(block))
      for (const to of next[i]!) if (to > i && !isLoop[to]) rest = Math.max(rest, cost[to]!);
    cost[i] = block.insns.length + rest + (block.end.kind === 'inline' ? block.end.call.cost : 0);
  }
  return cost;
}

/** The two functions of a region: the entry check, which the table holds, and the body. */
export interface RegionFunctions {
  readonly door: RegionFunction;
  readonly body: RegionFunction;
}

/** Writes both functions of a region, each (i32, i32) -> (i64, i32). */
export function emitRegion(
  { door, body }: RegionFunctions,
  region: Region,
  placement: Placement,
  port: JitPort,
  linker: Linker,
  ram: RamPlace,
): void {
  emitEntry(door, region, placement, linker, body.index);
  new RegionEmitter(body, region, placement, port, linker, ram);
}
