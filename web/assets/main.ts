// Makes the data of the page: recorded programs, kernels, source texts. Run by setup/web.mjs in a
// checkout; everything comes from the command and the tree, so it is as true as they are.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Elf, Program } from '../../coverage/index.ts';
import { Image } from '../../debug/image.ts';
import { parseCapsule } from '../../host/capsule.ts';
import { kernelParts } from '../../host/kernel-parts.ts';
import { labsForPage } from '../../host/lab/portable.ts';
import { syscallName } from '../../host/sources.ts';
import { buildKernel, sha256 } from '../../toolchain/index.ts';
import { tidPlace } from '../engine/threads.ts';
import type { Assets, ImageFiles, KernelFiles, Part, ProgramRow } from '../protocol.ts';
import { PROGRAMS, type ProgramSource } from './programs.ts';

const SYSCALLS_MAX = 512;
/** The first program calls it. */
const FIRST_FUNCTION = 'sys_read';
/** One schedule in seven loses the update of `lost`. */
const SEEDS_MAX = 100;
const SOURCES = ['kernel', 'guest-programs', 'examples'];

/**
 * Files of this kind are named .packed: some hosts send a .gz with Content-Encoding, and then the
 * browser unpacks it before the page can.
 */
const packed = (bytes: Uint8Array): Uint8Array =>
  // Shorter blocks are best for tables of lines, which change often. setup/web-scripts.mjs does the
  // same for scripts.
  [6, 8]
    .map(memLevel => gzipSync(bytes, { level: 9, memLevel }))
    .reduce((best, other) => (other.length < best.length ? other : best));

/**
 * A capsule with the hashes of its images alone. Its program is beside it, so that an address can
 * name the program by its hash, too.
 */
function record(program: ProgramSource, root: string, folder: string): { image: ImageFiles; seal: string } {
  const { id, dialect, path, options = [], input = '' } = program;
  const whole = join(folder, `${id}.whole`);
  const file = join(folder, 'programs', `${id}.kcapsule`);
  const kcovbox = (...words: string[]) =>
    spawnSync(process.execPath, [join(root, 'bin', 'kcovbox.cjs'), ...words], {
      cwd: root,
      encoding: 'utf8',
      input,
    });
  const run = (...more: string[]) =>
    kcovbox('run', '--dialect', dialect, ...options, ...more, '--record', whole, path);
  const ran = program.failsFrom === undefined ? run() : failing(program.failsFrom, run);
  const thin = kcovbox('capsule', 'thin', '-o', file, whole);
  if (thin.status !== 0) throw new Error(`${path} was not recorded: ${ran.stderr}${thin.stderr}`);
  const image = parseCapsule(readFileSync(whole), whole).read('initrd.bin');
  rmSync(whole);
  const { seal } = parseCapsule(readFileSync(file), file).manifest;
  if (seal === undefined) throw new Error(`${file} has no seal`);
  return { image: written(folder, `programs/${id}`, image), seal };
}

/** The first run that fails; the kernel, the compiler and the seed decide which one does. */
function failing(from: number, run: (...more: string[]) => ReturnType<typeof spawnSync>) {
  for (let seed = from; seed < from + SEEDS_MAX; seed++) {
    const ran = run('--sched-seed', String(seed));
    if (ran.status !== 0) return ran;
  }
  throw new Error(`no schedule seed from ${from} to ${from + SEEDS_MAX - 1} lets the program fail`);
}

/** Paths and hashes of parts that are written below `folder`. */
function written(folder: string, name: string, bytes: Uint8Array): Part {
  const hash = sha256(bytes);
  const path = `${name}-${hash.slice(0, 12)}.packed`;
  writeFileSync(join(folder, path), packed(bytes));
  return { path, sha256: hash };
}

async function kernelFiles(dialect: string, folder: string): Promise<{ files: KernelFiles; elf: Elf }> {
  const { path } = await buildKernel(dialect);
  const bytes = readFileSync(path);
  const { load, lines, rest, copies, elf } = kernelParts(bytes, path);
  const part = (name: string, contents: Uint8Array): Part =>
    written(folder, `kernels/${dialect}.${name}`, contents);
  const files = {
    dialect,
    sha256: sha256(bytes),
    bytes: bytes.length,
    load: part('load', load),
    lines: part('lines', lines),
    rest: part('rest', rest).path,
    copies,
    tidPlace: tidPlace(new Image(bytes, path)),
  };
  return { files, elf };
}

/** The line that a function begins at. */
function placeOf(elf: Elf, name: string): { file: string; line: number } {
  const [found] = new Program(elf).functions.filter(fn => fn.name === name);
  if (!found) throw new Error(`the kernel has no function ${name}`);
  return { file: found.file, line: found.line };
}

/** Texts by their path in the repository. */
function sourceTexts(root: string): Record<string, string> {
  const listed = execFileSync('git', ['ls-files', ...SOURCES], { cwd: root, encoding: 'utf8' });
  const texts = listed.split('\n').filter(path => /\.(c|h|S|def)$/.test(path));
  return Object.fromEntries(texts.sort().map(path => [path, readFileSync(join(root, path), 'utf8')]));
}

/** Writes everything below `folder` and answers with the index. */
export async function makeAssets(root: string, folder: string): Promise<Assets> {
  rmSync(folder, { recursive: true, force: true });
  for (const name of ['programs', 'kernels']) mkdirSync(join(folder, name), { recursive: true });
  const kernels = new Map<string, Awaited<ReturnType<typeof kernelFiles>>>();
  for (const dialect of new Set(PROGRAMS.map(program => program.dialect)))
    kernels.set(dialect, await kernelFiles(dialect, folder));
  const images: ImageFiles[] = [];
  const programs = PROGRAMS.map((program): ProgramRow => {
    const { image, seal } = record(program, root, folder);
    images.push(image);
    const { id, title, about, dialect } = program;
    const { load, lines } = kernels.get(dialect)!.files;
    const capsule = `programs/${id}.kcapsule`;
    return { id, title, about, dialect, capsule, seal, needs: [capsule, load.path, lines.path, image.path] };
  });
  const [{ id, dialect }] = PROGRAMS as [ProgramSource];
  const assets = {
    programs,
    first: { program: id, ...placeOf(kernels.get(dialect)!.elf, FIRST_FUNCTION) },
    kernels: [...kernels.values()].map(({ files }) => files),
    images,
    sources: writeSources(sourceTexts(root), folder),
    syscalls: syscallNames(),
  };
  writeFileSync(join(folder, 'assets.packed'), packed(Buffer.from(JSON.stringify(assets))));
  writeFileSync(join(folder, 'labs.packed'), packed(Buffer.from(JSON.stringify(labsForPage()))));
  return assets;
}

/** Each in a file of its own. */
function writeSources(texts: Record<string, string>, folder: string): Assets['sources'] {
  const sources = `sources-${sha256(Buffer.from(JSON.stringify(texts))).slice(0, 12)}`;
  for (const [name, text] of Object.entries(texts)) {
    const path = join(folder, sources, `${name}.packed`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, packed(Buffer.from(text)));
  }
  const names: Record<string, string[]> = {};
  for (const path of Object.keys(texts)) (names[dirname(path)] ??= []).push(basename(path));
  return { folder: sources, names };
}

const syscallNames = (): Assets['syscalls'] =>
  Array.from({ length: SYSCALLS_MAX }, (_, n) => syscallName(n) ?? null);

/** Bytes of each file, for the report of the build. */
export const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
