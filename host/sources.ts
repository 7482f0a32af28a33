// The host's data for reports: kernels that were built here, source text, names of system calls.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDir, packageRoot } from '../toolchain/index.ts';

export interface SourceOptions {
  /** Folders to look in first. */
  readonly source?: readonly string[] | undefined;
}

/** A kernel in the cache. */
export interface BuiltKernel {
  readonly path: string;
  /** Its configuration, such as `linux+kasan`. */
  readonly conf: string;
}

/** The source tree and the configuration, from the key in the manifest of a built kernel. */
function madeFrom(path: string): { tree?: string; conf?: string } {
  try {
    const { key } = JSON.parse(readFileSync(`${path}.json`, 'utf8')) as { key?: unknown };
    const [kind, tree, conf] = typeof key === 'string' ? key.split('\0') : [];
    return kind === 'kernel' && tree && conf ? { tree, conf } : {};
  } catch {
    return {};
  }
}

/** When a product of the cache was built or used last, by its own times and its manifest's. */
function lastUse(path: string): number {
  const times = [path, `${path}.json`].map(file => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return Math.max(...times);
}

/** Kernels that were built here, the last used first. */
export function builtKernels(): BuiltKernel[] {
  const dir = join(cacheDir(), 'kernel');
  try {
    return readdirSync(dir)
      .filter(name => name.endsWith('.elf'))
      .map(name => ({ path: join(dir, name), time: lastUse(join(dir, name)) }))
      .sort((a, b) => b.time - a.time)
      .map(({ path }) => ({ path, conf: madeFrom(path).conf ?? 'kernel' }));
  } catch {
    return [];
  }
}

/** The tree that an image was built from, when it was built here; by its bytes, not its path. */
function treeOf(image: Uint8Array): string | undefined {
  for (const { path } of builtKernels())
    try {
      if (statSync(path).size === image.length && readFileSync(path).equals(image))
        return madeFrom(path).tree;
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
