// A lab as plain data, for a judge without files: the page. It has everything that decides a score,
// and the text.
import type { LabCheck, LabManifest } from '../schema.ts';
import { bytesOf, type LabContents } from './lab.ts';

/** Texts by path. */
export type Texts = Readonly<Record<string, string>>;

export interface PortableLab {
  readonly name: string;
  readonly manifest: LabManifest;
  /** Markdown, for the student. */
  readonly text: string;
  readonly starter: Texts;
  readonly tests: Texts;
  readonly mutants: LabContents['mutants'];
  /** As `openLab` computes it. */
  readonly sha256: string;
  /** The kernel's files that the checks name. */
  readonly sources: Texts;
  /** Names in the folders of the kernel that the lab empties. */
  readonly folders: Readonly<Record<string, readonly string[]>>;
}

/** A device of the board's own runs outside of the guest, and needs a host that loads it. */
export const isPortable = ({ files, checks }: LabManifest): boolean =>
  !files.some(({ device }) => device) && !checks.some(check => 'devices' in check && check.devices?.length);

/** Kinds of checks that compile nothing. */
const WITHOUT_TOOLS: readonly LabCheck['kind'][] = ['style', 'answers'];
export const needsTools = ({ kind }: LabCheck): boolean => !WITHOUT_TOOLS.includes(kind);

const placesOf = (check: LabCheck): readonly string[] => {
  if (check.kind === 'run') return [...(check.reaches ?? []), ...(check.lists ?? [])];
  return check.kind === 'cover' ? check.places : [];
};

/** The kernel's files that judging reads. */
export function sourcesOf({ files, checks }: LabManifest): string[] {
  const added = files.flatMap(({ place, adds }) => (adds === undefined ? [] : [place!]));
  const named = checks.flatMap(placesOf).map(place => place.split(': ')[0]!);
  const mutants = checks.flatMap(check => (check.kind === 'mutants' ? [check.file] : []));
  return [...new Set([...added, ...named, ...mutants])].sort();
}

export const filesOf = (texts: Texts): Map<string, Uint8Array> =>
  new Map(Object.entries(texts).map(([path, text]) => [path, bytesOf(text)]));

export const contentsOf = ({ starter, tests, ...rest }: PortableLab): LabContents => ({
  ...rest,
  starter: filesOf(starter),
  tests: filesOf(tests),
});

/** A request to `kcovbox serve` to compile something of a lab: an ELF file is the answer. */
export type BuildRequest =
  | { readonly kind: 'kernel'; readonly conf: string; readonly files: Texts }
  | { readonly kind: 'program'; readonly name: string; readonly dialect: string; readonly files: Texts };

/** The answer to files that do not compile: the words of the compiler. */
export interface Refusal {
  readonly message: string;
  readonly detail: string;
}

/** A file of a folder that a lab empties. */
export const EMPTY = '/* empty */\n';
