// Builds the kernels and programs that travel in the package into dist/prebuilt/
// (toolchain/prebuilt.ts). Run by `npm pack`.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT, say } from './ensure.mjs';

const { build } = await import('esbuild');
const { outputFiles } = await build({
  absWorkingDir: ROOT,
  entryPoints: ['toolchain/prebuild.ts'],
  bundle: true,
  write: false,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  logLevel: 'silent',
});
// Below the package, which it looks for above itself.
const script = join(ROOT, 'dist', `prebuild.${process.pid}.mjs`);
writeFileSync(script, outputFiles[0].text);
try {
  const { prebuild } = await import(pathToFileURL(script).href);
  const bytes = await prebuild();
  say(`dist/prebuilt: ${(bytes / 1e6).toFixed(1)} MB of kernels and programs`);
} finally {
  rmSync(script, { force: true });
}
