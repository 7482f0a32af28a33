// Builds what travels in the package (prebuilt.ts). Run by setup/prebuild.mjs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot, readInputs } from './cache.ts';
import { clangVersion } from './compilers.ts';
import { buildKernel, DIALECTS, type Dialect, kernelInputs } from './kernel.ts';
import {
  dropPrebuilt,
  inPackage,
  kernelName,
  type Product,
  pageName,
  programName,
  writePrebuilt,
} from './prebuilt.ts';
import { buildProgram } from './program.ts';

/** The programs of the README, with the dialect that they speak there. */
const PROGRAMS: readonly (readonly [Dialect, string])[] = [
  ['openbsd', 'guest-programs/openbsd-kcov.c'],
  ['linux', 'guest-programs/linux-kcov.c'],
  ['openbsd', 'examples/hello.c'],
];

async function kernelProduct(dialect: Dialect): Promise<Product> {
  const { path } = await buildKernel(dialect);
  return { name: kernelName(dialect), inputs: kernelInputs(), bytes: readFileSync(path) };
}

/**
 * Headers of the C library are no part of the package, so they are no condition for using the
 * product.
 */
async function programProduct(dialect: Dialect, source: string): Promise<Product> {
  const { path } = await buildProgram(join(packageRoot(), source), { dialect });
  const inputs = [...readInputs(path).keys()].flatMap(input => inPackage(input) ?? []);
  return { name: programName(dialect, source), inputs, bytes: readFileSync(path) };
}

/**
 * Writes dist/prebuilt/; answers with the number of bytes before compression. `page`: its files,
 * unpacked, by their paths.
 */
export async function prebuild(page: ReadonlyMap<string, Uint8Array>): Promise<number> {
  dropPrebuilt();
  const products: Product[] = [];
  for (const dialect of DIALECTS) products.push(await kernelProduct(dialect));
  for (const [dialect, source] of PROGRAMS) products.push(await programProduct(dialect, source));
  for (const [path, bytes] of page) products.push({ name: pageName(path), inputs: [], bytes });
  writePrebuilt(clangVersion(), products);
  return products.reduce((sum, { bytes }) => sum + bytes.length, 0);
}
