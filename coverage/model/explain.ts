/**
 * All facts about one PC: function, lines, inlined chain, the code around it, the tests that
 * covered it.
 */
import { type Addr, cleanPath, hex } from '../base/bytes.ts';
import { Symbolizer } from '../dwarf/symbolize.ts';
import { CallSites, HOOKS } from '../elf/callsites.ts';
import type { Elf } from '../elf/elf.ts';
import { type Palette, PLAIN } from '../text/report.ts';
import { FILTERED, type Trace } from '../trace/trace.ts';
import { Coverage } from './coverage.ts';

export interface ExplainOptions {
  trace?: Trace | undefined;
  /** Text of the instruction in `bytes` at `addr`. */
  disassemble?: ((bytes: Uint8Array, addr: Addr) => string) | undefined;
  syscallName?: ((number: number) => string | undefined) | undefined;
  palette?: Palette | undefined;
  /** Instructions shown before and after. */
  around?: number | undefined;
}

interface Place {
  addr: Addr;
  site: number;
}

/** `pc` may be the return address of a hook call, the call itself, or any address of code. */
function placeOf(sites: CallSites | undefined, pc: Addr): Place {
  if (!sites) return { addr: pc, site: -1 };
  let site = sites.find(pc);
  if (site < 0) site = sites.call.indexOf(pc);
  return site < 0 ? { addr: pc, site } : { addr: sites.call[site]!, site };
}

export function* explainPc(elf: Elf, pc: Addr, options: ExplainOptions = {}): Generator<string> {
  const palette = options.palette ?? PLAIN;
  const sites = elf.symbols.count > 0 ? optionalSites(elf) : undefined;
  const { addr, site } = placeOf(sites, pc);
  const symbol = elf.symbols.at(addr);
  const where = symbol ? `${symbol.name}+0x${(addr - symbol.addr).toString(16)}` : 'no symbol';
  yield `${palette.bold(hex(pc))}  ${where}`;
  if (site >= 0) {
    const call = `call of ${HOOKS[sites!.hook[site]!]}`;
    yield pc === addr ? `  ${call}` : `  return address of the ${call} at ${hex(addr)}`;
  } else if (!elf.isExecutable(pc))
    yield palette.bad(`  no code: ${elf.name} has no executable section there`);
  else yield palette.warn('  not a call site of a coverage hook');
  yield* frameLines(elf, addr, palette);
  if (site >= 0) {
    const [low, high] = [sites!.blockLow[site]!, sites!.blockHigh[site]!];
    yield `  stands for ${hex(low)} .. ${hex(high)} (${high - low} bytes of straight code, derived)`;
  }
  if (options.disassemble) yield* codeLines(elf, addr, options, palette);
  if (options.trace && site >= 0) yield* coveredBy(elf, options.trace, site, options, palette);
}

function optionalSites(elf: Elf): CallSites | undefined {
  try {
    return new CallSites(elf);
  } catch {
    return undefined; // an image without hooks still has functions and lines
  }
}

function* frameLines(elf: Elf, addr: Addr, palette: Palette): Generator<string> {
  const symbolizer = new Symbolizer(elf);
  if (symbolizer.dwarf.isEmpty) {
    yield palette.warn(`  ${elf.name} has no debug information: no source line`);
    return;
  }
  for (const frame of symbolizer.frames(addr)) {
    const place =
      frame.file === '' ? 'source unknown' : `${cleanPath(frame.file)}:${frame.line}:${frame.column}`;
    yield `  ${frame.function || '?'} ${palette.dim(place)}${frame.inline ? palette.dim('  inlined into') : ''}`;
  }
}

function* codeLines(elf: Elf, addr: Addr, options: ExplainOptions, palette: Palette): Generator<string> {
  const around = options.around ?? 6;
  const symbol = elf.symbols.at(addr);
  const start = symbol?.addr ?? addr;
  const size = Math.max(symbol?.size ?? 0, addr - start + 8 * (around + 1));
  const code = elf.read(start, size) ?? elf.read(start, symbol?.size || 4);
  if (!code) return;
  const rows: { at: Addr; text: string }[] = [];
  for (let at = 0; at + 2 <= code.length; ) {
    const length = (code[at]! & 3) === 3 ? 4 : 2;
    if (at + length > code.length) break;
    rows.push({ at: start + at, text: options.disassemble!(code.subarray(at, at + length), start + at) });
    at += length;
  }
  const here = rows.findIndex(row => row.at >= addr);
  yield '';
  for (const row of rows.slice(Math.max(0, here - around), here + around + 1)) {
    const text = `${row.at === addr ? '=>' : '  '} ${hex(row.at)}  ${row.text.replaceAll('\t', ' ')}`;
    yield `  ${row.at === addr ? palette.bold(text) : palette.dim(text)}`;
  }
}

function* coveredBy(
  elf: Elf,
  trace: Trace,
  site: number,
  options: ExplainOptions,
  palette: Palette,
): Generator<string> {
  const coverage = Coverage.of(trace, elf);
  const point = coverage.program.pointAt(coverage.program.sites.ret[site]!);
  yield '';
  if (point < 0 || coverage.hits[point] === 0) {
    yield palette.bad('  not covered by the trace');
    if (trace.header.filtered) yield palette.warn(`  filtered: ${FILTERED}`);
    return;
  }
  yield `  covered ${coverage.hits[point]} times, by`;
  const hitsOf = new Map<number, number>();
  const add = (source: number, hits: number): void => {
    if (hits > 0) hitsOf.set(source, (hitsOf.get(source) ?? 0) + hits);
  };
  for (const { source, from, to } of trace.runs()) {
    let hits = 0;
    for (let i = from; i < to; i++) if (coverage.mapped[trace.records[i]!] === point) hits++;
    add(source, hits);
  }
  for (const [row, { source, count }] of trace.missed.entries())
    if (coverage.missedAt[row] === point) add(source, count);
  const counts = new Map<string, number>();
  for (const [source, hits] of hitsOf) {
    const s = trace.sources[source]!;
    const call =
      s.syscall < 0
        ? 'outside a system call'
        : (options.syscallName?.(s.syscall) ?? `system call ${s.syscall}`);
    const remote = s.context === 'remote' ? `, remote 0x${s.handle.toString(16)}` : '';
    const who = `${s.test || 'unnamed test'}, process ${s.process} thread ${s.thread}, ${call}${remote}`;
    counts.set(who, (counts.get(who) ?? 0) + hits);
  }
  for (const [who, hits] of counts) yield `  ${palette.good(String(hits).padStart(8))}  ${who}`;
}
