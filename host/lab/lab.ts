// A lab on this host: its folder, and what a student hands in.
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { KcovboxError } from '../../emulator/index.ts';
import { type LabManifest, labManifest } from '../../grade/schema.ts';
import { firstIssue } from '../../run/issue.ts';
import { packageRoot, sha256, sha256OfParts } from '../../toolchain/index.ts';
import { readText } from '../input.ts';

export const refused = (why: string): KcovboxError => new KcovboxError('input', why);

/** Contents by path below a folder. */
export type Files = Map<string, Uint8Array>;

/** Of a file of the student's or of the lab's, in bytes. */
const FILE_MAX = 256 << 10;
const FILES_MAX = 64;
/** Bytes of lab.json, and of mutants.json. */
const JSON_MAX = 1 << 20;

export interface Lab {
  /** `NN-NAME` */
  readonly name: string;
  readonly folder: string;
  readonly manifest: LabManifest;
  readonly starter: Files;
  /** By path below the lab, and `check.h` of all labs. */
  readonly tests: Files;
  /** Chosen mutants by check. */
  readonly mutants: Readonly<Record<string, readonly string[]>>;
  /** Of everything that decides a score. */
  readonly sha256: string;
}

/** The files of a folder, without those in folders below it; none where there is no folder. */
export function readFolder(folder: string, prefix = ''): Files {
  const files: Files = new Map();
  if (!existsSync(folder)) return files;
  for (const name of readdirSync(folder).sort()) {
    const status = lstatSync(join(folder, name));
    if (!status.isFile() || status.size > FILE_MAX || files.size >= FILES_MAX) continue;
    files.set(prefix + name, readFileSync(join(folder, name)));
  }
  return files;
}

export const hashOfFiles = (files: ReadonlyMap<string, Uint8Array>): string =>
  sha256OfParts(...[...files].sort(([a], [b]) => (a < b ? -1 : 1)).flat());

/** The labs of the package: names of folders. */
export const labNames = (): string[] =>
  readdirSync(labsFolder())
    .filter(name => existsSync(join(labsFolder(), name, 'lab.json')))
    .sort();

export const labsFolder = (): string => join(packageRoot(), 'labs');

function readJson(path: string): unknown {
  const text = readText(path, 'lab', JSON_MAX);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw refused(`${path} is not JSON: ${(error as Error).message}`);
  }
}

/** A lab by number (`3`, `03`), by name (`03-clients`), or by the path of its folder. */
export function openLab(word: string): Lab {
  const names = labNames();
  const number = /^\d{1,2}$/.test(word) ? word.padStart(2, '0') : undefined;
  const name = names.find(known => known === word || known.split('-')[0] === number);
  const folder = name === undefined ? resolve(word) : join(labsFolder(), name);
  if (!existsSync(join(folder, 'lab.json')))
    throw refused(`there is no lab ${word}; there are ${names.join(', ')}, or give the folder of one`);
  const path = join(folder, 'lab.json');
  const parsed = labManifest.safeParse(readJson(path));
  if (!parsed.success) throw refused(`${path}: ${firstIssue(parsed.error)}`);
  const tests = readFolder(join(folder, 'tests'), 'tests/');
  tests.set('check.h', readFileSync(join(packageRoot(), 'guest-programs', 'tests', 'check.h')));
  const starter = readFolder(join(folder, 'starter'));
  const chosen = existsSync(join(folder, 'mutants.json')) ? readJson(join(folder, 'mutants.json')) : {};
  const mutants = chosen as Record<string, string[]>;
  const manifest = parsed.data;
  const text = JSON.stringify([manifest, mutants]);
  return {
    name: basename(folder),
    folder,
    manifest,
    starter,
    tests,
    mutants,
    sha256: sha256OfParts(text, hashOfFiles(starter), hashOfFiles(tests)),
  };
}

export interface Submission {
  readonly name: string;
  readonly files: Files;
  readonly sha256: string;
  /** Files of the lab that are not there. */
  readonly missing: readonly string[];
  /** Changed copies of the lab's own files: they do not count. */
  readonly ignored: readonly string[];
}

/** Only the files that the lab names; everything else is the lab's own or nobody's. */
export function readSubmission(lab: Lab, folder: string, name = basename(resolve(folder))): Submission {
  const given = readFolder(folder);
  const files: Files = new Map();
  const missing: string[] = [];
  for (const { name: file } of lab.manifest.files) {
    const bytes = given.get(file);
    if (bytes) files.set(file, bytes);
    else missing.push(file);
  }
  const ignored: string[] = [];
  for (const [path, bytes] of readFolder(join(folder, 'tests'), 'tests/')) {
    const own = lab.tests.get(path);
    if (own && Buffer.compare(own, bytes) !== 0) ignored.push(path);
  }
  return { name, files, sha256: hashOfFiles(files), missing, ignored };
}

export const hashText = (text: string): string => sha256(new TextEncoder().encode(text));
