// Source text beside the debugger: files as the compiler named them, from this folder, the package
// (the kernel's), or folders of --source.
import { readFileSync, statSync } from 'node:fs';
import { basename, isAbsolute, join, resolve } from 'node:path';

const AROUND = 5;
const BYTES_MAX = 16 << 20;
const SOURCE = /\.(?:[chSs]|cc|cpp|hpp|rs|inc)$/;

interface Found {
  readonly path: string;
  readonly lines: readonly string[];
}

export class SourceView {
  readonly #folders: readonly string[];
  readonly #files = new Map<string, Found | undefined>();

  constructor(folders: readonly string[]) {
    this.#folders = folders;
  }

  line(file: string, line: number): string | undefined {
    return file === '' || line < 1 ? undefined : this.#lines(file)?.[line - 1];
  }

  /** Where the file is. */
  pathOf(file: string): string | undefined {
    return this.#find(file)?.path;
  }

  /** Lines around one, with a marker at the line where the run stands. False: not found. */
  show(
    file: string,
    line: number,
    at: { readonly file: string; readonly line: number },
    say: (text: string) => void,
  ): boolean {
    const lines = file === '' ? undefined : this.#lines(file);
    if (!lines) return false;
    const first = Math.max(1, line - AROUND);
    for (let n = first; n < Math.min(lines.length + 1, first + 2 * AROUND + 1); n++) {
      const mark = at.file === file && at.line === n ? '>' : ' ';
      say(`${mark}${String(n).padStart(5)}  ${lines[n - 1]}`);
    }
    return true;
  }

  #lines(file: string): readonly string[] | undefined {
    return this.#find(file)?.lines;
  }

  #find(file: string): Found | undefined {
    if (!this.#files.has(file)) this.#files.set(file, this.#read(file));
    return this.#files.get(file);
  }

  #read(file: string): Found | undefined {
    // A stranger's capsule names the file: it can be nothing but source text.
    if (!SOURCE.test(file) || file.split('/').includes('..')) return undefined;
    // The compiler was told to call the package's folder `kcovbox`.
    const own = file.replace(/^kcovbox\//, '');
    const places = isAbsolute(file)
      ? [file, ...this.#folders.map(folder => join(folder, basename(file)))]
      : this.#folders.flatMap(folder => [join(folder, own), join(folder, basename(file))]);
    for (const path of places) {
      try {
        const facts = statSync(path);
        if (facts.isFile() && facts.size <= BYTES_MAX)
          return { path: resolve(path), lines: readFileSync(path, 'utf8').split('\n') };
      } catch {
        // not there
      }
    }
    return undefined;
  }
}
