// Build products by content: the inputs determine the name of the product, so a second run builds
// nothing and no process sees half a file. A *manifest* lists the files that a build read (the
// compiler's -MD list) with their times and hashes; it is a hit only if all of them are unchanged.
// Contents are read only if the times have changed.
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ToolchainError } from './errors.ts';
import { makeFolders, makeWritable } from './folders.ts';
import { nameFullDisk } from './full-disk.ts';
import { sha256OfParts } from './hash.ts';
import { nameOfKey } from './name-of-key.ts';
import { systemReason } from './system-errors.ts';
import { temporaryPath, unfinished } from './temporary.ts';

/**
 * Root of the installed package: the nearest folder above this module that holds kernel/ and
 * package.json.
 */
export function packageRoot(): string {
  let dir = dirname(fileURLToPath(import.meta.url));
  while (!(existsSync(join(dir, 'package.json')) && existsSync(join(dir, 'kernel')))) {
    const up = dirname(dir);
    if (up === dir) throw new Error('cannot find the kcovbox package around this module');
    dir = up;
  }
  return dir;
}

/** The first absolute path; a source may throw: a user need not be in the list of users. */
function firstAbsolute(...sources: readonly (() => string | undefined)[]): string | undefined {
  for (const source of sources) {
    try {
      const path = source();
      if (path !== undefined && isAbsolute(path)) return path;
    } catch {}
  }
  return undefined;
}

/**
 * The user's cache folder. An empty or relative $XDG_CACHE_HOME does not count (XDG Base Directory
 * Specification), nor does such a $HOME: compilers run in other folders.
 */
function userCache(): string | undefined {
  const home = () => firstAbsolute(homedir, () => userInfo().homedir);
  const parent = firstAbsolute(
    () => process.env['XDG_CACHE_HOME'],
    () => join(home() ?? '', '.cache'),
  );
  return parent === undefined ? undefined : join(parent, 'kcovbox');
}

/** $KCOVBOX_CACHE; undefined where it is not set. */
function chosenCache(): string | undefined {
  const chosen = process.env['KCOVBOX_CACHE'];
  return chosen ? resolve(chosen) : undefined;
}

/**
 * The folder of products: $KCOVBOX_CACHE, else .cache/ of a checkout, else the user's cache folder.
 */
export function cacheDir(): string {
  const chosen = chosenCache();
  if (chosen !== undefined) return chosen;
  const root = packageRoot();
  if (existsSync(join(root, '.git'))) return join(root, '.cache');
  const own = userCache();
  if (own === undefined)
    throw new ToolchainError(
      'there is no home folder to hold the cache; set KCOVBOX_CACHE to a folder that can be written',
    );
  return own;
}

/**
 * The folder of compiled objects. All checkouts share them: the name of an object covers everything
 * that determines its bytes, and the path of the checkout does not.
 */
export function objectDir(): string {
  const chosen = chosenCache();
  const shared = chosen ?? userCache();
  for (const dir of [shared, cacheDir()]) {
    if (dir === undefined) continue;
    const objects = join(dir, 'objects');
    try {
      makeWritable(objects);
      return objects;
    } catch {}
  }
  return join(cacheDir(), 'objects');
}

/** Writes a file whole or not at all. */
export function writeWhole(path: string, bytes: string | Uint8Array): void {
  makeFolders(dirname(path));
  const temporary = temporaryPath(path);
  try {
    writeFileSync(temporary, bytes);
    renameSync(temporary, path);
  } catch (error) {
    // The error of a write has no name, such as on a full disk.
    (error as NodeJS.ErrnoException).path ??= path;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** The state of a file or folder when its contents were read. */
interface Seen {
  /** SHA-256 of the contents; of a folder: of the names in it. */
  readonly hash: string;
  /** See `stampOf`; '' = look at the contents. */
  readonly stamp: string;
}

interface Manifest {
  readonly key: string;
  readonly inputs: Readonly<Record<string, Seen>>;
  readonly product: Seen;
}

/**
 * A change within this many milliseconds before the read could have left the times of a file
 * unchanged.
 */
const TICK = 100;

/**
 * Changes whenever the contents do: ctime cannot be set back. '' if it is too recent to be
 * reliable, undefined if there is no such file.
 */
function stampOf(path: string): string | undefined {
  const status = statSync(path, { throwIfNoEntry: false });
  if (!status) return undefined;
  const { size, mtimeMs, ctimeMs, ino } = status;
  return Math.max(mtimeMs, ctimeMs) + TICK < Date.now() ? `${size} ${mtimeMs} ${ctimeMs} ${ino}` : '';
}

function see(path: string): Seen {
  const stamp = stampOf(path);
  if (stamp === undefined) return { hash: '', stamp: '' };
  const isFolder = statSync(path).isDirectory();
  return { hash: sha256OfParts(isFolder ? readdirSync(path).sort().join('\0') : readFileSync(path)), stamp };
}

/** `fresh` = as it was; `same` = touched, but the same contents. */
function compare(path: string, seen: Seen): 'fresh' | 'same' | 'changed' {
  try {
    if (seen.stamp !== '' && stampOf(path) === seen.stamp) return 'fresh';
    return seen.hash !== '' && see(path).hash === seen.hash ? 'same' : 'changed';
  } catch {
    return 'changed';
  }
}

/** Refuses a cache that cannot be written before a compiler runs into it. */
function makeFolder(path: string): void {
  try {
    makeWritable(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ToolchainError(
      `cannot write the cache ${path} (${systemReason(code) ?? code}); set KCOVBOX_CACHE to a folder that can be written`,
    );
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isSeen = (value: unknown): value is Seen =>
  isObject(value) && typeof value['hash'] === 'string' && typeof value['stamp'] === 'string';

/**
 * The files and folders that the cached product at `path` was made from, with the hashes of their
 * contents (`sha256OfParts`).
 */
export function readInputs(path: string): Map<string, string> {
  const manifest: unknown = JSON.parse(readFileSync(`${path}.json`, 'utf8'));
  const inputs = isManifest(manifest) ? Object.entries(manifest.inputs) : [];
  return new Map(inputs.map(([input, { hash }]) => [input, hash]));
}

/** A damaged manifest is a miss: the next build rewrites it. */
function isManifest(value: unknown): value is Manifest {
  if (!isObject(value) || typeof value['key'] !== 'string' || !isSeen(value['product'])) return false;
  const { inputs } = value;
  return isObject(inputs) && Object.values(inputs).every(isSeen);
}

function readManifest(path: string, key: string): Manifest | undefined {
  try {
    const manifest: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isManifest(manifest) && manifest.key === key ? manifest : undefined;
  } catch {
    return undefined; // absent or unreadable: a miss
  }
}

/** Of several kernels of one name the last used is meant, by people who edit one: seconds count. */
const SECOND = 1000;

/** Records in the times of `path` that it is used now. */
export function markUsed(path: string): void {
  try {
    const now = new Date();
    if (statSync(path).mtimeMs < now.getTime() - SECOND) utimesSync(path, now, now);
  } catch {} // a cache that is only read from
}

function sweep(folder: string): void {
  for (const name of readdirSync(folder))
    if (unfinished(folder, name) !== undefined) rmSync(join(folder, name), { recursive: true, force: true });
}

/** Removes what a failed build left: a linker that was killed leaves a file beside its own. */
function removeAll(temporary: string): void {
  const folder = dirname(temporary);
  try {
    for (const name of readdirSync(folder))
      if (name.startsWith(basename(temporary))) rmSync(join(folder, name), { recursive: true, force: true });
  } catch {} // the error of the build is the one to report
}

/** The name of a product: `LABEL-HASHSUFFIX`. */
export interface Naming {
  /** For people who list the cache; need not be unique. */
  readonly label: string;
  readonly suffix?: string;
}

const pathOf = (kind: string, key: string, { label, suffix = '' }: Naming): string =>
  join(
    cacheDir(),
    kind,
    `${label.replace(/[^\w+-]/g, '_').slice(0, 60)}-${nameOfKey(key).slice(0, 12)}${suffix}`,
  );

/**
 * True if `path` has changed since `time`, in whole milliseconds like Date.now(), or no longer
 * exists.
 */
export function changedSince(path: string, time: number): boolean {
  const status = statSync(path, { throwIfNoEntry: false });
  return status === undefined || Math.max(status.mtimeMs, status.ctimeMs) >= time + 1;
}

/** The last call for each product that is being looked for or built in this process. */
const turns = new Map<string, Promise<unknown>>();

/** Calls for one product take turns, so that they never write the same temporary file. */
async function inTurn<T>(product: string, work: () => Promise<T>): Promise<T> {
  const before = turns.get(product);
  const own = before ? before.then(work, work) : work();
  turns.set(product, own);
  try {
    return await own;
  } finally {
    if (turns.get(product) === own) turns.delete(product);
  }
}

/** A file in the cache. */
interface Product {
  readonly path: string;
  /** False if it was there. */
  readonly built: boolean;
  /** Of the contents, where they can be relied on. */
  readonly hash?: string;
}

/**
 * The product for `key` (everything that decides the build but file contents), built by `build`
 * unless cached. `build` writes the product to the path it is given, may use that path with
 * `.objects` behind it for a folder that it removes again, and returns the files and folders it
 * read.
 */
export async function cached(
  kind: string,
  key: string,
  naming: Naming,
  build: (output: string) => Promise<readonly string[]>,
): Promise<Product> {
  const base = pathOf(kind, key, naming);
  return inTurn(base, () => findOrBuild(base, key, build));
}

async function findOrBuild(
  base: string,
  key: string,
  build: (output: string) => Promise<readonly string[]>,
): Promise<Product> {
  const manifestPath = `${base}.json`;
  const manifest = readManifest(manifestPath, key);
  if (manifest) {
    const all = [...Object.entries(manifest.inputs), [base, manifest.product] as const];
    let touched = false;
    const isHit = all.every(([path, seen]) => {
      const now = compare(path, seen);
      touched ||= now === 'same';
      return now !== 'changed';
    });
    if (isHit && touched) writeManifest(manifestPath, key, Object.keys(manifest.inputs), base);
    else if (isHit) markUsed(manifestPath);
    if (isHit) return { path: base, built: false, hash: manifest.product.hash };
  }
  makeFolder(dirname(base));
  sweep(dirname(base));
  const temporary = temporaryPath(base);
  let hash: string | undefined;
  try {
    const started = Date.now();
    const read = await build(temporary);
    renameSync(temporary, base);
    // An input that was edited meanwhile may have been read before or after: the next run builds
    // again.
    if (read.some(path => changedSince(path, started))) rmSync(manifestPath, { force: true });
    else hash = writeManifest(manifestPath, key, [...new Set(read)].sort(), base);
  } catch (error) {
    removeAll(temporary);
    throw nameFullDisk(error, dirname(base));
  }
  return { path: base, built: true, ...(hash !== undefined && { hash }) };
}

/** If it cannot be written, the next run checks again. Answers with the hash of the product. */
function writeManifest(path: string, key: string, inputs: readonly string[], product: string): string {
  const manifest: Manifest = {
    key,
    inputs: Object.fromEntries(inputs.map(input => [input, see(input)])),
    product: see(product),
  };
  try {
    writeWhole(path, JSON.stringify(manifest));
  } catch {}
  return manifest.product.hash;
}
