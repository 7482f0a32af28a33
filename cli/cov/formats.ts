// The names of --format, and the one that a file name implies. This module is separate from
// cover.ts so that a run without coverage does not load the writers.
import type { Format } from '../../coverage/index.ts';
import { UserError } from '../io/fail.ts';

/** The exporters' formats; the type checker compares the names. */
const EXPORTED: Readonly<Record<Format, true>> = {
  kcov: true,
  raw: true,
  rawcover: true,
  jsonl: true,
  lcov: true,
  drcov: true,
  cobertura: true,
  json: true,
  csv: true,
  modoff: true,
  html: true,
};

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

/** "kcov, info (lcov), html, ..." */
const SUFFIXES = Object.entries(BY_SUFFIX)
  .map(([suffix, format]) => `.${suffix}${suffix === format ? '' : ` (${format})`}`)
  .join(', ');

/**
 * The requested format, or the one of the target's suffix; for standard output, text for people.
 * `option` is the option that named the target. Errors: a suffix without a format.
 */
export function chooseFormat(target: string, format: CoverFormat | undefined, option: string): CoverFormat {
  if (format) return format;
  if (target === '-' || target === '/dev/stdout') return 'source';
  const name = target.slice(target.lastIndexOf('/') + 1);
  const suffix = name.slice(name.lastIndexOf('.') + 1);
  if (Object.hasOwn(BY_SUFFIX, suffix) && suffix !== name) return BY_SUFFIX[suffix]!;
  throw new UserError(`${option} ${target}: the suffix names no format; use ${SUFFIXES}, or add --format`);
}
