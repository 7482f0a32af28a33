// From a control-flow graph to structured WebAssembly: loops for back edges, nested blocks for
// merge points, nesting in place for other blocks. The idea is Ramsey's "Beyond Relooper" (ICFP
// 2022): walk the dominator tree; a node with several forward predecessors is placed after a
// `block` that its predecessors leave, a loop header inside a `loop`. An edge into the middle of a
// loop (irreducible) becomes an exit of the region: the result is still exact, and such code is
// rare.

import type { CodeWriter, Label } from '../../../wasm/module.ts';
import { type Block, type Edge, successors } from './region.ts';

export interface Structure {
  /** Reachable blocks in reverse postorder; `block.order` is the position here. */
  readonly order: readonly Block[];
  /** By position: the positions of its successors. */
  readonly next: readonly (readonly number[])[];
  /** Immediate dominator by position; the entry dominates itself. */
  readonly idom: Int32Array;
  /** By position: target of a back edge from a block that it dominates. */
  readonly isLoop: Uint8Array;
  /** By position: several forward edges lead here. */
  readonly isMerge: Uint8Array;
  /** True when the edge must leave the region, because it enters a loop past its header. */
  isIrreducible(from: Block, to: Block): boolean;
}

/** Analyses the graph from its entry, the first block. */
export function structure(blocks: readonly Block[]): Structure {
  const order = reversePostorder(blocks[0]!);
  order.forEach((block, i) => {
    block.order = i;
  });
  const next = order.map(block => successors(block).map(to => to.order));
  const idom = dominators(next);
  const dominates = (a: number, b: number): boolean => {
    while (b > a) b = idom[b]!;
    return a === b;
  };
  const isLoop = new Uint8Array(order.length);
  const forward = new Int32Array(order.length);
  for (const [from, targets] of next.entries())
    for (const to of targets) {
      if (to > from) forward[to]!++;
      else if (dominates(to, from)) isLoop[to] = 1;
    }
  const isIrreducible = (from: Block, to: Block): boolean =>
    to.order <= from.order && !dominates(to.order, from.order);
  const isMerge = Uint8Array.from(forward, n => (n > 1 ? 1 : 0));
  return { order, next, idom, isLoop, isMerge, isIrreducible };
}

/**
 * By position: 1 for blocks of a natural loop: those from which its back edge is reached without
 * passing its header.
 */
export function loopBlocks({ next, isLoop }: Structure): Uint8Array {
  const inLoop = new Uint8Array(next.length);
  const predecessors = predecessorsOf(next);
  for (const [head, isHead] of isLoop.entries()) {
    if (!isHead) continue;
    const seen = new Set<number>([head]);
    const work = predecessors[head]!.filter(from => from >= head);
    for (let node = work.pop(); node !== undefined; node = work.pop()) {
      if (seen.has(node)) continue;
      seen.add(node);
      work.push(...predecessors[node]!.filter(from => from >= head));
    }
    for (const node of seen) inLoop[node] = 1;
  }
  return inLoop;
}

function reversePostorder(entry: Block): Block[] {
  const post: Block[] = [];
  const seen = new Set<Block>([entry]);
  // An explicit stack: guest functions may be deep.
  const stack: { block: Block; next: Block[] }[] = [{ block: entry, next: successors(entry) }];
  while (stack.length > 0) {
    const top = stack.at(-1)!;
    const to = top.next.shift();
    if (!to) {
      post.push(top.block);
      stack.pop();
    } else if (!seen.has(to)) {
      seen.add(to);
      stack.push({ block: to, next: successors(to) });
    }
  }
  return post.reverse();
}

function predecessorsOf(next: Structure['next']): number[][] {
  const predecessors: number[][] = next.map(() => []);
  for (const [from, targets] of next.entries()) for (const to of targets) predecessors[to]!.push(from);
  return predecessors;
}

/** Cooper, Harvey and Kennedy's iteration over reverse postorder. */
function dominators(next: Structure['next']): Int32Array {
  const predecessors = predecessorsOf(next);
  const idom = new Int32Array(next.length).fill(-1);
  idom[0] = 0;
  for (let changed = true; changed; ) {
    changed = false;
    for (let node = 1; node < next.length; node++) {
      let best = -1;
      for (let p of predecessors[node]!) {
        if (idom[p] === -1) continue;
        if (best === -1) best = p;
        while (p !== best) {
          if (p > best) p = idom[p]!;
          else best = idom[best]!;
        }
      }
      if (idom[node] !== best) {
        idom[node] = best;
        changed = true;
      }
    }
  }
  return idom;
}

/** The callbacks of a region's emitter, called in the order of emission. */
export interface RegionWriter {
  /** Emits the loop header's check of the countdown, first thing inside the `loop`. */
  loopHead(block: Block): void;
  /** Emits the body and terminator of a block; every edge goes through `edge`. */
  block(block: Block, edge: (edge: Edge) => void): void;
  /** Leaves the region for the address at this displacement. */
  exit(at: number): void;
}

/**
 * Emits the whole region into `c` as nested blocks and loops. Every path ends in a branch or an
 * exit.
 */
export function emitStructured(shape: Structure, c: CodeWriter, writer: RegionWriter): void {
  const children: number[][] = shape.order.map(() => []);
  for (let node = 1; node < shape.order.length; node++) children[shape.idom[node]!]!.push(node);
  const loopLabel = new Map<number, Label>();
  const mergeLabel = new Map<number, Label>();

  const tree = (node: number): void => {
    // Merge points that this node dominates, outermost block for the last in order.
    const merges = children[node]!.filter(child => shape.isMerge[child]).sort((a, b) => b - a);
    if (!shape.isLoop[node]) {
      within(node, merges, 0);
      return;
    }
    loopLabel.set(node, c.loop());
    writer.loopHead(shape.order[node]!);
    within(node, merges, 0);
    c.end();
    loopLabel.delete(node);
  };

  const within = (node: number, merges: readonly number[], i: number): void => {
    if (i === merges.length) {
      const from = shape.order[node]!;
      writer.block(from, target => follow(from, target));
      return;
    }
    const merge = merges[i]!;
    mergeLabel.set(merge, c.block());
    within(node, merges, i + 1);
    c.end();
    mergeLabel.delete(merge);
    tree(merge);
  };

  const follow = (from: Block, target: Edge): void => {
    if ('exit' in target) {
      writer.exit(target.exit);
      return;
    }
    const to = target.block;
    if (shape.isIrreducible(from, to)) writer.exit(to.at);
    else if (to.order <= from.order) c.br(loopLabel.get(to.order)!);
    else if (shape.isMerge[to.order]) c.br(mergeLabel.get(to.order)!);
    else tree(to.order);
  };

  tree(0);
}
