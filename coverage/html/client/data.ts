/** The data of the page. The index is parsed at once; each file when it is first shown. */
import type { GroupTotals, PageFile, PageFunction, PageGroup, PageIndex, Row7, Unknown } from '../page.ts';
import { element } from './dom.ts';

const textOf = (id: string): string => element(`#${id}`).textContent ?? '';

export const D = JSON.parse(textOf('index')) as PageIndex;

/** The name of a point: a hook call, or the entry of a function where instructions were counted. */
export const POINT = { pc: 'point', cmp: 'comparison', none: 'entry point' }[D.hooks];

export function setTitle(title: string): void {
  document.title = title ? `${title} \u2013 ${D.title}` : D.title;
}

const numberByPath = new Map(D.files.map((file, i) => [file.p, i]));
export const numberOf = (path: string): number => numberByPath.get(path) ?? -1;

const parsed = new Map<number, PageFile>();
let rows: string[] | undefined;

/** A file by its number in the index. */
export function fileAt(index: number): PageFile {
  let file = parsed.get(index);
  if (!file) {
    rows ??= textOf('files').split('\n');
    file = JSON.parse(rows[index]!) as PageFile;
    parsed.set(index, file);
  }
  return file;
}

let functions: PageFunction[][] | undefined;

/** Functions by file. */
export function allFunctions(): PageFunction[][] {
  functions ??= JSON.parse(textOf('functions')) as PageFunction[][];
  return functions;
}

export const groupKey = (group: PageGroup): string => `${group.kind}:${group.name}`;

export function groupNamed(key: string | undefined): number {
  return key === undefined ? -1 : D.groups.findIndex(group => groupKey(group) === key);
}

export const groupTitle = ({ kind, name }: PageGroup): string =>
  kind === 'test'
    ? name || 'unnamed'
    : name === 'task'
      ? 'own code of threads'
      : `remote sections of ${name}`;

/** Totals of a file as far as a group reached it; of all records for -1. */
export function totalsOf(index: number, group: number): Row7 {
  const file = D.files[index]!;
  if (group < 0) return file.t;
  const row: GroupTotals | undefined = file.g?.find(([number]) => number === group);
  const [, , lines, , functions, , points] = file.t;
  if (!row) return [0, 0, lines + file.x[0], 0, functions + file.x[1], 0, points];
  return [row[1], row[2], row[3], row[4], row[5], row[6], points];
}

/** Of the same records. */
export function unknownOf(index: number, group: number): Unknown {
  const file = D.files[index]!;
  if (group < 0) return file.x;
  const row = file.g?.find(([number]) => number === group);
  return row ? [row[7], row[8]] : [0, 0];
}

/** False if these records prove of no line that it did not run. */
export const hasShare = (group: number): boolean => (group < 0 ? D.hasShare : D.groups[group]!.hasShare);

/** A letter for each line of a file, in order: `c`, `p`, `u`, `x`. */
export function lettersOf(file: PageFile, group: number): string {
  if (group < 0) return file.l.map(row => 'cpux'[row[1]]).join('');
  const runs = file.v?.[group] ?? '';
  return runs.replace(/([cpux])(\d+)/g, (_, letter: string, length: string) => letter.repeat(Number(length)));
}

export const STATE_WORDS: Record<string, string> = {
  c: 'covered',
  p: 'partly covered',
  u: 'not run',
  x: 'unknown',
};
