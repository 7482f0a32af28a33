// The formats of reports.

import { FORMATS as ALL, type ExportOptions as InnerOptions } from '../../coverage/index.ts';
import {
  aBoolean,
  aFunction,
  aName,
  aString,
  aWhole,
  oneOf,
  optional,
  optionsOf,
} from '../../emulator/base/arguments.ts';

/** `docs/coverage-formats.md` describes each. */
export type ExportFormat =
  | 'kcov'
  | 'raw'
  | 'rawcover'
  | 'jsonl'
  | 'lcov'
  | 'drcov'
  | 'cobertura'
  | 'json'
  | 'csv'
  | 'modoff'
  | 'html';

/** The names of all formats. */
export const FORMATS: readonly ExportFormat[] = ALL;

export interface ExportOptions {
  /** html: title of the page. */
  readonly title?: string;
  /** html: the text of a source file by its path in the image; undefined where it cannot be had. */
  readonly readSource?: (path: string) => string | undefined;
  /** html and csv: the name of a system call. */
  readonly syscallName?: (number: number) => string | undefined;
  /** lcov and cobertura: stands in front of relative source paths. */
  readonly sourceRoot?: string;
  /** lcov and cobertura: the beginning of a path that `sourceRoot` replaces. Default: none. */
  readonly sourcePrefix?: string;
  /** drcov and modoff: name of the image. */
  readonly module?: string;
  /**
   * Seconds since 1970, for formats with a time stamp. Default: 0, so that equal coverages give
   * equal files.
   */
  readonly epoch?: number;
  /** csv: the records themselves, or a table. Default: `records`. */
  readonly table?: 'records' | 'files' | 'functions' | 'pcs';
  /** raw: which records, where a trace has several kinds. */
  readonly kind?: 'pc' | 'cmp' | 'edge';
  /** rawcover: as recorded, with repetitions, instead of each PC once in order of address. */
  readonly inOrder?: boolean;
}

/** @internal */
export const EXPORT_OPTIONS = optionsOf<ExportOptions>({
  title: optional(aName),
  readSource: optional(aFunction),
  syscallName: optional(aFunction),
  sourceRoot: optional(aString),
  sourcePrefix: optional(aString),
  module: optional(aName),
  epoch: optional(aWhole(0)),
  table: optional(oneOf('records', 'files', 'functions', 'pcs')),
  kind: optional(oneOf('pc', 'cmp', 'edge')),
  inOrder: optional(aBoolean),
});

/** The type checker compares the two. @internal */
export const innerOptions = (options: ExportOptions): InnerOptions => options;
