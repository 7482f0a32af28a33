// Lists the cache, and removes files that were not used for long. Everything can be built again,
// except the images of recorded runs (image/), which go only when they are named by --all or are
// old.
import { existsSync, lstatSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheDir, objectDir } from './cache.ts';
import { unfinished } from './temporary.ts';

const KINDS = [
  'kernel',
  'program',
  'bench',
  'booted',
  'image',
  'packed',
  'profile',
  'fact',
  'lines',
  'objects',
  'xv6',
] as const;

export interface CacheEntry {
  readonly kind: (typeof KINDS)[number];
  readonly path: string;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly used: number;
}

const folderOf = (kind: CacheEntry['kind']): string =>
  kind === 'objects' ? objectDir() : join(cacheDir(), kind);

/**
 * Names that kcovbox gives (cache.ts, objects.ts, host/). KCOVBOX_CACHE may name
 * any folder, and one may hold a kernel/ or bench/ of the user's, as a checkout does: files of
 * other names are not ours.
 */
const PRODUCT = /^[\w+-]{1,60}-[0-9a-f]{12}(?:\.(?:elf|bin))?$/;
const NAMES: Readonly<Record<CacheEntry['kind'], RegExp>> = {
  kernel: PRODUCT,
  program: PRODUCT,
  bench: PRODUCT,
  booted: /^booted-[0-9a-f]{16}$/,
  image: /^[0-9a-f]{64}$/,
  packed: /^[0-9a-f]{64}$/,
  profile: /^profile-[0-9a-f]{8}$/,
  lines: /^[0-9a-f]{64}$/,
  fact: /^(?:compiler|(?:kernel|program|image)-[0-9a-f]{32})\.json$/,
  xv6: PRODUCT,
  objects: /^(?:[0-9a-f]{40}\.o|[0-9a-f]{32}\.json)$/,
};

/** Bytes of a file, or of all files in a folder; 0 for one that has just gone. */
function bytesIn(path: string): number {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (!status?.isDirectory()) return status?.size ?? 0;
  return readdirSync(path).reduce((sum, name) => sum + bytesIn(join(path, name)), 0);
}

/** Manifests belong to the products beside them. */
function filesOf(kind: CacheEntry['kind']): CacheEntry[] {
  const folder = folderOf(kind);
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap(name => {
    const path = join(folder, name);
    const product = unfinished(folder, name)?.replace(/\.json$/, '');
    if (product !== undefined && NAMES[kind].test(product)) {
      const used = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs;
      return used === undefined ? [] : [{ kind, path, bytes: bytesIn(path), used }];
    }
    if (!NAMES[kind].test(name)) return [];
    const status = statSync(path, { throwIfNoEntry: false });
    if (!status?.isFile()) return [];
    const manifest = statSync(`${path}.json`, { throwIfNoEntry: false });
    const used = Math.max(status.mtimeMs, manifest?.mtimeMs ?? 0);
    return [{ kind, path, bytes: status.size + (manifest?.size ?? 0), used }];
  });
}

/** Every file of the cache, by kind and then the one that was used last. */
export const cacheEntries = (): CacheEntry[] =>
  KINDS.flatMap(kind => filesOf(kind).sort((a, b) => b.used - a.used));

/**
 * Removes the entries that were not used since `time`; answers with them. A file that another
 * process removes first is no error.
 */
export function pruneCache(time: number): CacheEntry[] {
  const old = cacheEntries().filter(entry => entry.used < time);
  for (const { path } of old) {
    // First: a manifest without its product would only be a miss.
    rmSync(`${path}.json`, { force: true });
    rmSync(path, { recursive: true, force: true });
  }
  return old;
}

/** Removes files of the cache with such names in `folder`, all but the newest `count`. */
export function keepNewest(folder: string, names: RegExp, count: number): void {
  const files = readdirSync(folder)
    .filter(name => names.test(name))
    .map(name => join(folder, name))
    .map(path => ({ path, time: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }));
  files.sort((a, b) => b.time - a.time);
  for (const { path } of files.slice(count)) rmSync(path, { force: true });
}

/** The folders that hold it all. */
export const cacheFolders = (): string[] => [...new Set([cacheDir(), dirname(objectDir())])];
