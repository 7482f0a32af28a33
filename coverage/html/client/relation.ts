/** How two groups differ on a line. */

export const WORDS: Record<string, string> = {
  oa: 'only A ran it',
  ob: 'only B ran it',
  c: 'both ran it',
  u: 'neither ran it',
  x: 'unknown',
};

const ran = (letter: string): boolean => letter === 'c' || letter === 'p';

/** A line is a difference only if it ran in one and provably did not in the other. */
export function relation(a: string, b: string): string {
  if (ran(a) && ran(b)) return 'c';
  if (ran(a) && b === 'u') return 'oa';
  if (ran(b) && a === 'u') return 'ob';
  return a === 'u' && b === 'u' ? 'u' : 'x';
}
