// Lines that the reader saw, kept by the browser. The same page and the same capsule have the same
// lines, so they are shown at once when they are opened again, while the run is repeated. Then they
// are compared with those of the run.
//
// Kept are lines of programs of the menu only. The worker names the capsule of each answer by its
// seal, a hash of its bytes, so the lines of a stranger's capsule never get the name of a program.
// web/start/kept.ts reads them, because the first script draws them.
import type { Assets, SourceLines } from '../protocol.ts';
import { type Kept, keptLines as keptOf, NAMES } from '../start/kept.ts';
import { build } from './load.ts';
import type { Place } from './place.ts';

/** Letters; larger files are not kept. */
const MOST = 500_000;

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
export const keptLines = (place: Place): Kept | undefined =>
  build === undefined ? undefined : keptOf(build, place);

/** A line for people; undefined: the run has the same lines. */
export function differenceOf(kept: Kept, { text, lines, seal }: SourceLines): string | undefined {
  const isSame = kept.seal === seal && kept.text === text && `${kept.lines}` === `${lines}`;
  return isSame
    ? undefined
    : `the lines of ${kept.path} that this browser had kept were not those of the run: its storage was changed. These are of the run`;
}
