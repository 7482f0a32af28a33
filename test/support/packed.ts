// The package as a user installs it: packed, and unpacked by npm in an empty folder, without a
// network.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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

/** Packs kcovbox into `dir` and installs it in `dir`/app. */
export function installPacked(dir: string): { readonly app: string; readonly tarball: string } {
  const cache = join(dir, 'npm-cache');
  const pack = (folder: string): string =>
    join(dir, npm(folder, cache, 'pack', '--pack-destination', dir).trimEnd().split('\n').at(-1)!);
  const tarball = alone(() => pack(ROOT));
  const dependency = pack(join(ROOT, 'node_modules', '@alexaltea', 'capstone-js'));
  const app = join(dir, 'app');
  mkdirSync(app);
  npm(app, cache, 'install', '--offline', tarball, dependency);
  return { app, tarball };
}
