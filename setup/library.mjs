// Builds the library from library/: dist/esm/*.mjs and dist/cjs/*.cjs with their types, .d.mts and
// .d.cts. Run by `npm pack`. Each format is whole and shares its code among the entries, so
// that an error of one is an instance of the class of the others.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeClient } from './client.mjs';
import { ROOT } from './ensure.mjs';

/** The entries of the package, kcovbox/NAME, in the order of the documents. */
export const ENTRIES = ['emulator', 'coverage', 'node', 'fuzz', 'device'];
const ESM = join(ROOT, 'dist', 'esm');
const CJS = join(ROOT, 'dist', 'cjs');
/** Output of the compiler: the declarations of all modules, of which the entries reach a few. */
export const TYPES = join(ROOT, '.cache', `types-${process.pid}`);

/**
 * Lines stay as they are: Node prints the line of an error that nobody catches, and bundlers minify
 * anyway.
 */
const STYLE = { target: 'es2022', legalComments: 'inline' };

async function buildModules(esbuild) {
  const { outputFiles } = await esbuild.build({
    ...STYLE,
    absWorkingDir: ROOT,
    entryPoints: ENTRIES.map(name => `library/${name}.ts`),
    bundle: true,
    splitting: true,
    write: false,
    platform: 'node',
    format: 'esm',
    outdir: ESM,
    outExtension: { '.js': '.mjs' },
    chunkNames: 'shared-[hash]',
    logLevel: 'silent',
  });
  return outputFiles.map(({ path, text }) => ({ name: basename(path, '.mjs'), text }));
}

/** One ES module as CommonJS. Only the entry for Node asks where it is. */
async function toCommonJs(esbuild, { name, text }, names) {
  const asksUrl = text.includes('import.meta.url');
  const { code } = await esbuild.transform(text, {
    ...STYLE,
    format: 'cjs',
    platform: 'node',
    ...(asksUrl && { define: { 'import.meta.url': 'kcovboxUrl' } }),
  });
  const linked = names.reduce(
    (all, other) => all.replaceAll(`require("./${other}.mjs")`, `require("./${other}.cjs")`),
    code,
  );
  const url = "const kcovboxUrl=require('node:url').pathToFileURL(__filename).href;";
  return { name, text: asksUrl ? linked.replace(/^("use strict";)?/, `$1${url}`) : linked };
}

/** Writes the declarations that `path` reaches, under the folder `out`, as files with `suffix`. */
function copyTypes(path, out, suffix, done = new Set()) {
  if (done.has(path)) return;
  done.add(path);
  const specifier = /(from '|import\(')(\.{1,2}\/[^']+)\.ts'/g;
  const text = readFileSync(`${path}.d.ts`, 'utf8').replace(/^\/\/# sourceMapping.*$/m, '');
  const target = join(out, `${relative(TYPES, path)}.d.${suffix}`);
  mkdirSync(dirname(target), { recursive: true });
  const ending = suffix.replace('ts', 'js');
  writeFileSync(
    target,
    text.replace(specifier, (_, how, to) => `${how}${to}.${ending}'`),
  );
  for (const [, , to] of text.matchAll(specifier)) copyTypes(join(dirname(path), to), out, suffix, done);
}

/**
 * Types of the entries, and of what they name: dist/esm/emulator.d.mts says only where they are.
 */
function writeTypes(out, suffix) {
  for (const entry of ENTRIES) {
    copyTypes(join(TYPES, 'library', entry), join(out, 'types'), suffix);
    const from = `./types/library/${entry}.${suffix.replace('ts', 'js')}`;
    writeFileSync(join(out, `${entry}.d.${suffix}`), `export * from '${from}';\n`);
  }
}

/** Has the compiler write the declarations of all modules. */
export function writeDeclarations() {
  rmSync(TYPES, { recursive: true, force: true });
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const args = [tsc, '-p', join(ROOT, 'library'), '--outDir', TYPES];
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the types of the library cannot be written:\n${stdout}`);
}

export async function buildLibrary() {
  await writeClient(new Date());
  writeDeclarations();
  const esbuild = await import('esbuild');
  const modules = await buildModules(esbuild);
  for (const folder of [ESM, CJS]) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
  }
  const names = modules.map(({ name }) => name);
  for (const module of modules) {
    writeFileSync(join(ESM, `${module.name}.mjs`), module.text);
    const { name, text } = await toCommonJs(esbuild, module, names);
    writeFileSync(join(CJS, `${name}.cjs`), text);
  }
  writeTypes(ESM, 'mts');
  writeTypes(CJS, 'cts');
  rmSync(TYPES, { recursive: true });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildLibrary();
