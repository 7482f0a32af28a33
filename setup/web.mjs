// Builds the page into dist/web/: recorded programs, kernels and sources (web/assets/), then the
// page itself. `npm run web`; with --if-stale nothing happens while no source is newer.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ensureNpm, ensurePackages, ROOT, say } from './ensure.mjs';
import { importTypeScript } from './module.mjs';
import { BUILD } from './packages.mjs';

ensureNpm();
ensurePackages(BUILD, 'compiling the guest');

const WEB = join(ROOT, 'dist', 'web');
const ASSETS = join(ROOT, 'dist', 'web-assets');

const SOURCES = [
  'web',
  'emulator',
  'devices',
  'coverage',
  'debug',
  'run',
  'host',
  'kernel',
  'examples',
  'grade',
  'labs',
];

/** True when the page is newer than all that it is made from. */
function isFresh() {
  const page = join(WEB, 'kcovbox.html'); // the last that is written
  if (!existsSync(page)) return false;
  const built = statSync(page).mtimeMs;
  const folders = [...SOURCES, 'guest-programs'].map(name => join(ROOT, name));
  const files = folders.flatMap(folder =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(name => join(folder, name)),
  );
  return [...files, join(ROOT, 'package-lock.json')].every(file => statSync(file).mtimeMs <= built);
}
if (process.argv.includes('--if-stale') && isFresh()) process.exit(0);

const { makeAssets, filesOf } = await importTypeScript('web/assets/main.ts');
await makeAssets(ROOT, ASSETS);

const { writePage, firstOfFile } = await import('./web-scripts.mjs');
await writePage(WEB, ASSETS);
const { makeFile } = await importTypeScript('web/file/one-file.ts');
const size = makeFile(WEB, await firstOfFile(), join(WEB, 'kcovbox.html'));

const bytes = name => statSync(join(WEB, name)).size;
const files = filesOf(WEB).filter(name => statSync(join(WEB, name)).isFile());
const total = files.reduce((sum, name) => sum + bytes(name), 0);
say(
  `dist/web: ${files.length} files, ${(total / 1e6).toFixed(1)} MB; kcovbox.html alone has ${(size / 1e6).toFixed(1)} MB`,
);
