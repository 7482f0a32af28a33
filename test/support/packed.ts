// The package as a user installs it: packed once for all files of a test run, which takes a minute
// and a half, and unpacked by npm in an empty folder, without a network.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ROOT } from './command.ts';

function npm(cwd: string, cache: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(
    'npm',
    [...args, '--no-audit', '--no-fund', '--loglevel=error'],
    { cwd, encoding: 'utf8', env: { ...process.env, npm_config_cache: cache } },
  );
  if (status !== 0) throw new Error(`npm ${args.join(' ')}: ${stderr}`);
  return stdout;
}

const PACKED = join(ROOT, '.cache', 'packed');
const LOCK = join(ROOT, '.cache', 'packing');
const WAIT_MS = 200;

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** Packing builds dist/ in place, and test files run side by side: one at a time. */
function alone<T>(body: () => T): T {
  for (;;) {
    try {
      writeFileSync(LOCK, `${process.pid}`, { flag: 'wx' });
      break;
    } catch {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
      try {
        if (!isAlive(Number(readFileSync(LOCK, 'utf8')) || process.pid)) rmSync(LOCK, { force: true });
      } catch {} // it has just gone
    }
  }
  try {
    return body();
  } finally {
    rmSync(LOCK, { force: true });
  }
}

/** Packs a folder; the path of the tarball in `to`. */
const pack = (folder: string, to: string, cache: string): string =>
  join(to, npm(folder, cache, 'pack', '--pack-destination', to).trimEnd().split('\n').at(-1)!);

/** The tarball of this test run: its files are children of one process. */
function tarballOfRun(cache: string): string {
  const mine = join(PACKED, `${process.ppid}`);
  mkdirSync(PACKED, { recursive: true });
  for (const name of readdirSync(PACKED))
    if (!isAlive(Number(name))) rmSync(join(PACKED, name), { recursive: true, force: true });
  const [name] = existsSync(mine) ? readdirSync(mine) : [];
  if (name !== undefined && process.env['VITEST_MODE'] !== 'WATCH') return join(mine, name);
  const half = `${mine}.half`;
  mkdirSync(half);
  const tarball = basename(pack(ROOT, half, cache));
  rmSync(mine, { recursive: true, force: true });
  renameSync(half, mine);
  return join(mine, tarball);
}

/** Packs kcovbox and installs it in `dir`/app. */
export function installPacked(dir: string): { readonly app: string; readonly tarball: string } {
  const cache = join(dir, 'npm-cache');
  const tarball = alone(() => tarballOfRun(cache));
  const dependency = pack(join(ROOT, 'node_modules', '@alexaltea', 'capstone-js'), dir, cache);
  const app = join(dir, 'app');
  mkdirSync(app);
  npm(app, cache, 'install', '--offline', tarball, dependency);
  return { app, tarball };
}
