/**
 * Proofs from paths alone that blocks ran or did not run: every execution is a path from an entry
 * to an exit of the graph. A block on no possible path did not run. A block that dominates a hook
 * that ran (all paths from the entries lead through it), or post-dominates it, did run. This holds
 * in every mode and needs no counts.
 */
import { EXIT, type FlowBlock } from '../elf/flow.ts';

export const UNKNOWN = 0;
export const RAN = 1;
export const NOT_RUN = 2;
export type BlockState = typeof UNKNOWN | typeof RAN | typeof NOT_RUN;

export interface Paths {
  blocks: readonly FlowBlock[];
  /** RAN or NOT_RUN if known beforehand. */
  known: Uint8Array;
  /** Blocks at whose start control may enter, or before which it may leave, other than by edges. */
  entered: Uint8Array;
  left: Uint8Array;
}

/** The state of each block. */
export function reach({ blocks, known, entered, left }: Paths): Uint8Array {
  if (!known.includes(UNKNOWN)) return Uint8Array.from(known);
  const n = blocks.length;
  const top = n; // represents all entries, or all exits
  const after: number[][] = [];
  const before: number[][] = Array.from({ length: n + 1 }, () => []);
  const outOfTop: number[] = [];
  const intoTop: number[] = [];
  const isAlive = (i: number) => known[i] !== NOT_RUN;
  for (const [i, { out }] of blocks.entries()) {
    const next: number[] = [];
    after.push(next);
    if (!isAlive(i)) continue;
    for (const to of out) {
      if (to === EXIT || left[to]) intoTop.push(i);
      if (to === EXIT || !isAlive(to)) continue;
      next.push(to);
      before[to]!.push(i);
    }
    if (i === 0 || entered[i]) outOfTop.push(i);
  }
  after.push([]);
  const states = Uint8Array.from(known);
  const forth = dominators(n, top, outOfTop, after, before);
  const back = dominators(n, top, intoTop, before, after);
  for (let i = 0; i < n; i++) {
    if (known[i] === UNKNOWN && (forth[i] === -1 || back[i] === -1)) states[i] = NOT_RUN;
  }
  for (let i = 0; i < n; i++) {
    if (known[i] !== RAN) continue;
    for (const tree of [forth, back]) {
      for (let at = tree[i]!; at !== -1 && at !== top; at = tree[at]!) {
        if (states[at] === UNKNOWN) states[at] = RAN;
      }
    }
  }
  return states;
}

/**
 * Immediate dominators from `top`, whose successors are `first`; -1 for what cannot be reached.
 * (Cooper, Harvey, Kennedy: "A Simple, Fast Dominance Algorithm".)
 */
function dominators(
  n: number,
  top: number,
  first: readonly number[],
  after: readonly number[][],
  before: readonly number[][],
): Int32Array {
  const number = new Int32Array(n + 1).fill(-1); // in postorder
  const order: number[] = [];
  const visited = new Uint8Array(n + 1);
  visited[top] = 1;
  const stack: { node: number; next: readonly number[]; at: number }[] = [{ node: top, next: first, at: 0 }];
  while (stack.length > 0) {
    const frame = stack[stack.length - 1]!;
    const to = frame.next[frame.at++];
    if (to === undefined) {
      stack.pop();
      number[frame.node] = order.length;
      order.push(frame.node);
    } else if (!visited[to]) {
      visited[to] = 1;
      stack.push({ node: to, next: after[to]!, at: 0 });
    }
  }
  const isFirst = new Uint8Array(n + 1);
  for (const node of first) isFirst[node] = 1;
  const tree = new Int32Array(n + 1).fill(-1);
  tree[top] = top;
  const common = (a: number, b: number): number => {
    while (a !== b) {
      while (number[a]! < number[b]!) a = tree[a]!;
      while (number[b]! < number[a]!) b = tree[b]!;
    }
    return a;
  };
  for (let changed = true; changed; ) {
    changed = false;
    for (let k = order.length - 2; k >= 0; k--) {
      const node = order[k]!;
      let found = isFirst[node] ? top : -1;
      for (const from of before[node]!) {
        if (tree[from] === -1) continue;
        found = found === -1 ? from : common(found, from);
      }
      if (tree[node] !== found) {
        tree[node] = found;
        changed = true;
      }
    }
  }
  tree[top] = -1;
  return tree;
}
