// Bundles cli/main.ts into dist/kcovbox.cjs when a source is newer than the bundle. Beside it,
// dist/sucrase.cjs strips the types of devices (host/device.ts), and
// dist/inputs names the sources, for bin/kcovbox.cjs to look at; the first line of the bundle is
// its hash, by which that recognises V8's code of it. Run by `npm run build`, `npm start`,
// `npm pack`, and bin/kcovbox.cjs in a checkout.
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeClient } from './client.mjs';
import { ROOT } from './ensure.mjs';

/** The command, in one file. */
export const BUNDLE = join(ROOT, 'dist', 'kcovbox.cjs');

/** The files that the bundle was made from: a line each. */
const INPUTS = join(ROOT, 'dist', 'inputs');

/** True when dist/ holds every source as it is now. */
export function isFresh() {
  if (!existsSync(BUNDLE) || !existsSync(INPUTS)) return false;
  const built = statSync(BUNDLE).mtimeMs;
  return readFileSync(INPUTS, 'utf8')
    .split('\n')
    .map(name => statSync(join(ROOT, name), { throwIfNoEntry: false }))
    .every(found => found && found.mtimeMs <= built);
}

/** Writes a file of dist/ whole or not at all. */
function put(name, text, time) {
  const path = join(ROOT, 'dist', name);
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, text);
  utimesSync(temporary, time, time);
  renameSync(temporary, path);
}

/**
 * Commander loads the module that starts processes, and with it Node's network code, for a feature
 * that we do not use: now on demand.
 */
const lazyChildProcess = {
  name: 'lazy child_process',
  setup(build) {
    build.onResolve({ filter: /^node:child_process$/ }, ({ importer }) =>
      importer.includes('commander') ? { path: 'child_process', namespace: 'lazy' } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: 'lazy' }, () => ({
      contents: "module.exports = { get spawn() { return require('node:child_process').spawn; } };",
    }));
  },
};

/** Few runs need what strips types: a file of its own, which the bundle asks bin/ or dist/ for. */
const ownFile = {
  name: 'sucrase in a file of its own',
  setup(build) {
    build.onResolve({ filter: /^sucrase$/ }, () => ({ path: '../dist/sucrase.cjs', external: true }));
  },
};

/**
 * bin/kcovbox.cjs reads the bundle as Latin-1. esbuild escapes characters that are not
 * ASCII in strings, but it cannot in tagged templates and regular expressions.
 */
function checkAscii(text) {
  const at = text.search(/[^\0-\x7f]/);
  if (at < 0) return;
  const near = JSON.stringify(text.slice(Math.max(0, at - 40), at + 20));
  throw new Error(`the bundle is not ASCII near ${near}; write the character as \\u in the source`);
}

/** The code that decides the results of runs: kept states of guests are those of one hash of it. */
const EMULATOR = ['emulator', 'devices'];

/** The code that analyses images, likewise. */
const ANALYSIS = ['base', 'dwarf', 'elf', 'kept', 'model'].map(folder => join('coverage', folder));

function hashOfFolders(folders) {
  const hash = createHash('sha256');
  const add = dir => {
    for (const entry of readdirSync(dir, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1)))
      if (entry.isDirectory()) add(join(dir, entry.name));
      else
        hash
          .update(entry.name)
          .update('\0')
          .update(readFileSync(join(dir, entry.name)));
  };
  for (const folder of folders) add(join(ROOT, folder));
  return hash.digest('hex').slice(0, 32);
}

/** Builds the bundle, as of now: what is edited meanwhile makes it stale. */
export async function bundle() {
  const start = new Date();
  const client = await writeClient(start);
  const { build, transform } = await import('esbuild');
  const { foldConstants } = await import('./constants.mjs');
  const language = {
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    // Half the size is a third of the start-up time; names stay for stack traces.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'inline',
    logLevel: 'silent',
    // The bundle is not a module, and Node 20.0 allows import() in those only.
    supported: { 'dynamic-import': false },
  };
  const style = { ...language, absWorkingDir: ROOT, bundle: true, write: false };
  const { outputFiles: sucrase } = await build({
    ...style,
    entryPoints: ['sucrase'],
    mainFields: ['module', 'main'], // the ES modules are smaller
    minify: true,
  });
  const { outputFiles, metafile } = await build({
    ...style,
    entryPoints: ['cli/main.ts'],
    metafile: true,
    external: ['@alexaltea/capstone-js', 'koffi', 'bullmq', 'ioredis'],
    plugins: [lazyChildProcess, ownFile],
    define: {
      'import.meta.url': 'kcovboxUrl',
      KCOVBOX_EMULATOR: JSON.stringify(hashOfFolders(EMULATOR)),
      KCOVBOX_ANALYSIS: JSON.stringify(hashOfFolders(ANALYSIS)),
    },
    banner: { js: "const kcovboxUrl = require('node:url').pathToFileURL(__filename).href;" },
  });
  const text = await foldConstants(outputFiles[0].text, transform, language);
  checkAscii(text);
  const dist = join(ROOT, 'dist');
  mkdirSync(dist, { recursive: true });
  for (const name of readdirSync(dist))
    if (name.startsWith('code-')) rmSync(join(dist, name), { force: true });
  const inputs = Object.keys(metafile.inputs).filter(
    path => !path.includes('node_modules/') && !path.startsWith('lazy:'),
  );
  put(
    'inputs',
    [
      'package-lock.json',
      'setup/bundle.mjs',
      'setup/client.mjs',
      'setup/constants.mjs',
      ...client,
      ...inputs,
    ].join('\n'),
    start,
  );
  put('sucrase.cjs', sucrase[0].text, start);
  put('kcovbox.cjs', `//${createHash('sha256').update(text).digest('hex')}\n${text}`, start);
}

if (process.argv[1] === fileURLToPath(import.meta.url) && !isFresh()) await bundle();
