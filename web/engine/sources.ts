// Source texts by the paths of the debug information. Each is loaded when it is first shown.
import type { Assets } from '../protocol.ts';
import { beside } from './host.ts';

const pathsOf = (names: Assets['sources']['names']): string[] =>
  Object.entries(names).flatMap(([folder, all]) => all.map(name => `${folder}/${name}`));

export class Sources {
  readonly #folder: string;
  readonly #names: readonly string[];
  readonly #own: Readonly<Record<string, string>>;
  readonly #texts = new Map<string, Promise<string>>();

  /** `own`: texts that the page has not, by name. */
  constructor({ sources }: Assets, own: Readonly<Record<string, string>>) {
    this.#folder = sources.folder;
    this.#own = own;
    this.#names = [...Object.keys(own), ...pathsOf(sources.names)];
  }

  /** Is there a text? */
  has(path: string): boolean {
    return this.#nameOf(path) !== undefined;
  }

  /** Undefined: there is none. Errors: one line. */
  async text(path: string): Promise<string | undefined> {
    const name = this.#nameOf(path);
    if (name === undefined || Object.hasOwn(this.#own, name)) return name && this.#own[name];
    let text = this.#texts.get(name);
    if (!text) {
      text = beside(`${this.#folder}/${name}.packed`).then(bytes => new TextDecoder().decode(bytes));
      this.#texts.set(name, text);
      text.catch(() => this.#texts.delete(name));
    }
    return text;
  }

  /** Of several files the least deep one. */
  #nameOf(path: string): string | undefined {
    const clean = path.replace(/^(\.\/)+/, '');
    if (this.#names.includes(clean)) return clean;
    // A program is compiled in its own folder, so its debug information has the name alone.
    const names = this.#names.filter(name => clean.endsWith(`/${name}`) || name.endsWith(`/${clean}`));
    return names.sort((a, b) => a.length - b.length)[0];
  }
}
