// Analyses of images, kept in the cache: to find the code of every source line of a kernel takes
// longer than a small program runs, and it is the same for all traces of one image.
//
// A file is what writeAnalysis makes, then a hash in hexadecimal: of the version of the analysing
// code, the kind of hooks, the hash of the image, and the former. It is read whole; a file of
// anything else is none.
import { join } from 'node:path';
import {
  type Elf,
  type Hooks,
  Program,
  readAnalysis,
  type WholeProgram,
  writeAnalysis,
} from '../coverage/index.ts';
import { cacheDir, keepNewest, markUsed, sha256, sha256OfParts, writeWhole } from '../toolchain/index.ts';
import { readIfThere } from './input.ts';

/** Hash of the analysing sources, from the bundler; there is none in tests of modules. */
declare const KCOVBOX_ANALYSIS: string;
const ANALYSIS = typeof KCOVBOX_ANALYSIS === 'string' ? KCOVBOX_ANALYSIS : undefined;

/** Analyses of larger images, such as a Linux with debug information, are not kept. */
const IMAGE_MAX = 1 << 25;
/** Files that the cache keeps: the ones that were used last. */
const KEPT = 16;
const HASH_CHARS = 64;

/** Undefined where it is not there, or damaged. */
function find(path: string, elf: Elf, key: readonly string[]): Program | undefined {
  try {
    const file = readIfThere(path);
    if (!file) return undefined;
    const end = file.length - HASH_CHARS;
    const body = file.subarray(0, end);
    if (sha256OfParts(...key, body) !== file.toString('latin1', end)) return undefined;
    markUsed(path);
    return readAnalysis(elf, body);
  } catch {
    return undefined;
  }
}

/**
 * The program of all hooks of a kind of an image. Errors: those of `Program`. `version`: of the
 * analysing code; nothing is kept without one.
 */
export function programOf(elf: Elf, hooks: Hooks, version = ANALYSIS): Program {
  if (version === undefined || elf.bytes.length > IMAGE_MAX) return new Program(elf, { hooks });
  const key = [version, hooks, sha256(elf.bytes)];
  let folder: string;
  try {
    folder = join(cacheDir(), 'lines');
  } catch {
    return new Program(elf, { hooks }); // there is no cache
  }
  const path = join(folder, sha256OfParts(...key));
  const known = find(path, elf, key);
  if (known) return known;
  const program = new Program(elf, { hooks });
  try {
    const body = writeAnalysis(program);
    writeWhole(path, Buffer.concat([body, Buffer.from(sha256OfParts(...key, body), 'latin1')]));
    keepNewest(folder, /^[0-9a-f]{64}$/, KEPT);
    // Not the program above: V8 then keeps the compiled code that later runs need.
    return readAnalysis(elf, body);
  } catch {
    return program; // analysed again next time
  }
}

/** The same for `Coverage.of` and `exportTrace`, which know the kind of hooks. */
export const wholeProgramOf =
  (elf: Elf): WholeProgram =>
  hooks =>
    programOf(elf, hooks);
