// Bundles the program and the style of the HTML report, coverage/html/client, into
// coverage/html/client.generated.ts: three strings. That module is in the repository, so that
// whatever reads TypeScript has it; a test holds it against this. Run by setup/bundle.mjs, and by
// `node setup/client.mjs` after an edit of the client.
import { existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from './ensure.mjs';

const MODULE = join(ROOT, 'coverage', 'html', 'client.generated.ts');
const FOLDER = 'coverage/html/client';

async function bundled(entry) {
  const { build } = await import('esbuild');
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [`${FOLDER}/${entry}`],
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

/** The text of the module, and the files that it was made from. */
export async function clientModule() {
  const entries = ['main.ts', 'style.css', 'dark.css'];
  const [script, style, dark] = await Promise.all(entries.map(bundled));
  const text = [
    '/** Made by setup/client.mjs from client/; do not edit. */',
    `export const SCRIPT = ${JSON.stringify(script.text)};`,
    `export const STYLE = ${JSON.stringify(style.text)};`,
    `export const DARK_STYLE = ${JSON.stringify(dark.text)};`,
    '',
  ].join('\n');
  return { text, inputs: [...script.inputs, ...style.inputs, ...dark.inputs] };
}

/**
 * Writes the module, as of `time`, when it differs; answers with the files that it was made from.
 */
export async function writeClient(time = new Date()) {
  const { text, inputs } = await clientModule();
  if (!existsSync(MODULE) || readFileSync(MODULE, 'utf8') !== text) {
    writeFileSync(MODULE, text);
    utimesSync(MODULE, time, time);
  }
  return inputs;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeClient();
