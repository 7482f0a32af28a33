// A lab on this host: its folder, and what a student hands in.
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import {
  type Files,
  hashOfFiles,
  type LabContents,
  refused,
  type Submission,
  submissionOf,
} from '../../grade/judge/lab.ts';
import { labManifest } from '../../grade/schema.ts';
import { firstIssue } from '../../run/issue.ts';
import { packageRoot, sha256OfParts } from '../../toolchain/index.ts';
import { readText } from '../input.ts';

/** Of a file of the student's or of the lab's, in bytes. */
const FILE_MAX = 256 << 10;
const FILES_MAX = 64;
/** Bytes of lab.json, and of mutants.json. */
const JSON_MAX = 1 << 20;

export interface Lab extends LabContents {
  readonly folder: string;
}

/** The text of a lab, with the kernel's folder where it has `{kernel}`. */
export const labText = ({ folder }: Pick<Lab, 'folder'>, kernel: string): string =>
  readFileSync(join(folder, 'text.md'), 'utf8').replaceAll('{kernel}', kernel);

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

/** The labs of the package: names of folders. */
export const labNames = (): string[] =>
  readdirSync(labsFolder())
    .filter(name => existsSync(join(labsFolder(), name, 'lab.json')))
    .sort();

export const labsFolder = (): string => join(packageRoot(), 'labs');

/** Not a lab of the user's own, which may be a stranger's. */
export const isOfPackage = ({ folder }: Pick<Lab, 'folder'>): boolean =>
  dirname(resolve(folder)) === resolve(labsFolder());

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
    throw refused(
      `there is no lab ${word || '""'}; there are ${names.join(', ')}, or give the folder of one`,
    );
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
    sha256: sha256OfParts(text, hashOfFiles(starter, sha256OfParts), hashOfFiles(tests, sha256OfParts)),
  };
}

/** Only the files that the lab names; everything else is the lab's own or nobody's. */
export function readSubmission(lab: Lab, folder: string, name = basename(resolve(folder))): Submission {
  const ignored: string[] = [];
  for (const [path, bytes] of readFolder(join(folder, 'tests'), 'tests/')) {
    const own = lab.tests.get(path);
    if (own && Buffer.compare(own, bytes) !== 0) ignored.push(path);
  }
  return { ...submissionOf(lab, readFolder(folder), name, sha256OfParts), ignored };
}
