// Source text beside the debugger: files as the compiler named them, from folders of --source, this
// folder and those in it, or the package (the kernel's sources and the examples).
import { readdirSync } from 'node:fs';
import { basename, isAbsolute, join, resolve } from 'node:path';
import { readSource } from '../../host/input.ts';
import type { BuiltKernel } from '../../host/kernels.ts';
import { type IsOriginal, originalOf } from '../../host/original.ts';
import { builtAs, doubts, inTree, pathInTree } from '../../host/sources.ts';
import { packageRoot } from '../../toolchain/index.ts';

const AROUND = 5;
const SOURCE = /\.(?:[chSs]|cc|cpp|hpp|rs|inc)$/;

const FOLDERS_MAX = 1000;

/**
 * Where sources may be, in the order of the search. The image of a program names its source without
 * the folder, so a program from a folder inside this one needs that folder.
 */
export function sourceFolders(given: readonly string[] = []): string[] {
  return [
    ...given,
    '.',
    ...foldersIn('.'),
    join(packageRoot(), 'kernel'),
    packageRoot(),
    join(packageRoot(), 'examples'),
  ];
}

/** The folders in a folder, sorted; not the hidden ones, and not the packages of npm. */
function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter(entry => entry.isDirectory() && !/^\.|^node_modules$/.test(entry.name))
      .map(entry => entry.name)
      .sort()
      .slice(0, FOLDERS_MAX);
  } catch {
    return []; // a folder that cannot be listed can still hold a file that can be read
  }
}

interface Found {
  readonly path: string;
  readonly lines: readonly string[];
}

export interface SourceOptions {
  /** The images whose sources are shown; a file that was edited after the build has no text. */
  readonly images?: readonly { readonly elf: { readonly bytes: Uint8Array } }[];
  /** Told once of each such file, and once of a kernel whose sources are not known. */
  readonly say?: (text: string) => void;
}

export class SourceView {
  readonly #folders: readonly string[];
  readonly #isOriginal: IsOriginal;
  readonly #say: (text: string) => void;
  readonly #files = new Map<string, Found | undefined>();
  /** The kernel among the images, where it was built here. */
  readonly #built: BuiltKernel | undefined;
  readonly #doubtOf: (path: string) => string | undefined;
  #isDoubted = false;

  constructor(folders: readonly string[], { images = [], say = () => {} }: SourceOptions = {}) {
    this.#folders = folders;
    const all = images.map(({ elf }) => elf.bytes);
    this.#built = all.map(builtAs).find(built => built !== undefined);
    this.#isOriginal = originalOf(all, this.#built, path => pathInTree(path, this.#built));
    this.#doubtOf = doubts(all);
    this.#say = say;
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
    const inside = inTree(own);
    const names = [own, ...(inside === undefined ? [] : [inside]), basename(file)];
    const inFolders = this.#folders.flatMap(folder => names.map(name => join(folder, name)));
    const places = isAbsolute(file)
      ? [file, ...this.#folders.map(folder => join(folder, basename(file)))]
      : inside === undefined || !this.#built
        ? inFolders
        : [pathInTree(own, this.#built), ...inFolders];
    let changed: string | undefined;
    for (const path of places) {
      const bytes = readSource(path);
      if (!bytes) continue;
      const isOriginal = this.#isOriginal(file, bytes);
      if (isOriginal === false) {
        changed ??= path;
        continue;
      }
      if (isOriginal === undefined && inside !== undefined) this.#doubt(path);
      return { path: resolve(path), lines: bytes.toString('utf8').split('\n') };
    }
    if (changed !== undefined)
      this.#say(
        `${changed} has changed since it was compiled: its text is not shown; --source DIR with the old one`,
      );
    return undefined;
  }

  /** Of the first text of a kernel of which nothing is known. */
  #doubt(path: string): void {
    const text = this.#isDoubted ? undefined : this.#doubtOf(path);
    if (text === undefined) return;
    this.#isDoubted = true;
    this.#say(text);
  }
}
