/** Small helpers of the page: elements, text escaped for HTML, formatted numbers. */

export function element(selector: string): HTMLElement {
  const found = document.querySelector<HTMLElement>(selector);
  if (!found) throw new Error(`the page has no ${selector}`);
  return found;
}

export const main = element('#main');

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export const esc = (text: unknown): string => String(text).replace(/[&<>"]/g, c => ENTITIES[c] ?? c);

export const count = (n: number): string => n.toLocaleString('en-US');

/** A count that may be a lower bound. */
export const atLeast = (n: number, isLeast: 0 | 1): string => `${isLeast ? '\u2265' : ''}${count(n)}`;

/** The calls of a function: a count, `seen` where nothing counts, `?` where it may have run. */
export function called(calls: number, isLeast: 0 | 1): string {
  if (calls < 0) return 'seen';
  return calls === 0 && isLeast
    ? '<span title="unknown: it may have run or not">?</span>'
    : atLeast(calls, isLeast);
}

export const plural = (n: number, noun: string): string => `${count(n)} ${noun}${n === 1 ? '' : 's'}`;

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export const percent = (covered: number, total: number): number => (total ? (100 * covered) / total : 0);

/** `100` or `99.5`, never `100.0` for less than everything. */
export function shown(covered: number, total: number): string {
  const share = percent(covered, total);
  return covered === total ? share.toFixed(0) : Math.min(share, 99.9).toFixed(1);
}

/** A bar of two parts. */
export function meter(covered: number, partly: number, total: number): string {
  const share = percent(covered, total);
  const whole = percent(covered - partly, total);
  return (
    `<div class="meter" role="img" aria-label="${share.toFixed(1)} percent">` +
    `<i style="width:${whole}%"></i><i style="width:${share - whole}%"></i></div>`
  );
}

/** The head of a column that rows can be sorted by. */
export function sortHead(
  attribute: string,
  key: string,
  text: string,
  sort: { key: string; up: boolean },
  css = '',
  span = 1,
): string {
  const isChosen = sort.key === key;
  const aria = isChosen ? ` aria-sort="${sort.up ? 'ascending' : 'descending'}"` : '';
  const arrow = isChosen ? (sort.up ? ' \u2191' : ' \u2193') : '';
  const columns = span > 1 ? ` colspan="${span}"` : '';
  return `<th scope="col" class="${css}"${columns}${aria}><button type="button" data-${attribute}="${key}">${text}${arrow}</button></th>`;
}

/** Orders rows by a key, then by name. */
export function ordered<T extends { name: string }>(
  rows: T[],
  keyOf: (row: T) => string | number,
  up: boolean,
): T[] {
  const sign = up ? 1 : -1;
  return rows.sort((a, b) => {
    const [x, y] = [keyOf(a), keyOf(b)];
    return x < y ? -sign : x > y ? sign : a.name < b.name ? -1 : 1;
  });
}
