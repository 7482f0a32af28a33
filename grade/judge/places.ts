// Places of the kernel's source, and which of them a run has executed.
import type { ExecutedLines } from '../../coverage/index.ts';
import { functionsOf, lineAt, tokensOf } from '../tokens.ts';
import { refused } from './lab.ts';

/** Source text by path below the kernel. */
export type ReadSource = (path: string) => string | undefined;

/** Debug information calls the tree so. */
export const PREFIX = 'kernel/';

/** Lines of functions, first and last. */
function extents(source: string): { name: string; from: number; to: number }[] {
  const tokens = tokensOf(source);
  return functionsOf(tokens).map(({ name, first, last }) => ({
    name,
    from: lineAt(source, tokens[first]!.at),
    to: lineAt(source, (tokens[last - 1] ?? tokens.at(-1)!).at),
  }));
}

/** The lines of a place. Errors: one line, when the lab names one that does not exist. */
export function linesOf(place: string, read: ReadSource): { path: string; lines: number[] } {
  const [path = '', what = ''] = place.split(/: (.*)/s);
  const source = read(path);
  if (source === undefined) throw refused(`the place "${place}": the kernel has no file ${path}`);
  const [, name] = /^function (\w+)$/.exec(what) ?? [];
  if (name !== undefined) {
    const extent = extents(source).find(fn => fn.name === name);
    if (!extent) return { path, lines: [] };
    return { path, lines: Array.from({ length: extent.to - extent.from + 1 }, (_, i) => extent.from + i) };
  }
  const lines = source.split('\n').flatMap((line, i) => (line.includes(what) ? [i + 1] : []));
  return { path, lines };
}

/** The places that did not run, in their order. */
export function notReached(executed: ExecutedLines, places: readonly string[], read: ReadSource): string[] {
  return places.filter(place => {
    const { path, lines } = linesOf(place, read);
    const states = executed.of(PREFIX + path);
    return !lines.some(line => states.get(line) === true);
  });
}

/** A place as people write it: `fs/pipe.c:12 TEXT`. */
export function describePlace(place: string, read: ReadSource): string {
  const { path, lines } = linesOf(place, read);
  const [, what = ''] = place.split(/: (.*)/s);
  return lines.length === 0 ? place : `${path}:${lines[0]} ${what}`;
}

/** "12-14 17" */
function ranges(lines: readonly number[]): string {
  const parts: string[] = [];
  for (let i = 0; i < lines.length; i++) {
    const from = lines[i]!;
    while (lines[i + 1] === lines[i]! + 1) i++;
    parts.push(lines[i] === from ? `${from}` : `${from}-${lines[i]}`);
  }
  return parts.join(' ');
}

/** The functions of these files, with the lines that ran and those that did not. */
export function pathOf(executed: ExecutedLines, files: readonly string[], read: ReadSource): string[] {
  const rows: string[] = [];
  for (const path of files) {
    const states = executed.of(PREFIX + path);
    for (const { name, from, to } of extents(read(path) ?? '')) {
      const own = [...states].filter(([line]) => line >= from && line <= to).sort(([a], [b]) => a - b);
      const ran = own.filter(([, did]) => did).map(([line]) => line);
      const not = own.filter(([, did]) => !did).map(([line]) => line);
      if (ran.length === 0 && not.length === 0) continue;
      const missed = not.length > 0 && ran.length > 0 ? `; did not: ${ranges(not)}` : '';
      rows.push(`${path} ${name}: ${ran.length > 0 ? `ran ${ranges(ran)}` : 'did not run'}${missed}`);
    }
  }
  return rows;
}
