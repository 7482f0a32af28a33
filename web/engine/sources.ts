// Source texts by the paths of the debug information. Each is loaded when it is first shown, and
// none is shown for a program that was compiled from another text: its lines would be others.
import type { Assets, Stranger, Texts } from '../protocol.ts';
import { beside } from './host.ts';
import { md5 } from './md5.ts';

const pathsOf = (names: Assets['sources']['names']): string[] =>
  Object.entries(names).flatMap(([folder, all]) => all.map(name => `${folder}/${name}`));

const decoded = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

const isOfKernel = (name: string): boolean => name.startsWith('kernel/');

/** Those of `names` that may be meant by a path, the least deep one first. */
function namesOf(path: string, names: readonly string[]): string[] {
  const clean = path.replace(/^(\.\/)+/, '');
  // A program is compiled in its own folder, so its debug information has the name alone.
  const isBare = !clean.includes('/');
  const ends = names.filter(
    name =>
      clean === name ||
      clean.endsWith(`/${name}`) ||
      (isBare && !isOfKernel(name) && name.endsWith(`/${clean}`)),
  );
  return ends.sort((a, b) => Number(b === clean) - Number(a === clean) || a.length - b.length);
}

/**
 * The MD5 sums of the texts that were compiled as a path, as clang writes them into the line tables
 * of DWARF 5; or it is of a kernel of the page; undefined: not known.
 */
export type Compiled = ReadonlySet<string> | 'page' | undefined;

/** Of the texts of an image, by their paths. */
export type Sums = ReadonlyMap<string, ReadonlySet<string>>;

export interface SourceText {
  readonly text: string | undefined;
  /** A line for people: why there is none, or why it may be another one. */
  readonly note?: string;
}

export class Sources {
  readonly #folder: string;
  readonly #names: readonly string[];
  /** The reader's texts, the last one first; several folders may have files of one name. */
  #own: Texts = [];
  /** Is asked for each statement of a program. */
  readonly #has = new Map<string, boolean>();
  readonly #texts = new Map<string, Promise<Uint8Array>>();

  /** `own`: texts that the page has not. */
  constructor({ sources }: Assets, own: Texts) {
    this.#folder = sources.folder;
    this.#names = pathsOf(sources.names);
    this.add(own);
  }

  /** The reader's texts. */
  add(own: Texts): void {
    this.#own = [...own, ...this.#own];
    this.#has.clear();
  }

  /**
   * Those of `texts` that no image was compiled from. `images`: sums by path of those with lines;
   * one without sums may be of any text. `isOfPage`: so is the kernel, whose texts are there.
   */
  strangers(images: readonly Sums[], isOfPage: boolean, texts: Texts = this.#own): Stranger[] {
    if (images.some(({ size }) => size === 0)) return [];
    const known = images.flatMap(sums => [...sums]);
    const kernel = isOfPage ? this.#names.filter(isOfKernel) : [];
    return texts.flatMap(({ name, text }) => {
      const isNamed = (path: string): boolean => namesOf(path, [name]).length > 0;
      const named = known.filter(([path]) => isNamed(path));
      if (named.some(([, sums]) => sums.has(md5(text))) || kernel.some(isNamed)) return [];
      return [{ name, isOther: named.length > 0 }];
    });
  }

  /** Is there a text of this name? It may be another one than the compiler's. */
  has(path: string): boolean {
    let has = this.#has.get(path);
    if (has === undefined) {
      has = namesOf(path, [...this.#own.map(({ name }) => name), ...this.#names]).length > 0;
      this.#has.set(path, has);
    }
    return has;
  }

  /** `compiledOf`: is called when a text is on its way. Errors: one line. */
  async text(path: string, compiledOf: () => Compiled): Promise<SourceText> {
    const own = this.#own.filter(({ name }) => namesOf(path, [name]).length > 0);
    const names = namesOf(path, this.#names);
    const [first] = names;
    const ofPage = first === undefined ? undefined : this.#load(first);
    ofPage?.catch(() => {}); // awaited below
    await undefined; // the caller counts lines first
    const compiled = compiledOf();
    if (compiled === 'page' && ofPage) return { text: decoded(await ofPage) };
    const file = path.replace(/.*\//, '');
    if (compiled === undefined || compiled === 'page') {
      const bytes = own[0]?.text ?? (await ofPage);
      return bytes
        ? { text: decoded(bytes), note: `${MAYBE} ${file} that was compiled: ${NO_SUM}` }
        : { text: undefined, note: `The text of ${file} is not in the page. ${OPEN_IT}` };
    }
    for (const { text } of own) if (compiled.has(md5(text))) return { text: decoded(text) };
    for (const name of names) {
      const bytes = await this.#load(name);
      if (compiled.has(md5(bytes))) return { text: decoded(bytes) };
    }
    const why =
      own.length + names.length === 0
        ? `The text of ${file} is not in the page.`
        : `The program was compiled from another ${file}.`;
    return { text: undefined, note: `${why} ${OPEN_IT}` };
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
const MAYBE = 'This text may not be the';
const NO_SUM = 'the debug information has no MD5 sum of it.';
