// Kernels and programs that travel in the package, so that a first run needs no compiler. Each
// stands in an index with the files that it was made from and one hash of their contents: only what
// is unmodified is used, and then the bytes are those of a build with the compiler that the index
// names. All are compressed as one: kernels of different dialects have most of their bytes in
// common, and take 40 % of the room that they would take alone.
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
  /** See `kernelName` and `programName`. */
  readonly name: string;
  /** Of the package, by relative path, sorted. */
  readonly inputs: readonly string[];
  readonly inputHash: string;
  /** Place in the file of all products. */
  readonly at: number;
  readonly bytes: number;
  readonly sha256: string;
}

interface Index {
  readonly format: 'kcovbox prebuilt 2';
  readonly compiler: string;
  readonly rows: readonly Row[];
}

export const kernelName = (conf: string): string => `kernel ${conf}`;
export const programName = (dialect: string, source: string): string => `program ${dialect} ${source}`;

const folder = (): string => join(packageRoot(), 'dist', 'prebuilt');
const indexPath = (): string => join(folder(), 'index.json');
const productsPath = (): string => join(folder(), 'products.br');

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
    return format === 'kcovbox prebuilt 2' && rows.every(isRow) ? rows : [];
  } catch {
    return [];
  }
}

/** Whether a product of this name travels in the package, modified or not. */
export const hasPrebuilt = (name: string): boolean => readIndex().some(row => row.name === name);

/** All products; undefined in a damaged package. */
function products(): Uint8Array | undefined {
  try {
    return zlib().brotliDecompressSync(readFileSync(productsPath()));
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
  const all = products();
  const bytes = all && productOf(row, all);
  return bytes && { bytes, inputs: row.inputs.map(input => join(packageRoot(), input)) };
}

/**
 * The kernels of the package, as they were packed; unlike `findPrebuilt`, this does not ask whether
 * the sources are unmodified: a search for a kernel by its contents needs these bytes.
 */
export function prebuiltKernels(): { readonly conf: string; readonly bytes: Uint8Array }[] {
  const prefix = kernelName('');
  const rows = readIndex().filter(({ name }) => name.startsWith(prefix));
  if (rows.length === 0) return [];
  const all = products();
  return rows.flatMap(row => {
    const bytes = all && productOf(row, all);
    return bytes ? [{ conf: row.name.slice(prefix.length), bytes }] : [];
  });
}

/** A product of setup/prebuild.mjs. `inputs`: paths of the package. */
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
  let at = 0;
  const rows = products.map(({ name, inputs, bytes }): Row => {
    const sorted = [...inputs].sort();
    const place = { at, bytes: bytes.length };
    at += bytes.length;
    return { name, inputs: sorted, inputHash: hashInputs(sorted)!, ...place, sha256: sha256OfParts(bytes) };
  });
  const { brotliCompressSync, constants } = zlib();
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 10, // 9 % smaller than 9, in seven times the time
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS, // 16 MiB: all of them
  };
  const all = Buffer.concat(products.map(({ bytes }) => bytes));
  writeWhole(productsPath(), brotliCompressSync(all, { params }));
  const index: Index = { format: 'kcovbox prebuilt 2', compiler, rows };
  writeWhole(indexPath(), `${JSON.stringify(index, null, 1)}\n`);
}
