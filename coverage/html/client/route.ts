/** Draws the view of the address, and keeps the page where the reader left it. */
import { drawCalls } from './calls.ts';
import { drawCompare } from './compare.ts';
import { setTitle } from './data.ts';
import { main } from './dom.ts';
import { drawFiles } from './files.ts';
import { hideHint } from './hints.ts';
import { drawNowhere, sayIgnored } from './nowhere.ts';
import { drawFile, showLine } from './source.ts';
import { state } from './state.ts';
import { drawFunctions, drawTests } from './tables.ts';
import { here, link, parseRoute, type Route, setHere } from './url.ts';

const VIEWS = new Map<string, () => string>([
  ['files', drawFiles],
  ['file', () => drawFile(here.name, here.line)],
  ['functions', drawFunctions],
  ['calls', () => drawCalls(here.name)],
  ['tests', drawTests],
  ['compare', drawCompare],
]);

export function draw(): void {
  const view = VIEWS.get(here.view);
  hideHint();
  main.className = '';
  const title = (view ?? drawNowhere)();
  if (view) sayIgnored();
  setTitle(title);
  for (const anchor of document.querySelectorAll<HTMLAnchorElement>('nav a')) {
    const name = anchor.dataset['view']!;
    anchor.setAttribute('href', link(name));
    if (name === (here.view === 'file' ? 'files' : here.view)) anchor.setAttribute('aria-current', 'page');
    else anchor.removeAttribute('aria-current');
  }
}

/**
 * Positions by entry of the history. `history.state` names the entry, and this opening of the page,
 * because entries outlive it.
 */
const scrolled = new Map<number, number>();
const opening = performance.timeOrigin;
let entry = 0;
let last = 0;

const entryOf = (kept: { opening: number; entry: number } | null): number | undefined =>
  kept?.opening === opening ? kept.entry : undefined;

const isSameView = (a: Route, b: Route): boolean => a.view === b.view && a.name === b.name;

/** True if at most the line differs. */
const isSamePage = (a: Route, b: Route): boolean =>
  isSameView(a, b) && a.only === b.only && a.a === b.a && a.b === b.b;

/**
 * Shows the address. Going back or forward restores the position. Another line of the file, or
 * another filter of the view, keeps it as far as possible; everything else begins at the top.
 */
function route(): void {
  const known = entryOf(history.state);
  if (known !== undefined && known === entry) return; // popstate was here before hashchange
  entry = known ?? ++last;
  if (known === undefined) history.replaceState({ opening, entry }, '');
  const [before, next] = [here, parseRoute(location.hash)];
  const isFirst = last === 1 && known === undefined;
  setHere(next);
  if (!isSameView(before, next)) state.open.clear();
  const stays =
    !isFirst &&
    isSamePage(before, next) &&
    next.view === 'file' &&
    next.line > 0 &&
    !main.querySelector('.ignored');
  if (!stays || !showLine(next.line)) draw();
  const position = known === undefined ? undefined : scrolled.get(known);
  if (position !== undefined) scrollTo(0, position);
  else if (!next.line && !isSameView(before, next)) scrollTo(0, 0);
}

export function go(hash: string): void {
  if (location.hash === hash) draw();
  else location.hash = hash;
}

/** A filter or a comparison that the reader chose: a new entry of the history. */
export function choose(hash: string): void {
  history.pushState(null, '', hash);
  route();
}

export function startRoutes(): void {
  history.scrollRestoration = 'manual';
  addEventListener('hashchange', route);
  addEventListener('popstate', route);
  addEventListener(
    'scroll',
    () => {
      // Not between the change of the address and its view.
      if (entryOf(history.state) === entry) scrolled.set(entry, scrollY);
    },
    { passive: true },
  );
  route();
}
