/**
 * The control flow of a function, from its machine code: basic blocks, and the possible successors
 * of each.
 *
 * - A call continues after it, unless the called function never returns (`Returns`).
 * - `jr` through ra or t0 is a return. Through another register it is the jump of a switch if its
 *   target was loaded from an indexed table, else a tail call, which leaves the function. A table's
 *   targets are the words of the image's data that point into the function, and code addresses that
 *   the function itself computes (`&&label`): a superset of the real targets.
 * - An exception ends a block only where it must happen (ebreak, c.unimp).
 *
 * A function whose code cannot be read this way is *opaque*: nothing is inferred about it beyond
 * the hooks themselves.
 */
import { type Addr, upperBound } from '../base/bytes.ts';
import type { CallSites } from './callsites.ts';
import type { CodeScan } from './code.ts';
import { type Elf, STT_FUNC } from './elf.ts';
import { type Jump, jumpOf, loadsIndexed } from './jumps.ts';

/** Control leaves the function. */
export const EXIT = -1;

export interface FlowBlock {
  low: Addr;
  high: Addr;
  /** Numbers of the blocks that may follow, or EXIT. */
  out: number[];
  /** Sites of the hooks called in it. */
  sites: number[];
  /** Only hook calls and a jump: the compiler created the block to distinguish edges. */
  isEdge: boolean;
}

export interface FunctionFlow {
  low: Addr;
  high: Addr;
  blocks: FlowBlock[];
  isOpaque: boolean;
}

export interface CodeRange {
  low: Addr;
  high: Addr;
}

/** The functions of an image with code, in order of address. */
export function functionRanges(elf: Elf): CodeRange[] {
  const { symbols } = elf;
  const ranges: CodeRange[] = [];
  for (let i = 0; i < symbols.count; i++) {
    if (symbols.type[i] !== STT_FUNC || symbols.addr[i]! % 2 !== 0) continue;
    const low = symbols.addr[i]!;
    const last = ranges[ranges.length - 1];
    if (last && last.low === low) last.high = Math.max(last.high, low + symbols.size[i]!);
    else ranges.push({ low, high: low + symbols.size[i]! });
  }
  for (const [i, range] of ranges.entries()) {
    const next = ranges[i + 1]?.low ?? Number.POSITIVE_INFINITY;
    range.high = range.high === range.low ? next : Math.min(range.high, next);
  }
  return ranges;
}

/** Facts that are found for all functions of an image together. */
export interface FlowFacts {
  readonly ranges: CodeRange[];
  /** By range: 1 if a call of it may return. */
  readonly returns: Uint8Array;
  /** By range: 1 if its code can be read and has no indirect jump. */
  readonly plain: Uint8Array;
  /** Addresses of code in the image's data, sorted. */
  readonly pointers: Float64Array;
}

/** The source of the flow of functions, with data that several functions share. */
export class ImageFlow implements FlowFacts {
  readonly sites: CallSites;
  readonly ranges: CodeRange[];
  readonly returns: Uint8Array;
  readonly plain: Uint8Array;
  readonly pointers: Float64Array;
  /** The range of the last address: the next one is mostly in it too. */
  private last: CodeRange | undefined;

  /** `facts`: found earlier. */
  constructor(sites: CallSites, facts?: FlowFacts) {
    this.sites = sites;
    if (facts) {
      ({ ranges: this.ranges, returns: this.returns, plain: this.plain, pointers: this.pointers } = facts);
      return;
    }
    this.ranges = functionRanges(sites.elf).map(range => ({ ...range, high: this.clip(range) }));
    this.pointers = codePointers(sites.elf, sites.scans);
    this.plain = new Uint8Array(this.ranges.length);
    this.returns = this.findReturns();
  }

  private clip({ low, high }: CodeRange): Addr {
    const scan = this.scanOf(low);
    return scan ? Math.min(high, scan.base + scan.size) : low;
  }

  private scanOf(addr: Addr): CodeScan | undefined {
    for (const scan of this.sites.scans) if (addr >= scan.base && addr < scan.base + scan.size) return scan;
    return undefined;
  }

  private indexOf(addr: Addr): number {
    return upperBound(this.ranges.length, addr, i => this.ranges[i]!.low) - 1;
  }

  /** The function that holds an address. */
  rangeAt(addr: Addr): CodeRange | undefined {
    const { last } = this;
    if (last && addr >= last.low && addr < last.high) return last;
    const range = this.ranges[this.indexOf(addr)];
    if (!range || addr >= range.high) return undefined;
    this.last = range;
    return range;
  }

  /** True if a call of `target` may return. A target outside the known functions may. */
  mayReturn(target: Addr): boolean {
    const index = this.indexOf(target);
    return this.ranges[index]?.low !== target || this.returns[index] === 1;
  }

  /**
   * A function returns if it has a return, leaves through an unknown address, or tail-calls a
   * function that returns. Finds `plain`, too.
   */
  private findReturns(): Uint8Array {
    const returns = new Uint8Array(this.ranges.length);
    const tails: [from: number, to: number][] = [];
    for (const [i, { low, high }] of this.ranges.entries()) {
      let isPlain = this.isReadable(low, high);
      if (!isPlain) returns[i] = 1;
      this.jumps(low, high, (_at, _next, jump) => {
        if (jump.kind === 'indirect') isPlain = false;
        if (jump.kind === 'return' || jump.kind === 'indirect' || jump.kind === 'xret') returns[i] = 1;
        else if (jump.kind === 'jump' && (jump.to < low || jump.to >= high)) {
          const to = this.indexOf(jump.to);
          if (this.ranges[to]?.low === jump.to) tails.push([i, to]);
          else returns[i] = 1;
        }
      });
      this.plain[i] = isPlain ? 1 : 0;
    }
    for (let changed = true; changed; ) {
      changed = false;
      for (const [from, to] of tails) {
        if (returns[from] || !returns[to]) continue;
        returns[from] = 1;
        changed = true;
      }
    }
    return returns;
  }

  /** True if instructions follow each other without a gap. */
  private isReadable(low: Addr, high: Addr): boolean {
    const scan = this.scanOf(low);
    if (!scan || high <= low) return false;
    let at = low - scan.base;
    for (const end = high - scan.base; at < end; at += scan.length(at)) if (!scan.isInsn(at)) return false;
    return at === high - scan.base;
  }

  /** The instructions of `[low, high)` that may transfer control. */
  private jumps(low: Addr, high: Addr, each: (at: Addr, next: Addr, jump: Jump) => void): void {
    const scan = this.scanOf(low);
    if (!scan) return;
    for (let at = low - scan.base; at < high - scan.base; ) {
      const length = scan.length(at);
      const jump = scan.isInsn(at) ? jumpOf(scan, at) : undefined;
      if (jump) each(scan.base + at, scan.base + at + length, jump);
      at += length;
    }
  }

  /** The addresses of the instructions of a function; none if it cannot be read. */
  instructions({ low, high }: CodeRange): Addr[] {
    if (!this.isReadable(low, high)) return [];
    const scan = this.scanOf(low)!;
    const found: Addr[] = [];
    for (let at = low; at < high; at += scan.length(at - scan.base)) found.push(at);
    return found;
  }

  /** The flow of the function `range`; blocks also begin at `cuts`. */
  flow(range: CodeRange, cuts: readonly Addr[] = []): FunctionFlow {
    const { low, high } = range;
    if (!this.isReadable(low, high)) return { low, high, blocks: [], isOpaque: true };
    const inside = (addr: Addr) => addr >= low && addr < high;
    const leaders = new Set<Addr>([low, ...cuts.filter(inside)]);
    const ends = new Map<Addr, { next: Addr; jump: Jump }>();
    const computed: Addr[] = [];
    let switches = false;
    this.jumps(low, high, (at, next, jump) => {
      if (jump.kind === 'address') {
        if (jump.to > low && inside(jump.to)) computed.push(jump.to);
        return;
      }
      if (jump.kind === 'call' && (jump.to === undefined || this.mayReturn(jump.to))) return;
      ends.set(at, { next, jump });
      leaders.add(next);
      if ((jump.kind === 'branch' || jump.kind === 'jump') && inside(jump.to)) leaders.add(jump.to);
      if (jump.kind === 'indirect') switches = true;
    });
    const targets = switches ? this.switchTargets(low, high, computed) : [];
    for (const target of targets) leaders.add(target);
    return this.blocks(range, leaders, ends, targets);
  }

  /**
   * The site of the hook that runs whenever the function is entered, before any other transfer of
   * control; -1 if there is none, or if the function has an indirect jump.
   */
  entrySite({ low, high }: CodeRange): number {
    const site = this.sites.firstFrom(low);
    if (this.plain[this.indexOf(low)] !== 1 || !(this.sites.call[site]! < high)) return -1;
    let isFirst = true;
    this.jumps(low, this.sites.start[site]!, (_at, _next, { kind }) => {
      if (kind !== 'address') isFirst = false;
    });
    return isFirst ? site : -1;
  }

  /** Return addresses of the calls of a function, except those of hooks. */
  callReturns({ low, high }: CodeRange): Addr[] {
    const found: Addr[] = [];
    this.jumps(low, high, (_at, next, jump) => {
      if (jump.kind === 'call' && this.sites.find(next) < 0) found.push(next);
    });
    return found;
  }

  /** The call that ends directly before this address. */
  private callBefore(addr: Addr): Jump | undefined {
    const scan = this.scanOf(addr - 4);
    if (!scan) return undefined;
    for (const length of [2, 4]) {
      const at = addr - length - scan.base;
      if (!scan.isInsn(at) || scan.length(at) !== length) continue;
      const jump = jumpOf(scan, at);
      if (jump?.kind === 'call') return jump;
    }
    return undefined;
  }

  /** True if a call ends directly before this address. */
  isBehindCall(addr: Addr): boolean {
    return this.callBefore(addr) !== undefined;
  }

  /**
   * True if control cannot return to this address: the call before it never returns, or ends the
   * function before.
   */
  isPastEnd(addr: Addr): boolean {
    if (this.rangeAt(addr)?.low === addr) return true;
    const call = this.callBefore(addr);
    return call?.kind === 'call' && call.to !== undefined && !this.mayReturn(call.to);
  }

  /** Start addresses of the hook calls of a function. */
  hookStarts({ low, high }: CodeRange): Addr[] {
    const { sites } = this;
    const found: Addr[] = [];
    let site = sites.firstFrom(low);
    for (; site < sites.count && sites.call[site]! < high; site++) found.push(sites.start[site]!);
    return found;
  }

  private switchTargets(low: Addr, high: Addr, computed: readonly Addr[]): Addr[] {
    const { pointers } = this;
    const targets = new Set(computed);
    for (let i = upperBound(pointers.length, low, k => pointers[k]!); i < pointers.length; i++) {
      if (pointers[i]! >= high) break;
      targets.add(pointers[i]!);
    }
    const scan = this.scanOf(low)!;
    return [...targets].filter(addr => addr % 2 === 0 && scan.isInsn(addr - scan.base)).sort((a, b) => a - b);
  }

  private blocks(
    { low, high }: CodeRange,
    leaders: ReadonlySet<Addr>,
    ends: ReadonlyMap<Addr, { next: Addr; jump: Jump }>,
    targets: readonly Addr[],
  ): FunctionFlow {
    const scan = this.scanOf(low)!;
    const blocks: FlowBlock[] = [];
    const last: (Addr | undefined)[] = [];
    const numbers = new Map<Addr, number>();
    for (let at = low; at < high; ) {
      const block: FlowBlock = { low: at, high: at, out: [], sites: [], isEdge: false };
      numbers.set(at, blocks.length);
      blocks.push(block);
      let end: Addr | undefined;
      while (at < high && (at === block.low || !leaders.has(at))) {
        if (ends.has(at)) end = at;
        at += scan.length(at - scan.base);
        if (end !== undefined) break;
      }
      block.high = at;
      last.push(end);
    }
    let isOpaque = false;
    for (const [i, block] of blocks.entries()) {
      const at = last[i];
      const after = at === undefined ? undefined : ends.get(at)!;
      const to = (addr: Addr) => numbers.get(addr) ?? EXIT;
      if (!after) block.out = [to(block.high)];
      else if (after.jump.kind === 'branch') block.out = [...new Set([to(after.jump.to), to(after.next)])];
      else if (after.jump.kind === 'jump') block.out = [to(after.jump.to)];
      else if (after.jump.kind === 'indirect' && loadsIndexed(scan, block.low - scan.base, at! - scan.base)) {
        // A table that is not found leaves the flow unknown.
        if (targets.length === 0) isOpaque = true;
        block.out = targets.map(to);
      } else if (after.jump.kind === 'indirect') block.out = [...targets.map(to), EXIT];
      else block.out = [EXIT];
    }
    this.placeSites(blocks, scan);
    return { low, high, blocks, isOpaque };
  }

  private placeSites(blocks: readonly FlowBlock[], scan: CodeScan): void {
    const { sites } = this;
    let site = sites.firstFrom(blocks[0]!.low);
    for (const block of blocks) {
      for (; site < sites.count && sites.call[site]! < block.high; site++) block.sites.push(site);
      block.isEdge = block.sites.length > 0 && this.isBare(block, scan);
    }
  }

  private isBare(block: FlowBlock, scan: CodeScan): boolean {
    const { sites } = this;
    let at = block.low;
    for (const site of block.sites) {
      if (at !== sites.start[site]!) return false;
      at = sites.ret[site]!;
    }
    if (at >= block.high) return true;
    return at + scan.length(at - scan.base) === block.high && jumpOf(scan, at - scan.base)?.kind === 'jump';
  }
}

/** Words of the image's data that are addresses of code, sorted, each once. */
function codePointers(elf: Elf, scans: readonly CodeScan[]): Float64Array {
  const found = new Set<Addr>();
  for (const section of elf.dataSections()) {
    const bytes = elf.data(section);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const first = (8 - (((section.addr % 8) + 8) % 8)) % 8;
    for (let at = first; at + 8 <= bytes.length; at += 8) {
      const addr = view.getInt32(at + 4, true) * 0x1_0000_0000 + view.getUint32(at, true);
      if (scans.some(scan => addr >= scan.base && addr < scan.base + scan.size)) found.add(addr);
    }
  }
  return Float64Array.from(found).sort();
}
