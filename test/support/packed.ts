// The package as a user installs it: packed, and unpacked by npm in an empty folder, without a
// network.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
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

/** Packs kcovbox into `dir` and installs it in `dir`/app. */
export function installPacked(dir: string): { readonly app: string; readonly tarball: string } {
  const cache = join(dir, 'npm-cache');
  const pack = (folder: string): string =>
    join(dir, npm(folder, cache, 'pack', '--pack-destination', dir).trimEnd().split('\n').at(-1)!);
  const tarball = pack(ROOT);
  const dependency = pack(join(ROOT, 'node_modules', '@alexaltea', 'capstone-js'));
  const app = join(dir, 'app');
  mkdirSync(app);
  npm(app, cache, 'install', '--offline', tarball, dependency);
  return { app, tarball };
}
