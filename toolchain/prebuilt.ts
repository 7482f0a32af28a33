// Kernels, programs and the page that travel in the package, so that none of them needs a compiler.
// Each stands in an index with the files that it was made from and one hash of their contents: only
// what is unmodified is used, and then the bytes are those of a build with the compiler that the
// index names. Those of a kind are compressed as one: kernels of different dialects have most of
// their bytes in common, and take 40 % of the room that they would take alone; programs share their
// C library.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { packageRoot, writeWhole } from './cache.ts';
import { makeFolders } from './folders.ts';
import { sha256OfParts } from './hash.ts';

// Loaded when needed: most runs find everything in the cache.
const require = createRequire(import.meta.url);
const zlib = () => require('node:zlib') as typeof import('node:zlib');

interface Row {
  /** See `kernelName`, `programName` and `pageName`. */
  readonly name: string;
  /** Of the package, by relative path, sorted. */
  readonly inputs: readonly string[];
  readonly inputHash: string;
  /** Place in the file of its kind. */
  readonly at: number;
  readonly bytes: number;
  readonly sha256: string;
}

interface Index {
  readonly format: typeof FORMAT;
  readonly compiler: string;
  readonly rows: readonly Row[];
}

const FORMAT = 'kcovbox prebuilt 3';

export const kernelName = (conf: string): string => `kernel ${conf}`;
export const programName = (dialect: string, source: string): string => `program ${dialect} ${source}`;

/** A file of the page, unpacked; its images are programs. */
export const pageName = (path: string): string => `page ${path}`;

const folder = (): string => join(packageRoot(), 'dist', 'prebuilt');
const indexPath = (): string => join(folder(), 'index.json');

/** Where products of this name are, compressed as one. */
const FILES = ['kernels.br', 'programs.br'] as const;
const fileOf = (name: string): (typeof FILES)[number] =>
  name.startsWith(kernelName('')) ? 'kernels.br' : 'programs.br';

/** Path below the package with slashes, or undefined for what lies elsewhere. */
export function inPackage(path: string): string | undefined {
  const below = relative(packageRoot(), path).replaceAll('\\', '/');
  return below.startsWith('..') || below.startsWith('/') || below === '' ? undefined : below;
}

/** Hash of names and contents; undefined when one is not there. */
function hashInputs(inputs: readonly string[]): string | undefined {
  const paths = inputs.map(input => join(packageRoot(), input));
  if (!paths.every(path => existsSync(path))) return undefined;
  return sha256OfParts(...inputs.flatMap((input, i) => [input, readFileSync(paths[i]!)]));
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isRow = (row: Row): boolean =>
  [row.name, row.inputHash, row.sha256].every(isText) &&
  [row.at, row.bytes].every(Number.isSafeInteger) &&
  Array.isArray(row.inputs) &&
  row.inputs.every(isText);

/** No rows where there is no index, or none that can be read. */
function readIndex(): readonly Row[] {
  try {
    const { format, rows } = JSON.parse(readFileSync(indexPath(), 'utf8')) as Index;
    return format === FORMAT && rows.every(isRow) ? rows : [];
  } catch {
    return [];
  }
}

/** Whether a product of this name travels in the package, modified or not. */
export const hasPrebuilt = (name: string): boolean => readIndex().some(row => row.name === name);

/** All products in the file of this one; undefined in a damaged package. */
function products(name: string): Uint8Array | undefined {
  try {
    return zlib().brotliDecompressSync(readFileSync(join(folder(), fileOf(name))));
  } catch {
    return undefined;
  }
}

/** One of `all`; undefined if it is damaged. */
function productOf(row: Row, all: Uint8Array): Uint8Array | undefined {
  const bytes = all.subarray(row.at, row.at + row.bytes);
  return sha256OfParts(bytes) === row.sha256 ? bytes : undefined;
}

export interface Prebuilt {
  readonly bytes: Uint8Array;
  /** Absolute paths of what it was made from. */
  readonly inputs: readonly string[];
}

/**
 * The product `name` when it travels in the package and its sources are unmodified. `present`:
 * files that are there now, where one more would be a modification.
 */
export function findPrebuilt(name: string, present?: readonly string[]): Prebuilt | undefined {
  const row = readIndex().find(row => row.name === name);
  if (row === undefined || hashInputs(row.inputs) !== row.inputHash) return undefined;
  if (present && present.join('\0') !== row.inputs.join('\0')) return undefined;
  const all = products(name);
  const bytes = all && productOf(row, all);
  return bytes && { bytes, inputs: row.inputs.map(input => join(packageRoot(), input)) };
}

/**
 * The kernels of the package, as they were packed; unlike `findPrebuilt`, this does not ask whether
 * the sources are unmodified: a search for a kernel by its contents needs these bytes.
 */
export const prebuiltKernels = (): { readonly conf: string; readonly bytes: Uint8Array }[] =>
  productsOf(kernelName('')).map(([conf, bytes]) => ({ conf, bytes }));

/** The files of the page by their paths, unpacked, also those that are named .packed. */
export const prebuiltPage = (): ReadonlyMap<string, Uint8Array> => new Map(productsOf(pageName('')));

/** The names of products behind the prefix, and their bytes. Damaged ones are left out. */
function productsOf(prefix: string): [name: string, bytes: Uint8Array][] {
  const rows = readIndex().filter(({ name }) => name.startsWith(prefix));
  if (rows.length === 0) return [];
  const all = products(prefix);
  return rows.flatMap((row): [string, Uint8Array][] => {
    const bytes = all && productOf(row, all);
    return bytes ? [[row.name.slice(prefix.length), bytes]] : [];
  });
}

/** A product of setup/prebuild.mjs. `inputs`: paths of the package; the page has none. */
export interface Product {
  readonly name: string;
  readonly inputs: readonly string[];
  readonly bytes: Uint8Array;
}

/** From here on everything is built until `writePrebuilt`. */
export const dropPrebuilt = (): void => rmSync(folder(), { recursive: true, force: true });

/** Writes the index last, so that there is a whole one or none. */
export function writePrebuilt(compiler: string, products: readonly Product[]): void {
  makeFolders(folder());
  const ends = new Map<string, number>();
  const rows = products.map(({ name, inputs, bytes }): Row => {
    const sorted = [...inputs].sort();
    const at = ends.get(fileOf(name)) ?? 0;
    const place = { at, bytes: bytes.length };
    ends.set(fileOf(name), at + bytes.length);
    return { name, inputs: sorted, inputHash: hashInputs(sorted)!, ...place, sha256: sha256OfParts(bytes) };
  });
  const { brotliCompressSync, constants } = zlib();
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 10, // 9 % smaller than 9, in seven times the time
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS, // 16 MiB: all of them
  };
  for (const file of FILES) {
    const own = products.filter(({ name }) => fileOf(name) === file).map(({ bytes }) => bytes);
    writeWhole(join(folder(), file), brotliCompressSync(Buffer.concat(own), { params }));
  }
  const index: Index = { format: FORMAT, compiler, rows };
  writeWhole(indexPath(), `${JSON.stringify(index, null, 1)}\n`);
}
