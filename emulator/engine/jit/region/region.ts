// Discovery of a region: the blocks of one guest function, found from an entry by following both
// sides of branches, plain jumps and the returns of calls, if control has been there. Discovery
// only reads code; it neither emits nor runs code. Addresses are int32 displacements from the
// entry, to avoid BigInt; only `Region.entry` is a full address. A region ends where the guest
// leaves its function (return, indirect jump, jump to a known entry), where control has never been,
// where the hart must act (most CSRs, traps, fences) and at the caps below. An exit continues in
// another region or the interpreter.

import type { Insn } from '../../../isa/index.ts';
import { rowOf } from '../../../isa/index.ts';
import { csrClass } from '../../semantics/system.ts';
import type { InlineCall } from '../inline-call.ts';
import { jumpTargets, type TableReader } from './tables.ts';

/**
 * The target of an edge: a block of this region, or an address outside it (displacement from the
 * entry).
 */
export type Edge = { readonly block: Block } | { readonly exit: number };

export type Terminator =
  /** Falls through to the next block, without an instruction. */
  | { readonly kind: 'fall'; readonly to: Edge }
  /** A conditional branch, the last instruction of the block. */
  | { readonly kind: 'branch'; readonly taken: Edge; readonly next: Edge }
  /** `jal x0`. */
  | { readonly kind: 'jump'; readonly to: Edge }
  /** `jal rd` with a link: the callee at `target` returns to `next`, or does not return. */
  | { readonly kind: 'call'; readonly target: number; readonly behind: number; readonly next: Edge }
  /** A call of a function at `target` that may be executed inline. */
  | {
      readonly kind: 'inline';
      readonly call: InlineCall;
      readonly target: number;
      readonly behind: number;
      readonly next: Edge;
    }
  /** `jalr rd` with a link. */
  | { readonly kind: 'callIndirect'; readonly behind: number; readonly next: Edge }
  /**
   * After a `jalr rd`: to `taken` if the callee is the predicted one at `target`, else to `next`.
   */
  | { readonly kind: 'guess'; readonly target: number; readonly taken: Edge; readonly next: Edge }
  /** `jalr x0`: return or computed jump. */
  | { readonly kind: 'indirect' }
  /** `jalr x0` of a `switch`: to one of the blocks at these addresses, or anywhere. */
  | { readonly kind: 'switch'; readonly cases: readonly { readonly at: number; readonly to: Edge }[] }
  /**
   * The return of an inlined callee: to `next` if the target is `behind`, the address after its
   * call.
   */
  | { readonly kind: 'return'; readonly behind: number; readonly next: Edge }
  /** The hart or the interpreter executes the instruction at `at`. */
  | { readonly kind: 'leave'; readonly at: number };

export interface Block {
  /** Displacement of the first instruction. */
  readonly at: number;
  /** With their displacements; a terminator's instruction is the last one. */
  readonly insns: readonly { readonly at: number; readonly insn: Insn }[];
  end: Terminator;
  /** Position in reverse postorder; set by `structure`. */
  order: number;
}

/**
 * How a region is made. `warm`: cheap to compile; a function by itself, whose exits are small.
 * `hot`: for loops; small callees are inlined, small loops unrolled, address translations shared.
 */
export type Tier = 'warm' | 'hot';

export interface Region {
  readonly entry: bigint;
  readonly tier: Tier;
  /** The entry's block first. */
  readonly blocks: readonly Block[];
  /** Guest instructions in all blocks. */
  readonly size: number;
  /** Displacements of the 4 KiB pages that hold its code, from the page of the entry. */
  readonly pages: readonly number[];
  /** Displacements that it leaves out because control has never reached them. */
  readonly leftOut: ReadonlySet<number>;
  /** The entry is that of a function that may be executed inline. */
  readonly called: InlineCall | undefined;
}

/** Most instructions of a region; larger functions continue in a second region. */
export const REGION_INSNS = 800;
/**
 * The same of a warm region. Control enters a large function in many places, behind each call whose
 * callee is not compiled, and each entry is a region with a copy of what follows. Short copies save
 * more than the jumps between them cost; still shorter ones cut the loops that are warm.
 */
export const WARM_INSNS = 200;
const REGION_BLOCKS = 200;
/** Targets of a `switch` lie within so many bytes of the function's start. */
const SWITCH_REACH = 8192;
/** ra */
export const LINK = 1;
/** A region stays within these pages before and after its entry. */
const REGION_REACH = 8 * 4096;

/**
 * True if a region cannot contain the instruction: it needs the hart, or its successor is unknown.
 */
const isSerializing = (insn: Insn): boolean => {
  const { flow, ext } = rowOf(insn.op);
  if (ext === 'zicsr') return csrClass(insn) === undefined;
  return flow === 'trap' || flow === 'serialize';
};

/** True if what follows is executed next, unless the hart has to act: also behind a CSR. */
const runsOn = (insn: Insn): boolean => {
  const { flow, ext } = rowOf(insn.op);
  return flow === 'next' || ext === 'zicsr';
};

/** Discovery's view of the guest; addresses are displacements from the entry. */
export interface CodeView extends TableReader {
  /** Decodes one instruction; undefined when it is not mapped or not decodable. */
  fetch(at: number): Insn | undefined;
  /**
   * False if control has never reached it. Half of a system's code is such: error paths, and cases
   * that do not occur. A region leaves them out.
   */
  wasReached(at: number): boolean;
  /** True if a separate region begins there; then a tail jump does not copy the whole callee. */
  isEntry(at: number): boolean;
  /** The function there that may be executed inline. */
  inlineAt(at: number): InlineCall | undefined;
  /** The target of the `jalr` there when it was last interpreted, if known; it may be arbitrary. */
  lastTarget(at: number): number | undefined;
}

/** Finds the region at `entry`. */
export function discover(entry: bigint, code: CodeView, tier: Tier = 'hot'): Region {
  const leftOut = new Set<number>();
  const isTaken = (at: number): boolean => {
    const isReached = code.wasReached(at);
    if (!isReached) leftOut.add(at);
    return isReached;
  };
  const body = collect(0, code, tier === 'hot' ? REGION_INSNS : WARM_INSNS, isTaken);
  const blocks = assemble(body, code);
  guess(blocks, code);
  let size = body.insns.size;
  if (tier === 'hot') {
    size += inline(blocks, code, Math.min(INLINE_BUDGET, REGION_INSNS - size), [0]);
    size += unroll(blocks);
  }
  const pages = new Set<number>();
  const base = Number(entry & 0xfffn);
  for (const { insns } of blocks)
    for (const { at, insn } of insns) {
      pages.add((base + at) >> 12);
      pages.add((base + at + insn.bytes - 1) >> 12);
    }
  const inOrder = [...pages].sort((a, b) => a - b);
  return { entry, tier, blocks, size, pages: inOrder, leftOut, called: code.inlineAt(0) };
}

export const hasInlineCalls = ({ blocks }: Region): boolean =>
  blocks.some(({ end }) => end.kind === 'inline');

/** Instructions of one function, and the starts of its blocks. */
interface Body {
  readonly start: number;
  readonly insns: ReadonlyMap<number, Insn>;
  readonly leaders: ReadonlySet<number>;
  /** By computed jump: its possible targets. */
  readonly switches: ReadonlyMap<number, readonly number[]>;
  /** Where the hart or the interpreter must act, or nothing can be read. */
  readonly stops: ReadonlySet<number>;
  isTail(at: number): boolean;
}

/** Follows the code from `start` to at most `limit` instructions, over edges that are taken. */
function collect(
  start: number,
  code: CodeView,
  limit: number,
  isTaken: (target: number) => boolean = () => true,
): Body {
  const insns = new Map<number, Insn>();
  const leaders = new Set<number>([start]);
  const switches = new Map<number, readonly number[]>();
  const stops = new Set<number>();
  const work = [start];
  while (work.length > 0 && insns.size < limit && leaders.size < REGION_BLOCKS) {
    let at = work.pop()!;
    while (!insns.has(at) && insns.size < limit && Math.abs(at) < REGION_REACH) {
      const insn = code.fetch(at);
      if (!insn || isSerializing(insn)) {
        stops.add(at);
        break;
      }
      insns.set(at, insn);
      const next = at + insn.bytes;
      const { flow } = rowOf(insn.op);
      if (flow === 'branch') {
        lead(at + insn.imm);
        lead(next);
        if (!leaders.has(next)) break;
      } else if (flow === 'jump') {
        if (insn.rd !== 0) lead(next);
        else if (!isTail(at + insn.imm)) lead(at + insn.imm);
        break;
      } else if (flow === 'indirect') {
        if (insn.rd !== 0) lead(next);
        else if (insn.rs1 !== LINK) follow(at);
        break;
      }
      at = next;
    }
  }
  return { start, insns, leaders, switches, stops, isTail };

  function follow(at: number): void {
    const targets = jumpTargets(textBefore(at, insns), code, to => Math.abs(to - start) < SWITCH_REACH);
    if (targets.length === 0) return;
    switches.set(at, targets);
    for (const to of targets) lead(to);
  }

  function lead(at: number): void {
    if (!isTaken(at)) return;
    leaders.add(at);
    if (!insns.has(at)) work.push(at);
  }
  function isTail(at: number): boolean {
    return at !== start && !insns.has(at) && code.isEntry(at);
  }
}

/** Instructions up to the one at `at`, in memory order. */
function textBefore(at: number, insns: ReadonlyMap<number, Insn>): { at: number; insn: Insn }[] {
  const text: { at: number; insn: Insn }[] = [];
  for (let here = at; insns.has(here) && text.length < 20; ) {
    text.unshift({ at: here, insn: insns.get(here)! });
    here -= insns.get(here - 4)?.bytes === 4 ? 4 : 2;
  }
  return text;
}

/** Cuts the collected instructions into blocks, the first one at the start, and joins these. */
function assemble(body: Body, code: CodeView): Block[] {
  const { start, insns, leaders, isTail } = body;
  const starts = [...leaders].filter(at => at !== start && insns.has(at)).sort((a, b) => a - b);
  const blocks = new Map<number, Block>();
  for (const first of [start, ...starts]) {
    const text: { at: number; insn: Insn }[] = [];
    let at = first;
    for (;;) {
      const insn = insns.get(at);
      if (!insn) break;
      text.push({ at, insn });
      at += insn.bytes;
      if (!runsOn(insn) || leaders.has(at)) break;
    }
    blocks.set(first, { at: first, insns: text, end: { kind: 'leave', at }, order: -1 });
  }
  const edge = (at: number): Edge => {
    const block = blocks.get(at);
    return block && !(at !== start && isTail(at)) ? { block } : { exit: at };
  };
  for (const block of blocks.values()) block.end = terminator(block, body, edge, at => code.inlineAt(at));
  return [...blocks.values()];
}

/**
 * Splits calls of functions whose address is in a register: the predicted callee is called
 * directly, or inlined.
 */
function guess(blocks: Block[], code: CodeView): void {
  for (const block of [...blocks]) {
    const { end, insns } = block;
    if (end.kind !== 'callIndirect') continue;
    const { at, insn } = insns.at(-1)!;
    const target = code.lastTarget(at);
    if (insn.rd !== LINK || target === undefined || !code.isEntry(target)) continue;
    const behind = { at: end.behind, insns: [], order: -1 };
    const known: Block = { ...behind, end: { ...end, kind: 'call', target } };
    const other: Block = { ...behind, end };
    block.end = { kind: 'guess', target, taken: { block: known }, next: { block: other } };
    blocks.push(known, other);
  }
}

/**
 * Size limits of inlined callees, in instructions: for leaf functions and for others; and the limit
 * of nesting.
 */
const INLINE_LEAF = 64;
const INLINE_CALLER = 28;
/** An inlined call and its operand, which the limits above do not count. */
const INLINED_CALL_INSNS = 2;
const INLINE_DEPTH = 3;
/**
 * Maximum number of instructions that inlining adds to a region: compile time is proportional to
 * code.
 */
const INLINE_BUDGET = 260;

/**
 * Inlines calls of small hot functions while `budget` lasts; appends their blocks. `callers` are
 * the enclosing functions: recursion is unrolled once. Returns the instructions added.
 */
function inline(blocks: Block[], code: CodeView, budget: number, callers: readonly number[]): number {
  let added = 0;
  if (callers.length > INLINE_DEPTH) return 0;
  for (const block of [...blocks]) {
    const { end } = block;
    if (end.kind !== 'call' || !code.isEntry(end.target)) continue;
    const nested = callers.filter(at => at === end.target).length;
    const link = block.insns.at(-1)?.insn.rd ?? LINK;
    if (link !== LINK || nested > 1 || !('block' in end.next)) continue;
    const body = collect(end.target, code, 2 * INLINE_LEAF + 1);
    const copy = assemble(body, code);
    if (weightOf(copy) > INLINE_LEAF || added + body.insns.size > budget || !copy.every(staysWithin))
      continue;
    guess(copy, code);
    added += body.insns.size;
    added += inline(copy, code, budget - added, [...callers, end.target]);
    const { behind } = end;
    for (const one of copy)
      if (one.end.kind === 'indirect') one.end = { kind: 'return', behind, next: end.next };
    block.end = { kind: 'jump', to: { block: copy[0]! } };
    blocks.push(...copy);
  }
  return added;
}

/**
 * The weight of a callee against inlining, in instructions: calls weigh more, inlined calls weigh
 * nothing.
 */
function weightOf(blocks: readonly Block[]): number {
  let weight = 0;
  let calls = 0;
  for (const { insns, end } of blocks) {
    weight += insns.length;
    if (end.kind === 'inline') weight -= INLINED_CALL_INSNS;
    if (end.kind === 'call' || end.kind === 'callIndirect') calls = INLINE_LEAF - INLINE_CALLER;
  }
  return weight + calls;
}

/** One-block loops of up to this many instructions are unrolled to about that many. */
const UNROLL_INSNS = 12;
const UNROLLED_INSNS = 32;

/**
 * Unrolls the smallest loops, so that the checks at a loop's head are made once for several
 * iterations. Returns the instructions added.
 */
function unroll(blocks: Block[]): number {
  let added = 0;
  for (const block of [...blocks]) {
    const { end, insns } = block;
    if (end.kind !== 'branch' || insns.length > UNROLL_INSNS) continue;
    if (!('block' in end.taken) || end.taken.block !== block) continue;
    const copies = Math.floor(UNROLLED_INSNS / insns.length) - 1;
    let last: Edge = { block };
    for (let i = 0; i < copies; i++) {
      const copy: Block = { ...block, end: { ...end, taken: last } };
      blocks.push(copy);
      last = { block: copy };
    }
    block.end = { ...end, taken: last };
    added += copies * insns.length;
  }
  return added;
}

/**
 * True if control leaves the function only by its return, by calls that return, or to the
 * interpreter.
 */
function staysWithin({ end, insns }: Block): boolean {
  const inside = (to: Edge): boolean => 'block' in to;
  switch (end.kind) {
    case 'branch':
      return inside(end.taken) && inside(end.next);
    case 'fall':
    case 'jump':
      return inside(end.to);
    case 'indirect':
      return insns.at(-1)!.insn.rs1 === LINK;
    case 'switch':
      return end.cases.every(({ to }) => inside(to));
    case 'leave':
      return insns.length > 0;
    default:
      return 'next' in end && inside(end.next);
  }
}

/**
 * The target of a call, if the block determines it: `jal`, or `jalr` directly after the `auipc` of
 * its register.
 */
function callTarget(block: Block): number | undefined {
  const [before, last] = [block.insns.at(-2), block.insns.at(-1)!];
  if (last.insn.name === 'jal') return last.at + last.insn.imm;
  if (before?.insn.name !== 'auipc' || before.insn.rd !== last.insn.rs1) return undefined;
  return before.at + before.insn.imm + last.insn.imm;
}

function terminator(
  block: Block,
  { switches, stops }: Body,
  edge: (at: number) => Edge,
  inlineAt: (at: number) => InlineCall | undefined,
): Terminator {
  const last = block.insns.at(-1);
  if (!last) return block.end;
  const { at, insn } = last;
  const next = at + insn.bytes;
  switch (rowOf(insn.op).flow) {
    case 'branch':
      return { kind: 'branch', taken: edge(at + insn.imm), next: edge(next) };
    case 'jump':
      if (insn.rd === 0) return { kind: 'jump', to: edge(at + insn.imm) };
      return call(callTarget(block)!);
    case 'indirect': {
      if (insn.rd === 0) {
        const cases = switches.get(at)?.map(target => ({ at: target, to: edge(target) }));
        return cases ? { kind: 'switch', cases } : { kind: 'indirect' };
      }
      const target = callTarget(block);
      return target === undefined ? { kind: 'callIndirect', behind: next, next: edge(next) } : call(target);
    }
    default:
      // Behind the last instruction that the limits allow, the next region begins.
      return stops.has(next) ? { kind: 'leave', at: next } : { kind: 'fall', to: edge(next) };
  }

  function call(target: number): Terminator {
    const inlined = insn.rd === LINK ? inlineAt(target) : undefined;
    if (inlined) return { kind: 'inline', call: inlined, target, behind: next, next: edge(next) };
    return { kind: 'call', target, behind: next, next: edge(next) };
  }
}

/** The edges of a block that stay in the region, in order of likelihood for layout. */
export function successors(block: Block): Block[] {
  const { end } = block;
  const edges: Edge[] =
    end.kind === 'branch' || end.kind === 'guess'
      ? [end.next, end.taken]
      : end.kind === 'fall' || end.kind === 'jump'
        ? [end.to]
        : 'next' in end
          ? [end.next]
          : end.kind === 'switch'
            ? end.cases.map(({ to }) => to)
            : [];
  return edges.flatMap(e => ('block' in e ? [e.block] : []));
}

/** All instructions of a region. */
export function* insnsOf({ blocks }: Region): Generator<Insn> {
  for (const { insns } of blocks) for (const { insn } of insns) yield insn;
}
