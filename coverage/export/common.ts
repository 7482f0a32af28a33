/**
 * Code that all exporters share: options, and text collected into chunks so that a large file is
 * never in memory as a whole.
 */
import { visible } from '../../emulator/base/words.ts';
import type { KeepPoint } from '../model/keep.ts';
import type { WholeProgram } from '../model/program.ts';

export interface ExportOptions {
  /**
   * Puts this before relative source paths (lcov, cobertura), e.g. the kernel's source directory.
   */
  sourceRoot?: string | undefined;
  /**
   * The beginning of a path that `sourceRoot` replaces: the debug information calls every kernel
   * tree `kernel/`. Other relative paths are left alone. Default: none.
   */
  sourcePrefix?: string | undefined;
  /** Name of the image in drcov and modoff; its base name by default. */
  module?: string | undefined;
  /**
   * Seconds for formats with a time stamp; SOURCE_DATE_EPOCH by convention, else 0. Never the
   * clock.
   */
  epoch?: number | undefined;
  /** Restrict denominators and hits to some sites. */
  keep?: KeepPoint | undefined;
  /**
   * Makes the program of the image without a selection, such as from an analysis that was kept.
   * Default: analyse it.
   */
  whole?: WholeProgram | undefined;
  /** rawcover: as recorded with repetitions, instead of each once in order of address. */
  inOrder?: boolean | undefined;
  /** csv: the records themselves (default), or syzkaller's tables. */
  table?: 'records' | 'files' | 'functions' | 'pcs' | undefined;
  /** raw: the kind of records, if a trace has several. */
  kind?: 'pc' | 'cmp' | 'edge' | undefined;
  /** html: source text by path; undefined if it cannot be read. */
  readSource?: ((path: string) => string | undefined) | undefined;
  /** html: names of two tests; the page opens with their comparison. */
  compare?: readonly [a: string, b: string] | undefined;
  /** html: title of the page. */
  title?: string | undefined;
  /** html and csv: name of a system call by number, if known. */
  syscallName?: ((number: number) => string | undefined) | undefined;
}

const encoder = new TextEncoder();
const CHUNK = 1 << 16;

/** Encode pieces of text into chunks of about 64 KiB. */
export function* encodeChunks(pieces: Iterable<string>): Generator<Uint8Array> {
  let pending = '';
  for (const piece of pieces) {
    pending += piece;
    if (pending.length >= CHUNK) {
      yield encoder.encode(pending);
      pending = '';
    }
  }
  if (pending !== '') yield encoder.encode(pending);
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1) || path;
}

/** A source path relative to `sourceRoot`. */
export const unprefixed = (path: string, { sourcePrefix = '' }: ExportOptions): string =>
  path.startsWith(sourcePrefix) ? path.slice(sourcePrefix.length) : path;

/** A source path for readers that look the file up. */
export function rooted(path: string, options: ExportOptions): string {
  const { sourceRoot: root, sourcePrefix = '' } = options;
  if (!root || path.startsWith('/') || path === '' || !path.startsWith(sourcePrefix)) return path;
  return `${root.endsWith('/') ? root : `${root}/`}${unprefixed(path, options)}`;
}

/** A CSV field (RFC 4180). Names come from files, and people read tables in a terminal. */
export function csvField(value: string | number): string {
  const text = visible(String(value));
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csvRow(...fields: (string | number)[]): string {
  return `${fields.map(csvField).join(',')}\n`;
}
