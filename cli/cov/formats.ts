// The names of --format, and the one that a file name implies. This module is separate from
// cover.ts so that a run without coverage does not load the writers.
import type { Format } from '../../coverage/index.ts';
import { UserError } from '../io/fail.ts';

/** An exporter's format holds single records, in order, or the number of them at each place. */
const EXPORTED: Readonly<Record<Format, 'records' | 'counts'>> = {
  kcov: 'records',
  raw: 'records',
  rawcover: 'counts',
  jsonl: 'counts',
  lcov: 'counts',
  drcov: 'counts',
  cobertura: 'counts',
  json: 'counts',
  csv: 'records',
  modoff: 'counts',
  html: 'records',
};

/** True if the numbers of records are enough for it. */
export const isOfCounts = (format: CoverFormat): boolean =>
  format === 'source' || EXPORTED[format] === 'counts';

/** The exporters' formats, and `source`: the covered functions' text for people. */
export type CoverFormat = Format | 'source';
export const COVER_FORMATS = [...Object.keys(EXPORTED), 'source'] as CoverFormat[];

/** By the suffix of a file name. */
const BY_SUFFIX: Readonly<Record<string, CoverFormat>> = {
  kcov: 'kcov',
  info: 'lcov',
  html: 'html',
  xml: 'cobertura',
  json: 'json',
  jsonl: 'jsonl',
  csv: 'csv',
  drcov: 'drcov',
  rawcover: 'rawcover',
  raw: 'raw',
  modoff: 'modoff',
};

/** ".kcov, .info (lcov), .html, ..." */
const SUFFIXES = Object.entries(BY_SUFFIX)
  .map(([suffix, format]) => `.${suffix}${suffix === format ? '' : ` (${format})`}`)
  .join(', ');

const suffixOf = (target: string): string | undefined => /\.([^/.]*)$/.exec(target)?.[1];
const isStdout = (target: string): boolean => target === '-' || target === '/dev/stdout';

/**
 * The requested format, or the one of the target's suffix; for standard output, text for people.
 * `option` is the option that named the target. Errors: a suffix without a format.
 */
export function chooseFormat(target: string, format: CoverFormat | undefined, option: string): CoverFormat {
  if (format) return format;
  if (isStdout(target)) return 'source';
  const suffix = suffixOf(target);
  if (suffix !== undefined && Object.hasOwn(BY_SUFFIX, suffix)) return BY_SUFFIX[suffix]!;
  throw new UserError(`${option} ${target}: the suffix names no format; use ${SUFFIXES}, or add --format`);
}

/**
 * For commands whose output is a trace. `what`: the command, for its message. Errors: the suffix of
 * `target` is not that of a trace; devices have none.
 */
export function checkTraceName(target: string, what: string): void {
  if (isStdout(target) || target.startsWith('/dev/') || suffixOf(target) === 'kcov') return;
  throw new UserError(
    `-o ${target}: ${what} writes a trace, .kcov; for one of ${SUFFIXES}, add cov export afterwards`,
  );
}
