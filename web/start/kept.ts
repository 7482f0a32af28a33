// Lines that the reader saw on the last visit, as the browser keeps them (web/views/kept.ts). The
// first script draws them while the page is still on its way; the page draws them again in its
// editor, and takes these away.
import type { Lines } from '../protocol.ts';

/** The lines of an address without a place, and the last other ones. */
export const NAMES = { first: 'kcovbox-lines-first', last: 'kcovbox-lines-last' };

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

/** The words of an address that say what is shown. */
interface Asked {
  readonly run?: string | undefined;
  readonly wait?: string | undefined;
  readonly program?: string | undefined;
  readonly file?: string | undefined;
}

/** Undefined: others, or none. */
export function keptLines(build: string, { run, wait, program, file }: Asked): Kept | undefined {
  if (run !== undefined || wait !== undefined) return undefined;
  const read = (name: string): Kept | undefined => {
    try {
      const kept = JSON.parse(localStorage.getItem(name) ?? '{}') as Partial<Kept>;
      return kept.build === build && isWhole(kept) ? kept : undefined;
    } catch {
      return undefined; // not allowed here
    }
  };
  const first = read(NAMES.first);
  if (program === undefined) return first;
  return [first, read(NAMES.last)].find(kept => kept?.program === program && kept.path === file);
}

const STATES: readonly unknown[] = ['covered', 'partly', 'uncovered', 'unknown'] satisfies Lines[number][1][];
const isNumber = (value: unknown, least: number): boolean =>
  Number.isSafeInteger(value) && (value as number) >= least;

/** A person can write anything into the storage, and a row that is none would stop the page. */
function isWhole(kept: Partial<Kept>): kept is Kept {
  const { path, text, line, lines } = kept;
  const isLine = (row: unknown): boolean =>
    Array.isArray(row) && isNumber(row[0], 1) && STATES.includes(row[1]) && isNumber(row[2], -1);
  return (
    typeof path === 'string' &&
    typeof text === 'string' &&
    isNumber(line, 1) &&
    Array.isArray(lines) &&
    lines.every(isLine)
  );
}

/** For people: whose lines these are. */
export const AS_KEPT = 'as on the last visit; the run is repeated';
const DRAWN = 'kept';
/** Lines that are drawn on each side of the one in the middle: a large window shows fewer. */
const AROUND = 80;

const made = (name: string, className: string, ...children: (Node | string)[]): HTMLElement => {
  const element = document.createElement(name);
  element.className = className;
  element.append(...children);
  return element;
};

/** Over the page, with the line in the middle; the style must be there. */
export function drawKept({ path, text, lines, line: own }: Kept, words: URLSearchParams): void {
  const texts = text.split('\n');
  // As the page reads it (web/views/place.ts): a line that is none is as good as not asked for, and
  // one behind the end is not in the middle.
  const asked = words.get('line') ?? '';
  const wanted = /^\d{1,15}$/.test(asked) ? Number(asked) : own;
  const line = wanted <= texts.length ? wanted : 0;
  const states = new Map(lines.map(([n, state, hits]) => [n, { state, hits }]));
  const from = Math.max(1, line - AROUND);
  const rows = texts.slice(from - 1, line + AROUND).map((words, i) => {
    const found = states.get(from + i);
    const number = made('span', 'kept-number', `${from + i}`);
    return made('div', found ? `l-${found.state}` : '', number, words);
  });
  const editor = made('div', 'editor', ...rows);
  const source = made('section', 'middle', made('div', 'source', made('h2', '', path), editor));
  const main = made('main', '', made('section', 'files'), source, made('aside', 'state'));
  const header = made('header', '', made('h1', '', 'kcovbox'), made('span', 'kept-verdict', AS_KEPT));
  const page = made('div', words.get('embed') === '1' ? 'page embedded' : 'page', header, main);
  page.id = DRAWN;
  document.body.append(page);
  rows[line - from]?.scrollIntoView({ block: 'center' });
}

/** When the page shows lines of its own, or has none. */
export const dropDrawn = (): void => document.getElementById(DRAWN)?.remove();
