/**
 * The compiler's calls of coverage hooks, found by decoding the text of the image.
 *
 * kcov records the return address of the hook call. The length of that call is never assumed:
 * `auipc ra, jalr ra` pairs (8 bytes, the jalr is the call) and `jal ra` (4 bytes, after linker
 * relaxation) are distinguished by decoding. The call sites are the denominators of every report,
 * and a recorded PC that is not a call site is refused.
 *
 * Each `trace_pc` site also gets its *block*: the straight line of instructions that runs whenever
 * the hook does, from the preceding branch target to the next control transfer. It is derived from
 * the machine code, not recorded; exporters say so.
 */
import { type Addr, CoverageError, countUpTo, hex } from '../base/bytes.ts';
import { CodeScan, type HookCall } from './code.ts';
import { type Elf, type Section, STT_FUNC } from './elf.ts';

/**
 * `pc` sites count coverage; the others carry comparison operands. Order as in the trigger
 * registers of the device.
 */
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

/** The hook calls of an image in order of address, as columns. */
export interface SiteColumns {
  /** The PC that kcov records: the address after the call. */
  readonly ret: Float64Array;
  /** The auipc or jal that begins it. */
  readonly start: Float64Array;
  /** The jal or jalr itself. */
  readonly call: Float64Array;
  /** Index into HOOKS. */
  readonly hook: Uint8Array;
  /**
   * The straight line `[low, high)` that runs with the hook; for comparison hooks just the call.
   */
  readonly blockLow: Float64Array;
  readonly blockHigh: Float64Array;
  /** The decoded sections, in order of address. */
  readonly scans: readonly CodeScan[];
}

export class CallSites implements SiteColumns {
  readonly elf: Elf;
  readonly count: number;
  readonly ret: Float64Array;
  readonly start: Float64Array;
  readonly call: Float64Array;
  readonly hook: Uint8Array;
  readonly blockLow: Float64Array;
  readonly blockHigh: Float64Array;
  readonly scans: readonly CodeScan[];
  /** The last answer of `find`, and of `firstFrom`: mostly the next address is near. */
  private lastReturn = 0;
  private last = 0;

  /**
   * `entries`: instead of hook calls, the first instruction of every function. `columns`: found
   * earlier.
   */
  constructor(elf: Elf, what: 'hooks' | 'entries' = 'hooks', columns = findSites(elf, what)) {
    this.elf = elf;
    this.count = columns.ret.length;
    this.ret = columns.ret;
    this.start = columns.start;
    this.call = columns.call;
    this.hook = columns.hook;
    this.blockLow = columns.blockLow;
    this.blockHigh = columns.blockHigh;
    this.scans = columns.scans;
  }

  /** Index of the site whose call returns to `ret`, or -1. */
  find(ret: Addr): number {
    this.lastReturn = countUpTo(this.ret, ret, this.lastReturn);
    const site = this.lastReturn - 1;
    return this.ret[site] === ret ? site : -1;
  }

  /** The first site whose call is at `addr` or beyond. */
  firstFrom(addr: Addr): number {
    this.last = countUpTo(this.call, addr - 1, this.last);
    return this.last;
  }

  /** The reason why a PC is not a call site, for an error text. */
  explainMissing(ret: Addr): string {
    const { elf } = this;
    const near = [-8, -4, -2, 2, 4, 8].find(offset => this.find(ret + offset) >= 0);
    const where = elf.symbols.at(ret);
    const inside = where ? ` (inside ${where.name}+0x${(ret - where.addr).toString(16)})` : '';
    if (near !== undefined)
      return `${hex(ret)}${inside} is not a call site, but ${hex(ret + near)} is: call address instead of return address?`;
    if (!elf.isExecutable(ret)) return `${hex(ret)} is not a call site: ${elf.name} has no code there`;
    return `${hex(ret)}${inside} is not a call site of ${elf.name}: not the image that was traced?`;
  }
}

function findSites(elf: Elf, what: 'hooks' | 'entries'): SiteColumns {
  const hooks = what === 'hooks' ? hookAddresses(elf) : new Map<Addr, number>();
  if (what === 'hooks' && hooks.size === 0) {
    const hint =
      elf.symbols.count === 0
        ? 'it has no symbol table'
        : 'it is not built with -fsanitize-coverage=trace-pc';
    throw new CoverageError(`${elf.name} has no coverage hooks: ${hint}`);
  }
  const starts = functionStarts(elf);
  const found: HookCall[] = [];
  const blocks: { low: Addr; high: Addr }[] = [];
  const scans: CodeScan[] = [];
  const sections = elf.executableSections().sort((a, b) => a.addr - b.addr);
  for (const section of sections) {
    const first = found.length;
    const scan = new CodeScan(elf, section);
    const within = starts.filter(start => isWithin(section, start));
    scan.scan(within, hooks, found);
    if (what === 'entries') {
      for (const start of within)
        if (scan.isInsn(start - scan.base)) found.push({ start, call: start, ret: start, hook: HOOK_PC });
    }
    addBlocks(scan, found, first, blocks);
    scans.push(scan);
  }
  const column = (): Float64Array => new Float64Array(found.length);
  const [ret, start, call, blockLow, blockHigh] = [column(), column(), column(), column(), column()];
  const hook = new Uint8Array(found.length);
  // A loop: `from` with a function takes ten times as long.
  for (let i = 0; i < found.length; i++) {
    ret[i] = found[i]!.ret;
    start[i] = found[i]!.start;
    call[i] = found[i]!.call;
    hook[i] = found[i]!.hook;
    blockLow[i] = blocks[i]!.low;
    blockHigh[i] = blocks[i]!.high;
  }
  return { ret, start, call, hook, blockLow, blockHigh, scans };
}

/** True if an instruction of the section can begin at `start`. */
function isWithin(section: Section, start: Addr): boolean {
  const offset = start - section.addr;
  return offset >= 0 && offset < section.size && offset % 2 === 0;
}

/** True if code of the image may call hooks. */
export const hasHooks = (elf: Elf): boolean => hookAddresses(elf).size > 0;

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

function addBlocks(
  scan: CodeScan,
  found: HookCall[],
  first: number,
  blocks: { low: Addr; high: Addr }[],
): void {
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
