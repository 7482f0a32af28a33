/**
 * Code without a hook of its own that must have run. The compiler leaves the hook out of a block that all its successors, or all its
 * predecessors, tell of (SanitizerCoverage prunes full dominators and post-dominators). The same is read back here from the control
 * flow of the machine code: a block whose every way out leads to blocks that nothing else reaches ran as often as they together, and
 * likewise for the ways in.
 *
 * Nothing is concluded in functions with indirect jumps (jump tables), where the flow is not known. A call that never returns between
 * such a block and the hook makes the block look unreached.
 */
import type { Addr } from '../base/bytes.ts';
import { bImm, cbImm, cjImm, jImm, OP_AUIPC, OP_BRANCH, OP_JAL, OP_JALR, RA } from '../elf/riscv.ts';

export interface ImpliedBlock {
  low: Addr;
  high: Addr;
  /** Offsets of the hook calls whose executions add up to those of the block. */
  calls: number[];
}

/** What the decoder of the section knows of it; offsets count from its base. */
export interface DecodedCode {
  base: Addr;
  view: DataView;
  isInsn(offset: number): boolean;
  isLeader(offset: number): boolean;
  endsBlock(offset: number): boolean;
  /** Is there a call of the pc hook at `offset`? */
  isHookCall(offset: number): boolean;
}

interface Block {
  low: number;
  high: number;
  /** Indices of blocks; -1 leaves the function. */
  out: number[];
  into: number[];
  /** Hook calls that stand for the block; undefined while not known. */
  calls: number[] | undefined;
}

const EXIT = -1;
const UNKNOWN = 'indirect';

/** Where control goes from the instruction at `at`: offsets, or UNKNOWN for an indirect jump. `length` is its size. */
function targets(code: DecodedCode, at: number, length: number): number[] | typeof UNKNOWN {
  const { view } = code;
  const next = at + length;
  if (length === 2) {
    const half = view.getUint16(at, true);
    const kind = half & 0xe003;
    if (kind === 0xa001) return [at + cjImm(half)];
    if (kind === 0xc001 || kind === 0xe001) return [at + cbImm(half), next];
    if ((half & 0xf07f) === 0x8002 && half !== 0x8002) return ((half >> 7) & 31) === RA ? [] : UNKNOWN;
    return code.endsBlock(at) ? [] : [next];
  }
  const word = view.getInt32(at, true);
  const opcode = word & 0x7f;
  if (opcode === OP_BRANCH) return [at + bImm(word), next];
  if (!code.endsBlock(at)) return [next];
  if (opcode === OP_JAL) return [at + jImm(word)];
  if (opcode !== OP_JALR) return [];
  const source = (word >> 15) & 31;
  if (source === RA) return [];
  // `auipc t1; jr t1` is a tail call.
  const before = at >= 4 && code.isInsn(at - 4) ? view.getInt32(at - 4, true) : 0;
  return (before & 0x7f) === OP_AUIPC && ((before >> 7) & 31) === source ? [] : UNKNOWN;
}

/** The blocks of the function `[from, to)`; undefined if its flow is not known. */
function blocksOf(code: DecodedCode, from: number, to: number): Block[] | undefined {
  const blocks: Block[] = [];
  const leaving: number[][] = [];
  const byStart = new Map<number, number>();
  let open: Block | undefined;
  for (let at = from; at < to; ) {
    if (!code.isInsn(at)) return undefined;
    const length = (code.view.getUint16(at, true) & 3) === 3 ? 4 : 2;
    if (!open) {
      open = { low: at, high: at, out: [], into: [], calls: undefined };
      byStart.set(at, blocks.length);
      blocks.push(open);
    }
    if (code.isHookCall(at)) open.calls ??= [at];
    const next = at + length;
    open.high = next;
    if (code.endsBlock(at) || next >= to || code.isLeader(next)) {
      const reached = targets(code, at, length);
      if (reached === UNKNOWN) return undefined;
      leaving.push(reached);
      open = undefined;
    }
    at = next;
  }
  for (const [i, reached] of leaving.entries()) {
    for (const target of reached) {
      const index = byStart.get(target) ?? EXIT;
      blocks[i]!.out.push(index);
      if (index !== EXIT) blocks[index]!.into.push(i);
    }
    if (reached.length === 0) blocks[i]!.out.push(EXIT);
  }
  return blocks;
}

/** The hook calls that stand for block `i` by its successors or predecessors, if they do. */
function conclude(blocks: Block[], i: number): number[] | undefined {
  const block = blocks[i]!;
  const alone = (list: number[]) => list.length === 1 && list[0] === i;
  if (block.out.length > 0 && block.out.every(s => s > 0 && alone(blocks[s]!.into) && blocks[s]!.calls)) {
    return block.out.flatMap(s => blocks[s]!.calls!);
  }
  // The entry (block 0) has callers that are not seen here.
  if (i > 0 && block.into.length > 0 && block.into.every(p => alone(blocks[p]!.out) && blocks[p]!.calls)) {
    return block.into.flatMap(p => blocks[p]!.calls!);
  }
  return undefined;
}

/** Blocks of the function at offsets `[from, to)` that have no hook and are told of by others. */
export function impliedBlocks(code: DecodedCode, from: number, to: number): ImpliedBlock[] {
  const blocks = blocksOf(code, from, to);
  if (!blocks || blocks.length === 1) return [];
  const hooked = new Set(blocks.filter(block => block.calls));
  if (hooked.size === 0) return [];
  for (let changed = true, rounds = 0; changed && rounds < 16; rounds++) {
    changed = false;
    for (const [i, block] of blocks.entries()) {
      if (block.calls) continue;
      const calls = conclude(blocks, i);
      // A long chain of diamonds would repeat the same calls without end.
      if (!calls || calls.length > 64) continue;
      block.calls = calls;
      changed = true;
    }
  }
  return blocks
    .filter(block => block.calls && !hooked.has(block))
    .map(block => ({ low: code.base + block.low, high: code.base + block.high, calls: block.calls! }));
}
