/** The rest of the report's program: call paths as an icicle, hints on hover, search, keys, and the start. See html-script.ts. */
export const CALLS_SCRIPT = String.raw`
(({ D, doc, main, pop, esc, count, plural, state, pages, stepGap }) => {

/* ---- call paths ---- */

/* A calm colour for a file: hue by name, one lightness. */
function hue(text) {
  let h = 7;
  for (let i = 0; i < text.length; i++) h = (Math.imul(h, 31) + text.charCodeAt(i)) >>> 0;
  return 'hsl(' + (h % 360) + ' 38% 76%)';
}

pages.calls = index => {
  main.className = 'wide';
  if (D.paths.length === 0) { main.innerHTML = '<h1>Calls</h1><p class="meta">The trace has no records of points, so there is no path to draw.</p>'; return; }
  const path = D.paths[index] || D.paths[0];
  const at = D.paths.indexOf(path);
  const list = D.paths.map((p, i) => '<li><a href="#/calls/' + i + '"' + (i === at ? ' aria-current="true"' : '') + '><code>' + esc(p.label) + '</code><span>' + count(p.records) + '</span><small>' + esc(p.who) + '</small></a></li>').join('');
  main.innerHTML = '<h1>Calls</h1><p class="meta">The path of each system call, rebuilt from the order of its records: left to right is order, top to bottom is depth. Italic boxes are inlined. Click to zoom, again for the source.</p>' +
    '<div class="calls"><ol aria-label="System calls">' + list + (D.morePaths ? '<li><small>' + plural(D.morePaths, 'more call') + ' not drawn</small></li>' : '') + '</ol><div><h2 style="margin-top:0">' + esc(path.label) +
    ' <span style="font-weight:400;color:var(--soft)">' + plural(path.records, 'record') + ', ' + esc(path.who) + '</span></h2><div class="tools"><button data-zoom="out">whole call <kbd>z</kbd></button>' +
    (path.cut ? '<span>only the first boxes are drawn</span>' : '') + '</div><div class="flame" role="group" aria-label="Call path"></div><div class="axis"></div></div></div>';
  state.path = path;
  state.zoom = [0, Math.max(1, path.records)];
  drawFlame();
};

function drawFlame() {
  const flame = main.querySelector('.flame');
  if (!flame) return;
  const path = state.path;
  const [from, to] = state.zoom;
  const width = flame.clientWidth || 800;
  const span = to - from;
  let depth = 0;
  const boxes = [];
  path.n.forEach((n, i) => {
    const a = Math.max(n[2], from), b = Math.min(Math.max(n[3], n[2] + 0.2), to);
    if (b <= a || ((b - a) / span) * width < 1.2) return;
    depth = Math.max(depth, n[1]);
    const name = D.names[n[0]];
    const file = D.files[n[5]];
    boxes.push('<button type="button" data-box="' + i + '" class="' + (n[4] ? 'inl' : '') + '" style="left:' + (100 * (a - from)) / span + '%;width:' + (100 * (b - a)) / span + '%;top:' + n[1] * 22 +
      'px;background:' + hue(file ? file.p : name) + '" aria-label="' + esc(name) + ', ' + plural(n[3] - n[2], 'record') + '">' + (((b - a) / span) * width > 26 ? esc(name) : '') + '</button>');
  });
  flame.style.height = (depth + 1) * 22 + 1 + 'px';
  flame.innerHTML = boxes.join('');
  main.querySelector('.axis').innerHTML = '<span>record ' + count(from) + '</span><span>' + count(Math.round(to)) + '</span>';
}

function openBox(i) {
  const n = state.path.n[i];
  const zoom = [n[2], Math.max(n[3], n[2] + 1)];
  if (state.zoom[0] === zoom[0] && state.zoom[1] === zoom[1]) {
    if (n[5] >= 0) location.hash = '#/file/' + n[5] + ':' + n[6];
    return;
  }
  state.zoom = zoom;
  drawFlame();
  const box = main.querySelector('[data-box="' + i + '"]');
  if (box) box.focus();
}

/* ---- hints ---- */

function show(html, x, y) {
  pop.innerHTML = html;
  pop.hidden = false;
  const box = pop.getBoundingClientRect();
  pop.style.left = Math.max(8, Math.min(x + 14, innerWidth - box.width - 12)) + 'px';
  pop.style.top = (y + 18 + box.height > innerHeight ? Math.max(8, y - box.height - 12) : y + 18) + 'px';
}
const hide = () => { pop.hidden = true; };
const SIZES = ['8 bit', '16 bit', '32 bit', '64 bit'];

function compareTable(rows) {
  return '<table><tbody>' + rows.map(r => '<tr><td>' + SIZES[(r[0] >> 1) & 3] + '</td><td class="num">' + esc(r[1]) + (r[0] & 1 ? ' const' : '') + '</td><td class="num">' + esc(r[2]) +
    '</td><td>' + (r[1] === r[2] ? 'equal' : '') + '</td><td class="soft">' + count(r[3]) + '\u00d7</td></tr>').join('') + '</tbody></table>';
}

function hint(target) {
  const box = target.closest('[data-box]');
  if (box) {
    const n = state.path.n[box.dataset.box];
    const file = D.files[n[5]];
    return '<p><b>' + esc(D.names[n[0]]) + '</b>' + (n[4] ? ' <span class="soft">inlined</span>' : '') + '</p><p class="soft">' + plural(n[3] - n[2], 'record') + (file ? ', ' + esc(file.p) + ':' + n[6] : '') + '</p>';
  }
  const row = target.closest('.code tr');
  const route = /^#\/file\/(\d+)/.exec(location.hash);
  if (!row || !route) return '';
  const file = D.files[route[1]];
  const n = Number(row.dataset.n);
  const line = file.l.find(l => l[0] === n);
  const compares = file.c && file.c[n];
  if (!line && !compares) return '';
  let html = '';
  if (line) {
    html += '<p>' + (line[1] === 3 ? 'The records do not tell whether it ran.' : line[1] === 2 ? 'Not covered.' : (line[1] === 1 ? 'Partly covered, ' : 'Covered, ') + plural(line[2], 'time') + '.') + '</p>';
    if (line[3].length) html += '<p class="soft">' + line[3].slice(0, 12).map(i => esc(D.tests[i].name)).join(', ') + (line[3].length > 12 ? ' and ' + (line[3].length - 12) + ' more' : '') + '</p>';
  }
  return html + (compares ? compareTable(compares) : '');
}

doc.addEventListener('mouseover', event => { const html = hint(event.target); if (html) show(html, event.clientX, event.clientY); else hide(); });
doc.addEventListener('focusin', event => {
  const box = event.target.closest('[data-cmp], [data-box]');
  const html = box && hint(event.target);
  if (!html) { hide(); return; }
  const r = box.getBoundingClientRect();
  show(html, r.left, r.bottom);
});
doc.addEventListener('scroll', hide, { passive: true });

/* ---- search ---- */

const input = doc.querySelector('.search input');
const found = doc.getElementById('found');
let chosen = -1;

function results(query) {
  const q = query.toLowerCase();
  const out = [];
  const add = (href, text, note) => { if (out.length < 60) out.push({ href, text, note }); };
  D.files.forEach((file, i) => { if (file.p.toLowerCase().includes(q)) add('#/file/' + i, file.p, 'file'); });
  D.files.forEach((file, i) => { for (const f of file.f) if (f[0].toLowerCase().includes(q)) add('#/file/' + i + ':' + f[1], f[0], file.p + ':' + f[1]); });
  if (q.length >= 3) D.files.forEach((file, i) => {
    if (!file.s || out.length >= 60 || !file.s.toLowerCase().includes(q)) return;
    file.s.split('\n').forEach((line, n) => { if (line.toLowerCase().includes(q)) add('#/file/' + i + ':' + (n + 1), line.trim().slice(0, 70), file.p + ':' + (n + 1)); });
  });
  return out;
}

function search() {
  const query = input.value.trim();
  const rows = query ? results(query) : [];
  chosen = rows.length ? 0 : -1;
  found.innerHTML = rows.map((r, i) => '<li role="option" id="o' + i + '" aria-selected="' + (i === chosen) + '"><a href="' + r.href + '" tabindex="-1">' + esc(r.text) + '<span>' + esc(r.note) + '</span></a></li>').join('') ||
    (query ? '<li><a>nothing found</a></li>' : '');
  found.hidden = !query;
  input.setAttribute('aria-expanded', String(!found.hidden));
}
function choose(step) {
  const rows = found.querySelectorAll('[role=option]');
  if (!rows.length) return;
  if (rows[chosen]) rows[chosen].setAttribute('aria-selected', 'false');
  chosen = (chosen + step + rows.length) % rows.length;
  rows[chosen].setAttribute('aria-selected', 'true');
  rows[chosen].scrollIntoView({ block: 'nearest' });
  input.setAttribute('aria-activedescendant', 'o' + chosen);
}
const closeSearch = () => { found.hidden = true; input.setAttribute('aria-expanded', 'false'); };
input.addEventListener('input', search);
input.addEventListener('focus', () => { if (input.value) search(); });
input.addEventListener('keydown', event => {
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') { choose(event.key === 'ArrowDown' ? 1 : -1); event.preventDefault(); }
  else if (event.key === 'Enter') { const row = found.querySelectorAll('[role=option] a')[chosen]; if (row) { location.hash = row.getAttribute('href'); closeSearch(); main.focus(); } }
  else if (event.key === 'Escape') { closeSearch(); input.blur(); }
});
doc.addEventListener('click', event => { if (!event.target.closest('.search') || event.target.closest('#found a')) closeSearch(); });

/* ---- clicks, keys, routes ---- */

main.addEventListener('click', event => {
  const button = event.target.closest('button');
  if (!button) return;
  const { dir, sort, fn, test, step, box, zoom, all } = button.dataset;
  if (all) state.reachedOnly = all === '0';
  else if (dir !== undefined) { if (!state.closed.delete(dir)) state.closed.add(dir); }
  else if (sort) { state.up = state.sort === sort ? !state.up : sort === 'path'; state.sort = sort; }
  else if (fn) { state.fnUp = state.fnSort === fn ? !state.fnUp : fn === 'name' || fn === 'place'; state.fnSort = fn; }
  else if (test) state.test = state.test === Number(test) ? -1 : Number(test);
  else if (step) { stepGap(Number(step)); return; }
  else if (box) { openBox(Number(box)); return; }
  else if (zoom) { state.zoom = [0, Math.max(1, state.path.records)]; drawFlame(); return; }
  else return;
  const key = Object.keys(button.dataset)[0];
  const value = button.dataset[key];
  route();
  const again = [...main.querySelectorAll('button')].find(b => b.dataset[key] === value);
  if (again) again.focus();
});
main.addEventListener('change', event => { if (event.target.id === 'test') { state.test = Number(event.target.value); route(); const s = doc.getElementById('test'); if (s) s.focus(); } });

function toggleTheme() {
  const root = doc.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
  try { localStorage.setItem('kcovbox-theme', root.dataset.theme); } catch { /* file:// may have no storage */ }
}
try { const theme = localStorage.getItem('kcovbox-theme'); if (theme) doc.documentElement.dataset.theme = theme; } catch { /* as above */ }
doc.getElementById('theme').addEventListener('click', toggleTheme);

const dialog = doc.querySelector('dialog');
dialog.innerHTML = '<h2 style="margin-top:0">Keys</h2><dl>' + [['/', 'search'], ['n p', 'next and previous gap in the source'], ['[ ]', 'previous and next file'], ['f u c s', 'files, functions, calls, tests'],
  ['z', 'whole call'], ['t', 'light or dark'], ['Esc', 'close']].map(([k, what]) => '<dt>' + k.split(' ').map(x => '<kbd>' + x + '</kbd>').join(' ') + '</dt><dd>' + what + '</dd>').join('') +
  '</dl><form method="dialog" style="margin-top:1rem;text-align:right"><button>Close</button></form>';
doc.getElementById('keys').addEventListener('click', () => dialog.showModal());

function stepFile(direction) {
  const at = /^#\/file\/(\d+)/.exec(location.hash);
  if (!at) return;
  const next = (Number(at[1]) + direction + D.files.length) % D.files.length;
  location.hash = '#/file/' + next;
}
const KEYS = {
  '/': () => { input.focus(); input.select(); }, n: () => stepGap(1), p: () => stepGap(-1), '[': () => stepFile(-1), ']': () => stepFile(1), t: toggleTheme, '?': () => dialog.showModal(),
  f: () => { location.hash = '#/'; }, u: () => { location.hash = '#/functions'; }, c: () => { location.hash = '#/calls'; }, s: () => { location.hash = '#/tests'; },
  z: () => { if (state.path && state.zoom) { state.zoom = [0, Math.max(1, state.path.records)]; drawFlame(); } },
};
doc.addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey || dialog.open || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  if (event.key === 'Escape') hide();
  const act = KEYS[event.key];
  if (act) { act(); event.preventDefault(); }
});

const VIEWS = { '': 'files', file: 'file', functions: 'functions', calls: 'calls', tests: 'tests' };
let shownHash = null;
function route() {
  const [, view = '', argument = ''] = location.hash.split('/');
  const name = VIEWS[view] || 'files';
  hide();
  main.className = '';
  const [index, line] = argument.split(':').map(Number);
  pages[name](index || 0, line);
  doc.querySelectorAll('nav a').forEach(a => {
    const here = a.getAttribute('href') === (name === 'files' || name === 'file' ? '#/' : '#/' + name);
    if (here) a.setAttribute('aria-current', 'page'); else a.removeAttribute('aria-current');
  });
  if (shownHash !== location.hash && !line) scrollTo(0, 0);
  shownHash = location.hash;
}
addEventListener('hashchange', route);
addEventListener('resize', drawFlame);
route();
})(KR);
`;
