// Which files are those that an image was built from: by the hashes in the manifest of a kernel
// that was built here, or by the MD5 sums that clang writes into DWARF 5 line tables.
import { CoverageError, Elf, sourceSums } from '../coverage/index.ts';
import { md5, readInputs, sha256OfParts } from '../toolchain/index.ts';
import type { BuiltKernel } from './kernels.ts';

/** Are `bytes` those that were compiled as `path`? Undefined: nothing is known. */
export type IsOriginal = (path: string, bytes: Uint8Array) => boolean | undefined;

/** The hashes of the files that a kernel was built from, by their paths. */
function hashesOf(built: BuiltKernel | undefined): ReadonlyMap<string, string> {
  try {
    return built ? readInputs(built.path) : new Map();
  } catch {
    return new Map(); // its manifest is damaged
  }
}

/** The sums of several images, by path. */
function sumsOf(images: readonly Uint8Array[]): ReadonlyMap<string, ReadonlySet<string>> {
  const all = new Map<string, Set<string>>();
  for (const image of images)
    try {
      for (const [path, sums] of sourceSums(new Elf(image, 'the image')))
        all.set(path, new Set([...(all.get(path) ?? []), ...sums]));
    } catch (error) {
      // A damaged image has none; the reader of its lines reports it.
      if (!(error instanceof CoverageError)) throw error;
    }
  return all;
}

/**
 * The test for paths of the images' debug information. `built`: the kernel in the cache that the
 * image is; `pathOf`: where a file was when that was built.
 */
export function originalOf(
  images: readonly Uint8Array[],
  built?: BuiltKernel,
  pathOf = (path: string): string => path,
): IsOriginal {
  const hashes = hashesOf(built);
  let sums: ReturnType<typeof sumsOf> | undefined;
  return (path, bytes) => {
    const hash = hashes.get(pathOf(path));
    if (hash !== undefined) return sha256OfParts(bytes) === hash;
    sums ??= sumsOf(images);
    const known = sums.get(path);
    return known?.has(md5(bytes));
  };
}
