// Bundles the programs and the styles of the HTML reports, coverage/html/client and
// experiment/html/client, into client.generated.ts beside each: three strings. These modules are in
// the repository, so that whatever reads TypeScript has them; a test holds them against this. Run
// by setup/bundle.mjs, and by `node setup/client.mjs` after an edit of a client.
import { existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from './ensure.mjs';

/** Folders that have a client/ and its client.generated.ts. */
export const REPORTS = ['coverage/html', 'experiment/html'];

async function bundled(path) {
  const { build } = await import('esbuild');
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [path],
    bundle: true,
    write: false,
    metafile: true,
    format: 'iife',
    target: ['es2022', 'chrome100', 'firefox100', 'safari15'],
    minifyWhitespace: true,
    minifySyntax: true,
    tsconfigRaw: {},
    logLevel: 'silent',
  });
  return { text: outputFiles[0].text.trim(), inputs: Object.keys(metafile.inputs) };
}

/** The text of the module of a report, and the files of the project that it was made from. */
export async function clientModule(report) {
  const entries = ['main.ts', 'style.css', 'dark.css'].map(name => `${report}/client/${name}`);
  const [script, style, dark] = await Promise.all(entries.map(bundled));
  const text = [
    '/** Made by setup/client.mjs from client/; do not edit. */',
    `export const SCRIPT = ${JSON.stringify(script.text)};`,
    `export const STYLE = ${JSON.stringify(style.text)};`,
    `export const DARK_STYLE = ${JSON.stringify(dark.text)};`,
    '',
  ].join('\n');
  const inputs = [...script.inputs, ...style.inputs, ...dark.inputs];
  return { text, inputs: inputs.filter(path => !path.startsWith('node_modules/')) };
}

/**
 * Writes the modules, as of `time`, where they differ; answers with the files that they were made
 * from.
 */
export async function writeClient(time = new Date()) {
  const made = await Promise.all(REPORTS.map(clientModule));
  for (const [i, { text }] of made.entries()) {
    const path = join(ROOT, REPORTS[i], 'client.generated.ts');
    if (existsSync(path) && readFileSync(path, 'utf8') === text) continue;
    writeFileSync(path, text);
    utimesSync(path, time, time);
  }
  return made.flatMap(({ inputs }) => inputs);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeClient();
