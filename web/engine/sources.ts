// Source texts by the paths of the debug information. Each is loaded when it is first shown, and
// none is shown for a program that was compiled from another text: its lines would be others.
import type { Assets, Texts } from '../protocol.ts';
import { beside } from './host.ts';
import { md5 } from './md5.ts';

const pathsOf = (names: Assets['sources']['names']): string[] =>
  Object.entries(names).flatMap(([folder, all]) => all.map(name => `${folder}/${name}`));

const decoded = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

const isOfKernel = (name: string): boolean => name.startsWith('kernel/');

/** Of several names of a path the least deep one. */
function nameOf(path: string, names: readonly string[]): string | undefined {
  const clean = path.replace(/^(\.\/)+/, '');
  if (names.includes(clean)) return clean;
  // A program is compiled in its own folder, so its debug information has the name alone.
  const isBare = !clean.includes('/');
  const ends = names.filter(
    name => clean.endsWith(`/${name}`) || (isBare && !isOfKernel(name) && name.endsWith(`/${clean}`)),
  );
  return ends.sort((a, b) => a.length - b.length)[0];
}

export interface SourceText {
  readonly text: string | undefined;
  /** A line for people: why there is none, or why it may be another one. */
  readonly note?: string;
}

export class Sources {
  readonly #folder: string;
  readonly #names: readonly string[];
  readonly #hasKernel: boolean;
  readonly #own: Map<string, Uint8Array>;
  readonly #texts = new Map<string, Promise<Uint8Array>>();

  /** `hasKernel`: the run's kernel is one of the page's. `own`: texts that the page has not. */
  constructor({ sources }: Assets, hasKernel: boolean, own: Texts) {
    this.#folder = sources.folder;
    this.#names = pathsOf(sources.names);
    this.#hasKernel = hasKernel;
    this.#own = new Map(Object.entries(own));
  }

  /** The reader's texts. */
  add(own: Texts): void {
    for (const [name, bytes] of Object.entries(own)) this.#own.set(name, bytes);
  }

  /** Is there a text of this name? It may be another one than the compiler's. */
  has(path: string): boolean {
    return nameOf(path, [...this.#own.keys(), ...this.#names]) !== undefined;
  }

  /**
   * `sums`: MD5 sums of the texts that were compiled as this path, as clang writes them into the
   * line tables of DWARF 5; undefined: not known. Errors: one line.
   */
  async text(path: string, sums: ReadonlySet<string> | undefined): Promise<SourceText> {
    const own = nameOf(path, [...this.#own.keys()]);
    const name = nameOf(path, this.#names);
    if (name !== undefined && isOfKernel(name) && (this.#hasKernel || own === undefined)) {
      const text = decoded(await this.#load(name));
      return this.#hasKernel ? { text } : { text, note: OTHER_KERNEL };
    }
    const file = path.replace(/.*\//, '');
    if (own === undefined && name === undefined)
      return { text: undefined, note: `The text of ${file} is not in the page. ${OPEN_IT}` };
    const isCompiled = (bytes: Uint8Array): boolean => !sums || sums.has(md5(bytes));
    const given = own === undefined ? undefined : this.#own.get(own);
    if (given && isCompiled(given)) return { text: decoded(given) };
    const bytes = name === undefined ? undefined : await this.#load(name);
    if (bytes && isCompiled(bytes)) return { text: decoded(bytes) };
    return { text: undefined, note: `The program was compiled from another ${file}. ${OPEN_IT}` };
  }

  #load(name: string): Promise<Uint8Array> {
    let bytes = this.#texts.get(name);
    if (!bytes) {
      bytes = beside(`${this.#folder}/${name}.packed`);
      this.#texts.set(name, bytes);
      bytes.catch(() => this.#texts.delete(name));
    }
    return bytes;
  }
}

const OPEN_IT = 'To see it here, choose it with "Open a file", or drop it on the page.';
const OTHER_KERNEL =
  'This is the text of this page. The run has a kernel of its own, which may have been built from another text.';
