/**
 * Coverage by retired instructions instead of records: the engine counted, so nothing is inferred
 * and no code is unknown. Works for every image with debug information; its points are the entries
 * of its functions.
 */
import { type Addr, addrOf, CoverageError } from '../base/bytes.ts';
import type { Elf } from '../elf/elf.ts';
import type { FlowBlock, ImageFlow } from '../elf/flow.ts';
import type { Proof } from '../trace/proof.ts';
import { NOT_RUN, RAN } from './reach.ts';
import type { FunctionVerdict, LineJudge } from './verdict.ts';

/** By i: the number of times the instruction at `low + 2 * i` retired. */
export interface ExactCounts {
  low: bigint;
  counts: BigUint64Array;
}

/** The addresses `[low, high)` of all code of an image. */
export function codeWindow(elf: Elf): { low: bigint; high: bigint } {
  const sections = elf.executableSections();
  if (sections.length === 0) throw new CoverageError(`${elf.name} has no code`);
  const low = Math.min(...sections.map(section => section.addr));
  const high = Math.max(...sections.map(section => section.addr + section.size));
  const unsigned = (addr: Addr) => BigInt.asUintN(64, BigInt(addr));
  return { low: unsigned(low - (low % 2)), high: unsigned(high + (high % 2)) };
}

export class ExactVerdicts implements LineJudge {
  readonly proof: Proof = { absence: true, counts: true, crossings: true };
  private readonly flow: ImageFlow;
  private readonly low: Addr;
  private readonly counts: BigUint64Array;
  private readonly functions = new Map<Addr, FunctionVerdict>();

  constructor(flow: ImageFlow, { low, counts }: ExactCounts) {
    this.flow = flow;
    this.low = addrOf(low);
    this.counts = counts;
  }

  countAt(addr: Addr): number {
    return Number(this.counts[(addr - this.low) / 2] ?? 0n);
  }

  /** Nothing is saved by it: the counts of all instructions are there. */
  neverRan(): boolean {
    return false;
  }

  /** Instructions in a row that ran equally often are one block. */
  at(addr: Addr): FunctionVerdict | undefined {
    const range = this.flow.rangeAt(addr);
    if (!range) return undefined;
    let verdict = this.functions.get(range.low);
    if (verdict) return verdict;
    const blocks: FlowBlock[] = [];
    const counts: number[] = [];
    for (const at of this.flow.instructions(range)) {
      const count = this.countAt(at);
      const last = blocks[blocks.length - 1];
      if (last) last.high = at;
      if (!last || counts[counts.length - 1] !== count) {
        blocks.push({ low: at, high: range.high, out: [], sites: [], isEdge: false });
        counts.push(count);
      } else last.high = range.high;
    }
    const states = Uint8Array.from(counts, count => (count > 0 ? RAN : NOT_RUN));
    const known = { isInconsistent: false, isOpaque: true };
    verdict = { ...range, blocks, states, counts: Float64Array.from(counts), ...known };
    this.functions.set(range.low, verdict);
    return verdict;
  }
}
