// The state of source lines, for the list of files and the source view.
import { Coverage, type Elf, type ExactCounts, type ProgramFile, type Trace } from '../../coverage/index.ts';
import type { FileRow, Lines, Measure } from '../protocol.ts';

export class LineStates {
  readonly #make: Readonly<Record<Measure, () => Coverage>>;
  readonly #made = new Map<Measure, Coverage>();
  readonly #sources: Readonly<Record<string, string>>;

  constructor(
    elf: Elf,
    trace: Trace,
    exact: ExactCounts,
    name: string,
    sources: Readonly<Record<string, string>>,
  ) {
    this.#make = {
      kcov: () => Coverage.of(trace, elf),
      all: () => Coverage.exact(elf, exact, name),
    };
    this.#sources = sources;
  }

  #of(measure: Measure): Coverage {
    let coverage = this.#made.get(measure);
    if (!coverage) this.#made.set(measure, (coverage = this.#make[measure]()));
    return coverage;
  }

  /** Files with code, by path. */
  files(measure: Measure): FileRow[] {
    const coverage = this.#of(measure);
    const row = (file: ProgramFile): FileRow => {
      const { covered, total } = coverage.fileTotals(file).lines;
      return { path: file.path, covered, total, hasText: this.text(file.path) !== undefined };
    };
    const rows = coverage.program.files.filter(({ path }) => path !== '').map(row);
    return rows.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  lines(measure: Measure, path: string): Lines {
    const coverage = this.#of(measure);
    const file = coverage.program.files.find(one => one.path === path);
    if (!file) return [];
    return [...file.lines].map(([line, code]) => {
      const { state, hits } = coverage.line(code);
      return [line, state, hits ?? -1];
    });
  }

  /** Source text, by the path of the debug information: of several files the least deep one. */
  text(path: string): string | undefined {
    const clean = path.replace(/^(\.\/)+/, '');
    if (Object.hasOwn(this.#sources, clean)) return this.#sources[clean];
    // A program is compiled in its own folder, so its debug information has the name alone.
    const names = Object.keys(this.#sources).filter(
      name => clean.endsWith(`/${name}`) || name.endsWith(`/${clean}`),
    );
    const [name] = names.sort((a, b) => a.length - b.length);
    return name === undefined ? undefined : this.#sources[name];
  }
}
