/** The public door of coverage/. */
export { type Addr, addrOf, CoverageError, cleanPath, hex, pcOf } from './bytes.ts';
export { CallSites, HOOK_PC, HOOKS } from './callsites.ts';
export { Coverage, checkImage, type LineState, percent, type Share, type Totals } from './coverage.ts';
export { Elf, type ElfSymbol, type Section, SymbolTable } from './elf.ts';
export { exportCoverage, exportTrace, FORMATS, type Format, isFormat } from './export.ts';
export type { ExportOptions } from './export-common.ts';
export {
  type KeepPoint,
  Program,
  type ProgramFile,
  type ProgramFunction,
  type ProgramOptions,
} from './program.ts';
export { type Frame, Symbolizer } from './symbolize.ts';
export {
  KIND_CMP,
  KIND_EDGE,
  KIND_PC,
  KINDS,
  type RecordKind,
  type Source,
  Trace,
  TraceBuilder,
  type TraceHeader,
} from './trace.ts';
export { readTrace, writeTrace } from './trace-file.ts';
export { compareArea, filterTrace, mergeTraces, type RecordFilter } from './trace-ops.ts';
