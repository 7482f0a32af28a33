// Coverage of an image by a trace, or by counted instructions.

import {
  CoverageError,
  exportCoverage,
  Coverage as Inner,
  KIND_CMP,
  KIND_PC,
  type LineVerdict,
  type ProgramFile,
  type ProgramFunction,
  TraceBuilder,
} from '../../coverage/index.ts';
import {
  aBigint,
  aString,
  type Check,
  hasParts,
  is,
  listOf,
  oneOf,
  shapeOf,
} from '../../emulator/base/arguments.ts';
import { join } from '../bytes.ts';
import { check } from './checks.ts';
import { EXPORT_OPTIONS, type ExportFormat, type ExportOptions, FORMATS, innerOptions } from './export.ts';
import { AN_IMAGE, elfOf, type Image, programOf, SELECTION, type Selection } from './image.ts';
import { A_TRACE, innerTrace, mergeTraces, type Trace } from './trace.ts';

/** How much of a total. */
export interface Share {
  readonly covered: number;
  readonly total: number;
}

export interface Totals {
  /**
   * `covered` counts lines that ran; `partly` is the part of them with code that did not run, or of
   * which that cannot be told. `unknown` lines are in no other number, the total included.
   */
  readonly lines: Share & { readonly partly: number; readonly unknown: number };
  /** `unknown` functions may have run or not; they are in no other number. */
  readonly functions: Share & { readonly unknown: number };
  /**
   * Instrumented places: basic blocks with a hook, or functions where instructions were counted.
   */
  readonly points: Share;
}

/**
 * `covered`: all instructions of the line ran. `partly`: some surely ran, others did not or cannot
 * be told. `uncovered`: none ran. `unknown`: none surely ran, and of some it cannot be told.
 */
export type LineState = 'covered' | 'partly' | 'uncovered' | 'unknown';

/** A line that has instrumented code. */
export interface LineCoverage {
  /** Counted from 1. */
  readonly line: number;
  readonly state: LineState;
  /**
   * Executions of its instruction that ran most often; undefined where the trace counts nothing.
   */
  readonly hits: number | undefined;
  /** `hits` is the least that is certain. */
  readonly isLeast: boolean;
}

export interface FunctionCoverage {
  readonly name: string;
  /** Path and line of its declaration; '' and 0 where unknown. */
  readonly file: string;
  readonly line: number;
  /** Calls, as far as they are proven; at least 1 for a function that ran. */
  readonly hits: number;
  /** `hits` is the least that is certain; with 0 hits it is unknown whether the function ran. */
  readonly isLeast: boolean;
  /** Of its instrumented places. */
  readonly points: Share;
}

export interface FileCoverage {
  /** As the compiler wrote it. */
  readonly path: string;
  readonly totals: Totals;
  /** In order of their numbers. Computed when asked for. */
  readonly lines: readonly LineCoverage[];
  /** Functions that are declared in the file, in order of their lines. */
  readonly functions: readonly FunctionCoverage[];
}

export interface TestCoverage {
  readonly name: string;
  /** Instrumented places that it reached. */
  readonly points: number;
}

const FORMAT = oneOf(...FORMATS);
const COUNTS = shapeOf<{ low: bigint; counts: BigUint64Array }>({
  low: aBigint,
  counts: is('a BigUint64Array', value => value instanceof BigUint64Array),
});

/** @internal */
export let innerCoverage: (coverage: Coverage) => Inner;
let toCoverage: (inner: Inner) => Coverage;

/** The coverage of an image by a trace. `measure` makes one. */
export class Coverage {
  readonly #inner: Inner;

  static {
    innerCoverage = coverage => coverage.#inner;
    toCoverage = inner => new Coverage(inner);
  }

  private constructor(inner: Inner) {
    if (!hasParts(inner, 'program'))
      throw new CoverageError('new Coverage: the constructor is private; measure makes one');
    this.#inner = inner;
  }

  /**
   * True if the records prove of lines and functions that they did not run. Else totals have only
   * those that ran, and a share would always be 100 %: filtered traces, lost records, comparisons.
   */
  get hasShare(): boolean {
    return this.#inner.hasShare;
  }

  /** The sum over all files; every line, function and place belongs to one file. */
  totals(): Totals {
    return this.#inner.totals();
  }

  /** Source files with instrumented code, in order of their paths. */
  files(): FileCoverage[] {
    return this.#inner.program.files.map(file => this.#file(file));
  }

  /** The file with this path; undefined if it has no instrumented code. */
  file(path: string): FileCoverage | undefined {
    check('Coverage.file', ['path', path, aString]);
    const file = this.#inner.program.files.find(file => file.path === path);
    return file && this.#file(file);
  }

  /** All functions with instrumented code, inlined copies included. */
  functions(): FunctionCoverage[] {
    return this.#inner.program.functions.map(fn => this.#function(fn));
  }

  /** The tests of the trace, in order of first appearance. */
  tests(): TestCoverage[] {
    return this.#inner.tests.map(({ name, points }) => ({ name, points: points.length }));
  }

  /**
   * A report. Equal coverages and options give equal bytes.
   *
   * @throws KcovboxError of kind `coverage` for a format that cannot hold what the trace has.
   */
  export(format: ExportFormat, options: ExportOptions = {}): Uint8Array {
    return join(this.exportChunks(format, options));
  }

  /** The same in chunks of some 64 KiB, for reports that should not stand in memory whole. */
  exportChunks(format: ExportFormat, options: ExportOptions = {}): Iterable<Uint8Array> {
    check('Coverage.export', ['format', format, FORMAT], ['options', options, EXPORT_OPTIONS]);
    return exportCoverage(format, this.#inner, innerOptions(options));
  }

  #file(file: ProgramFile): FileCoverage {
    const inner = this.#inner;
    const functions = (): FunctionCoverage[] => file.functions.map(fn => this.#function(fn));
    return {
      path: file.path,
      get totals() {
        return inner.fileTotals(file);
      },
      get lines() {
        const rows = [...file.lines].sort(([a], [b]) => a - b);
        return rows.map(([line, code]) => ({ line, ...verdictOf(inner.line(code)) }));
      },
      get functions() {
        return functions();
      },
    };
  }

  #function(fn: ProgramFunction): FunctionCoverage {
    const points = { covered: this.#inner.coveredPoints(fn.points), total: fn.points.length };
    const calls = this.#inner.functionCalls(fn);
    return { name: fn.name, file: fn.file, line: fn.line, ...calls, points };
  }
}

/** @internal */
export const A_COVERAGE = is('a Coverage: measure makes one', value => value instanceof Coverage);

const verdictOf = ({ state, hits, isLeast }: LineVerdict): Omit<LineCoverage, 'line'> => ({
  state,
  hits,
  isLeast,
});

/**
 * Coverage of an image by a trace, or by several, one after the other. Coverages of one `Image`
 * with equal selections can be compared by `diffCoverage`.
 *
 * @param select - parts of the program to which totals, files and functions are restricted.
 * @throws KcovboxError of kind `coverage` if a trace was recorded on another image, has PCs that
 *   are no hook calls of it, or the image has no debug information or no hooks.
 */
export function measure(trace: Trace | readonly Trace[], image: Image, select: Selection = {}): Coverage {
  const traces: Check = Array.isArray(trace) ? listOf(A_TRACE) : A_TRACE;
  check('measure', ['trace', trace, traces], ['image', image, AN_IMAGE], ['select', select, SELECTION]);
  const all = Array.isArray(trace) ? (trace as readonly Trace[]) : [trace as Trace];
  const one = all.length === 1 ? all[0]! : mergeTraces(all.map(part => ({ trace: part })));
  const inner = innerTrace(one);
  return toCoverage(new Inner(inner, programOf(image, hooksOf(inner.pointKind), select)));
}

/** Comparisons only? Then these are what can be covered. */
const hooksOf = (kinds: Uint8Array): 'pc' | 'cmp' =>
  kinds.includes(KIND_PC) || !kinds.includes(KIND_CMP) ? 'pc' : 'cmp';

/**
 * Coverage of an image by counted instructions: exact, with or without hooks.
 *
 * @param counts - `instructionCounts` of a machine that ran with `countInstructions:
 *   image.codeWindow`.
 * @param test - name of the test.
 * @throws KcovboxError of kind `coverage` if the image has no debug information.
 */
export function measureInstructions(
  image: Image,
  counts: { readonly low: bigint; readonly counts: BigUint64Array },
  test = '',
  select: Selection = {},
): Coverage {
  check(
    'measureInstructions',
    ['image', image, AN_IMAGE],
    ['counts', counts, COUNTS],
    ['test', test, aString],
    ['select', select, SELECTION],
  );
  const elf = elfOf(image);
  const builder = new TraceBuilder({ image: elf.imageId, notes: { counted: 'retired instructions' } });
  builder.source({ test });
  return toCoverage(new Inner(builder.finish(), programOf(image, 'none', select), counts));
}
