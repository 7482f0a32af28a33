/**
 * How often blocks without a hook ran, by conservation of flow: the flow into a block equals the
 * flow out of it.
 *
 * Problem: edge counts are unknown, block counts are known where there is a hook. Which other
 * counts follow? Trick: split each block into an in-node and an out-node. A block without a hook is
 * an edge between the two; a hook takes its count
 *   out of the in-node and puts it into the out-node. Entry and exits meet in one more node, the
 *   ground.
 * Proof: two flows with the same nodes' balances differ by a circulation, and circulations are
 * spanned by the cycles of the undirected
 *   graph. So an edge has one possible value if and only if it lies on no cycle, that is, if it is
 *   a bridge; its value is then what the side without the ground has too much. (Network matrices;
 *   the count of a block in the row space of the equations.)
 *
 * Counts are not negative, so the flow through a hook that counted 0 is 0: its edges are removed
 * first, which creates more bridges.
 */
import { EXIT, type FlowBlock } from '../elf/flow.ts';

export interface Balance {
  /** Executions by block; NaN if the hooks do not determine it. */
  counts: Float64Array;
  /** The hooks contradict each other: control went where the graph has no edge. */
  isInconsistent: boolean;
}

class Graph {
  readonly from: number[] = [];
  readonly to: number[] = [];
  readonly edgesOf: number[][];
  /** The external inflow of a node, minus its outflow. */
  readonly balance: Float64Array;

  constructor(nodes: number) {
    this.edgesOf = Array.from({ length: nodes }, () => []);
    this.balance = new Float64Array(nodes);
  }

  add(from: number, to: number): number {
    const edge = this.from.length;
    this.from.push(from);
    this.to.push(to);
    this.edgesOf[from]!.push(edge);
    this.edgesOf[to]!.push(edge);
    return edge;
  }

  /**
   * Flow on each bridge, NaN on other edges; undefined if a part of the graph does not balance.
   * `root` is searched last.
   */
  bridges(root: number): Float64Array | undefined {
    const nodes = this.edgesOf.length;
    const value = new Float64Array(this.from.length).fill(Number.NaN);
    const order = new Int32Array(nodes).fill(-1);
    const lowest = new Int32Array(nodes);
    const sum = Float64Array.from(this.balance);
    const cursor = new Int32Array(nodes);
    const parent = new Int32Array(nodes).fill(-1);
    let time = 0;
    for (let k = 0; k < nodes; k++) {
      const start = (root + k) % nodes; // the ground first: then no subtree contains it
      if (order[start] !== -1) continue;
      order[start] = lowest[start] = time++;
      const stack = [start];
      while (stack.length > 0) {
        const node = stack[stack.length - 1]!;
        const edge = this.edgesOf[node]![cursor[node]!++];
        if (edge === undefined) {
          stack.pop();
          const up = parent[node]!;
          if (up < 0) continue;
          const above = this.from[up] === node ? this.to[up]! : this.from[up]!;
          if (lowest[node]! > order[above]!) value[up] = this.from[up] === node ? sum[node]! : -sum[node]!;
          lowest[above] = Math.min(lowest[above]!, lowest[node]!);
          sum[above]! += sum[node]!;
          continue;
        }
        if (edge === parent[node]) continue;
        const other = this.from[edge] === node ? this.to[edge]! : this.from[edge]!;
        if (order[other] === -1) {
          order[other] = lowest[other] = time++;
          parent[other] = edge;
          stack.push(other);
        } else lowest[node] = Math.min(lowest[node]!, order[other]!);
      }
      if (start !== root && sum[start] !== 0) return undefined;
    }
    return value;
  }
}

/**
 * Blocks with no flow: hooks that counted 0, and blocks whose predecessors or successors are all
 * such blocks.
 */
function dry(blocks: readonly FlowBlock[], hits: Float64Array, crossed: Float64Array): Uint8Array {
  const n = blocks.length;
  const isDry = new Uint8Array(n);
  const into: number[][] = blocks.map(() => []);
  for (const [i, { out }] of blocks.entries()) for (const to of out) if (to !== EXIT) into[to]!.push(i);
  const queue: number[] = [];
  for (let i = 0; i < n; i++) if (hits[i] === 0) queue.push(i);
  for (let i = 1; i < n; i++) if (into[i]!.length === 0 && crossed[i] === 0) queue.push(i);
  for (let i = queue.pop(); i !== undefined; i = queue.pop()) {
    if (isDry[i]) continue;
    isDry[i] = 1;
    for (const to of blocks[i]!.out) {
      const isEntered = to === EXIT || to === 0 || crossed[to] !== 0 || hits[to]! > 0;
      if (!isEntered && into[to]!.every(from => isDry[from])) queue.push(to);
    }
    for (const from of into[i]!) {
      // Flow that leaves a block by a crossing is visible in the block after it.
      const leaves = blocks[from]!.out.some(to => to === EXIT || !isDry[to] || crossed[to]! < 0);
      if (!leaves && !(hits[from]! > 0)) queue.push(from);
    }
  }
  return isDry;
}

/**
 * `hits`: executions of the hook of each block, NaN for one without; `crossed`: the flow that
 * entered at the start of a block other than by its edges, minus the flow that left there. Block 0
 * is the entry.
 */
export function conserve(blocks: readonly FlowBlock[], hits: Float64Array, crossed: Float64Array): Balance {
  const n = blocks.length;
  const isDry = dry(blocks, hits, crossed);
  // Most functions of a kernel: nothing flows.
  if (!isDry.includes(0) && !hits.some(count => count > 0) && crossed.every(flow => flow === 0))
    return { counts: new Float64Array(n), isInconsistent: false };
  const ground = 2 * n;
  const graph = new Graph(2 * n + 1);
  const through = new Int32Array(n).fill(-1);
  if (!isDry[0] || crossed[0] !== 0) graph.add(ground, 0);
  for (const [i, { out }] of blocks.entries()) {
    graph.balance[2 * i]! += crossed[i]!;
    if (hits[i]! > 0) {
      graph.balance[2 * i]! -= hits[i]!;
      graph.balance[2 * i + 1]! += hits[i]!;
    } else if (Number.isNaN(hits[i]) && !isDry[i]) through[i] = graph.add(2 * i, 2 * i + 1);
    if (isDry[i]) continue;
    for (const to of out) {
      if (to === EXIT) graph.add(2 * i + 1, ground);
      // A block without flow takes the flow that leaves before its first instruction.
      else if (!isDry[to] || crossed[to] !== 0) graph.add(2 * i + 1, 2 * to);
    }
  }
  const value = graph.bridges(ground);
  const counts = Float64Array.from(hits);
  if (!value) return { counts, isInconsistent: true };
  let isInconsistent = false;
  for (const x of value) if (x < 0) isInconsistent = true;
  for (let i = 0; i < n; i++) {
    if (isDry[i]) counts[i] = 0;
    else if (through[i]! >= 0) counts[i] = value[through[i]!]!;
  }
  return { counts, isInconsistent };
}
