// Makes the page as one HTML file of the page as a folder: all scripts and data of one system are
// packed together, so that programs share what they have in common. Run by setup/web.mjs.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Assets } from '../protocol.ts';
import { pack } from './pack.ts';

/** The file is for one system: two kernels are too large for it. */
const DIALECT = 'openbsd';
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

/** The files that are packed, by the paths of assets.json, but unpacked. */
function contents(folder: string): Map<string, Uint8Array> {
  const read = (path: string): Buffer => readFileSync(join(folder, path));
  const script = (start: string): Buffer => {
    const name = readdirSync(join(folder, 'assets')).find(
      one => one.startsWith(start) && one.endsWith('.js'),
    );
    return read(join('assets', name!));
  };
  const all = JSON.parse(read('assets.json').toString()) as Assets;
  const programs = all.programs.filter(({ dialect }) => dialect === DIALECT);
  const isWanted = (part: string): boolean =>
    part.startsWith(`kernels/${DIALECT}-`) ||
    programs.some(({ id }) => part.startsWith(`programs/${id}-`) && part.endsWith('.packed'));
  const images = all.images.filter(({ parts }) => parts.every(isWanted));
  const files = new Map<string, Uint8Array>();
  for (const part of images.flatMap(({ parts }) => parts)) files.set(part, gunzipSync(read(part)));
  const named = Buffer.concat([...files.values()]);
  const texts = Object.entries(
    JSON.parse(gunzipSync(read(all.sources)).toString()) as Record<string, string>,
  );
  // Of a text that no image names no line can be shown.
  const shown = texts.filter(([path]) => named.includes(path.slice(path.lastIndexOf('/') + 1)));
  files.set(all.sources, Buffer.from(JSON.stringify(Object.fromEntries(shown))));
  for (const { capsule } of programs) files.set(capsule, read(capsule));
  files.set('assets.json', Buffer.from(JSON.stringify({ ...all, programs, images })));
  files.set('page.js', script('index-'));
  files.set('worker.js', script('worker-'));
  return files;
}

/** `start`: the bundle of start.ts. Answers with the size; an error when it is too large. */
export function makeFile(folder: string, start: string, target: string): number {
  const files = contents(folder);
  const sizes = [...files].map(([name, { length }]) => [name, length]);
  const packed = pack(Buffer.concat([Buffer.from(`${JSON.stringify(sizes)}\n`), ...files.values()]));
  const style = readdirSync(join(folder, 'assets')).find(name => name.endsWith('.css'))!;
  const css = readFileSync(join(folder, 'assets', style), 'utf8');
  const page = readFileSync(join(folder, 'index.html'), 'utf8')
    .replace(/(Content-Security-Policy"\s+content=")[^"]*/, (_, before: string) => before + policy(start))
    .replace(/\s*<script[^>]*><\/script>/, '')
    .replace(/<link rel="stylesheet"[^>]*>/, () => `<style>${css}</style>`)
    .replace(
      '</body>',
      () => `  <script type="text/plain" id="files">${Buffer.from(packed).toString('base64')}</script>
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
