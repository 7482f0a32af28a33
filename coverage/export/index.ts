/**
 * The public API of the exporters: a format by name, bytes in chunks. Equal input gives equal
 * bytes.
 */
import { CoverageError } from '../base/bytes.ts';
import { CallSites } from '../elf/callsites.ts';
import type { Elf } from '../elf/elf.ts';
import { exportHtml } from '../html/index.ts';
import { Coverage, checkImage } from '../model/coverage.ts';
import { SelectedPoints } from '../model/selected.ts';
import { writeTrace } from '../trace/file.ts';
import { KIND_CMP, KIND_PC, KINDS, type Trace } from '../trace/trace.ts';
import { exportCobertura } from './cobertura.ts';
import type { ExportOptions } from './common.ts';
import { exportDrcov } from './drcov.ts';
import { exportJson } from './json.ts';
import { exportLcov } from './lcov.ts';
import {
  exportJsonl,
  exportModoff,
  exportRaw,
  exportRawcover,
  exportRecordsCsv,
  exportTableCsv,
} from './plain.ts';

export const FORMATS = [
  'kcov', 'raw', 'rawcover', 'jsonl', 'lcov', 'drcov', 'cobertura', 'json', 'csv', 'modoff', 'html',
] as const; // biome-ignore format: one row
export type Format = (typeof FORMATS)[number];

/** True for an output of single records, which need no places in the image. */
const isOfRecords = (format: Format, { table = 'records' }: ExportOptions): boolean =>
  format === 'kcov' || format === 'raw' || (format === 'csv' && table === 'records');

/** Refuses formats of single records for a trace of their numbers. */
function checkRecords(format: Format, trace: Trace, options: ExportOptions): void {
  const needsCalls = format === 'html' && !trace.alike;
  if (trace.times && (isOfRecords(format, options) || needsCalls || options.inOrder))
    throw new CoverageError(`format ${format} holds single records; this trace has only their numbers`);
}

/** Refuse formats of code addresses for a trace that has none, instead of writing an empty file. */
function checkPlaces(format: Format, trace: Trace, options: ExportOptions): void {
  if (trace.records.length === 0 || isOfRecords(format, options)) return;
  const listsPcs = format === 'rawcover' || format === 'modoff';
  if (trace.pointKind.includes(KIND_PC) || (!listsPcs && trace.pointKind.includes(KIND_CMP))) return;
  const held = KINDS.filter((_, kind) => trace.pointKind.includes(kind)).join(' and ');
  throw new CoverageError(
    `the trace holds only ${held} records, which format ${format} cannot express; use raw or csv`,
  );
}

/**
 * True for an output that is made from the trace alone, so that a selection must be applied to it.
 */
export const takesTrace = (format: Format, options: ExportOptions = {}): boolean =>
  isOfRecords(format, options) || format === 'rawcover' || format === 'modoff';

export function isFormat(name: string): name is Format {
  return (FORMATS as readonly string[]).includes(name);
}

/**
 * The trace in a format. `elf` is the image that was traced; only kcov, raw and csv work without
 * it. Throws `CoverageError` before the first chunk for a PC that is not a call site, an image
 * without debug information or hooks, and the wrong image.
 */
export function exportTrace(
  format: Format,
  trace: Trace,
  elf: Elf | undefined,
  options: ExportOptions = {},
): Iterable<Uint8Array> {
  checkRecords(format, trace, options);
  if (options.keep && elf && takesTrace(format, options)) {
    const { keep, ...rest } = options;
    const selected = new SelectedPoints(elf, keep).of(trace);
    return format === 'raw' ? exportRaw(selected, rest, true) : exportTrace(format, selected, elf, rest);
  }
  if (format === 'kcov') return writeTrace(trace);
  if (format === 'raw') return exportRaw(trace, options);
  if (isOfRecords(format, options) && !elf) return exportRecordsCsv(trace, undefined, options);
  checkPlaces(format, trace, options);
  if (!elf) throw new CoverageError(`format ${format} needs the image that was traced`);
  if (format === 'rawcover' || format === 'modoff') {
    checkImage(trace, elf);
    const sites = new CallSites(elf);
    return format === 'rawcover'
      ? exportRawcover(trace, sites, options)
      : exportModoff(trace, sites, options);
  }
  return exportCoverage(format, Coverage.of(trace, elf, { keep: options.keep }, options.whole), options);
}

/** The same for a coverage that was counted already. */
export function exportCoverage(
  format: Format,
  coverage: Coverage,
  options: ExportOptions = {},
): Iterable<Uint8Array> {
  const { elf, keep } = coverage.program;
  if (keep && takesTrace(format, options))
    return exportTrace(format, coverage.trace, elf, { ...options, keep });
  checkRecords(format, coverage.trace, options);
  checkPlaces(format, coverage.trace, options);
  switch (format) {
    case 'jsonl':
      return exportJsonl(coverage);
    case 'lcov':
      return exportLcov(coverage, options);
    case 'drcov':
      return exportDrcov(coverage, options);
    case 'cobertura':
      return exportCobertura(coverage, options);
    case 'json':
      return exportJson(coverage);
    case 'csv':
      return isOfRecords(format, options)
        ? exportRecordsCsv(coverage.trace, coverage, options)
        : exportTableCsv(coverage, options);
    case 'html':
      return exportHtml(coverage, options);
    default:
      return exportTrace(format, coverage.trace, coverage.program.elf, options);
  }
}
