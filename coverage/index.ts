/** The public API of coverage/. */

export { Sha256 } from '../emulator/base/sha256.ts';
export { type Addr, addrOf, CoverageError, cleanPath, hex, pcOf } from './base/bytes.ts';
export { CallFrames, type Registers } from './dwarf/cfi.ts';
export { type Scope, sourceSums } from './dwarf/dwarf.ts';
export { Entries } from './dwarf/entries.ts';
export { ROW_END_SEQUENCE, ROW_IS_STMT, ROW_PROLOGUE_END } from './dwarf/line.ts';
export { linesOnly } from './dwarf/lines-only.ts';
export { type FrameView, type Place, wordOf } from './dwarf/location.ts';
export { type Frame, Symbolizer } from './dwarf/symbolize.ts';
export { isSigned, LONG, type Member, pointerTo, type Type, UNSIGNED_LONG, VOID } from './dwarf/types.ts';
export { type Variable, Variables } from './dwarf/variables.ts';
export { CallSites, HOOK_PC, HOOKS } from './elf/callsites.ts';
export { Elf, type ElfSymbol, type Section, SymbolTable } from './elf/elf.ts';
export type { ExportOptions } from './export/common.ts';
export { exportCoverage, exportTrace, FORMATS, type Format, isFormat, takesTrace } from './export/index.ts';
export { readAnalysis } from './kept/read.ts';
export { writeAnalysis } from './kept/write.ts';
export { type CallPath, callPaths, type PathNode } from './model/callpath.ts';
export {
  Coverage,
  checkImage,
  hooksOfBoth,
  percent,
  type Share,
  shortId,
  type Totals,
} from './model/coverage.ts';
export { type CoverageDiff, diffCoverage, diffReport, lineRuns } from './model/diff.ts';
export { codeWindow, type ExactCounts } from './model/exact.ts';
export { ExecutedLines } from './model/executed.ts';
export { type ExplainOptions, explainPc } from './model/explain.ts';
export type { KeepPoint } from './model/keep.ts';
export { didRun, hitsOf, type LineCode, type LineState, type LineVerdict } from './model/lines.ts';
export {
  type Hooks,
  Program,
  type ProgramFile,
  type ProgramFunction,
  type ProgramOptions,
  type WholeProgram,
} from './model/program.ts';
export { SelectedPoints } from './model/selected.ts';
export { Undecided } from './model/undecided.ts';
export { annotatedText } from './text/annotate.ts';
export {
  annotateCoverage,
  bar,
  functionReport,
  type Palette,
  PLAIN,
  summaryLines,
  treeReport,
} from './text/report.ts';
export { AreaWatch } from './trace/area-watch.ts';
export { readTrace, writeTrace } from './trace/file.ts';
export {
  compareArea,
  filterTrace,
  mergeTraces,
  type NamedTrace,
  pairTraces,
  type RecordFilter,
} from './trace/ops.ts';
export { proofOf } from './trace/proof.ts';
export { keepPoint, parsePcRange, type Selection } from './trace/select.ts';
export {
  FILTERED,
  filteredNote,
  KIND_CMP,
  KIND_EDGE,
  KIND_PC,
  KINDS,
  type RecordKind,
  type Source,
  Trace,
  TraceBuilder,
  type TraceHeader,
} from './trace/trace.ts';
