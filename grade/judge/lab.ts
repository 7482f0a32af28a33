// A lab and a submission as contents alone, from a folder, an archive or the page.
import { KcovboxError } from '../../emulator/base/errors.ts';
import type { LabManifest } from '../schema.ts';

export const refused = (why: string): KcovboxError => new KcovboxError('input', why);

/** Contents by path below a folder. */
export type Files = Map<string, Uint8Array>;

/** UTF-8, each byte counted: a mark of byte order stays. */
export const textOf = (bytes: Uint8Array): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

export interface LabContents {
  /** `NN-NAME` */
  readonly name: string;
  readonly manifest: LabManifest;
  readonly starter: Files;
  /** By path below the lab, and `check.h` of all labs. */
  readonly tests: Files;
  /** Chosen mutants by check. */
  readonly mutants: Readonly<Record<string, readonly string[]>>;
  /** Of everything that decides a score. */
  readonly sha256: string;
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

/** Hashes parts, each with a NUL behind it. */
export type HashParts = (...parts: (string | Uint8Array)[]) => string;

export const hashOfFiles = (files: ReadonlyMap<string, Uint8Array>, hash: HashParts): string =>
  hash(...[...files].sort(([a], [b]) => (a < b ? -1 : 1)).flat());

/** Only the files that the lab names; everything else is the lab's own or nobody's. */
export function submissionOf(
  { manifest }: LabContents,
  given: ReadonlyMap<string, Uint8Array>,
  name: string,
  hash: HashParts,
): Submission {
  const names = manifest.files.map(file => file.name);
  const files: Files = new Map(names.flatMap(file => (given.has(file) ? [[file, given.get(file)!]] : [])));
  const missing = names.filter(file => !files.has(file));
  return { name, files, sha256: hashOfFiles(files, hash), missing, ignored: [] };
}
