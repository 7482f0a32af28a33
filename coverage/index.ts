/** The public door of coverage/. */

export { annotate } from './annotate.ts';
export { AreaWatch } from './area-watch.ts';
export { type Addr, addrOf, CoverageError, cleanPath, hex, pcOf } from './bytes.ts';
export { type CallPath, callPaths, type PathNode } from './callpath.ts';
export { CallSites, HOOK_PC, HOOKS } from './callsites.ts';
export { Coverage, checkImage, type LineState, percent, type Share, type Totals } from './coverage.ts';
export { type CoverageDiff, diffCoverage, diffReport, lineRuns } from './diff.ts';
export { Elf, type ElfSymbol, type Section, SymbolTable } from './elf.ts';
export { type ExplainOptions, explainPc } from './explain.ts';
export { exportCoverage, exportTrace, FORMATS, type Format, isFormat } from './export.ts';
export type { ExportOptions } from './export-common.ts';
export {
  type KeepPoint,
  Program,
  type ProgramFile,
  type ProgramFunction,
  type ProgramOptions,
} from './program.ts';
export {
  annotateCoverage,
  bar,
  functionReport,
  type Palette,
  PLAIN,
  summaryLines,
  treeReport,
} from './report-text.ts';
export { globToRegExp, keepPoint, parsePcRange, type Selection } from './select.ts';
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
