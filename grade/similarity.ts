// Submissions with much in common: winnowing (Schleimer, Wilkerson, Aiken 2003). A run of k
// items becomes a hash; of w hashes in a row the smallest is kept. Two texts that share k + w - 1
// items in a row therefore share at least one kept hash. Hashes of the starter do not count.
import { type Token, tokensOf } from './tokens.ts';

/** Items that make one hash, and hashes in a window. */
interface Winnowing {
  readonly k: number;
  readonly w: number;
}
const TOKENS: Winnowing = { k: 12, w: 8 };
/**
 * A system call with all points that it executed says more than a token. Longer runs of them find
 * fewer copies whose tests are in another order, because the first call on a file differs.
 */
const CALLS: Winnowing = { k: 2, w: 2 };

/** Names are one kind of item and numbers another: renaming changes nothing. */
const KEPT = new Set(
  'if else for while do switch case default return break continue goto sizeof struct static const'.split(' '),
);
const itemOf = ({ kind, text }: Token): string =>
  kind === 'name' ? (KEPT.has(text) ? text : 'n') : kind === 'number' ? '0' : kind === 'string' ? '"' : text;

/** FNV-1a over the items of a window. */
function hashOf(items: readonly string[], from: number, k: number): number {
  let hash = 0x811c_9dc5;
  for (let i = from; i < from + k; i++) {
    for (const c of items[i]!) hash = Math.imul(hash ^ c.charCodeAt(0), 0x0100_0193);
    hash = Math.imul(hash ^ 0x20, 0x0100_0193);
  }
  return hash >>> 0;
}

/** The kept hashes of a sequence of items. */
export function fingerprint(items: readonly string[], { k, w } = TOKENS): Set<number> {
  const hashes = Array.from({ length: Math.max(0, items.length - k + 1) }, (_, i) => hashOf(items, i, k));
  const kept = new Set<number>();
  for (let i = 0; i + w <= hashes.length; i++) kept.add(Math.min(...hashes.slice(i, i + w)));
  if (hashes.length > 0 && hashes.length < w) kept.add(Math.min(...hashes));
  return kept;
}

/** Of C sources, one behind the other. */
export const codePrint = (sources: readonly string[]): Set<number> =>
  new Set(sources.flatMap(source => [...fingerprint(tokensOf(source).map(itemOf))]));

/** Of coverage traces (judge/trace.ts), one behind the other. */
export const tracePrint = (traces: readonly (readonly string[])[]): Set<number> =>
  new Set(traces.flatMap(calls => [...fingerprint(calls, CALLS)]));

/**
 * Fingerprints of its own that a trace needs: short ones are alike because the task is. Those of
 * a program of thirty system calls.
 */
export const TRACE_LEAST = 12;

export interface Likeness {
  readonly a: string;
  readonly b: string;
  /** Kept hashes of both over those of the smaller one, in percent. */
  readonly percent: number;
  readonly shared: number;
}

/**
 * All pairs that share at least `least` percent, the most alike first. `fewest`: kept hashes that
 * both must have besides those of `given`.
 */
export function alike(
  prints: ReadonlyMap<string, ReadonlySet<number>>,
  given: ReadonlySet<number>,
  least: number,
  fewest = 1,
): Likeness[] {
  const own = [...prints].map(
    ([name, print]) => [name, [...print].filter(hash => !given.has(hash))] as const,
  );
  const pairs: Likeness[] = [];
  for (const [i, [a, first]] of own.entries()) {
    const set = new Set(first);
    for (const [b, second] of own.slice(i + 1)) {
      const smaller = Math.min(first.length, second.length);
      if (smaller < fewest) continue;
      const shared = second.filter(hash => set.has(hash)).length;
      const percent = Math.floor((100 * shared) / smaller);
      if (percent >= least) pairs.push({ a, b, percent, shared });
    }
  }
  return pairs.sort((x, y) => y.percent - x.percent || (x.a + x.b < y.a + y.b ? -1 : 1));
}
