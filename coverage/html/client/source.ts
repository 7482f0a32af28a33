/** One file: its text with the state of every line. */
import type { PageFile } from '../page.ts';
import { filterChoice } from './choice.ts';
import {
  allFunctions,
  D,
  fileAt,
  groupTitle,
  hasShare,
  lettersOf,
  numberOf,
  POINT,
  STATE_WORDS,
  setTitle,
  totalsOf,
  unknownOf,
} from './data.ts';
import { atLeast, called, count, element, esc, main, meter, plural, shown } from './dom.ts';
import { highlighted } from './highlight.ts';
import { drawNoFile } from './nowhere.ts';
import { detail, hasDetail } from './points.ts';
import { WORDS as RELATIONS, relation } from './relation.ts';
import { compared, only, state } from './state.ts';
import { fileLink, hashOf, here, setHere } from './url.ts';

/** The class of each line by number. */
function classes(file: PageFile): Map<number, string> {
  const pair = compared();
  if (!pair) {
    const letters = lettersOf(file, only());
    return new Map(file.l.map(([line], i) => [line, letters[i]!]));
  }
  const [a, b] = [lettersOf(file, pair.a), lettersOf(file, pair.b)];
  return new Map(file.l.map(([line], i) => [line, relation(a[i]!, b[i]!)]));
}

/** The text of the count column. */
function counted(row: PageFile['l'][number], letter: string): string {
  if (letter === 'x') return '?';
  if (letter === 'oa' || letter === 'ob') return letter === 'oa' ? 'A' : 'B';
  const ran = letter === 'c' || letter === 'p';
  const isWhole = only() < 0 && !compared();
  if (!ran) return letter === 'u' && isWhole ? '0' : '';
  if (!isWhole) return 'ran';
  const [, , hits, isLeast] = row;
  return hits < 0 ? 'seen' : atLeast(hits, isLeast);
}

function spoken(letter: string, text: string): string {
  const word = STATE_WORDS[letter] ?? RELATIONS[letter] ?? '';
  return /\d/.test(text) && letter !== 'u' ? `${word}, ${text.replace('\u2265', 'at least ')} times` : word;
}

function lineRow(file: PageFile, path: string, n: number, letter: string, body: string): string {
  const row = rowOf(file, n);
  const text = row ? counted(row, letter) : '';
  const words = row ? spoken(letter, text) : '';
  const isOpen = state.open.has(n);
  const hits = hasDetail(file, n)
    ? `<button type="button" data-line="${n}" aria-expanded="${isOpen}" aria-label="Line ${n}: ${words}; points">${text || '\u00b7'}</button>`
    : `<span aria-hidden="true">${text}</span><span class="sr">${words}</span>`;
  const compares = file.c?.[n];
  const mark = compares
    ? `<button type="button" class="cmp" data-line="${n}" aria-label="Comparisons of line ${n}">${plural(compares.length, 'comparison')}</button>`
    : '';
  return (
    `<tr id="L${n}" class="${letter}" data-n="${n}"><td class="n"><a href="${esc(fileLink(path, n))}" aria-label="Line ${n}">${n}</a></td>` +
    `<td class="h">${hits}</td><td class="g"></td><td class="s">${body}${mark}</td></tr>`
  );
}

const detailRow = (file: PageFile, n: number, letter: string): string =>
  `<tr class="more" data-of="${n}"><td colspan="4">${detail(file, n, letter)}</td></tr>`;

const rowMaps = new WeakMap<PageFile, Map<number, PageFile['l'][number]>>();
function rowOf(file: PageFile, n: number): PageFile['l'][number] | undefined {
  let rows = rowMaps.get(file);
  if (!rows) rowMaps.set(file, (rows = new Map(file.l.map(row => [row[0], row]))));
  return rows.get(n);
}

/** The calls of a function that ran, or may have run. */
function timesOf(calls: number, isLeast: 0 | 1): string {
  if (calls > 0) return `${called(calls, isLeast)}\u00d7`;
  return calls === 0 && isLeast ? called(calls, isLeast) : '';
}

function functionList(index: number, path: string): string {
  const items = allFunctions()[index]!.map(
    ([name, line, calls, covered, total, isLeast]) =>
      `<li class="${calls === 0 && !isLeast ? 'none' : ''}"><a href="${esc(fileLink(path, line))}"><code title="${esc(name)}">${esc(name)}</code>` +
      `<span>${covered}/${total}</span>${meter(covered, 0, total)}<span>${timesOf(calls, isLeast)}</span></a></li>`,
  );
  return `<aside aria-label="Functions"><details${matchMedia('(min-width: 60.01rem)').matches ? ' open' : ''}><summary>${plural(items.length, 'function')}</summary><ol${D.counts ? '' : ' class="uncounted"'}>${items.join('')}</ol></details></aside>`;
}

function legend(): string {
  const entry = (css: string, text: string, title: string) =>
    `<span title="${title}"><i class="i-${css}"></i>${text}</span>`;
  if (compared())
    return `<span class="legend">${['oa', 'ob', 'c', 'u', 'x'].map(css => entry(css, RELATIONS[css]!, '')).join('')}</span>`;
  return (
    `<span class="legend">${entry('c', 'covered', 'all instructions of the line ran')}` +
    `${entry('p', 'partly', 'some instructions of the line ran')}${entry('u', 'not run', 'proven: no instruction of the line ran')}` +
    `${entry('x', 'unknown', `${D.hooks === 'none' ? 'a copy of the function without code for it ran' : 'the records prove neither'}; not in the totals`)}</span>`
  );
}

function context(): string {
  const pair = compared();
  if (!pair) return filterChoice(only());
  const clear = hashOf({ ...here, a: undefined, b: undefined });
  const name = (group: number) => esc(groupTitle(D.groups[group]!));
  return `<span><b>A</b> ${name(pair.a)}, <b>B</b> ${name(pair.b)} <a class="button" href="${esc(clear)}">stop comparing</a></span>`;
}

/** Draws a file and answers with the title of the page. */
export function drawFile(path: string, line: number): string {
  const index = numberOf(path);
  main.className = 'wide';
  if (index < 0) return drawNoFile(path);
  const file = fileAt(index);
  const letters = classes(file);
  const text = file.s === undefined ? undefined : file.s.replace(/\n$/, '').split('\n');
  const bodies = highlighted(text ?? []);
  const numbers = text ? text.map((_, i) => i + 1) : [];
  for (const [n] of file.l) if (n > numbers.length || !text) numbers.push(n);
  const rows = numbers.map(n => {
    const letter = letters.get(n) ?? '';
    const row = lineRow(file, path, n, letter, bodies[n - 1] ?? '');
    return state.open.has(n) ? row + detailRow(file, n, letter) : row;
  });
  const t = totalsOf(index, only());
  const [x, y] = unknownOf(index, only());
  const unknown = [x ? plural(x, 'line') : '', y ? plural(y, 'function') : ''].filter(Boolean).join(' and ');
  const gap = compared() ? 'lines that only one of the two ran' : 'lines that are not covered as a whole';
  const isShared = hasShare(only());
  const share = isShared
    ? `${shown(t[0], t[2])}% of ${plural(t[2], 'line')}`
    : D.hooks === 'cmp'
      ? 'no line coverage'
      : `${plural(t[0], 'line')} ran`;
  const functions = isShared ? `${t[3]} of ${plural(t[4], 'function')}` : `${plural(t[3], 'function')} ran`;
  main.innerHTML =
    `<h1>${esc(path)}</h1><p class="meta">${share}, ${functions}, ` +
    `${count(t[5])} of ${plural(t[6], POINT)}${unknown ? `, ${unknown} unknown` : ''}` +
    `${text ? '' : ' &nbsp;\u00b7&nbsp; source text not found; line numbers only'}</p><div class="file">${functionList(index, path)}<div>` +
    `<div class="tools"><button type="button" data-step="1" title="${gap}">next ${compared() ? 'difference' : 'gap'} <kbd>n</kbd></button><button type="button" data-step="-1">previous <kbd>p</kbd></button>` +
    `${context()}${legend()}</div><div class="code" tabindex="-1"><table aria-label="Source"><tbody>${rows.join('')}</tbody></table></div></div></div>`;
  if (line) mark(line);
  return line ? `${path}:${line}` : path;
}

export function toggleDetail(n: number): void {
  const index = numberOf(here.name);
  const row = document.getElementById(`L${n}`);
  if (index < 0 || !row) return;
  const shownRow = row.nextElementSibling;
  const isOpen = shownRow?.getAttribute('data-of') === String(n);
  if (isOpen) shownRow.remove();
  else row.insertAdjacentHTML('afterend', detailRow(fileAt(index), n, row.className.split(' ')[0] ?? ''));
  if (isOpen) state.open.delete(n);
  else state.open.add(n);
  for (const button of row.querySelectorAll('[data-line]'))
    button.setAttribute('aria-expanded', String(!isOpen));
}

export const atLine = (): number => Number(main.querySelector<HTMLElement>('tr.at')?.dataset['n'] ?? 0);

/** Marks a line, and scrolls to it if it is out of sight. False if there is no such line. */
function mark(n: number): boolean {
  for (const old of main.querySelectorAll('tr.at')) old.classList.remove('at');
  const row = document.getElementById(`L${n}`);
  if (!row) return false;
  row.classList.add('at');
  const { top, bottom } = row.getBoundingClientRect();
  if (top < element('header').getBoundingClientRect().bottom || bottom > innerHeight)
    row.scrollIntoView({ block: 'center' });
  return true;
}

/** Marks a line of the file that is shown already. False if there is no such line. */
export function showLine(n: number): boolean {
  if (!mark(n)) return false;
  setTitle(`${here.name}:${n}`);
  return true;
}

/** A step of the reader: the URL follows, without a new entry of the history. */
function stepTo(row: HTMLElement | undefined): void {
  const n = Number(row?.dataset['n'] ?? 0);
  if (!showLine(n)) return;
  setHere({ ...here, line: n });
  history.replaceState(history.state, '', fileLink(here.name, n));
}

/** The next or previous line. */
export function stepLine(direction: number): void {
  const rows = [...main.querySelectorAll<HTMLElement>('.code tr[data-n]')];
  const at = rows.findIndex(row => row.classList.contains('at'));
  stepTo(rows[at < 0 ? 0 : at + direction]);
}

const GAPS = ['u', 'p', 'x', 'oa', 'ob'];

/**
 * The next or previous run of lines that are not, not surely or only partly covered, or that
 * differ.
 */
export function stepGap(direction: number): void {
  const rows = [...main.querySelectorAll<HTMLElement>('.code tr[data-n]')];
  const gaps = compared() ? ['oa', 'ob'] : GAPS;
  const isGap = (row: HTMLElement | undefined) => !!row && gaps.some(css => row.classList.contains(css));
  let at = rows.findIndex(row => row.classList.contains('at'));
  if (at < 0) at = direction > 0 ? -1 : rows.length;
  else while (isGap(rows[at])) at += direction;
  if (at >= 0 && at < rows.length && isGap(rows[at])) at -= direction;
  let next = at + (isGap(rows[at]) ? 0 : direction);
  while (rows[next] && !isGap(rows[next])) next += direction;
  while (direction < 0 && isGap(rows[next - 1])) next--;
  stepTo(rows[next]);
}

/** The file before or after the one that is shown. */
export function neighbour(direction: number): string | undefined {
  const at = numberOf(here.name);
  return at < 0 ? undefined : D.files[(at + direction + D.files.length) % D.files.length]!.p;
}
