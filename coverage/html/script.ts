/**
 * The program of the HTML report, run by the reader's browser, not by this one. It draws the data of html-data.ts: the file tree, the
 * source of a file, functions, tests, search. html-script-calls.ts adds the call paths and starts it.
 */
export const SCRIPT = String.raw`
'use strict';
const KR = (doc => {
const D = JSON.parse(doc.getElementById('data').textContent);
const main = doc.getElementById('main');
const pop = doc.querySelector('.pop');
const esc = text => String(text).replace(/[&<>"]/g, c => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);
const pct = (covered, total) => (total ? (100 * covered) / total : 0);
const shown = (covered, total) => pct(covered, total).toFixed(covered === total ? 0 : 1);
const count = n => n.toLocaleString('en-US');
const plural = (n, what) => count(n) + ' ' + what + (n === 1 ? '' : 's');
const reached = D.files.filter(file => file.t[5] > 0 || file.t[0] > 0).length;
const state = { reachedOnly: D.files.length > 30 && reached < D.files.length / 2, test: -1, sort: 'path', up: true, closed: new Set(), fnSort: 'calls', fnUp: false, zoom: null };
const pages = {};

function meter(covered, partly, total) {
  const share = pct(covered, total);
  const whole = pct(covered - partly, total);
  return '<div class="meter" role="img" aria-label="' + share.toFixed(1) + ' percent"><i style="width:' + whole +
    '%"></i><i style="width:' + (share - whole) + '%"></i></div>';
}

/* ---- the tree of files ---- */

function buildTree() {
  const root = { name: '', path: '', dirs: new Map(), files: [], t: [0, 0, 0, 0, 0, 0, 0] };
  D.files.forEach((file, index) => {
    const parts = file.p.split('/');
    let node = root;
    const add = n => file.t.forEach((value, i) => { n.t[i] += value; });
    add(root);
    for (const part of parts.slice(0, -1)) {
      let dir = node.dirs.get(part);
      if (!dir) node.dirs.set(part, (dir = { name: part, path: node.path + '/' + part, dirs: new Map(), files: [], t: [0, 0, 0, 0, 0, 0, 0] }));
      add(dir);
      node = dir;
    }
    node.files.push({ name: parts[parts.length - 1], index, t: file.t });
  });
  return root;
}
const tree = buildTree();

function squeezed(node) {
  let name = node.name;
  while (node.dirs.size === 1 && node.files.length === 0) {
    node = [...node.dirs.values()][0];
    name += '/' + node.name;
  }
  return { ...node, name };
}

const KEYS = {
  path: row => row.name, lines: row => pct(row.t[0], row.t[2]), functions: row => pct(row.t[3], row.t[4]), points: row => pct(row.t[5], row.t[6]),
};
function ordered(rows) {
  const key = KEYS[state.sort];
  const sign = state.up ? 1 : -1;
  return rows.sort((a, b) => { const x = key(a), y = key(b); return x < y ? -sign : x > y ? sign : a.name < b.name ? -1 : 1; });
}

const keeps = row => !state.reachedOnly || row.t[0] > 0 || row.t[5] > 0;
function treeRows(node, depth, out) {
  const dirs = ordered([...node.dirs.values()].filter(keeps).map(squeezed));
  for (const dir of dirs) {
    const closed = state.closed.has(dir.path);
    out.push('<tr><td class="name dir" style="padding-left:' + (0.7 + depth * 1.3) + 'rem"><button data-dir="' + esc(dir.path) + '" aria-expanded="' + !closed +
      '" aria-label="' + (closed ? 'Open ' : 'Close ') + esc(dir.name) + '">' + (closed ? '\u25b8' : '\u25be') + '</button>' + esc(dir.name || '/') + '/</td>' + cells(dir.t) + '</tr>');
    if (!closed) treeRows(dir, depth + 1, out);
  }
  for (const file of ordered(node.files.filter(keeps))) {
    out.push('<tr><td class="name" style="padding-left:' + (2 + depth * 1.3) + 'rem"><a href="#/file/' + file.index + '">' + esc(file.name) + '</a></td>' + cells(file.t) + '</tr>');
  }
}
const ratio = (covered, total) => total ? '<td class="num">' + shown(covered, total) + '%</td><td class="num quiet">' + count(covered) + ' / ' + count(total) + '</td>' : '<td class="num quiet">\u2013</td><td></td>';
const cells = t => '<td>' + (t[2] ? meter(t[0], t[1], t[2]) : '') + '</td>' + ratio(t[0], t[2]) + ratio(t[3], t[4]) + ratio(t[5], t[6]);

const sortHead = (key, text, span) => '<th' + (span ? ' colspan="' + span + '"' : '') + (state.sort === key ? ' aria-sort="' + (state.up ? 'ascending' : 'descending') + '"' : '') +
  '><button data-sort="' + key + '">' + text + (state.sort === key ? (state.up ? ' \u2191' : ' \u2193') : '') + '</button></th>';

function figure(title, covered, total, partly, note) {
  return '<div><p>' + title + '</p><span class="big">' + shown(covered, total) + '<small>%</small></span><p>' + count(covered) + ' of ' + count(total) + (note || '') + '</p>' +
    meter(covered, partly, total) + '</div>';
}

pages.files = () => {
  const t = D.totals;
  const facts = [D.dialect && '<b>' + esc(D.dialect) + '</b>', plural(D.records, 'record'), plural(D.tests.length, 'test'), '<span title="' + esc(D.image) + '">' + esc(D.image.slice(0, 23)) + '</span>'];
  for (const [key, value] of Object.entries(D.notes)) facts.push(esc(key) + ' ' + esc(value));
  let html = '<h1>' + esc(D.title) + '</h1><p class="meta">' + facts.filter(Boolean).join(' &nbsp;\u00b7&nbsp; ') + '</p>';
  for (const finding of D.findings) html += '<p class="notice">' + esc(finding) + '</p>';
  if (D.lost > 0) html += '<p class="notice mild">' + plural(D.lost, 'record') + ' found no room in an area and were lost. What they covered may be missing here.</p>';
  html += '<div class="figures">' + figure('Lines', t[0], t[2], t[1], t[1] ? ', ' + count(t[1]) + ' partly' : '') + figure('Functions', t[3], t[4], 0) +
    figure(D.hooks === 'pc' ? 'Points' : 'Comparisons', t[5], t[6], 0) + '</div>';
  const rows = [];
  treeRows(tree, 0, rows);
  html += '<table class="list"><thead><tr>' + sortHead('path', 'File') + sortHead('lines', 'Lines', 3) + sortHead('functions', 'Functions', 2) + sortHead('points', 'Points', 2) +
    '</tr></thead><tbody>' + rows.join('') + '</tbody></table>';
  if (reached < D.files.length) html += '<p class="meta" style="margin-top:.8rem">' + (state.reachedOnly ? plural(D.files.length - reached, 'file') + ' that nothing reached ' + (D.files.length - reached === 1 ? 'is' : 'are') +
    ' counted but not listed. <button data-all="1">List them</button>' : '<button data-all="0">List only the ' + plural(reached, 'file') + ' reached</button>') + '</p>';
  html += '<p class="foot">A <em>point</em> is a place where the compiler put a call of ' + (D.hooks === 'pc' ? '__sanitizer_cov_trace_pc' : 'a comparison hook') +
    '; totals count the call sites found in the image, not the ones that happened to run. A line has a state if machine code of it belongs to a block with a point, or to one that points tell of; ' +
    'other lines are not instrumented and stay plain. <em>Partly</em>: some of the points of the line ran and some did not. A count is that of the point of the line that ran most.</p>';
  main.innerHTML = html;
};

/* ---- one file ---- */

const WORDS = /\/\*[^]*?(?:\*\/|$)|\/\/.*|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|^\s*#\s*\w+|\b(?:auto|break|case|const|continue|default|do|else|enum|extern|for|goto|if|inline|return|sizeof|static|struct|switch|typedef|union|unsigned|signed|void|volatile|while|char|short|int|long|float|double|bool|u8|u16|u32|u64|size_t)\b|\b(?:0x[0-9a-fA-F]+|\d+)[uUlL]*\b/g;
const COMMENT_END = /^[^]*?\*\//;

/* Colours of C, line by line; a comment may stay open over lines. */
function highlighted(lines) {
  let open = false;
  return lines.map(line => {
    let head = '';
    if (open) {
      const end = COMMENT_END.exec(line);
      if (!end) return '<span class="m">' + esc(line) + '</span>';
      head = '<span class="m">' + esc(end[0]) + '</span>';
      line = line.slice(end[0].length);
      open = false;
    }
    let out = head;
    let from = 0;
    for (const match of line.matchAll(WORDS)) {
      const word = match[0];
      out += esc(line.slice(from, match.index));
      const kind = word.startsWith('/*') || word.startsWith('//') ? 'm' : /^["']/.test(word) ? 't' : /^\d/.test(word) ? 'd' : 'k';
      if (word.startsWith('/*') && !word.endsWith('*/')) open = true;
      out += '<span class="' + kind + '">' + esc(word) + '</span>';
      from = match.index + word.length;
    }
    return out + esc(line.slice(from));
  });
}

/* State letter of a line for the chosen test: c, p, u or nothing. */
function letter(row) {
  if (!row) return '';
  if (state.test < 0) return 'cpux'[row[1]];
  return row[3].includes(state.test) ? (row[1] === 1 ? 'p' : 'c') : 'u';
}

function testChoice() {
  if (D.tests.length < 2) return '';
  return '<label>Show <select id="test"><option value="-1">all tests</option>' +
    D.tests.map((test, i) => '<option value="' + i + '"' + (state.test === i ? ' selected' : '') + '>' + esc(test.name) + '</option>').join('') + '</select></label>';
}

pages.file = (index, line) => {
  const file = D.files[index];
  if (!file) { main.innerHTML = '<h1>No such file</h1>'; return; }
  const rows = new Map(file.l.map(row => [row[0], row]));
  const last = file.l.length ? file.l[file.l.length - 1][0] : 0;
  const known = file.s !== undefined;
  const lines = known ? file.s.replace(/\n$/, '').split('\n') : [];
  const body = highlighted(lines);
  const numbers = known ? lines.map((_, i) => i + 1) : file.l.map(row => row[0]);
  if (known) for (const row of file.l) if (row[0] > lines.length) numbers.push(row[0]);
  const html = numbers.map(n => {
    const row = rows.get(n);
    const compares = file.c && file.c[n];
    return '<tr id="L' + n + '" class="' + letter(row) + '" data-n="' + n + '"><td class="n"><a href="#/file/' + index + ':' + n + '">' + n + '</a></td><td class="h">' +
      (row ? (row[1] === 3 ? '?' : count(row[2])) : '') + '</td><td class="g"></td><td class="s">' + (body[n - 1] || '') +
      (compares ? '<button type="button" class="cmp" data-cmp="' + n + '" aria-label="Comparisons on line ' + n + '">' + plural(compares.length, 'comparison') + '</button>' : '') + '</td></tr>';
  });
  const functions = file.f.map(f => '<li class="' + (f[3] ? '' : 'none') + '"><a href="#/file/' + index + ':' + f[1] + '"><code title="' + esc(f[0]) + '">' + esc(f[0]) + '</code><span>' +
    f[3] + '/' + f[4] + '</span>' + meter(f[3], 0, f[4]) + '<span>' + (f[2] ? count(f[2]) + '\u00d7' : '') + '</span></a></li>').join('');
  main.className = 'wide';
  main.innerHTML = '<h1>' + esc(file.p) + '</h1><p class="meta">' + shown(file.t[0], file.t[2]) + '% of ' + plural(file.t[2], 'line') + ', ' + file.t[3] + ' of ' +
    plural(file.t[4], 'function') + ', ' + count(file.t[5]) + ' of ' + plural(file.t[6], 'point') + (known ? '' : ' &nbsp;\u00b7&nbsp; source text not found; line numbers only') +
    '</p><div class="file"><aside aria-label="Functions"><ol>' + functions + '</ol></aside><div><div class="tools"><button data-step="1">next gap <kbd>n</kbd></button><button data-step="-1">previous <kbd>p</kbd></button>' +
    testChoice() + '<span class="legend"><span><i class="i-c"></i>covered</span><span><i class="i-p"></i>partly</span><span><i class="i-u"></i>not covered</span></span></div>' +
    '<div class="code"><table><tbody>' + html.join('') + '</tbody></table></div></div></div>';
  if (line) focusLine(line);
  else if (last === 0) main.querySelector('.tools').hidden = true;
};

function focusLine(n) {
  for (const old of main.querySelectorAll('tr.at')) old.classList.remove('at');
  const row = doc.getElementById('L' + n);
  if (!row) return;
  row.classList.add('at');
  row.scrollIntoView({ block: 'center' });
}

/* Next or previous run of lines that are not or only partly covered. */
function stepGap(direction) {
  const rows = [...main.querySelectorAll('.code tr')];
  if (!rows.length) return;
  const gap = row => row.classList.contains('u') || row.classList.contains('p');
  let at = rows.findIndex(row => row.classList.contains('at'));
  if (at < 0) at = direction > 0 ? -1 : rows.length;
  else while (rows[at] && gap(rows[at])) at += direction;
  while (rows[at + direction] && !gap(rows[at + direction])) at += direction;
  const found = rows[at + direction];
  if (!found) return;
  let first = at + direction;
  while (direction < 0 && rows[first - 1] && gap(rows[first - 1])) first--;
  focusLine(rows[first].dataset.n);
}

/* ---- functions and tests ---- */

const FN_KEYS = { name: f => f.name, share: f => f.covered / f.total, points: f => f.total, calls: f => f.calls, place: f => f.path };
pages.functions = () => {
  const all = D.files.flatMap((file, index) => file.f.map(f => ({ name: f[0], line: f[1], calls: f[2], covered: f[3], total: f[4], path: file.p, index })));
  const key = FN_KEYS[state.fnSort], sign = state.fnUp ? 1 : -1;
  all.sort((a, b) => { const x = key(a), y = key(b); return x < y ? -sign : x > y ? sign : a.name < b.name ? -1 : 1; });
  const head = (k, text, css) => '<th class="' + (css || '') + '"' + (state.fnSort === k ? ' aria-sort="' + (state.fnUp ? 'ascending' : 'descending') + '"' : '') + '><button data-fn="' + k + '">' + text +
    (state.fnSort === k ? (state.fnUp ? ' \u2191' : ' \u2193') : '') + '</button></th>';
  const rows = all.slice(0, 3000).map(f => '<tr><td class="name"><a href="#/file/' + f.index + ':' + f.line + '">' + esc(f.name) + '</a></td><td>' + meter(f.covered, 0, f.total) + '</td><td class="num">' +
    shown(f.covered, f.total) + '%</td><td class="num quiet">' + f.covered + ' / ' + f.total + '</td><td class="num">' + count(f.calls) + '</td><td class="name quiet">' + esc(f.path) + ':' + f.line + '</td></tr>');
  main.innerHTML = '<h1>Functions</h1><p class="meta">' + plural(all.length, 'function') + (all.length > 3000 ? '; the first 3,000 are listed' : '') + '</p><table class="list"><thead><tr>' +
    head('name', 'Function') + '<th></th>' + head('share', 'Covered', 'num') + head('points', 'Points', 'num') + head('calls', 'Calls', 'num') + head('place', 'Where') + '</tr></thead><tbody>' + rows.join('') + '</tbody></table>';
};

pages.tests = () => {
  const rows = D.tests.map((test, i) => '<tr><td class="name">' + esc(test.name) + '</td><td class="num">' + count(test.points) + '</td><td class="num">' + count(test.only) + '</td><td class="num">' +
    count(test.lines) + '</td><td><button data-test="' + i + '">' + (state.test === i ? 'show all' : 'show only this') + '</button></td></tr>');
  main.innerHTML = '<h1>Tests</h1><p class="meta">What each test reached. \u201cOnly here\u201d are points that no other test of this report reached.</p><table class="list"><thead><tr><th>Test</th><th class="num">Points</th><th class="num">Only here</th><th class="num">Lines</th><th></th></tr></thead><tbody>' +
    rows.join('') + '</tbody></table>';
};
return { D, doc, main, pop, esc, count, plural, state, pages, stepGap, pct };
})(document);
`;
