// Makes the data of the page: recorded programs, kernels, source texts. Run by setup/web.mjs in a
// checkout; everything comes from the command and the tree, so it is as true as they are.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { readElf } from '../../emulator/index.ts';
import { parseCapsule } from '../../host/capsule.ts';
import { syscallName } from '../../host/sources.ts';
import { buildKernel } from '../../toolchain/index.ts';
import type { Assets, ImageFiles, ProgramRow } from '../protocol.ts';
import { PROGRAMS, type ProgramSource } from './programs.ts';

const SYSCALLS_MAX = 512;
const SOURCES = ['kernel', 'guest-programs', 'examples'];

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
/**
 * Files of this kind are named .packed: some hosts send a .gz with Content-Encoding, and then the
 * browser unpacks it before the page can.
 */
const gzip = (bytes: Uint8Array): Uint8Array => gzipSync(bytes, { level: 9 });

/**
 * A capsule with the hashes of its images alone. Its program is beside it, so that an address can
 * name the program by its hash, too.
 */
function record(
  { id, dialect, path, options = [] }: ProgramSource,
  root: string,
  folder: string,
): ImageFiles {
  const whole = join(folder, `${id}.whole`);
  const file = join(folder, 'programs', `${id}.kcapsule`);
  const kcovbox = (...words: string[]) =>
    spawnSync(process.execPath, [join(root, 'bin', 'kcovbox.cjs'), ...words], {
      cwd: root,
      encoding: 'utf8',
      input: '',
    });
  const ran = kcovbox('run', '--dialect', dialect, ...options, '--record', whole, path);
  const thin = kcovbox('capsule', 'thin', '-o', file, whole);
  if (thin.status !== 0) throw new Error(`${path} was not recorded: ${ran.stderr}${thin.stderr}`);
  const image = parseCapsule(readFileSync(whole), whole).read('initrd.bin');
  rmSync(whole);
  const hash = sha256(image);
  const name = `programs/${id}-${hash.slice(0, 12)}.packed`;
  writeFileSync(join(folder, name), gzip(image));
  return { sha256: hash, parts: [name] };
}

/** The image in two parts: what is loaded, and what names it. */
async function kernelFiles(dialect: string, folder: string): Promise<ImageFiles> {
  const { path } = await buildKernel(dialect);
  const bytes = readFileSync(path);
  const { segments } = readElf(bytes, path);
  const end = Math.max(...segments.map(({ data }) => data.byteOffset - bytes.byteOffset + data.length));
  const hash = sha256(bytes);
  const parts = [bytes.subarray(0, end), bytes.subarray(end)].map((part, i) => {
    const name = `kernels/${dialect}-${hash.slice(0, 12)}.${i === 0 ? 'load' : 'debug'}.packed`;
    writeFileSync(join(folder, name), gzip(part));
    return name;
  });
  return { sha256: hash, parts };
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
  const images: ImageFiles[] = [];
  for (const dialect of new Set(PROGRAMS.map(program => program.dialect)))
    images.push(await kernelFiles(dialect, folder));
  const programs = PROGRAMS.map((program): ProgramRow => {
    images.push(record(program, root, folder));
    const { id, title, about, dialect } = program;
    return { id, title, about, dialect, capsule: `programs/${id}.kcapsule` };
  });
  const sources = Buffer.from(JSON.stringify(sourceTexts(root)));
  const path = `sources-${sha256(sources).slice(0, 12)}.packed`;
  writeFileSync(join(folder, path), gzip(sources));
  const syscalls: Record<string, string> = {};
  for (let n = 0; n < SYSCALLS_MAX; n++) {
    const name = syscallName(n);
    if (name !== undefined) syscalls[n] = name;
  }
  const assets = { programs, images, sources: path, syscalls };
  writeFileSync(join(folder, 'assets.json'), JSON.stringify(assets));
  return assets;
}

/** Bytes of each file, for the report of the build. */
export const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
