// The host's data for reports: kernels that were built here, source text, names of system calls.
import { readdirSync, readFileSync, statSync } from 'node:fs';
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

/** Kernels that were built here, newest first. */
export function builtKernels(): BuiltKernel[] {
  const dir = join(cacheDir(), 'kernel');
  try {
    return readdirSync(dir)
      .filter(name => name.endsWith('.elf'))
      .map(name => ({ path: join(dir, name), time: statSync(join(dir, name)).mtimeMs }))
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

/** Name of a system call of the guest kernel; its table is the kernel's own. */
export function syscallName(number: number): string | undefined {
  if (!syscallNames) {
    syscallNames = new Map();
    let table = '';
    try {
      table = readFileSync(join(packageRoot(), 'kernel', 'syscall', 'syscalls.def'), 'utf8');
    } catch {} // show numbers instead
    for (const [, n, name] of table.matchAll(/^SYSCALL\((\d+), (\w+),/gm)) syscallNames.set(Number(n), name!);
  }
  return syscallNames.get(number);
}
