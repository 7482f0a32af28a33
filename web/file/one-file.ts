// Makes the page as one HTML file of the page as a folder: all scripts and data of one system are
// packed together, so that programs share what they have in common. Run by setup/web.mjs.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Assets, Scripts } from '../protocol.ts';
import { toBase85 } from './base85.ts';
import { pack } from './pack.ts';

/** The file is for one system: two kernels are too large for it. */
const DIALECT = 'openbsd';
/** The names of the scripts, in the page as a folder. */
const SCRIPTS = /\s*<script type="application\/json" id="scripts">(.*?)<\/script>/;
export const FILE_MAX = 3_000_000;

/** Its scripts are the one with this hash, and those that it unpacks; nothing is requested. */
const policy = (script: string): string =>
  [
    "default-src 'none'",
    `script-src 'sha256-${createHash('sha256').update(script).digest('base64')}' blob: 'wasm-unsafe-eval'`,
    'worker-src blob:',
    "style-src 'unsafe-inline'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');

/** The files that are packed, by the paths of assets.packed, but unpacked. */
function contents(folder: string, packed: Scripts): Map<string, Uint8Array> {
  const read = (path: string): Buffer => readFileSync(join(folder, path));
  const all = JSON.parse(gunzipSync(read('assets.packed')).toString()) as Assets;
  const programs = all.programs.filter(program => program.dialect === DIALECT);
  const needs = new Set(programs.flatMap(program => program.needs));
  const kernels = all.kernels.filter(({ load }) => needs.has(load.path));
  const images = all.images.filter(({ path }) => needs.has(path));
  const files = new Map<string, Uint8Array>();
  for (const { load, lines, rest } of kernels)
    for (const path of [load.path, lines.path, rest]) files.set(path, gunzipSync(read(path)));
  for (const { path } of images) files.set(path, gunzipSync(read(path)));
  const named = Buffer.concat([...files.values()]);
  // Of a text that no image names no line can be shown.
  const names = Object.fromEntries(
    Object.entries(all.sources.names).map(([path, texts]) => [
      path,
      texts.filter(text => named.includes(text)),
    ]),
  );
  const texts = Object.entries(names).flatMap(([path, own]) =>
    own.map(name => `${all.sources.folder}/${path}/${name}.packed`),
  );
  for (const path of texts) files.set(path, gunzipSync(read(path)));
  for (const { capsule } of programs) files.set(capsule, read(capsule));
  const sources = { folder: all.sources.folder, names };
  files.set('assets.packed', Buffer.from(JSON.stringify({ ...all, programs, kernels, images, sources })));
  const { page, worker, libraries } = packed;
  for (const [name, path] of Object.entries({ page, worker, ...libraries }))
    files.set(`${name}.js`, gunzipSync(read(path)));
  return files;
}

/**
 * `start`: the bundle of web/start/file.ts. Answers with the size; an error when it is too large.
 */
export function makeFile(folder: string, start: string, target: string): number {
  const html = readFileSync(join(folder, 'index.html'), 'utf8');
  const scripts = JSON.parse(html.match(SCRIPTS)![1]!) as Scripts;
  const files = contents(folder, scripts);
  const sizes = [...files].map(([name, { length }]) => [name, length]);
  const packed = pack(Buffer.concat([Buffer.from(`${JSON.stringify(sizes)}\n`), ...files.values()]));
  const css = gunzipSync(readFileSync(join(folder, scripts.style))).toString();
  const page = html
    .replace(/(Content-Security-Policy"\s+content=")[^"]*/, (_, before: string) => before + policy(start))
    .replace(SCRIPTS, () => `<style>${css}</style>`)
    .replace(/\s*<script[^>]*><\/script>/, '')
    .replace(/\s*<link rel="preload"[^>]*>/g, '')
    .replace(
      '</body>',
      () => `  <script type="text/plain" id="files">${toBase85(packed)}</script>
    <script>${start}</script>
  </body>`,
    );
  if (page.length > FILE_MAX)
    throw new Error(
      `${target} has ${page.length} bytes; at most ${FILE_MAX}: leave out programs of web/file/one-file.ts`,
    );
  writeFileSync(target, page);
  return Buffer.byteLength(page);
}
