// Builds the page into dist/web/: recorded programs, kernels and sources (web/assets/), then the
// page itself with Vite. `npm run web`; with --if-stale nothing happens while no source is newer.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ensureNpm, ensurePackages, ROOT, say } from './ensure.mjs';
import { importTypeScript } from './module.mjs';
import { BUILD } from './packages.mjs';

ensureNpm();
ensurePackages(BUILD, 'compiling the guest');

const WEB = join(ROOT, 'dist', 'web');
const ASSETS = join(ROOT, 'dist', 'web-assets');

const SOURCES = ['web', 'emulator', 'devices', 'coverage', 'debug', 'run', 'host', 'kernel', 'examples'];

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

const { build } = await import('vite');
await build({
  configFile: false,
  root: join(ROOT, 'web'),
  base: './', // any host, any folder
  publicDir: ASSETS,
  logLevel: 'warn',
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
  worker: { format: 'iife' },
  build: {
    outDir: WEB,
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    chunkSizeWarningLimit: 1000,
    rollupOptions: {
      input: { index: join(ROOT, 'web', 'index.html'), offline: join(ROOT, 'web', 'offline', 'worker.ts') },
      // A service worker is found by its name, above all that it serves.
      output: {
        entryFileNames: ({ name }) => (name === 'offline' ? 'offline.js' : 'assets/[name]-[hash].js'),
      },
    },
  },
});

const { build: bundle } = await import('esbuild');
const { outputFiles } = await bundle({
  entryPoints: [join(ROOT, 'web', 'file', 'start.ts')],
  bundle: true,
  minify: true,
  write: false,
  format: 'iife',
  target: 'es2022',
});
const { makeFile } = await importTypeScript('web/file/one-file.ts');
const size = makeFile(WEB, outputFiles[0].text.trim(), join(WEB, 'kcovbox.html'));

const bytes = name => statSync(join(WEB, name)).size;
const files = filesOf(WEB).filter(name => statSync(join(WEB, name)).isFile());
const total = files.reduce((sum, name) => sum + bytes(name), 0);
say(
  `dist/web: ${files.length} files, ${(total / 1e6).toFixed(1)} MB; kcovbox.html alone has ${(size / 1e6).toFixed(1)} MB`,
);
