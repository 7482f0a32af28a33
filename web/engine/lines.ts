// The state of source lines, for the list of files and the source view.
import {
  Coverage,
  type Elf,
  type ExactCounts,
  hooksOfBoth,
  Program,
  type ProgramFile,
  type Trace,
  Undecided,
} from '../../coverage/index.ts';
import type { Assets, CallsOf, FileRow, FunctionRow, Lines, Measure } from '../protocol.ts';
import { callsOf } from './calls.ts';
import type { KcovLog } from './kcov-log.ts';

export class LineStates {
  readonly #elf: Elf;
  /** Of all files: made when a view needs it, because it takes longer than the run. */
  #whole: Program | undefined;
  #make: Readonly<Record<Measure, () => Coverage>> | undefined;
  readonly #made = new Map<Measure, Coverage>();
  /** The file that was asked for before there was more, with its lines. */
  #only: { readonly path: string; readonly coverage: Coverage } | undefined;
  /** Undefined: the records are not those of one file. */
  #one: ((path: string) => Coverage) | undefined;

  /** Errors: CoverageError, of an image without debug information. */
  constructor(elf: Elf, { isWhole }: { readonly isWhole: boolean }) {
    this.#elf = elf;
    if (isWhole) this.#whole = new Program(elf);
  }

  get #program(): Program {
    return (this.#whole ??= new Program(this.#elf, { from: this.#only?.coverage.program }));
  }

  /** Takes the records of the run; without any, all is exact. `name`: of its program. */
  take(trace: Trace | undefined, exact: ExactCounts, name: string): void {
    const all = () => Coverage.exact(this.#elf, exact, name);
    const isPc = trace !== undefined && hooksOfBoth(trace, trace) === 'pc';
    const kcov = (records: Trace) => () =>
      isPc ? new Coverage(records, this.#program) : Coverage.of(records, this.#elf);
    this.#make = { kcov: trace ? kcov(trace) : all, all };
    if (isPc) this.#one = file => new Coverage(trace, new Program(this.#elf, { file }));
  }

  #of(measure: Measure): Coverage {
    let coverage = this.#made.get(measure);
    if (!coverage) this.#made.set(measure, (coverage = this.#make![measure]()));
    return coverage;
  }

  /** The reader sees the first file before all files are counted. */
  #first(path: string): Coverage | undefined {
    if (this.#whole || !this.#one) return undefined;
    this.#only ??= { path, coverage: this.#one(path) };
    return this.#only.path === path ? this.#only.coverage : undefined;
  }

  /** Files with code, by path. */
  files(measure: Measure): Omit<FileRow, 'hasText'>[] {
    const coverage = this.#of(measure);
    const row = (file: ProgramFile): Omit<FileRow, 'hasText'> => {
      const { covered, total } = coverage.fileTotals(file).lines;
      return { path: file.path, covered, total };
    };
    const rows = coverage.program.files.filter(({ path }) => path !== '').map(row);
    return rows.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** Functions that ran, the ones that were called most first. */
  functions(measure: Measure): FunctionRow[] {
    const coverage = this.#of(measure);
    const rows = coverage.program.functions.map(fn => {
      const { hits, isLeast } = coverage.functionCalls(fn);
      const { name, file, line, points } = fn;
      const covered = coverage.coveredPoints(points);
      return { name, file, line, calls: hits, isLeast, covered, total: points.length };
    });
    return rows
      .filter(({ calls, covered }) => calls > 0 || covered > 0)
      .sort((a, b) => b.calls - a.calls || (a.name < b.name ? -1 : 1));
  }

  /** Rebuilt from the order of the records. */
  calls(log: KcovLog, syscalls: Assets['syscalls']): { calls: CallsOf[]; more: number } {
    return callsOf(this.#of('kcov'), log, syscalls);
  }

  /** Is it a file of the kernel? */
  has(path: string): boolean {
    const program = this.#first(path)?.program ?? this.#program;
    return program.files.some(file => file.path === path);
  }

  lines(measure: Measure, path: string): Lines {
    const first = measure === 'kcov' ? this.#first(path) : undefined;
    try {
      if (first) return linesOf(first, path);
    } catch (error) {
      if (!(error instanceof Undecided)) throw error;
    }
    return linesOf(this.#of(measure), path);
  }
}

function linesOf(coverage: Coverage, path: string): Lines {
  const file = coverage.program.files.find(one => one.path === path);
  if (!file) return [];
  return [...file.lines].map(([line, code]) => {
    const { state, hits } = coverage.line(code);
    return [line, state, hits ?? -1];
  });
}
