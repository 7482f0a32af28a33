// Submissions with much in common: winnowing (Schleimer, Wilkerson, Aiken 2003). A run of K
// items becomes a hash; of W hashes in a row the smallest is kept. Two texts that share K + W - 1
// items in a row therefore share at least one kept hash. Hashes of the starter do not count.
import { type Token, tokensOf } from './tokens.ts';

/** Items that make one hash, and hashes in a window. */
const K = 12;
const W = 8;

/** Names are one kind of item and numbers another: renaming changes nothing. */
const KEPT = new Set(
  'if else for while do switch case default return break continue goto sizeof struct static const'.split(' '),
);
const itemOf = ({ kind, text }: Token): string =>
  kind === 'name' ? (KEPT.has(text) ? text : 'n') : kind === 'number' ? '0' : kind === 'string' ? '"' : text;

/** FNV-1a over the items of a window. */
function hashOf(items: readonly string[], from: number): number {
  let hash = 0x811c_9dc5;
  for (let i = from; i < from + K; i++) {
    for (const c of items[i]!) hash = Math.imul(hash ^ c.charCodeAt(0), 0x0100_0193);
    hash = Math.imul(hash ^ 0x20, 0x0100_0193);
  }
  return hash >>> 0;
}

/** The kept hashes of a sequence of items. */
export function fingerprint(items: readonly string[]): Set<number> {
  const hashes = Array.from({ length: Math.max(0, items.length - K + 1) }, (_, i) => hashOf(items, i));
  const kept = new Set<number>();
  for (let i = 0; i + W <= hashes.length; i++) kept.add(Math.min(...hashes.slice(i, i + W)));
  if (hashes.length > 0 && hashes.length < W) kept.add(Math.min(...hashes));
  return kept;
}

/** Of C sources, one behind the other. */
export const codePrint = (sources: readonly string[]): Set<number> =>
  new Set(sources.flatMap(source => [...fingerprint(tokensOf(source).map(itemOf))]));

export interface Likeness {
  readonly a: string;
  readonly b: string;
  /** Kept hashes of both over those of the smaller one, in percent. */
  readonly percent: number;
  readonly shared: number;
}

/** All pairs that share at least `least` percent, the most alike first. */
export function alike(
  prints: ReadonlyMap<string, ReadonlySet<number>>,
  given: ReadonlySet<number>,
  least: number,
): Likeness[] {
  const own = [...prints].map(
    ([name, print]) => [name, [...print].filter(hash => !given.has(hash))] as const,
  );
  const pairs: Likeness[] = [];
  for (const [i, [a, first]] of own.entries()) {
    const set = new Set(first);
    for (const [b, second] of own.slice(i + 1)) {
      const smaller = Math.min(first.length, second.length);
      if (smaller === 0) continue;
      const shared = second.filter(hash => set.has(hash)).length;
      const percent = Math.floor((100 * shared) / smaller);
      if (percent >= least) pairs.push({ a, b, percent, shared });
    }
  }
  return pairs.sort((x, y) => y.percent - x.percent || (x.a + x.b < y.a + y.b ? -1 : 1));
}
