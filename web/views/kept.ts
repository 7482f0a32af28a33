// Lines that the reader saw, kept by the browser. The same page and the same capsule have the same
// lines, so they are shown at once when they are opened again, while the run is repeated. Then they
// are compared with those of the run.
//
// Kept are lines of programs of the menu only. The worker names the capsule of each answer by its
// seal, a hash of its bytes, so the lines of a stranger's capsule never get the name of a program.
import type { Assets, Lines, SourceLines } from '../protocol.ts';
import { NAMES } from '../start/kept-names.ts';
import { build } from './load.ts';
import type { Place } from './place.ts';

/** Letters; larger files are not kept. */
const MOST = 500_000;

export interface Kept {
  readonly build: string;
  /** Of the capsule. */
  readonly seal: string;
  readonly program: string;
  readonly path: string;
  /** Of an address that names none. */
  readonly line: number;
  readonly text: string;
  readonly lines: Lines;
}

/** Lines of another capsule than those of the menu are not kept. */
export function keepLines({ programs, first }: Assets, path: string, answer: SourceLines): void {
  const { text, lines, seal } = answer;
  const program = seal && programs.find(row => row.seal === seal)?.id;
  if (build === undefined || !program || !seal || text === undefined) return;
  const isFirst = program === first.program && path === first.file;
  const line = isFirst ? first.line : 1;
  const kept = JSON.stringify({ build, seal, program, path, line, text, lines } satisfies Kept);
  if (kept.length > MOST) return;
  try {
    localStorage.setItem(isFirst ? NAMES.first : NAMES.last, kept);
  } catch {} // not allowed here
}

/** Undefined: others, or none. */
export function keptLines({ run, wait, program, file }: Place): Kept | undefined {
  if (build === undefined || run !== undefined || wait !== undefined) return undefined;
  const [first, last] = [NAMES.first, NAMES.last].map(read);
  if (program === undefined) return first;
  return [first, last].find(kept => kept?.program === program && kept.path === file);
}

function read(name: string): Kept | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem(name) ?? '{}') as Partial<Kept>;
    return kept.build === build && isWhole(kept) ? kept : undefined;
  } catch {
    return undefined;
  }
}

/** A person can write anything into the storage. */
function isWhole(kept: Partial<Kept>): kept is Kept {
  const { path, text, line, lines } = kept;
  const isLine = (row: unknown): boolean => Array.isArray(row) && Number.isSafeInteger(row[0]) && row[0] >= 1;
  return (
    typeof path === 'string' &&
    typeof text === 'string' &&
    Number.isSafeInteger(line) &&
    Array.isArray(lines) &&
    lines.every(isLine)
  );
}

/** A line for people; undefined: the run has the same lines. */
export function differenceOf(kept: Kept, { text, lines, seal }: SourceLines): string | undefined {
  const isSame = kept.seal === seal && kept.text === text && `${kept.lines}` === `${lines}`;
  return isSame
    ? undefined
    : `the lines of ${kept.path} that this browser had kept were not those of the run: its storage was changed. These are of the run`;
}
