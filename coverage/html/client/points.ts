/** The facts about one line: its points, its code, the operands of its comparisons, its tests. */
import type { CompareRow, PageBlock, PageFile, PagePoint } from '../page.ts';
import { D, STATE_WORDS } from './data.ts';
import { count, esc, plural } from './dom.ts';
import { here } from './url.ts';

const SIZES = ['8 bit', '16 bit', '32 bit', '64 bit'];
const TESTS = 12;

/** True if there is anything to show. */
export const hasDetail = (file: PageFile, line: number): boolean =>
  file.q[line] !== undefined || file.k[line] !== undefined || file.c?.[line] !== undefined;

const times = (hits: number): string => (D.counts ? `${count(hits)}\u00d7` : 'seen');

function pointRow(file: PageFile, [addr, hits, chain, set]: PagePoint): string {
  const [name = '?', ...outer] = file.chains[chain]!.split(' < ');
  const into = outer.length > 0 ? ` <span class="soft">inlined into ${esc(outer.join(', '))}</span>` : '';
  const tests = file.sets[set]!;
  const by =
    D.tests.length > 1 && hits > 0 ? ` <span class="soft">\u00b7 ${plural(tests.length, 'test')}</span>` : '';
  return (
    `<tr class="${hits > 0 ? 'yes' : 'no'}"><td>${hits > 0 ? 'taken' : 'not taken'}</td><td class="num">${hits > 0 ? times(hits) : ''}</td>` +
    `<td>${esc(addr)}</td><td class="fn">${esc(name)}${into}${by}</td></tr>`
  );
}

function blockRow([low, high, state, hits]: PageBlock): string {
  const word = state === 0 ? 'ran' : state === 2 ? 'not run' : 'unknown';
  const css = state === 0 ? 'yes' : state === 2 ? 'no' : 'open';
  return `<tr class="${css}"><td>${word}</td><td class="num">${hits > 0 ? `${count(hits)}\u00d7` : ''}</td><td colspan="2">${esc(low)} \u2013 ${esc(high)}</td></tr>`;
}

function compareRow([type, arg1, arg2, hits]: CompareRow): string {
  const constant = type & 1 ? ' const' : '';
  return (
    `<tr><td>${SIZES[(type >> 1) & 3]}</td><td class="num">${count(hits)}\u00d7</td><td class="num">${esc(arg1)}${constant}</td>` +
    `<td>${esc(arg2)}${arg1 === arg2 ? ' <span class="soft">equal</span>' : ''}</td></tr>`
  );
}

const table = (title: string, rows: string[]): string =>
  rows.length > 0 ? `<table><caption>${title}</caption><tbody>${rows.join('')}</tbody></table>` : '';

function testsOf(file: PageFile, line: number): string {
  if (D.tests.length < 2) return '';
  const all = new Set((file.q[line] ?? []).flatMap(number => file.sets[file.points[number]![3]]!));
  if (all.size === 0) return '';
  const names = [...all].sort((a, b) => a - b).map(i => esc(D.tests[i]!.name));
  const more = names.length > TESTS ? ` and ${names.length - TESTS} more` : '';
  return `<p>Points here were reached by ${names.slice(0, TESTS).join(', ')}${more}.</p>`;
}

/** The reason why a line is unknown of which no code ran. */
function doubtOf(file: PageFile, line: number, letter: string): string {
  const isDoubtful = letter === 'x' && (file.k[line] ?? []).every(([, , state]) => state === 2);
  if (!isDoubtful || here.only || here.a) return '';
  return '<p>None of its code ran; but a copy of its function ran in which the compiler left no code for it.</p>';
}

/** The block under a line. */
export function detail(file: PageFile, line: number, letter: string): string {
  const points = (file.q[line] ?? []).map(number => file.points[number]!);
  const taken = points.filter(point => point[1] > 0).length;
  const about = letter ? `Line ${line}: ${STATE_WORDS[letter] ?? ''}` : `Line ${line}`;
  return (
    `<div class="detail" role="group" aria-label="Points of line ${line}"><p><b>${about}</b></p>${doubtOf(file, line, letter)}${testsOf(file, line)}` +
    table(
      `${plural(points.length, 'point')}, ${taken} taken${here.only || here.a ? ' in all records' : ''}`,
      points.map(point => pointRow(file, point)),
    ) +
    table('Code of the line', (file.k[line] ?? []).map(blockRow)) +
    `${table('Operands of comparisons', (file.c?.[line] ?? []).map(compareRow))}</div>`
  );
}
