// Builds the page into dist/web/: recorded programs, kernels and sources (web/assets/), then the
// page itself with Vite. `npm run web`; with --if-stale nothing happens while no source is newer.
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureNpm, ensurePackages, ROOT, say } from './ensure.mjs';
import { BUILD } from './packages.mjs';

ensureNpm();
ensurePackages(BUILD, 'compiling the guest');

const WEB = join(ROOT, 'dist', 'web');
const ASSETS = join(ROOT, 'dist', 'web-assets');

const SOURCES = ['web', 'emulator', 'devices', 'coverage', 'debug', 'run', 'host', 'kernel', 'examples'];

/** True when the page is newer than all that it is made from. */
function isFresh() {
  const page = join(WEB, 'index.html');
  if (!existsSync(page)) return false;
  const built = statSync(page).mtimeMs;
  const folders = [...SOURCES, 'guest-programs'].map(name => join(ROOT, name));
  const files = folders.flatMap(folder =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(name => join(folder, name)),
  );
  return [...files, join(ROOT, 'package-lock.json')].every(file => statSync(file).mtimeMs <= built);
}
if (process.argv.includes('--if-stale') && isFresh()) process.exit(0);

/** The module that makes the assets, as one file below the package, which it looks for above. */
async function assetsModule() {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['web/assets/main.ts'],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'silent',
  });
  const script = join(ROOT, 'dist', `web-assets.${process.pid}.mjs`);
  writeFileSync(script, outputFiles[0].text);
  try {
    return await import(pathToFileURL(script).href);
  } finally {
    rmSync(script, { force: true });
  }
}

const { makeAssets, filesOf } = await assetsModule();
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
const bytes = name => statSync(join(WEB, name)).size;
const total = filesOf(WEB).filter(name => statSync(join(WEB, name)).isFile());
say(
  `dist/web: ${total.length} files, ${(total.reduce((sum, name) => sum + bytes(name), 0) / 1e6).toFixed(1)} MB`,
);
