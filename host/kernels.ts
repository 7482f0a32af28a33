// Kernels whose symbols are at hand: those that were built here, and those that travel in the
// package.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { cacheDir, prebuiltKernels } from '../toolchain/index.ts';

/**
 * The name of a kernel in reports: its configuration, or else the path that the user gave, which is
 * outside of the cache.
 */
export const kernelTitle = (conf: string, path = ''): string =>
  path === '' || path.startsWith(join(cacheDir(), sep)) ? `kernel ${conf}` : path;

export interface KnownKernel {
  /** Its configuration, such as `linux+kasan`. */
  readonly conf: string;
  /** For messages: the name of its file in the cache. */
  readonly file: string;
  /** Errors: those of the file system. */
  read(): Uint8Array;
}

/** A kernel in the cache. */
export interface BuiltKernel extends KnownKernel {
  readonly path: string;
  /** The source tree, where the manifest names it. */
  readonly tree: string | undefined;
  /** Paths of the drivers from outside of the tree. */
  readonly drivers: readonly string[];
}

/** The words of the key in the manifest of a built kernel (toolchain/kernel.ts). */
function madeFrom(path: string): { tree?: string; conf?: string; drivers?: string[] } {
  try {
    const { key } = JSON.parse(readFileSync(`${path}.json`, 'utf8')) as { key?: unknown };
    const [kind, tree, conf, _compiler, ...more] = typeof key === 'string' ? key.split('\0') : [];
    // Behind the drivers are the headers of devices.
    return kind === 'kernel' && tree && conf ? { tree, conf, drivers: more.slice(0, -1) } : {};
  } catch {
    return {};
  }
}

class Built implements BuiltKernel {
  readonly path: string;
  readonly file: string;
  readonly read = (): Uint8Array => readFileSync(this.path);
  #from: ReturnType<typeof madeFrom> | undefined;

  constructor(path: string) {
    this.path = path;
    this.file = basename(path);
  }

  /** Read when it is asked for: the manifests of some ten kernels take as long as a program. */
  get #made(): ReturnType<typeof madeFrom> {
    return (this.#from ??= madeFrom(this.path));
  }

  get tree(): string | undefined {
    return this.#made.tree;
  }

  get conf(): string {
    return this.#made.conf ?? 'kernel';
  }

  get drivers(): readonly string[] {
    return this.#made.drivers ?? [];
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
      .map(({ path }) => new Built(path));
  } catch {
    return [];
  }
}

/** Kernels of the package; decompressing them takes tens of milliseconds. */
export const packagedKernels = (): KnownKernel[] =>
  prebuiltKernels().map(({ conf, bytes }) => ({ conf, file: 'that of the package', read: () => bytes }));
