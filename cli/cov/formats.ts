// The names of --format and which one a file name suggests. Apart from cover.ts, so that a run without coverage does not load the writers.
import type { Format } from '../../coverage/index.ts';

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

const BY_SUFFIX: Readonly<Record<string, CoverFormat>> = {
  info: 'lcov',
  html: 'html',
  xml: 'cobertura',
  jsonl: 'jsonl',
  json: 'json',
  csv: 'csv',
  drcov: 'drcov',
  kcov: 'kcov',
};

/** The format that was asked for, or the one that the target's name suggests; our own trace file otherwise. */
export function chooseFormat(target: string, format: CoverFormat | undefined): CoverFormat {
  if (format) return format;
  if (target === '-') return 'source';
  return BY_SUFFIX[target.slice(target.lastIndexOf('.') + 1)] ?? 'kcov';
}
