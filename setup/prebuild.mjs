// Builds the kernels, programs and page that travel in the package into dist/prebuilt/
// (toolchain/prebuilt.ts), and the states behind their boots (host/booted.ts). Run by `npm pack`.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { gunzipSync } from 'node:zlib';
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

/**
 * The page, unpacked, by path: without its kernels, sources and labs, which the package has
 * (cli/serve/site.ts), and without the page as one file.
 */
function pageFiles() {
  execFileSync(process.execPath, [join(ROOT, 'setup', 'web.mjs'), '--if-stale'], { stdio: 'inherit' });
  const folder = join(ROOT, 'dist', 'web');
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(relative(folder, entry.parentPath), entry.name))
    .filter(name => !/^(kernels\/|sources-|labs\.packed$|kcovbox\.html$)/.test(name));
  const bytesOf = name => {
    const bytes = readFileSync(join(folder, name));
    return name.endsWith('.packed') ? gunzipSync(bytes) : bytes;
  };
  // Programs are beside one another, and near those of the README: they share their C library.
  const rank = name => (name.startsWith('programs/') && name.endsWith('.packed') ? 0 : 1);
  names.sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  return new Map(names.map(name => [name, bytesOf(name)]));
}

const { prebuild } = await importTypeScript('toolchain/prebuild.ts');
const bytes = await prebuild(pageFiles());
const states = ['openbsd', 'netbsd', 'freebsd', 'linux'].reduce((sum, dialect) => sum + keepBoot(dialect), 0);
const mb = n => `${(n / 1e6).toFixed(1)} MB`;
say(`dist/prebuilt: ${mb(bytes)} of kernels, programs and page, ${mb(states)} of boots`);
