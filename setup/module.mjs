// Imports a TypeScript module of the checkout, for scripts that need only one of them.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './ensure.mjs';

/** The exports of a module, of which the path is relative to the root: bundled, then imported. */
export async function importTypeScript(path) {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: [path],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'silent',
  });
  // Below the package, which modules look for above themselves.
  const script = join(ROOT, 'dist', `${basename(path, '.ts')}.${process.pid}.mjs`);
  mkdirSync(dirname(script), { recursive: true });
  writeFileSync(script, outputFiles[0].text);
  try {
    return await import(pathToFileURL(script).href);
  } finally {
    rmSync(script, { force: true });
  }
}
