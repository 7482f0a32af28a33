/**
 * Coverage: reads traces that kcovbox recorded, judges the source lines of the image they were
 * recorded on, and writes reports. Runs in Node and in browsers; files go in and out as bytes.
 *
 * A line is `covered`, `partly` or `uncovered` only where that is proven by the records and the
 * machine code; a line of which it cannot be told is `unknown`.
 *
 * @module kcovbox/coverage
 */

export { type ErrorKind, KcovboxError } from '../emulator/base/errors.ts';
export {
  Coverage,
  type FileCoverage,
  type FunctionCoverage,
  type LineCoverage,
  type LineState,
  measure,
  measureInstructions,
  type Share,
  type TestCoverage,
  type Totals,
} from './coverage/coverage.ts';
export { type CoverageDiff, diffCoverage, type FunctionDiff } from './coverage/diff.ts';
export { type ExportFormat, type ExportOptions, FORMATS } from './coverage/export.ts';
export { type Frame, Image, type Selection } from './coverage/image.ts';
export {
  mergeTraces,
  type RecordKind,
  readTrace,
  Trace,
  type TraceFilter,
  type TraceRecord,
} from './coverage/trace.ts';
