// The lines that the reader saw last, kept by the browser. The same page and the same program have
// the same lines, so they are shown at once when they are opened again, while the run is repeated.
import type { Lines, Measure } from '../protocol.ts';
import { build } from './load.ts';
import type { Place } from './place.ts';

const NAME = 'kcovbox-lines';
/** Letters; larger files are not kept. */
const MOST = 500_000;

export interface Kept {
  readonly build: string;
  readonly program: string;
  readonly path: string;
  /** Does an address without a place show it? */
  readonly isFirst: boolean;
  readonly measure: Measure;
  readonly text: string;
  readonly lines: Lines;
}

/** Only of runs that were the recorded ones. */
export function keepLines(kept: Omit<Kept, 'build'>): void {
  if (build === undefined) return;
  const text = JSON.stringify({ ...kept, build });
  if (text.length > MOST) return;
  try {
    localStorage.setItem(NAME, text);
  } catch {} // not allowed here
}

/** Undefined: others, or none. */
export function keptLines({ run, program, file }: Place): Kept | undefined {
  if (build === undefined || run !== undefined) return undefined;
  try {
    const kept = JSON.parse(localStorage.getItem(NAME) ?? 'null') as Kept | null;
    if (kept?.build !== build) return undefined;
    const isWanted = program === undefined ? kept.isFirst : program === kept.program && file === kept.path;
    return isWanted ? kept : undefined;
  } catch {
    return undefined;
  }
}
