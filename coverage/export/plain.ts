/**
 * Formats without source lines: the raw kcov image, the stored trace as CSV, and lists of PCs
 * (syzkaller's rawcover and JSON lines, module+offset). Shapes: docs/coverage-formats.md.
 *
 * rawcover, JSON lines and modoff give the address of the *call instruction*, as syzkaller does
 * after subtracting the length of a call; ours comes from decoding.
 */
import { visible } from '../../emulator/base/words.ts';
import { addrOf, CoverageError, cleanPath, hex } from '../base/bytes.ts';
import type { CallSites } from '../elf/callsites.ts';
import type { Elf } from '../elf/elf.ts';
import type { Coverage } from '../model/coverage.ts';
import { testsReaching } from '../model/tests.ts';
import { KIND_CMP, KIND_PC, KINDS, type Source, type Trace } from '../trace/trace.ts';
import { baseName, csvRow, type ExportOptions, encodeChunks } from './common.ts';

/**
 * A buffer as the guest would have mapped it: word 0 counts records, then the records.
 * `isSelection`: the trace has the records of a longer one at selected places.
 */
export function exportRaw(trace: Trace, options: ExportOptions, isSelection = false): Iterable<Uint8Array> {
  const kinds = KINDS.filter((_, kind) => trace.pointKind.includes(kind));
  const kind = options.kind ?? kinds[0] ?? 'pc';
  const held = `${isSelection ? 'the selected places have' : 'the trace holds'} ${kinds.join(' and ')} records`;
  if (kinds.length > 1 && !options.kind)
    throw new CoverageError(`${held}; a raw area holds one kind: choose it (--kind)`);
  if (kinds.length > 0 && !kinds.includes(kind))
    throw new CoverageError(`${held} and none of kind ${kind}: choose another (--kind)`);
  return rawArea(trace, KINDS.indexOf(kind));
}

function* rawArea(trace: Trace, wanted: number): Generator<Uint8Array> {
  const isCmp = wanted === KIND_CMP;
  const count = trace.countOf(wanted);
  const words = isCmp ? 4 : 1;
  const perChunk = 8192;
  let chunk = new Uint8Array(8 * perChunk * words);
  let view = new DataView(chunk.buffer);
  view.setBigUint64(0, BigInt(count), true);
  yield chunk.slice(0, 8);
  let at = 0;
  let cmpAt = 0;
  for (const point of trace.records) {
    if (trace.pointKind[point] !== wanted) continue;
    if (isCmp) {
      view.setBigUint64(at, BigInt(trace.cmpType[cmpAt]!), true);
      view.setBigUint64(at + 8, trace.cmpArg1[cmpAt]!, true);
      view.setBigUint64(at + 16, trace.cmpArg2[cmpAt]!, true);
      at += 24;
      cmpAt++;
    }
    view.setBigUint64(at, trace.pointPc[point]!, true);
    at += 8;
    if (at === chunk.length) {
      yield chunk;
      chunk = new Uint8Array(chunk.length);
      view = new DataView(chunk.buffer);
      at = 0;
    }
  }
  if (at > 0) yield chunk.subarray(0, at);
}

/** Call address of every pc record's point; throws if a PC is not a call site. */
function callsOf(trace: Trace, sites: CallSites): Float64Array {
  const calls = new Float64Array(trace.pointPc.length);
  for (let i = 0; i < calls.length; i++) {
    if (KINDS[trace.pointKind[i]!] === 'edge') continue;
    const ret = addrOf(trace.pointPc[i]!);
    const site = sites.find(ret);
    if (site < 0) throw new CoverageError(`PC ${sites.explainMissing(ret)}`);
    calls[i] = sites.call[site]!;
  }
  return calls;
}

/** Distinct call addresses of pc records, identified lost ones too, sorted. */
function distinctCalls(trace: Trace, sites: CallSites): number[] {
  const calls = callsOf(trace, sites);
  const wanted = new Set<number>();
  const hits = trace.hits();
  for (let i = 0; i < calls.length; i++) if (trace.pointKind[i] === 0 && hits[i]! > 0) wanted.add(calls[i]!);
  for (const { kind, pc, count } of trace.missed) {
    const site = kind === KIND_PC && count > 0 ? sites.find(addrOf(pc)) : -1;
    if (site >= 0) wanted.add(sites.call[site]!);
  }
  return [...wanted].sort((a, b) => a - b);
}

export function exportRawcover(trace: Trace, sites: CallSites, options: ExportOptions): Iterable<Uint8Array> {
  const calls = callsOf(trace, sites);
  function* inOrder(): Generator<string> {
    const texts = Array.from(calls, call => `${hex(call)}\n`);
    for (const point of trace.records) if (trace.pointKind[point] === 0) yield texts[point]!;
  }
  function* sorted(): Generator<string> {
    for (const call of distinctCalls(trace, sites)) yield `${hex(call)}\n`;
  }
  return encodeChunks(options.inOrder ? inOrder() : sorted());
}

/** Lowest address of the loaded image: the base of offsets in drcov and modoff. */
export function moduleBase(elf: Elf): number {
  const loaded = elf.sections.filter(section => section.flags & 2 && section.addr !== 0);
  return loaded.reduce((low, section) => Math.min(low, section.addr), loaded[0]?.addr ?? 0);
}

export function moduleName(elf: Elf, options: ExportOptions): string {
  return visible(options.module ?? baseName(elf.name));
}

export function exportModoff(trace: Trace, sites: CallSites, options: ExportOptions): Iterable<Uint8Array> {
  const base = moduleBase(sites.elf);
  const name = moduleName(sites.elf, options);
  function* lines(): Generator<string> {
    for (const call of distinctCalls(trace, sites)) yield `${name}+${(call - base).toString(16)}\n`;
  }
  return encodeChunks(lines());
}

/**
 * syzkaller's `/cover?jsonl=1`: every frame of every point; hit_count is the number of programs
 * (here: tests) that reached it.
 */
export function exportJsonl(coverage: Coverage): Iterable<Uint8Array> {
  const { program } = coverage;
  const reached = testsReaching(coverage.tests, program.count);
  function* lines(): Generator<string> {
    for (let point = 0; point < program.points.length; point++) {
      const hits = reached[point]!;
      const pc = BigInt.asUintN(64, BigInt(program.call(point)));
      for (const frame of program.frames(point).reverse()) {
        const head = `{"file_path":${JSON.stringify(frame.file)},"func_name":${JSON.stringify(frame.function)}`;
        yield `${head},"sl":${frame.line},"sc":0,"el":${frame.line},"ec":-1,"hit_count":${hits},"inline":${frame.inline},"pc":${pc}}\n`;
      }
    }
  }
  return encodeChunks(lines());
}

/** One row a record, in order. Without an image the place columns stay empty. */
export function exportRecordsCsv(
  trace: Trace,
  coverage: Coverage | undefined,
  options: ExportOptions,
): Iterable<Uint8Array> {
  const places = Array.from(trace.pointPc, (pc, i) => {
    const kind = KINDS[trace.pointKind[i]!]!;
    const site = coverage && kind !== 'edge' ? coverage.program.sites.find(addrOf(pc)) : -1;
    if (site < 0) return { head: `${kind},0x${pc.toString(16)}`, place: ',,,' };
    const call = coverage!.program.sites.call[site]!;
    const [frame] = coverage!.program.symbolizer.frames(call);
    const place = csvRow(hex(call), frame!.function, cleanPath(frame!.file), frame!.line).trimEnd();
    return { head: `${kind},0x${pc.toString(16)}`, place };
  });
  const maker = (s: Source): string => {
    const name = options.syscallName?.(s.syscall) ?? '';
    const handle = s.context === 'remote' ? `0x${s.handle.toString(16)}` : '';
    return csvRow(s.process, s.thread, s.syscall, name, s.call, s.context, handle, s.test);
  };
  function* lines(): Generator<string> {
    yield 'index,kind,pc,call,function,file,line,type,arg1,arg2,process,thread,syscall,syscall_name,call_index,context,handle,test\n';
    let cmpAt = 0;
    for (const { source, from, to } of trace.runs()) {
      const made = maker(trace.sources[source]!);
      for (let i = from; i < to; i++) {
        const point = trace.records[i]!;
        let operands = ',,';
        if (trace.pointKind[point] === KIND_CMP) {
          const hexOf = (value: bigint) => `0x${value.toString(16)}`;
          operands = `${trace.cmpType[cmpAt]},${hexOf(trace.cmpArg1[cmpAt]!)},${hexOf(trace.cmpArg2[cmpAt]!)}`;
          cmpAt++;
        }
        yield `${i},${places[point]!.head},${places[point]!.place},${operands},${made}`;
      }
    }
  }
  return encodeChunks(lines());
}

/** syzkaller's tables: filecover, funccover and rawcoverfiles, with its column names. */
export function exportTableCsv(coverage: Coverage, options: ExportOptions): Iterable<Uint8Array> {
  const { program } = coverage;
  const module = moduleName(program.elf, options);
  function* files(): Generator<string> {
    yield 'Module,Filename,CoveredLines,TotalLines,CoveredPCs,TotalPCs,TotalFunctions,CoveredPCsInFunctions,TotalPCsInFunctions,TotalPCsInCoveredFunctions\n';
    for (const file of program.files) {
      const totals = coverage.fileTotals(file);
      const inCovered = new Set<number>();
      for (const fn of file.functions)
        if (coverage.functionState(fn) === 'covered') for (const p of fn.points) inCovered.add(p);
      const { lines, points, functions } = totals;
      yield csvRow(
        ...[module, file.path, lines.covered, lines.total, points.covered, points.total],
        ...[functions.total, points.covered, points.total, inCovered.size],
      );
    }
  }
  function* functions(): Generator<string> {
    yield 'Module,Filename,Function,Covered PCs,Total PCs\n';
    for (const file of program.files) {
      for (const fn of file.functions) {
        yield csvRow(module, file.path, fn.name, coverage.coveredPoints(fn.points), fn.points.length);
      }
    }
  }
  function* pcs(): Generator<string> {
    yield 'PC,Module,Offset,Filename,Inline,StartLine,EndLine\n';
    const base = moduleBase(program.elf);
    for (const point of coverage.covered()) {
      const call = program.call(point);
      for (const f of program.frames(point).reverse()) {
        yield csvRow(
          hex(call),
          module,
          `0x${(call - base).toString(16)}`,
          f.file,
          String(f.inline),
          f.line,
          f.line,
        );
      }
    }
  }
  const tables = { files, functions, pcs, records: files };
  return encodeChunks(tables[options.table ?? 'files']());
}
