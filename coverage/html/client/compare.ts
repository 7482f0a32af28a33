/** Two tests, traces or contexts side by side: which lines only one of them ran. */
import { groupOptions } from './choice.ts';
import { D, fileAt, groupNamed, groupTitle, lettersOf } from './data.ts';
import { count, esc, main, plural } from './dom.ts';
import { relation } from './relation.ts';
import { compared } from './state.ts';
import { fileLink, here } from './url.ts';

interface Difference {
  path: string;
  onlyA: number;
  onlyB: number;
  both: number;
}

/** Only files that one of the two reached are read. */
export function differences(a: number, b: number): Difference[] {
  const found: Difference[] = [];
  D.files.forEach((entry, index) => {
    if (!entry.g?.some(([group]) => group === a || group === b)) return;
    const file = fileAt(index);
    const [inA, inB] = [lettersOf(file, a), lettersOf(file, b)];
    const row: Difference = { path: entry.p, onlyA: 0, onlyB: 0, both: 0 };
    for (let i = 0; i < inA.length; i++) {
      const how = relation(inA[i]!, inB[i]!);
      if (how === 'oa') row.onlyA++;
      else if (how === 'ob') row.onlyB++;
      else if (how === 'c') row.both++;
    }
    found.push(row);
  });
  return found;
}

function table(a: number, b: number): string {
  const all = differences(a, b);
  const sum = (of: (row: Difference) => number) => all.reduce((n, row) => n + of(row), 0);
  const rows = all.filter(row => row.onlyA + row.onlyB > 0);
  rows.sort((x, y) => y.onlyA + y.onlyB - (x.onlyA + x.onlyB) || (x.path < y.path ? -1 : 1));
  const body = rows.map(
    row =>
      `<tr><td class="name"><a href="${esc(fileLink(row.path))}">${esc(row.path)}</a></td><td class="num a">${row.onlyA ? count(row.onlyA) : ''}</td>` +
      `<td class="num b">${row.onlyB ? count(row.onlyB) : ''}</td><td class="num quiet">${count(row.both)}</td></tr>`,
  );
  const names = `<b>A</b> ${esc(groupTitle(D.groups[a]!))}, <b>B</b> ${esc(groupTitle(D.groups[b]!))}`;
  const facts = `${plural(
    sum(row => row.onlyA),
    'line',
  )} only in A, ${count(sum(row => row.onlyB))} only in B, ${count(sum(row => row.both))} in both.`;
  if (rows.length === 0) return `<p class="meta">${names}. The two ran the same lines. ${facts}</p>`;
  return (
    `<p class="meta">${names}. ${facts}</p><table class="list"><thead><tr><th scope="col">File</th><th scope="col" class="num">Only A</th>` +
    `<th scope="col" class="num">Only B</th><th scope="col" class="num">Both</th></tr></thead><tbody>${body.join('')}</tbody></table>`
  );
}

export function drawCompare(): string {
  if (D.groups.length === 0) {
    main.innerHTML =
      '<h1>Compare</h1><p class="meta">This report has one test and one context. To compare two traces, make one report of both: ' +
      '<code>kcovbox cov report a.kcov b.kcov -o both.html</code>.</p>';
    return 'Compare';
  }
  const select = (key: 'a' | 'b') =>
    `<label class="choice"><b>${key.toUpperCase()}</b> <select data-query="${key}"><option value="">choose</option>${groupOptions(groupNamed(here[key]))}</select></label>`;
  const pair = compared();
  main.innerHTML =
    '<h1>Compare</h1><p class="meta">Lines that one test or context ran and the other provably did not.</p>' +
    `<div class="tools">${select('a')}${select('b')}</div>${pair ? table(pair.a, pair.b) : ''}`;
  return pair ? `${groupTitle(D.groups[pair.a]!)} and ${groupTitle(D.groups[pair.b]!)}` : 'Compare';
}
