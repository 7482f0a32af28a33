// Bundles cli/main.ts into dist/kcovbox.mjs when a source is newer than the bundle.
// Run by `npm run build`, `npm start`, and bin/kcovbox.mjs in a checkout.
import { existsSync, mkdirSync, readdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from './ensure.mjs';

/** The rooms whose TypeScript ends in the bundle. */
const ROOMS = ['emulator', 'devices', 'coverage', 'toolchain', 'cli', 'bench'];
export const BUNDLE = join(ROOT, 'dist', 'kcovbox.mjs');

function newest(dir) {
  let time = 0;
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) time = Math.max(time, newest(path));
    else if (entry.name.endsWith('.ts')) time = Math.max(time, statSync(path).mtimeMs);
  }
  return time;
}

/** True when dist/ holds every source as it is now. */
export function isFresh() {
  if (!existsSync(BUNDLE)) return false;
  const built = statSync(BUNDLE).mtimeMs;
  const sources = ROOMS.map(room => join(ROOT, room)).filter(existsSync);
  return (
    [join(ROOT, 'package-lock.json')].every(f => statSync(f).mtimeMs <= built) &&
    sources.every(s => newest(s) <= built)
  );
}

/** Builds the bundle; the file appears whole or not at all. */
export async function bundle() {
  const { build } = await import('esbuild');
  mkdirSync(join(ROOT, 'dist'), { recursive: true });
  const temporary = join(ROOT, 'dist', `kcovbox.${process.pid}.mjs`);
  await build({
    absWorkingDir: ROOT,
    entryPoints: ['cli/main.ts'],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    outfile: temporary,
    external: ['@alexaltea/capstone-js', 'koffi', 'esbuild'],
    // Half the size is a third of the start-up time; names stay for stack traces.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'inline',
    logLevel: 'warning',
    // CommonJS dependencies inside an ES module bundle still call require().
    banner: {
      js: "import { createRequire as kcovboxRequire } from 'node:module'; const require = kcovboxRequire(import.meta.url);",
    },
  });
  renameSync(temporary, BUNDLE);
}

if (process.argv[1] === fileURLToPath(import.meta.url) && !isFresh()) await bundle();
