// Builds the kernels and programs that travel in the package into dist/prebuilt/
// (toolchain/prebuilt.ts), and the states behind their boots (host/booted.ts). Run by `npm pack`.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, say } from './ensure.mjs';
import { importTypeScript } from './module.mjs';

const BOOTED = join(ROOT, 'dist', 'prebuilt', 'booted');

/**
 * Runs a program in an empty cache, where the command leaves the state behind the boot, and moves
 * that into the package. Answers with its size.
 */
function keepBoot(dialect) {
  const cache = mkdtempSync(join(tmpdir(), 'kcovbox-boot-'));
  try {
    const args = ['run', '--dialect', dialect, 'examples/hello.c'];
    const { status, stderr } = spawnSync(process.execPath, ['bin/kcovbox.cjs', ...args], {
      cwd: ROOT,
      encoding: 'utf8',
      input: '',
      env: { ...process.env, KCOVBOX_CACHE: cache },
    });
    const [name] = status === 0 ? readdirSync(join(cache, 'booted')) : [];
    if (name === undefined) throw new Error(`the boot of ${dialect} cannot be kept: ${stderr}`);
    const bytes = readFileSync(join(cache, 'booted', name));
    mkdirSync(BOOTED, { recursive: true });
    writeFileSync(join(BOOTED, name), bytes);
    return bytes.length;
  } finally {
    rmSync(cache, { recursive: true, force: true });
  }
}

const { prebuild } = await importTypeScript('toolchain/prebuild.ts');
const bytes = await prebuild();
const states = ['openbsd', 'netbsd', 'freebsd', 'linux'].reduce((sum, dialect) => sum + keepBoot(dialect), 0);
const mb = n => `${(n / 1e6).toFixed(1)} MB`;
say(`dist/prebuilt: ${mb(bytes)} of kernels and programs, ${mb(states)} of boots`);
