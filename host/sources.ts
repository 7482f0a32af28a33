// The host's data for reports: source text, names of system calls.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../toolchain/index.ts';
import { builtKernels } from './kernels.ts';

export interface SourceOptions {
  /** Folders to look in first. */
  readonly source?: readonly string[] | undefined;
}

/** The tree that an image was built from, when it was built here; by its bytes, not its path. */
function treeOf(image: Uint8Array): string | undefined {
  for (const { path, tree } of builtKernels())
    try {
      if (statSync(path).size === image.length && readFileSync(path).equals(image)) return tree;
    } catch {} // a build in progress
  return undefined;
}

/** The sources that an image was built from; undefined for one that was not built here. */
export function sourceRootOf(image: Uint8Array): { sourceRoot: string; sourcePrefix?: string } | undefined {
  const tree = treeOf(image);
  if (tree === undefined) return undefined;
  if (tree === join(packageRoot(), 'kernel')) return { sourceRoot: packageRoot() };
  return { sourceRoot: tree, sourcePrefix: 'kernel/' };
}

/**
 * Source text by the path in the debug information: unchanged, under the given directories, in the
 * tree that `image` was built from, under the package. The debug information calls every kernel
 * tree "kernel".
 */
export function sourceReader(
  options: SourceOptions,
  image?: Uint8Array,
): (path: string) => string | undefined {
  const tree = image && treeOf(image);
  const roots = [...(options.source ?? []), packageRoot(), join(packageRoot(), 'kernel')];
  const read = (path: string): string | undefined => {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return undefined;
    }
  };
  return path => {
    const [, inTree] = /^(?:\.\/)?kernel\/(.*)$/s.exec(path) ?? [];
    for (const root of inTree === undefined ? [] : [...(options.source ?? []), ...(tree ? [tree] : [])]) {
      const text = read(join(root, inTree!));
      if (text !== undefined) return text;
    }
    if (path.startsWith('/'))
      return read(path) ?? roots.map(root => read(join(root, path))).find(text => text !== undefined);
    for (const root of roots) {
      const text = read(join(root, path));
      if (text !== undefined) return text;
    }
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
