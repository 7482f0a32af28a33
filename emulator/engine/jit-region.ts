// What one region is: the blocks of one guest function, found from an entry by following both sides of branches, plain
// jumps and the way back from calls. Discovery only reads code; it neither emits nor runs anything.
//
// Addresses are int32 displacements from the entry, so that no BigInt is needed here; `Region.entry` is the only full one.
// A region ends where the guest leaves its function (return, indirect jump, jump to a known entry), where the hart
// must act (CSRs, traps, fences) and at the caps below. A leaving edge continues in another region or the interpreter.

import type { Insn } from '../isa/index.ts';
import { rowOf } from '../isa/index.ts';
import { csrClass } from './semantics-system.ts';

/** Where an edge leads: a block of this region, or an address outside it (displacement from the entry). */
export type Edge = { readonly block: Block } | { readonly exit: number };

export type Terminator =
  /** Runs into the next block without an instruction of its own. */
  | { readonly kind: 'fall'; readonly to: Edge }
  /** A conditional branch, the last instruction of the block. */
  | { readonly kind: 'branch'; readonly taken: Edge; readonly next: Edge }
  /** `jal x0`. */
  | { readonly kind: 'jump'; readonly to: Edge }
  /** `jal rd` with a link: the callee at `target` comes back to `next`, or not. */
  | { readonly kind: 'call'; readonly target: number; readonly next: Edge }
  /** A call of the coverage hook of this kind at `target`. */
  | { readonly kind: 'hook'; readonly hook: number; readonly target: number; readonly next: Edge }
  /** `jalr rd` with a link. */
  | { readonly kind: 'callIndirect'; readonly next: Edge }
  /** `jalr x0`: return or computed jump. */
  | { readonly kind: 'indirect' }
  /** The instruction at `at` belongs to the hart or the interpreter. */
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

export interface Region {
  readonly entry: bigint;
  readonly blocks: readonly Block[];
  /** Guest instructions in all blocks. */
  readonly size: number;
  /** Displacements of the 4 KiB pages that hold its code, from the page of the entry. */
  readonly pages: readonly number[];
}

/** Most instructions of a region; larger functions continue in a second region. */
export const REGION_INSNS = 800;
const REGION_BLOCKS = 200;
/** ra */
const LINK = 1;
/** A region stays within these pages before and after its entry. */
const REGION_REACH = 8 * 4096;

/** True when a region cannot contain the instruction: it needs the hart, or control after it is not known. */
const isSerializing = (insn: Insn): boolean => {
  const { flow, ext } = rowOf(insn.op);
  if (ext === 'zicsr') return csrClass(insn.imm) === undefined;
  return flow === 'trap' || flow === 'serialize';
};

/**
 * Finds the region at `entry`. `fetch(displacement)` decodes one instruction or says undefined (not mapped, not decodable);
 * `isEntry(displacement)` tells that a region of its own begins there, so tail jumps do not copy whole callees;
 * `hookAt(displacement)` gives the kind of the coverage hook there, or -1.
 */
export function discover(
  entry: bigint,
  fetch: (at: number) => Insn | undefined,
  isEntry: (at: number) => boolean,
  hookAt: (at: number) => number = () => -1,
): Region {
  const insns = new Map<number, Insn>();
  const leaders = new Set<number>([0]);
  const work = [0];
  // First pass: which instructions belong, and where blocks begin.
  while (work.length > 0 && insns.size < REGION_INSNS && leaders.size < REGION_BLOCKS) {
    let at = work.pop()!;
    while (!insns.has(at) && insns.size < REGION_INSNS && Math.abs(at) < REGION_REACH) {
      const insn = fetch(at);
      if (!insn || isSerializing(insn)) break;
      insns.set(at, insn);
      const next = at + insn.bytes;
      const { flow } = rowOf(insn.op);
      if (flow === 'branch') {
        lead(at + insn.imm);
        lead(next);
      } else if (flow === 'jump') {
        if (insn.rd !== 0) lead(next);
        else if (!isTail(at + insn.imm)) lead(at + insn.imm);
        break;
      } else if (flow === 'indirect') {
        if (insn.rd !== 0) lead(next);
        break;
      }
      at = next;
    }
  }
  return assemble(entry, insns, leaders, isTail, hookAt);

  function lead(at: number): void {
    leaders.add(at);
    if (!insns.has(at)) work.push(at);
  }
  function isTail(at: number): boolean {
    return at !== 0 && !insns.has(at) && isEntry(at);
  }
}

/** Cuts the collected instructions into blocks and joins these. */
function assemble(
  entry: bigint,
  insns: ReadonlyMap<number, Insn>,
  leaders: ReadonlySet<number>,
  isTail: (at: number) => boolean,
  hookAt: (at: number) => number,
): Region {
  const starts = [...leaders].filter(at => insns.has(at)).sort((a, b) => a - b);
  const blocks = new Map<number, Block>();
  for (const start of starts) {
    const body: { at: number; insn: Insn }[] = [];
    let at = start;
    for (;;) {
      const insn = insns.get(at);
      if (!insn) break;
      body.push({ at, insn });
      at += insn.bytes;
      if (rowOf(insn.op).flow !== 'next' || leaders.has(at)) break;
    }
    blocks.set(start, { at: start, insns: body, end: { kind: 'leave', at }, order: -1 });
  }
  if (!blocks.has(0)) blocks.set(0, { at: 0, insns: [], end: { kind: 'leave', at: 0 }, order: -1 });
  const edge = (at: number): Edge => {
    const block = blocks.get(at);
    return block && !(at !== 0 && isTail(at)) ? { block } : { exit: at };
  };
  const pages = new Set<number>();
  const base = Number(entry & 0xfffn);
  for (const block of blocks.values()) {
    block.end = terminator(block, insns, edge, hookAt);
    for (const { at, insn } of block.insns) {
      pages.add((base + at) >> 12);
      pages.add((base + at + insn.bytes - 1) >> 12);
    }
  }
  return { entry, blocks: [...blocks.values()], size: insns.size, pages: [...pages].sort((a, b) => a - b) };
}

/** Where a call goes, if the block tells: `jal`, or `jalr` right behind the `auipc` of its register. */
function callTarget(block: Block): number | undefined {
  const [before, last] = [block.insns.at(-2), block.insns.at(-1)!];
  if (last.insn.name === 'jal') return last.at + last.insn.imm;
  if (before?.insn.name !== 'auipc' || before.insn.rd !== last.insn.rs1) return undefined;
  return before.at + before.insn.imm + last.insn.imm;
}

function terminator(
  block: Block,
  insns: ReadonlyMap<number, Insn>,
  edge: (at: number) => Edge,
  hookAt: (at: number) => number,
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
      if (insn.rd === 0) return { kind: 'indirect' };
      const target = callTarget(block);
      return target === undefined ? { kind: 'callIndirect', next: edge(next) } : call(target);
    }
    default:
      return insns.has(next) ? { kind: 'fall', to: edge(next) } : { kind: 'leave', at: next };
  }

  function call(target: number): Terminator {
    const hook = insn.rd === LINK ? hookAt(target) : -1;
    if (hook >= 0) return { kind: 'hook', hook, target, next: edge(next) };
    return { kind: 'call', target, next: edge(next) };
  }
}

/** The edges of a block that stay in the region, in order of likelihood for layout. */
export function successors(block: Block): Block[] {
  const { end } = block;
  const edges: Edge[] =
    end.kind === 'branch'
      ? [end.next, end.taken]
      : end.kind === 'fall' || end.kind === 'jump'
        ? [end.to]
        : end.kind === 'call' || end.kind === 'callIndirect' || end.kind === 'hook'
          ? [end.next]
          : [];
  return edges.flatMap(e => ('block' in e ? [e.block] : []));
}
