/** The tables of functions and of tests. */
import { allFunctions, D, POINT } from './data.ts';
import { called, capital, count, esc, main, meter, ordered, plural, shown, sortHead } from './dom.ts';
import { only, state } from './state.ts';
import { fileLink, here, keyOfGroup, link } from './url.ts';

/** Rows of the table of functions at most. */
const ROWS = 1000;

interface FunctionRow {
  name: string;
  line: number;
  calls: number;
  isLeast: 0 | 1;
  covered: number;
  total: number;
  path: string;
}

const KEYS: Record<string, (fn: FunctionRow) => string | number> = {
  name: fn => fn.name,
  share: fn => fn.covered / fn.total,
  points: fn => fn.total,
  // Unknown lies between none and one; -1 is `seen`.
  calls: fn => (fn.calls === 0 && fn.isLeast ? 0.5 : Math.abs(fn.calls)),
  place: fn => fn.path,
};

export function drawFunctions(): string {
  const all = allFunctions().flatMap((list, index) =>
    list.map(([name, line, calls, covered, total, isLeast]): FunctionRow => {
      return { name, line, calls, isLeast, covered, total, path: D.files[index]!.p };
    }),
  );
  const key = KEYS[state.functions.key]!;
  const rows = ordered(all, key, state.functions.up)
    .slice(0, ROWS)
    .map(
      fn =>
        `<tr><td class="name"><a href="${esc(fileLink(fn.path, fn.line))}">${esc(fn.name)}</a></td><td class="bar">${meter(fn.covered, 0, fn.total)}</td>` +
        `<td class="num">${shown(fn.covered, fn.total)}%</td><td class="num quiet wide-only">${fn.covered} / ${fn.total}</td>` +
        `<td class="num wide-only">${called(fn.calls, fn.isLeast)}</td><td class="name quiet wide-only">${esc(fn.path)}:${fn.line}</td></tr>`,
    );
  const head = (k: string, text: string, css = '') => sortHead('fn', k, text, state.functions, css);
  const more = all.length > ROWS ? `; the first ${count(ROWS)} are listed, search finds all` : '';
  const whole = only() < 0 ? '' : '; of all records: the filter restricts files and lines only';
  main.innerHTML =
    `<h1>Functions</h1><p class="meta">${plural(all.length, 'function')}${more}${whole}</p><table class="list"><thead><tr>${head('name', 'Function')}` +
    `<th class="bar"></th>${head('share', 'Covered', 'num')}${head('points', `${capital(POINT)}s`, 'num wide-only')}${head('calls', 'Calls', 'num wide-only')}` +
    `${head('place', 'Where', 'wide-only')}</tr></thead><tbody>${rows.join('')}</tbody></table>`;
  return 'Functions';
}

function testRow(test: (typeof D.tests)[number]): string {
  const key = keyOfGroup(test.group);
  const isChosen = key !== undefined && here.only === key;
  const button =
    key === undefined
      ? ''
      : `<button type="button" data-only="${isChosen ? '' : esc(key)}">${isChosen ? 'show all' : 'show only this'}</button>`;
  return (
    `<tr><td class="name">${esc(test.name)}</td><td class="num">${count(test.points)}</td><td class="num">${count(test.only)}</td>` +
    `<td class="num wide-only">${count(test.lines)}</td><td>${button}</td></tr>`
  );
}

export function drawTests(): string {
  main.innerHTML =
    '<h1>Tests</h1><p class="meta">\u201cOnly here\u201d counts points that no other test of this report reached. ' +
    `<a class="button" href="${esc(link('compare'))}">Compare two</a></p><table class="list"><thead><tr><th scope="col">Test</th><th scope="col" class="num">Points</th>` +
    '<th scope="col" class="num">Only here</th><th scope="col" class="num wide-only">Lines with a point</th><th></th></tr></thead><tbody>' +
    `${D.tests.map(testRow).join('')}</tbody></table>`;
  return 'Tests';
}
