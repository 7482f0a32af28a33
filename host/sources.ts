// The host's data for reports: source text, names of system calls.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { packageRoot } from '../toolchain/index.ts';
import { readSource } from './input.ts';
import { type BuiltKernel, builtKernels, packagedKernels } from './kernels.ts';
import { originalOf } from './original.ts';

export interface SourceOptions {
  /** Folders to look in first. */
  readonly source?: readonly string[] | undefined;
}

/** The kernel with these bytes that was built here. */
export function builtAs(image: Uint8Array): BuiltKernel | undefined {
  return builtKernels().find(({ path }) => {
    try {
      return statSync(path).size === image.length && readFileSync(path).equals(image);
    } catch {
      return false; // a build in progress
    }
  });
}

/** The sources that an image was built from; undefined for one that was not built here. */
export function sourceRootOf(image: Uint8Array): { sourceRoot: string; sourcePrefix?: string } | undefined {
  const tree = builtAs(image)?.tree;
  if (tree === undefined) return undefined;
  if (tree === join(packageRoot(), 'kernel')) return { sourceRoot: packageRoot() };
  return { sourceRoot: tree, sourcePrefix: 'kernel/' };
}

/** A path in a kernel tree, without the tree; the debug information calls every tree "kernel". */
export const inTree = (path: string): string | undefined => /^(?:\.\/)?kernel\/(.*)$/s.exec(path)?.[1];

/** Where a file was when a kernel was built. */
export function pathInTree(path: string, built: BuiltKernel | undefined): string {
  const inside = inTree(path);
  return inside === undefined || built?.tree === undefined ? path : join(built.tree, inside);
}

/**
 * Tells of a file, in a line for people, if it is a text of the package beside lines of a kernel of
 * which nothing is known. `images`: those whose lines are shown.
 */
export function doubts(images: readonly Uint8Array[]): (path: string) => string | undefined {
  const ours = join(packageRoot(), 'kernel', sep);
  let isPackaged: boolean | undefined;
  return path => {
    if (!resolve(path).startsWith(ours)) return undefined;
    isPackaged ??= packagedKernels().some(kernel => {
      const bytes = Buffer.from(kernel.read());
      return images.some(image => bytes.equals(image));
    });
    return isPackaged
      ? undefined
      : `the kernel was not built here: its text may be another than ${path}; --source DIR with its tree`;
  };
}

/**
 * Source text by the path in the debug information: unchanged, under the given directories, in the
 * tree that `image` was built from, under the package. The lines of a file that was edited after
 * the build are others: it has no text, and `changed` is told. `doubt`: told of a text that may be
 * another one.
 */
export function sourceReader(
  options: SourceOptions,
  image?: Uint8Array,
  changed: (path: string) => void = () => {},
  doubt: (text: string) => void = () => {},
): (path: string) => string | undefined {
  const built = image && builtAs(image);
  const isOriginal = originalOf(image ? [image] : [], built, path => pathInTree(path, built));
  const doubtOf = doubts(image ? [image] : []);
  const { source = [] } = options;
  const trees = built?.tree === undefined ? source : [...source, built.tree];
  const roots = [...source, packageRoot(), join(packageRoot(), 'kernel')];
  return path => {
    const inside = inTree(path);
    const places = [
      ...(inside === undefined ? [] : trees.map(tree => join(tree, inside))),
      ...(path.startsWith('/') ? [path] : []),
      ...roots.map(root => join(root, path)),
    ];
    let isChanged = false;
    for (const place of places) {
      const bytes = readSource(place);
      if (!bytes) continue;
      const isSame = isOriginal(path, bytes);
      if (isSame === false) {
        isChanged = true;
        continue;
      }
      if (isSame === undefined) {
        const text = doubtOf(place);
        if (text !== undefined) doubt(text);
      }
      return bytes.toString('utf8');
    }
    if (isChanged) changed(path);
    return undefined;
  };
}

let syscallNames: Map<number, string> | undefined;

/** Tables of system calls: that of the core, and those of the options. */
function syscallTables(): string[] {
  const kernel = join(packageRoot(), 'kernel');
  try {
    const options = readdirSync(join(kernel, 'opt')).map(name => join(kernel, 'opt', name, 'syscalls.def'));
    const files = [join(kernel, 'syscall', 'syscalls.def'), ...options.filter(path => existsSync(path))];
    return files.map(path => readFileSync(path, 'utf8'));
  } catch {
    return []; // show numbers instead
  }
}

/** Name of a system call of the guest kernel; its tables are the kernel's own. */
export function syscallName(number: number): string | undefined {
  if (!syscallNames) {
    syscallNames = new Map();
    for (const [, n, name] of syscallTables()
      .join('\n')
      .matchAll(/^SYSCALL\((\d+), (\w+),/gm))
      syscallNames.set(Number(n), name!);
  }
  return syscallNames.get(number);
}
