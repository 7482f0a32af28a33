/**
 * The data inside the HTML report, as small as rows of numbers can make it. data.ts writes these
 * shapes and client/ reads them. The index is parsed when the page opens; files and functions are
 * parsed when they are shown.
 */

/** Lines covered, partly, total; functions covered, total; points covered, total. */
export type Row7 = [number, number, number, number, number, number, number];

/** 0 covered, 1 partly, 2 not run, 3 unknown. */
export type StateNumber = 0 | 1 | 2 | 3;

/** One letter for each state, in `GroupStates`: covered, partly, not run, unknown. */
export const STATE_LETTERS = 'cpux';

/** A part of the records that the page can be restricted to. */
export interface PageGroup {
  /** `test` or `context`: own code of threads, or remote sections of one handle. */
  kind: 'test' | 'context';
  /** Name of the test, `task`, or the handle in hexadecimal. */
  name: string;
  /** As that of the whole, for these records alone. */
  hasShare: boolean;
}

/** Lines and functions that are unknown. */
export type Unknown = [lines: number, functions: number];

/** Group; lines covered, partly, total; functions covered, total; points covered; unknown ones. */
export type GroupTotals = [number, number, number, number, number, number, number, ...Unknown];

export interface IndexFile {
  /** Path. */
  p: string;
  t: Row7;
  x: Unknown;
  /** Groups that reached the file. */
  g?: GroupTotals[];
}

/** Name, depth, from, to, inlined (0 or 1), file (-1: none), line. */
export type PathBox = [number, number, number, number, number, number, number];

export interface PagePath {
  /** Stable part of the URL: test, process, thread and call. */
  id: string;
  label: string;
  by: string;
  records: number;
  /** Points that no call before it in the list reached. */
  fresh: number;
  /** Other calls that reached the same points. */
  same: number;
  cut: boolean;
  /** Groups it belongs to. */
  g: number[];
  n: PathBox[];
}

export interface PageIndex {
  title: string;
  image: string;
  dialect: string;
  notes: Record<string, string>;
  hooks: 'pc' | 'cmp' | 'none';
  /** True if records count executions. */
  counts: boolean;
  /** True if lines and functions can be proven not to have run; else their share would be 100 %. */
  hasShare: boolean;
  records: number;
  lost: number;
  /** The consequence of a filter; '' without one. */
  filtered: string;
  findings: string[];
  tests: { name: string; points: number; only: number; lines: number; group: number }[];
  groups: PageGroup[];
  /** Two groups; the page opens with their comparison. */
  compare?: [a: number, b: number];
  /** Tests and contexts that were too many to be groups. */
  ungrouped: number;
  totals: Row7;
  unknown: Unknown;
  files: IndexFile[];
  names: string[];
  paths: PagePath[];
  morePaths: number;
}

/**
 * Name, line, calls (-1: it ran, and nothing counts how often), points covered, points, 1 if calls
 * are a lower bound. With 0 calls at least, it is unknown whether the function ran.
 */
export type PageFunction = [string, number, number, number, number, 0 | 1];

/** Call address, records, number into `chains`, number into `sets`. */
export type PagePoint = [string, number, number, number];

/** First and last-plus-one address, state, executions (-1: not proven). */
export type PageBlock = [string, string, StateNumber, number];

/** Type, arg1, arg2, how often. */
export type CompareRow = [number, string, string, number];

export interface PageFile {
  /** Line, state, executions (-1: not counted), 1 where they are a lower bound. */
  l: [number, StateNumber, number, 0 | 1][];
  /** Numbers into `points` by line. */
  q: Record<number, number[]>;
  points: PagePoint[];
  /** Function of a point, and the functions it was inlined into. */
  chains: string[];
  /** Tests that reached a point. */
  sets: number[][];
  /** Code of lines that are partly covered or unknown. */
  k: Record<number, PageBlock[]>;
  /** Comparisons by line. */
  c?: Record<number, CompareRow[]>;
  /** By group: a letter and a length for each run of lines with one state. */
  v?: Record<number, string>;
  /** Source text. */
  s?: string;
}
