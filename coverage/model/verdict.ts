/**
 * The facts that the records of a trace prove about the code of an image: for each block of an
 * instrumented function whether it ran, did not run or is unknown, and its count if that follows.
 *
 * | trace | ran | did not run | counts |
 * | --- | --- | --- | --- |
 * | all executions, crossings known | conservation, then paths | the same | conservation |
 * | UNIQ modes | paths | paths | none |
 * | unidentified lost records, or a filter by place | paths, no hook as not run | never | none |
 * | crossings unknown | paths; any call may switch recording | never | none |
 */
import { type Addr, addrOf, hex, upperBound } from '../base/bytes.ts';
import type { CodeRange, FlowBlock, FunctionFlow, ImageFlow } from '../elf/flow.ts';
import type { Proof } from '../trace/proof.ts';
import type { Trace } from '../trace/trace.ts';
import { conserve } from './conserve.ts';
import { NOT_RUN, RAN, reach, UNKNOWN } from './reach.ts';

export interface FunctionVerdict {
  low: Addr;
  high: Addr;
  blocks: readonly FlowBlock[];
  /** UNKNOWN, RAN or NOT_RUN by block. */
  states: Uint8Array;
  /** Executions by block; NaN if they do not follow. */
  counts: Float64Array;
  /** The hooks contradict the graph, so only the hooks are used. */
  isInconsistent: boolean;
  /** The successors of the blocks are not all known. */
  isOpaque: boolean;
}

interface Crossings {
  entered: number;
  left: number;
}

/** The basis of verdicts on lines. */
export interface LineJudge {
  readonly proof: Proof;
  /** The verdict on the function that holds an address. */
  at(addr: Addr): FunctionVerdict | undefined;
  /**
   * True if no instruction of that function ran, as far as that is known without its flow. So it is
   * for most functions of a kernel.
   */
  neverRan(addr: Addr): boolean;
}

export class Verdicts implements LineJudge {
  readonly proof: Proof;
  private readonly flow: ImageFlow;
  private readonly hitsOf: (site: number) => number;
  private readonly crossings: { addrs: Float64Array; at: Map<Addr, Crossings> };
  private readonly functions = new Map<Addr, FunctionVerdict>();
  /** The last one of them: the next address is mostly in the same function. */
  private last: FunctionVerdict | undefined;
  /** By function: the answers of `neverRan`, and the last one of them. */
  private readonly idle = new Map<CodeRange, boolean>();
  private lastIdle: readonly [range: CodeRange, isIdle: boolean] | undefined;

  /** `hitsOf` gives the records of a site, NaN for a site outside the denominators. */
  constructor(flow: ImageFlow, trace: Trace, proof: Proof, hitsOf: (site: number) => number) {
    this.flow = flow;
    this.proof = proof;
    this.hitsOf = hitsOf;
    this.crossings = sumCrossings(trace, flow);
  }

  /** The verdict on the function that holds an address. */
  at(addr: Addr): FunctionVerdict | undefined {
    const { last } = this;
    if (last && addr >= last.low && addr < last.high) return last;
    const range = this.flow.rangeAt(addr);
    if (!range) return undefined;
    let verdict = this.functions.get(range.low);
    if (!verdict) {
      verdict = this.judge(range);
      this.functions.set(range.low, verdict);
    }
    this.last = verdict;
    return verdict;
  }

  neverRan(addr: Addr): boolean {
    const range = this.flow.rangeAt(addr);
    if (!range) return false;
    if (this.lastIdle?.[0] === range) return this.lastIdle[1];
    let isIdle = this.idle.get(range);
    if (isIdle === undefined) this.idle.set(range, (isIdle = this.isIdle(range)));
    this.lastIdle = [range, isIdle];
    return isIdle;
  }

  /**
   * Control came into the function neither at its entry, where a hook would have counted it, nor
   * by a crossing. Conservation and paths would find the same.
   */
  private isIdle(range: CodeRange): boolean {
    const { absence, crossings } = this.proof;
    if (!absence || !crossings || this.cutsIn(range).length > 0) return false;
    const entry = this.flow.entrySite(range);
    if (entry < 0 || this.hitsOf(entry) !== 0) return false;
    const { call, count } = this.flow.sites;
    for (let site = entry; site < count && call[site]! < range.high; site++)
      if (this.hitsOf(site) > 0) return false;
    return true;
  }

  private judge(range: CodeRange): FunctionVerdict {
    const cuts = this.cutsIn(range);
    let flow = this.flow.flow(range, cuts);
    // Blocks of an opaque function may begin without a visible branch; after a hook they continue.
    if (flow.isOpaque) flow = this.flow.flow(range, [...cuts, ...this.flow.hookStarts(range)]);
    const { blocks } = flow;
    const hits = new Float64Array(blocks.length);
    for (let i = 0; i < hits.length; i++) hits[i] = this.hitsOfBlock(blocks[i]!);
    const isTorn = blocks.some((block, i) => block.sites.some(site => differs(this.hitsOf(site), hits[i]!)));
    if (flow.isOpaque || (isTorn && this.proof.counts)) return this.fromHooks(flow, hits, isTorn);
    const known = new Uint8Array(blocks.length);
    let counts: Float64Array = new Float64Array(blocks.length).fill(Number.NaN);
    if (this.proof.counts) {
      const crossed = new Float64Array(blocks.length);
      for (let i = 0; i < crossed.length; i++) {
        const crossing = this.crossings.at.get(blocks[i]!.low);
        if (crossing) crossed[i] = crossing.entered - crossing.left;
      }
      const balance = conserve(blocks, hits, crossed);
      if (balance.isInconsistent) return this.fromHooks(flow, hits, true);
      ({ counts } = balance);
      for (let i = 0; i < known.length; i++)
        known[i] = counts[i]! > 0 ? RAN : counts[i] === 0 ? NOT_RUN : UNKNOWN;
    } else this.knowHooks(known, hits);
    const states = this.search(blocks, known);
    for (let i = 0; i < states.length; i++) if (states[i] === NOT_RUN) counts[i] = 0;
    return {
      low: range.low,
      high: range.high,
      blocks,
      states,
      counts,
      isInconsistent: false,
      isOpaque: false,
    };
  }

  private knowHooks(known: Uint8Array, hits: Float64Array): void {
    for (let i = 0; i < known.length; i++)
      known[i] = hits[i]! > 0 ? RAN : hits[i] === 0 && this.proof.absence ? NOT_RUN : UNKNOWN;
  }

  private search(blocks: readonly FlowBlock[], known: Uint8Array): Uint8Array {
    const { at } = this.crossings;
    const { crossings, absence } = this.proof;
    // Most functions of a kernel: nothing ran.
    if (absence && !known.includes(UNKNOWN)) return known;
    // Without crossings there is a cut after every call.
    const crosses = (kind: 'entered' | 'left') =>
      Uint8Array.from(blocks, ({ low }, i) =>
        (crossings ? (at.get(low)?.[kind] ?? 0) > 0 : i > 0 && this.flow.isBehindCall(low)) ? 1 : 0,
      );
    const states = reach({ blocks, known, entered: crosses('entered'), left: crosses('left') });
    if (!absence) for (let i = 0; i < states.length; i++) if (states[i] === NOT_RUN) states[i] = UNKNOWN;
    return states;
  }

  private fromHooks(
    { low, high, blocks, isOpaque }: FunctionFlow,
    hits: Float64Array,
    isInconsistent: boolean,
  ): FunctionVerdict {
    const states = new Uint8Array(blocks.length);
    this.knowHooks(states, hits);
    const counts = this.proof.counts ? hits : new Float64Array(blocks.length).fill(Number.NaN);
    return { low, high, blocks, states, counts, isInconsistent, isOpaque };
  }

  private hitsOfBlock({ sites }: FlowBlock): number {
    for (const site of sites) {
      const hits = this.hitsOf(site);
      if (!Number.isNaN(hits)) return hits;
    }
    return Number.NaN;
  }

  private cutsIn(range: CodeRange): Addr[] {
    if (!this.proof.crossings) return this.flow.callReturns(range);
    const { addrs } = this.crossings;
    const cuts: Addr[] = [];
    for (let i = upperBound(addrs.length, range.low, k => addrs[k]!); i < addrs.length; i++) {
      if (addrs[i]! >= range.high) break;
      cuts.push(addrs[i]!);
    }
    return cuts;
  }

  /** Functions judged so far in which control went where the graph has no edge. */
  *inconsistent(): Generator<string> {
    for (const { low, isInconsistent } of this.functions.values()) {
      if (isInconsistent) yield this.flow.sites.elf.symbols.at(low)?.name ?? hex(low);
    }
  }
}

const differs = (a: number, b: number): boolean => !Number.isNaN(a) && a !== b;

/**
 * Crossings by return address. A call that never returns, such as the exit of a thread, ends its
 * block with an edge out of the function, so control that was recorded and left inside the call is
 * on this edge already. Its return address belongs to another block, or to the next function:
 * control did not reach that one, and a crossing there would contradict the hooks.
 */
function sumCrossings(trace: Trace, flow: ImageFlow): { addrs: Float64Array; at: Map<Addr, Crossings> } {
  const at = new Map<Addr, Crossings>();
  for (const { addr, entered, left } of trace.crossings) {
    const key = addrOf(addr);
    if (flow.isPastEnd(key)) continue;
    const row = at.get(key) ?? { entered: 0, left: 0 };
    at.set(key, { entered: row.entered + entered, left: row.left + left });
  }
  return { addrs: Float64Array.from(at.keys()).sort(), at };
}
