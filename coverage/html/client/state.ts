/** Choices of the reader that are not part of the URL. */
import type { PagePath } from '../page.ts';
import { D, groupNamed } from './data.ts';
import { here } from './url.ts';

const reachedFiles = D.files.filter(file => file.t[5] > 0 || file.t[0] > 0).length;

export const state = {
  reachedFiles,
  reachedOnly: D.files.length > 30 && reachedFiles < D.files.length / 2,
  files: { key: 'path', up: true },
  functions: { key: D.counts ? 'calls' : 'share', up: false },
  /** Directories that were opened or closed by hand. */
  toggled: new Set<string>(),
  /** Lines whose points are shown. */
  open: new Set<number>(),
  path: undefined as PagePath | undefined,
  zoom: [0, 1] as [number, number],
};

/** The group that everything is restricted to, -1 for none. */
export const only = (): number => groupNamed(here.only);

/** The two groups that are compared; undefined when none or only one is chosen. */
export function compared(): { a: number; b: number } | undefined {
  const [a, b] = [groupNamed(here.a), groupNamed(here.b)];
  return a < 0 || b < 0 || a === b ? undefined : { a, b };
}
