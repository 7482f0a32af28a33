/** The first view: totals, and the tree of files. */
import type { Row7, Unknown } from '../page.ts';
import { filterChoice } from './choice.ts';
import { D, groupTitle, hasShare, POINT, totalsOf, unknownOf } from './data.ts';
import { capital, count, esc, main, meter, ordered, percent, plural, shown, sortHead } from './dom.ts';
import { only, state } from './state.ts';
import { fileLink } from './url.ts';

interface Directory {
  name: string;
  path: string;
  dirs: Map<string, Directory>;
  files: { name: string; path: string; t: Row7 }[];
  t: Row7;
}

/** Rows of the tree that are open at first; below that the reader opens directories. */
const OPEN_ROWS = 300;

const emptyRow = (): Row7 => [0, 0, 0, 0, 0, 0, 0];

function add(into: Row7, row: Row7): void {
  for (let i = 0; i < row.length; i++) into[i]! += row[i]!;
}

function buildTree(group: number): Directory {
  const root: Directory = { name: '', path: '', dirs: new Map(), files: [], t: emptyRow() };
  D.files.forEach(({ p }, index) => {
    const t = totalsOf(index, group);
    const parts = p.split('/');
    let node = root;
    add(root.t, t);
    for (const part of parts.slice(0, -1)) {
      let dir = node.dirs.get(part);
      if (!dir) {
        dir = { name: part, path: `${node.path}/${part}`, dirs: new Map(), files: [], t: emptyRow() };
        node.dirs.set(part, dir);
      }
      add(dir.t, t);
      node = dir;
    }
    node.files.push({ name: parts[parts.length - 1]!, path: p, t });
  });
  return root;
}

/** A directory that holds only one directory is shown with it as one row. */
function squeezed(node: Directory): Directory {
  let { name } = node;
  let at = node;
  while (at.dirs.size === 1 && at.files.length === 0) {
    at = [...at.dirs.values()][0]!;
    name += `/${at.name}`;
  }
  return { ...at, name };
}

const KEYS: Record<string, (row: { name: string; t: Row7 }) => string | number> = {
  path: row => row.name,
  lines: row => (hasShare(only()) ? percent(row.t[0], row.t[2]) : row.t[0]),
  functions: row => (hasShare(only()) ? percent(row.t[3], row.t[4]) : row.t[3]),
  points: row => percent(row.t[5], row.t[6]),
};

const keeps = ({ t }: { t: Row7 }): boolean => !state.reachedOnly || t[0] > 0 || t[5] > 0;

const ratio = (covered: number, total: number, css: string): string =>
  total
    ? `<td class="num ${css}">${shown(covered, total)}%</td><td class="num quiet ${css} wide-only">${count(covered)} / ${count(total)}</td>`
    : `<td class="num quiet ${css}">\u2013</td><td class="${css} wide-only"></td>`;

/** Without a share: those that did not run are not known. */
const ranOnly = (ran: number, css: string): string =>
  `<td class="num ${css}">${ran ? `${count(ran)} ran` : ''}</td><td class="wide-only"></td>`;

const proven = (covered: number, total: number, css: string): string =>
  hasShare(only()) ? ratio(covered, total, css) : ranOnly(covered, css);

const cells = (t: Row7): string =>
  `<td class="bar">${t[2] && hasShare(only()) ? meter(t[0], t[1], t[2]) : ''}</td>${proven(t[0], t[2], '')}` +
  `${proven(t[3], t[4], 'wide-only')}${ratio(t[5], t[6], 'wide-only')}`;

function treeRows(
  node: Directory,
  depth: number,
  isOpen: (dir: Directory, depth: number) => boolean,
): string[] {
  const key = KEYS[state.files.key]!;
  const out: string[] = [];
  const indent = (rem: number) => `style="--depth:${depth};--base:${rem}rem"`;
  for (const dir of ordered([...node.dirs.values()].filter(keeps).map(squeezed), key, state.files.up)) {
    const open = isOpen(dir, depth);
    out.push(
      `<tr><td class="name dir" ${indent(0.4)}><button type="button" data-dir="${esc(dir.path)}" aria-expanded="${open}" ` +
        `aria-label="${open ? 'Close' : 'Open'} ${esc(dir.name)}">${open ? '\u25be' : '\u25b8'}</button>${esc(dir.name || '/')}/</td>${cells(dir.t)}</tr>`,
    );
    if (open) out.push(...treeRows(dir, depth + 1, isOpen));
  }
  for (const file of ordered(node.files.filter(keeps), key, state.files.up))
    out.push(
      `<tr><td class="name" ${indent(1.7)}><a href="${esc(fileLink(file.path))}">${esc(file.name)}</a></td>${cells(file.t)}</tr>`,
    );
  return out;
}

/** Directories above this depth are open, so that a large kernel begins with some hundred rows. */
function openDepth(root: Directory): number {
  let level = [root];
  let rows = 0;
  for (let depth = 0; ; depth++) {
    rows += level.reduce((sum, dir) => sum + dir.dirs.size + dir.files.length, 0);
    if (rows > OPEN_ROWS || level.length === 0) return depth - 1;
    level = level.flatMap(dir => [...dir.dirs.values()].map(squeezed));
  }
}

/** A share stands under its head; the numbers beside it have none. */
function heads(): string {
  const head = (key: string, text: string, css: string) => sortHead('sort', key, text, state.files, css);
  return (
    `${head('path', 'File', '')}<th class="bar"></th>${head('lines', 'Lines', 'num')}<th class="wide-only"></th>` +
    `${head('functions', 'Functions', 'num wide-only')}<th class="wide-only"></th>` +
    `${head('points', `${capital(POINT)}s`, 'num wide-only')}<th class="wide-only"></th>`
  );
}

function figure(title: string, covered: number, total: number, partly: number, note = ''): string {
  return (
    `<div><p>${title}</p><span class="big">${shown(covered, total)}<small>%</small></span>` +
    `<p>${count(covered)} of ${count(total)}${note}</p>${meter(covered, partly, total)}</div>`
  );
}

const bare = (title: string, big: string, why: string): string =>
  `<div><p>${title}</p><span class="big">${big}</span><p>${why}</p></div>`;

/** Without a share if the trace does not prove which of them did not run. */
function provenFigure(title: string, covered: number, total: number, partly: number, note: string): string {
  if (hasShare(only())) return figure(title, covered, total, partly, note);
  const why = `The records do not prove which ${title.toLowerCase()} did not run, so there is no share.`;
  return bare(title, `${count(covered)}<small> ran</small>`, why);
}

const sum = (a: Unknown, b: Unknown): Unknown => [a[0] + b[0], a[1] + b[1]];

function figures(t: Row7, unknown: Unknown): string {
  const more = (n: number) => (n > 0 ? `, ${count(n)} more unknown` : '');
  const partly = t[1] ? `, ${count(t[1])} partly` : '';
  const kind = D.hooks === 'cmp' ? ' that hold a comparison' : '';
  const lines =
    D.hooks === 'cmp'
      ? bare('Lines', '\u2013', 'No line coverage was recorded.')
      : provenFigure('Lines', t[0], t[2], t[1], partly + more(unknown[0]));
  const functions = provenFigure('Functions', t[3], t[4], 0, kind + more(unknown[1]));
  return `<div class="figures">${lines}${functions}${figure(`${capital(POINT)}s`, t[5], t[6], 0)}</div>`;
}

function facts(): string {
  const list = [
    D.dialect && `<b>${esc(D.dialect)}</b>`,
    D.hooks !== 'none' && plural(D.records, 'record'),
    plural(D.tests.length, 'test'),
    `<span title="${esc(D.image)}">${esc(D.image.slice(0, 23))}</span>`,
    ...Object.entries(D.notes).map(([key, value]) => `${esc(key)} ${esc(value)}`),
  ];
  return list.filter(Boolean).join(' &nbsp;\u00b7&nbsp; ');
}

function notices(): string {
  const lost =
    D.lost > 0
      ? `<p class="notice mild">${plural(D.lost, 'record')} found no room in a buffer and were lost. What they covered may be missing here.</p>`
      : '';
  const filtered =
    D.filtered === '' ? '' : `<p class="notice mild">The trace is filtered: ${esc(D.filtered)}.</p>`;
  return D.findings.map(finding => `<p class="notice">${esc(finding)}</p>`).join('') + filtered + lost;
}

function foot(): string {
  const hook =
    D.hooks === 'none'
      ? 'the entry of a function'
      : `a place where the compiler put a call of ${D.hooks === 'pc' ? '__sanitizer_cov_trace_pc' : 'a comparison hook'}`;
  return (
    `<p class="foot">A <em>point</em> is ${hook}; totals count all of the image, not only those that ran. ` +
    'A line is <em>covered</em> if all of its instructions ran, <em>partly</em> covered if some did, and <em>not run</em> if none did; each needs a proof. ' +
    '<em>Unknown</em> lines and functions have none, and are in no total. Other lines are not instrumented and stay plain. ' +
    `${D.counts ? 'A count is that of the instruction of the line that ran most; \u2265 marks a lower bound.' : 'The records of this trace do not count executions, so lines say “seen”.'}</p>`
  );
}

export function drawFiles(): string {
  const group = only();
  const root = buildTree(group);
  const t = root.t;
  const depth = openDepth(root);
  const filter = filterChoice(group);
  const rows = treeRows(root, 0, (dir, at) => at < depth !== state.toggled.has(dir.path));
  const missing = D.files.length - state.reachedFiles;
  const more =
    missing === 0
      ? ''
      : state.reachedOnly
        ? `<p class="meta more">${plural(missing, 'file')} that nothing reached ${missing === 1 ? 'is' : 'are'} counted but not listed. <button type="button" data-all="1">List them</button></p>`
        : `<p class="meta more"><button type="button" data-all="0">List only the ${plural(state.reachedFiles, 'file')} reached</button></p>`;
  main.innerHTML =
    `<h1>${esc(D.title)}</h1><p class="meta">${facts()}</p>${notices()}` +
    figures(
      t,
      group < 0 ? D.unknown : D.files.map((_, index) => unknownOf(index, group)).reduce(sum, [0, 0]),
    ) +
    `${filter ? `<div class="tools">${filter}</div>` : ''}<table class="list tree"><thead><tr>${heads()}</tr></thead>` +
    `<tbody>${rows.join('')}</tbody></table>${more}${foot()}`;
  return group < 0 ? '' : groupTitle(D.groups[group]!);
}
