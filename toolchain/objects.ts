// Objects of the compiler by content, shared between configurations, checkouts and processes.
//
// Problem: an object depends on its source, on the headers that the compiler finds, and on
// config.h, which every configuration has of its own. Trick (that of Linux's fixdep): config.h only
// defines CONFIG_ and MAKEOPTION_ names, so an object depends on the values of those names that
// stand in the text that was read, and on no others. Proof: test/ toolchain/kernel.guest.test.ts
// compares with what `make` builds from nothing.
//
// An entry KEY.json lists what a source was once seen to read; its contents now make the name of
// the object. Both files are written whole, so neither a second process nor an end in the middle
// can leave half of one.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { changedSince, markUsed, objectDir, writeWhole } from './cache.ts';
import { sha256OfParts } from './hash.ts';

/** One call of the compiler, in the folder `root`. */
export interface Compilation {
  /** Path below `root`. */
  readonly source: string;
  /** Everything but input, output and where config.h lies. */
  readonly flags: readonly string[];
  /** Where the object goes. */
  readonly object: string;
}

interface Text {
  readonly hash: string;
  /** Names of configuration values that stand in it. */
  readonly names: readonly string[];
}

/**
 * Sets of inputs that are remembered for one source; they differ by what configurations include.
 */
const ALTERNATIVES = 8;
const DIGEST = 64;
const CONFIG_NAME = /\b(?:CONFIG|MAKEOPTION)_\w+/g;

/** The last definition of each name in a config.h. */
export function parseConfig(text: string): Map<string, string> {
  const values = new Map<string, string>();
  for (const [, word, name, value] of text.matchAll(/^#(define|undef) (\w+) ?(.*)$/gm))
    if (word === 'define') values.set(name!, value!);
    else values.delete(name!);
  return values;
}

/** The object cache, as one build sees it: contents are read once. */
export class ObjectCache {
  readonly #dir = objectDir();
  readonly #texts = new Map<string, Text>();
  readonly #started = Date.now();
  readonly #root: string;
  /** Facts that affect all objects: the compiler, and the set of headers. */
  readonly #context: string;
  readonly #config: ReadonlyMap<string, string>;

  constructor(root: string, context: string, config: ReadonlyMap<string, string>) {
    this.#root = root;
    this.#context = context;
    this.#config = config;
  }

  /** Puts the object in its place when it is known; false when it has to be compiled. */
  fetch(compilation: Compilation): boolean {
    const entry = this.#entryOf(compilation);
    for (const inputs of this.#alternatives(entry)) {
      const path = this.#objectPath(entry, inputs);
      const bytes = path === undefined ? undefined : readChecked(path);
      if (bytes === undefined) continue;
      writeFileSync(compilation.object, bytes);
      markUsed(path!);
      markUsed(`${join(this.#dir, entry)}.json`);
      return true;
    }
    return false;
  }

  /**
   * Keeps an object that was compiled from `inputs` (paths as the compiler lists them), unless one
   * changed meanwhile.
   */
  store(compilation: Compilation, inputs: readonly string[]): void {
    const wanted = inputs.map(path => this.#name(path)).sort();
    if (wanted.some(path => changedSince(resolve(this.#root, path), this.#started))) return;
    const entry = this.#entryOf(compilation);
    const path = this.#objectPath(entry, wanted);
    if (path === undefined) return;
    const bytes = readFileSync(compilation.object);
    try {
      writeWhole(path, Buffer.concat([bytes, Buffer.from(sha256OfParts(bytes))]));
      const others = this.#alternatives(entry).filter(other => other.join('\0') !== wanted.join('\0'));
      const kept = [wanted, ...others].slice(0, ALTERNATIVES);
      writeWhole(`${join(this.#dir, entry)}.json`, JSON.stringify(kept));
    } catch {} // a full disk or a cache that is only read: compiled again next time
  }

  #entryOf({ source, flags }: Compilation): string {
    return sha256OfParts('object 1', this.#context, source, ...flags).slice(0, 32);
  }

  /** Below the root by its relative path, so that the place of a checkout does not matter. */
  #name(path: string): string {
    const below = relative(this.#root, resolve(this.#root, path));
    return below.startsWith('..') || isAbsolute(below) ? resolve(path) : below;
  }

  #alternatives(entry: string): string[][] {
    try {
      const value: unknown = JSON.parse(readFileSync(`${join(this.#dir, entry)}.json`, 'utf8'));
      return Array.isArray(value) && value.every(isNames) ? value : [];
    } catch {
      return []; // absent or damaged
    }
  }

  /** Undefined when an input is gone. */
  #objectPath(entry: string, inputs: readonly string[]): string | undefined {
    const parts = [entry];
    const names = new Set<string>();
    for (const path of inputs) {
      const text = this.#read(resolve(this.#root, path));
      if (text === undefined) return undefined;
      parts.push(path, text.hash);
      for (const name of text.names) names.add(name);
    }
    for (const name of [...names].sort()) parts.push(`${name}=${this.#config.get(name) ?? ' undefined'}`);
    return join(this.#dir, `${sha256OfParts(...parts).slice(0, 40)}.o`);
  }

  #read(path: string): Text | undefined {
    let text = this.#texts.get(path);
    if (text !== undefined || !existsSync(path)) return text;
    const bytes = readFileSync(path);
    const names = [...new Set(bytes.toString('latin1').match(CONFIG_NAME))];
    text = { hash: sha256OfParts(bytes), names };
    this.#texts.set(path, text);
    return text;
  }
}

const isNames = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every(name => typeof name === 'string');

/** The object without its digest; undefined when absent, and removed when damaged. */
function readChecked(path: string): Uint8Array | undefined {
  let file: Buffer;
  try {
    file = readFileSync(path);
  } catch {
    return undefined;
  }
  const bytes = file.subarray(0, -DIGEST);
  if (file.length > DIGEST && sha256OfParts(bytes) === file.toString('latin1', file.length - DIGEST))
    return bytes;
  rmSync(path, { force: true });
  return undefined;
}
