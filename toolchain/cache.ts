// Build products by content: what went in decides the name of what comes out, so a second run builds nothing and
// two processes never see half a file. A *manifest* remembers which files a build read (the compiler's -MD list) with
// their hashes; it is a hit only when all of them are as they were.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** SHA-256 in hex of bytes, or of strings joined by NUL. */
export function sha256(...parts: (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('hex');
}

/** Root of the installed package: the nearest folder above this module that holds kernel/ and package.json. */
export function packageRoot(): string {
  let dir = dirname(fileURLToPath(import.meta.url));
  while (!(existsSync(join(dir, 'package.json')) && existsSync(join(dir, 'kernel')))) {
    const up = dirname(dir);
    if (up === dir) throw new Error('cannot find the kcovbox package around this module');
    dir = up;
  }
  return dir;
}

/** Where products live: $KCOVBOX_CACHE, else .cache/ of a checkout, else the user's cache folder. */
export function cacheDir(): string {
  const chosen = process.env['KCOVBOX_CACHE'];
  if (chosen) return chosen;
  const root = packageRoot();
  if (existsSync(join(root, '.git'))) return join(root, '.cache');
  return join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'kcovbox');
}

/** Writes a file whole or not at all. */
export function writeWhole(path: string, bytes: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, bytes);
  renameSync(temporary, path);
}

interface Manifest {
  readonly inputs: Readonly<Record<string, string>>; // path -> sha256
  readonly product: string; // sha256 of the product, checked on a hit
}

const hashFile = (path: string): string | undefined => {
  try {
    return sha256(readFileSync(path));
  } catch {
    return undefined;
  }
};

/**
 * The product for `key` (everything that decides the build but file contents), built by `build` unless cached.
 * `build` writes the product to the path it is given and returns the files it read.
 */
export async function cached(
  kind: string,
  key: string,
  build: (output: string) => Promise<readonly string[]>,
): Promise<{ path: string; built: boolean }> {
  const base = join(cacheDir(), kind, key.slice(0, 32));
  const manifestPath = `${base}.json`;
  if (existsSync(manifestPath) && existsSync(base)) {
    try {
      const manifest = JSON.parse(readFileSync(manifestPath, 'utf8')) as Manifest;
      const same = Object.entries(manifest.inputs).every(([path, hash]) => hashFile(path) === hash);
      if (same && hashFile(base) === manifest.product) return { path: base, built: false };
    } catch {} // an unreadable manifest is a miss
  }
  mkdirSync(dirname(base), { recursive: true });
  const temporary = `${base}.${process.pid}.tmp`;
  try {
    const read = await build(temporary);
    const inputs = Object.fromEntries([...new Set(read)].sort().map(path => [path, hashFile(path) ?? '']));
    const product = hashFile(temporary) ?? '';
    renameSync(temporary, base);
    writeWhole(manifestPath, JSON.stringify({ inputs, product } satisfies Manifest));
  } finally {
    rmSync(temporary, { force: true });
  }
  return { path: base, built: true };
}
