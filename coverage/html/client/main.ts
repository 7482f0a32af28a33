/** Starts the report: routes, clicks and keys. */
import { boxHint, drawCalls, drawFlame, openBox, wholeCall } from './calls.ts';
import { drawCompare } from './compare.ts';
import { D } from './data.ts';
import { element, main } from './dom.ts';
import { drawFiles } from './files.ts';
import { focusSearch, startSearch } from './search.ts';
import { atLine, drawFile, neighbour, stepGap, stepLine, toggleDetail } from './source.ts';
import { state } from './state.ts';
import { drawFunctions, drawTests } from './tables.ts';
import { fileLink, hashOf, here, keyOfGroup, link, parseRoute, setHere } from './url.ts';

/* ---- routes ---- */

const VIEWS: Record<string, () => string> = {
  files: drawFiles,
  file: () => drawFile(here.name, here.line),
  functions: drawFunctions,
  calls: () => drawCalls(here.name),
  tests: drawTests,
  compare: drawCompare,
};

/** Where each address was scrolled to, for the way back. */
const scrolled = new Map<string, number>();
let shownHash = '';
let isBack = true;

function draw(): void {
  const name = VIEWS[here.view] ? here.view : 'files';
  hide();
  main.className = '';
  const title = VIEWS[name]!();
  document.title = title ? `${title} \u2013 ${D.title}` : D.title;
  for (const anchor of document.querySelectorAll<HTMLAnchorElement>('nav a')) {
    const { view } = anchor.dataset;
    anchor.setAttribute('href', link(view!));
    if (view === (name === 'file' ? 'files' : name)) anchor.setAttribute('aria-current', 'page');
    else anchor.removeAttribute('aria-current');
  }
}

function route(): void {
  const next = parseRoute(location.hash);
  if (next.name !== here.name || next.view !== here.view) state.open.clear();
  setHere(next);
  draw();
  const before = scrolled.get(location.hash);
  if (isBack && before !== undefined) scrollTo(0, before);
  else if (!here.line && shownHash !== location.hash) scrollTo(0, 0);
  shownHash = location.hash;
  isBack = true;
}

function go(hash: string): void {
  isBack = false;
  if (location.hash === hash) route();
  else location.hash = hash;
}

/* ---- hints ---- */

const pop = element('.pop');
const hide = (): void => {
  pop.hidden = true;
};

function show(html: string, x: number, y: number): void {
  pop.innerHTML = html;
  pop.hidden = false;
  const box = pop.getBoundingClientRect();
  pop.style.left = `${Math.max(8, Math.min(x + 14, innerWidth - box.width - 12))}px`;
  pop.style.top = `${y + 18 + box.height > innerHeight ? Math.max(8, y - box.height - 12) : y + 18}px`;
}

const boxAt = (event: Event): HTMLElement | null =>
  (event.target as Element).closest<HTMLElement>('[data-box]');

document.addEventListener('mouseover', event => {
  const box = boxAt(event);
  if (box) show(boxHint(Number(box.dataset['box'])), event.clientX, event.clientY);
  else hide();
});
document.addEventListener('focusin', event => {
  const box = boxAt(event);
  if (!box) return hide();
  const { left, bottom } = box.getBoundingClientRect();
  show(boxHint(Number(box.dataset['box'])), left, bottom);
});
addEventListener(
  'scroll',
  () => {
    hide();
    if (shownHash === location.hash) scrolled.set(location.hash, scrollY);
  },
  { passive: true },
);

/* ---- clicks ---- */

const toggle = (set: Set<string>, key: string): void => {
  if (!set.delete(key)) set.add(key);
};

const BUTTONS: Record<string, (value: string) => 'draw' | undefined> = {
  dir: value => {
    toggle(state.toggled, value);
    return 'draw';
  },
  sort: value => sortBy(state.files, value, value === 'path'),
  fn: value => sortBy(state.functions, value, value === 'name' || value === 'place'),
  all: value => {
    state.reachedOnly = value === '0';
    return 'draw';
  },
  only: value => {
    go(hashOf({ ...here, only: value || undefined }));
    return undefined;
  },
  step: value => {
    stepGap(Number(value));
    return undefined;
  },
  line: value => {
    toggleDetail(Number(value));
    return undefined;
  },
  box: value => {
    const href = openBox(Number(value));
    if (href) go(href);
    return undefined;
  },
  zoom: () => {
    wholeCall();
    return undefined;
  },
};

function sortBy(sort: { key: string; up: boolean }, key: string, isUpFirst: boolean): 'draw' {
  sort.up = sort.key === key ? !sort.up : isUpFirst;
  sort.key = key;
  return 'draw';
}

main.addEventListener('click', event => {
  const button = (event.target as Element).closest('button');
  if (!button) return;
  const [key, value = ''] = Object.entries(button.dataset)[0] ?? [];
  if (key === undefined || BUTTONS[key]?.(value) !== 'draw') return;
  draw();
  [...main.querySelectorAll('button')].find(each => each.dataset[key] === value)?.focus();
});

document.addEventListener('click', event => {
  const anchor = (event.target as Element).closest('a');
  if (anchor?.getAttribute('href')?.startsWith('#/')) isBack = false;
});

main.addEventListener('change', event => {
  const select = event.target as HTMLSelectElement;
  const key = select.dataset['query'] as 'only' | 'a' | 'b' | undefined;
  if (!key) return;
  history.pushState(null, '', hashOf({ ...here, [key]: select.value || undefined }));
  route();
  main.querySelector<HTMLElement>(`[data-query="${key}"]`)?.focus();
});

/* ---- theme, keys ---- */

const THEME = 'kcovbox-theme';

function toggleTheme(): void {
  const { dataset } = document.documentElement;
  const isDark = dataset['theme']
    ? dataset['theme'] === 'dark'
    : matchMedia('(prefers-color-scheme: dark)').matches;
  dataset['theme'] = isDark ? 'light' : 'dark';
  try {
    localStorage.setItem(THEME, dataset['theme']);
  } catch {
    // file:// may have no storage
  }
}

function restoreTheme(): void {
  try {
    const theme = localStorage.getItem(THEME);
    if (theme) document.documentElement.dataset['theme'] = theme;
  } catch {
    // as above
  }
}

const dialog = element('dialog') as HTMLDialogElement;
const HELP = [
  ['/', 'search'],
  ['n p', 'next and previous gap or difference in the source'],
  ['j k', 'next and previous line'],
  ['o', 'points of the line'],
  ['[ ]', 'previous and next file'],
  ['f u c s d', 'files, functions, calls, tests, compare'],
  ['z', 'whole call'],
  ['t', 'light or dark'],
  ['Esc', 'close'],
] as const;

function fillHelp(): void {
  const rows = HELP.map(([keys, text]) => {
    const marks = keys.split(' ').map(key => `<kbd>${key}</kbd>`);
    return `<dt>${marks.join(' ')}</dt><dd>${text}</dd>`;
  });
  dialog.innerHTML = `<h2>Keys</h2><dl>${rows.join('')}</dl><form method="dialog"><button>Close</button></form>`;
}

function stepFile(direction: number): void {
  const path = neighbour(direction);
  if (path !== undefined) go(fileLink(path));
}

const KEYS: Record<string, () => void> = {
  '/': focusSearch,
  n: () => stepGap(1),
  p: () => stepGap(-1),
  j: () => stepLine(1),
  k: () => stepLine(-1),
  o: () => toggleDetail(atLine()),
  '[': () => stepFile(-1),
  ']': () => stepFile(1),
  f: () => go(link('files')),
  u: () => go(link('functions')),
  c: () => go(link('calls')),
  s: () => go(link('tests')),
  d: () => go(link('compare')),
  z: wholeCall,
  t: toggleTheme,
  '?': () => dialog.showModal(),
};

document.addEventListener('keydown', event => {
  const { tagName } = event.target as Element;
  if (event.ctrlKey || event.metaKey || event.altKey || dialog.open || /^(INPUT|SELECT)$/.test(tagName))
    return;
  if (event.key === 'Escape') hide();
  const act = KEYS[event.key];
  if (!act) return;
  act();
  event.preventDefault();
});

history.scrollRestoration = 'manual';
restoreTheme();
fillHelp();
startSearch();
element('#theme').addEventListener('click', toggleTheme);
element('#keys').addEventListener('click', () => dialog.showModal());
addEventListener('hashchange', route);
addEventListener('popstate', () => location.hash !== shownHash && route());
addEventListener('resize', drawFlame);
if (D.compare && location.hash === '') {
  const [a, b] = D.compare.map(keyOfGroup);
  history.replaceState(null, '', hashOf({ view: 'compare', a, b }));
}
route();
