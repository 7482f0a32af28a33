/** Starts the report: clicks and keys. */
import { drawFlame, openBox, wholeCall } from './calls.ts';
import { D } from './data.ts';
import { element, main } from './dom.ts';
import { hideHint, startHints } from './hints.ts';
import { choose, draw, go, startRoutes } from './route.ts';
import { focusSearch, startSearch } from './search.ts';
import { atLine, neighbour, stepGap, stepLine, toggleDetail } from './source.ts';
import { state } from './state.ts';
import { restoreTheme, toggleTheme } from './theme.ts';
import { fileLink, hashOf, here, keyOfGroup, link } from './url.ts';

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
  [...main.querySelectorAll('button')]
    .find(each => each.dataset[key] === value)
    ?.focus({ preventScroll: true });
});

main.addEventListener('change', event => {
  const select = event.target as HTMLSelectElement;
  const key = select.dataset['query'] as 'only' | 'a' | 'b' | undefined;
  if (!key) return;
  choose(hashOf({ ...here, [key]: select.value || undefined }));
  main.querySelector<HTMLElement>(`[data-query="${key}"]`)?.focus({ preventScroll: true });
});

/* ---- keys ---- */

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
  if (event.key === 'Escape') hideHint();
  const act = KEYS[event.key];
  if (!act) return;
  act();
  event.preventDefault();
});

restoreTheme();
fillHelp();
startHints();
startSearch();
element('#theme').addEventListener('click', toggleTheme);
element('#keys').addEventListener('click', () => dialog.showModal());
element('.skip').addEventListener('click', event => {
  main.focus();
  event.preventDefault(); // the address stays that of the view
});
addEventListener('resize', drawFlame);
if (D.compare && location.hash === '') {
  const [a, b] = D.compare.map(keyOfGroup);
  history.replaceState(null, '', hashOf({ view: 'compare', a, b }));
}
startRoutes();
