/**
 * Where the compiler called its coverage hooks, found by decoding the text of the image.
 *
 * kcov records the return address of the hook call. The length of that call is never assumed: `auipc ra, jalr ra` pairs (8 bytes, the
 * jalr is the call) and `jal ra` (4 bytes, after linker relaxation) are told apart by decoding. The call sites are the
 * denominators of every report, and a recorded PC that is no call site is refused.
 *
 * Each `trace_pc` site also gets its *block*: the straight line of instructions that runs whenever the hook does, from the
 * preceding branch target to the next control transfer. It is derived from the machine code, not recorded; exporters say so.
 */
import { type Addr, CoverageError, hex } from '../base/bytes.ts';
import { type DecodedCode, type ImpliedBlock, impliedBlocks } from '../model/implied.ts';
import { type Elf, type Section, STT_FUNC } from './elf.ts';
import { bImm, cbImm, cjImm, jImm, OP_AUIPC, OP_BRANCH, OP_JAL, OP_JALR, RA } from './riscv.ts';

/** `pc` sites count coverage; the others carry comparison operands. Order as in the trigger registers of the device. */
export const HOOKS = [
  '__sanitizer_cov_trace_pc',
  '__sanitizer_cov_trace_cmp1',
  '__sanitizer_cov_trace_cmp2',
  '__sanitizer_cov_trace_cmp4',
  '__sanitizer_cov_trace_cmp8',
  '__sanitizer_cov_trace_const_cmp1',
  '__sanitizer_cov_trace_const_cmp2',
  '__sanitizer_cov_trace_const_cmp4',
  '__sanitizer_cov_trace_const_cmp8',
  '__sanitizer_cov_trace_switch',
] as const;

export const HOOK_PC = 0;

const INSN = 1;
const LEADER = 2;
const ENDS_BLOCK = 4;
const HOOK_CALL = 8;

interface Found {
  start: Addr;
  call: Addr;
  ret: Addr;
  hook: number;
}

/** One executable section, decoded once from front to back. */
class CodeScan implements DecodedCode {
  readonly base: Addr;
  readonly view: DataView;
  readonly size: number;
  readonly flags: Uint8Array;

  constructor(elf: Elf, section: Section) {
    const bytes = elf.data(section);
    this.base = section.addr;
    this.size = bytes.length & ~1;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.flags = new Uint8Array((this.size >> 1) + 2);
  }

  isInsn(offset: number): boolean {
    return (this.flags[offset >> 1]! & INSN) !== 0;
  }

  isLeader(offset: number): boolean {
    return (this.flags[offset >> 1]! & LEADER) !== 0;
  }

  endsBlock(offset: number): boolean {
    return (this.flags[offset >> 1]! & ENDS_BLOCK) !== 0;
  }

  isHookCall(offset: number): boolean {
    return (this.flags[offset >> 1]! & HOOK_CALL) !== 0;
  }

  private mark(offset: number, flag: number): void {
    if (offset >= 0 && offset < this.size) this.flags[offset >> 1]! |= flag;
  }

  /** Decode, marking instruction starts, branch targets and ends of blocks; hook calls go to `found`. */
  scan(starts: Float64Array, hooks: Map<Addr, number>, found: Found[]): void {
    let nextStart = 0;
    let pairAt = -1; // offset of an auipc directly before, and what it computed
    let pairReg = 0;
    let pairValue = 0;
    for (let at = 0; at < this.size; ) {
      // Functions begin where the symbol table says, whatever the bytes before them decoded to.
      while (nextStart < starts.length && starts[nextStart]! - this.base < at) nextStart++;
      const low = this.view.getUint16(at, true);
      const length = (low & 3) === 3 ? 4 : 2;
      const boundary = nextStart < starts.length ? starts[nextStart]! - this.base : this.size;
      if (boundary > at && at + length > boundary) {
        at = boundary;
        continue;
      }
      if (at + length > this.size) break;
      this.flags[at >> 1]! |= INSN | (boundary === at ? LEADER : 0);
      if (length === 2) this.compressed(at, low);
      else {
        const word = this.view.getInt32(at, true);
        const opcode = word & 0x7f;
        const rd = (word >> 7) & 31;
        if (opcode === OP_AUIPC) {
          pairAt = at;
          pairReg = rd;
          pairValue = this.base + at + (word & ~0xfff);
        } else if (opcode === OP_JAL) this.jal(at, word, rd, hooks, found);
        else if (opcode === OP_JALR) {
          const target = pairValue + (word >> 20);
          const isPair = pairAt === at - 4 && ((word >> 15) & 31) === pairReg;
          if (rd === 0) this.flags[at >> 1]! |= ENDS_BLOCK;
          else if (rd === RA && isPair) this.call(pairAt, at, target, hooks, found);
        } else this.other(at, word, opcode);
      }
      at += length;
    }
  }

  private call(start: number, at: number, target: Addr, hooks: Map<Addr, number>, found: Found[]): void {
    const hook = hooks.get(target);
    if (hook === undefined) return;
    if (hook === HOOK_PC) this.mark(at, HOOK_CALL);
    found.push({ start: this.base + start, call: this.base + at, ret: this.base + at + 4, hook });
  }

  private jal(at: number, word: number, rd: number, hooks: Map<Addr, number>, found: Found[]): void {
    const offset = jImm(word);
    if (rd === RA) {
      this.call(at, at, this.base + at + offset, hooks, found);
      return;
    }
    this.flags[at >> 1]! |= ENDS_BLOCK;
    this.mark(at + offset, LEADER);
  }

  private other(at: number, word: number, opcode: number): void {
    if (opcode === OP_BRANCH) {
      this.flags[at >> 1]! |= ENDS_BLOCK;
      this.mark(at + bImm(word), LEADER);
    } else if (word === 0x00100073 || word === 0x30200073 || word === 0x10200073) {
      this.flags[at >> 1]! |= ENDS_BLOCK; // ebreak, mret, sret
    }
  }

  private compressed(at: number, half: number): void {
    const kind = half & 0xe003;
    if (kind === 0xa001) {
      this.flags[at >> 1]! |= ENDS_BLOCK;
      this.mark(at + cjImm(half), LEADER);
    } else if (kind === 0xc001 || kind === 0xe001) {
      this.flags[at >> 1]! |= ENDS_BLOCK;
      this.mark(at + cbImm(half), LEADER);
    } else if (half === 0 || half === 0x9002 || ((half & 0xf07f) === 0x8002 && half !== 0x8002)) {
      this.flags[at >> 1]! |= ENDS_BLOCK; // c.unimp, c.ebreak, c.jr
    }
  }

  /** Start of the straight line that leads to `offset`, not before `floor`. */
  lineStart(offset: number, floor: number): number {
    let at = offset;
    while (at > floor && !(this.flags[at >> 1]! & LEADER)) {
      let before = at - 2;
      if (before >= 2 && !(this.flags[before >> 1]! & INSN)) before -= 2;
      const flags = before >= floor ? this.flags[before >> 1]! : 0;
      if (!(flags & INSN) || flags & ENDS_BLOCK) break;
      at = before;
    }
    return at;
  }

  /** End of the straight line from `offset` on, not beyond `ceiling`. */
  lineEnd(offset: number, ceiling: number): number {
    let at = offset;
    while (at < ceiling) {
      const flags = this.flags[at >> 1]!;
      if (!(flags & INSN) || flags & LEADER) break;
      at += (this.view.getUint16(at, true) & 3) === 3 ? 4 : 2;
      if (flags & ENDS_BLOCK) break;
    }
    return Math.min(at, ceiling);
  }
}

/** The hook calls of an image in order of address, as columns. */
export class CallSites {
  readonly elf: Elf;
  readonly count: number;
  /** What kcov records: the address after the call. */
  readonly ret: Float64Array;
  /** The jal or jalr itself. */
  readonly call: Float64Array;
  /** Index into HOOKS. */
  readonly hook: Uint8Array;
  /** The straight line `[low, high)` that runs with the hook; for comparison hooks just the call. */
  readonly blockLow: Float64Array;
  readonly blockHigh: Float64Array;
  private readonly byReturn = new Map<Addr, number>();
  private readonly scans: { scan: CodeScan; starts: Float64Array }[] = [];

  constructor(elf: Elf) {
    this.elf = elf;
    const hooks = hookAddresses(elf);
    if (hooks.size === 0) {
      const hint =
        elf.symbols.count === 0
          ? 'it has no symbol table'
          : 'it is not built with -fsanitize-coverage=trace-pc';
      throw new CoverageError(`${elf.name} has no coverage hooks: ${hint}`);
    }
    const starts = functionStarts(elf);
    const found: Found[] = [];
    const blocks: { low: Addr; high: Addr }[] = [];
    const sections = elf.executableSections().sort((a, b) => a.addr - b.addr);
    for (const section of sections) {
      const first = found.length;
      const scan = new CodeScan(elf, section);
      const within = starts.filter(start => isWithin(section, start));
      scan.scan(within, hooks, found);
      addBlocks(scan, found, first, blocks);
      this.scans.push({ scan, starts: within });
    }
    this.count = found.length;
    this.ret = Float64Array.from(found, f => f.ret);
    this.call = Float64Array.from(found, f => f.call);
    this.hook = Uint8Array.from(found, f => f.hook);
    this.blockLow = Float64Array.from(blocks, b => b.low);
    this.blockHigh = Float64Array.from(blocks, b => b.high);
    for (let i = 0; i < this.count; i++) this.byReturn.set(this.ret[i]!, i);
  }

  /** Index of the site whose call returns to `ret`, or -1. */
  find(ret: Addr): number {
    return this.byReturn.get(ret) ?? -1;
  }

  /** Blocks without a hook that ran whenever some others did; `sites` are `pc` sites whose executions add up. */
  *implied(): Generator<{ low: Addr; high: Addr; sites: number[] }> {
    const siteOfCall = new Map<Addr, number>();
    for (let i = 0; i < this.count; i++) if (this.hook[i] === HOOK_PC) siteOfCall.set(this.call[i]!, i);
    for (const { scan, starts } of this.scans) {
      for (let i = 0; i < starts.length; i++) {
        const end = i + 1 < starts.length ? starts[i + 1]! : scan.base + scan.size;
        const symbol = this.elf.symbols.indexAt(starts[i]!);
        const size = (symbol >= 0 && this.elf.symbols.size[symbol]) || end - starts[i]!;
        const from = starts[i]! - scan.base;
        const to = Math.min(from + size, end - scan.base);
        const blocks: ImpliedBlock[] = impliedBlocks(scan, from, to);
        for (const { low, high, calls } of blocks) {
          yield { low, high, sites: calls.map(offset => siteOfCall.get(scan.base + offset)!) };
        }
      }
    }
  }

  /** Why a PC is no call site, for an error text. */
  explainMissing(ret: Addr): string {
    const { elf } = this;
    const near = [-8, -4, -2, 2, 4, 8].find(offset => this.byReturn.has(ret + offset));
    const where = elf.symbols.at(ret);
    const inside = where ? ` (inside ${where.name}+0x${(ret - where.addr).toString(16)})` : '';
    if (near !== undefined)
      return `${hex(ret)}${inside} is no call site, but ${hex(ret + near)} is: call address instead of return address?`;
    if (!elf.isExecutable(ret)) return `${hex(ret)} is no call site: ${elf.name} has no code there`;
    return `${hex(ret)}${inside} is no call site of ${elf.name}: not the image that was traced?`;
  }
}

/** Is `start` an address at which an instruction of the section can begin? */
function isWithin(section: Section, start: Addr): boolean {
  const offset = start - section.addr;
  return offset >= 0 && offset < section.size && offset % 2 === 0;
}

function hookAddresses(elf: Elf): Map<Addr, number> {
  const byName = new Map<string, number>(HOOKS.map((name, i) => [name, i]));
  const hooks = new Map<Addr, number>();
  const { symbols } = elf;
  for (let i = 0; i < symbols.count; i++) {
    const hook = byName.get(symbols.name(i));
    if (hook !== undefined) hooks.set(symbols.addr[i]!, hook);
  }
  return hooks;
}

function functionStarts(elf: Elf): Float64Array {
  const { symbols } = elf;
  const starts: Addr[] = [];
  for (let i = 0; i < symbols.count; i++) {
    const addr = symbols.addr[i]!;
    if (symbols.type[i] === STT_FUNC && addr !== starts[starts.length - 1]) starts.push(addr);
  }
  return Float64Array.from(starts);
}

function addBlocks(scan: CodeScan, found: Found[], first: number, blocks: { low: Addr; high: Addr }[]): void {
  let floor = 0;
  for (let i = first; i < found.length; i++) {
    const site = found[i]!;
    if (site.hook !== HOOK_PC) {
      blocks.push({ low: site.start, high: site.ret });
      continue;
    }
    let next = i + 1;
    while (next < found.length && found[next]!.hook !== HOOK_PC) next++;
    const ceiling = next < found.length ? found[next]!.start - scan.base : scan.size;
    const low = scan.lineStart(site.start - scan.base, floor);
    const high = scan.lineEnd(site.ret - scan.base, ceiling);
    blocks.push({ low: scan.base + low, high: scan.base + high });
    floor = high;
  }
}
