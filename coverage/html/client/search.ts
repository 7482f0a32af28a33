/** The search box: files, functions and text. */
import { allFunctions, D, fileAt } from './data.ts';
import { element, esc, main } from './dom.ts';
import { fileLink } from './url.ts';

/** Results that are listed, and files whose text is read for one search. */
const RESULTS = 60;
const TEXT_LENGTH = 3;

const input = element('.search input') as HTMLInputElement;
const found = element('#found');
let chosen = -1;

interface Result {
  href: string;
  text: string;
  note: string;
}

function results(query: string): Result[] {
  const q = query.toLowerCase();
  const out: Result[] = [];
  const isFull = () => out.length >= RESULTS;
  for (const { p } of D.files)
    if (!isFull() && p.toLowerCase().includes(q)) out.push({ href: fileLink(p), text: p, note: 'file' });
  allFunctions().forEach((list, i) => {
    const { p } = D.files[i]!;
    for (const [name, line] of list)
      if (!isFull() && name.toLowerCase().includes(q))
        out.push({ href: fileLink(p, line), text: name, note: `${p}:${line}` });
  });
  for (let i = 0; q.length >= TEXT_LENGTH && i < D.files.length && !isFull(); i++) searchText(i, q, out);
  return out;
}

function searchText(index: number, q: string, out: Result[]): void {
  const { s } = fileAt(index);
  const { p } = D.files[index]!;
  if (!s?.toLowerCase().includes(q)) return;
  s.split('\n').forEach((text, i) => {
    if (out.length < RESULTS && text.toLowerCase().includes(q))
      out.push({ href: fileLink(p, i + 1), text: text.trim().slice(0, 70), note: `${p}:${i + 1}` });
  });
}

function search(): void {
  const query = input.value.trim();
  const rows = query ? results(query) : [];
  chosen = rows.length > 0 ? 0 : -1;
  const items = rows.map(
    (row, i) =>
      `<li role="option" id="o${i}" aria-selected="${i === chosen}"><a href="${esc(row.href)}" tabindex="-1">${esc(row.text)}<span>${esc(row.note)}</span></a></li>`,
  );
  found.innerHTML =
    items.join('') || (query ? '<li role="option" aria-disabled="true"><a>nothing found</a></li>' : '');
  found.hidden = !query;
  input.setAttribute('aria-expanded', String(!found.hidden));
}

function choose(step: number): void {
  const rows = found.querySelectorAll('[role=option] a[href]');
  if (rows.length === 0) return;
  rows[chosen]?.parentElement?.setAttribute('aria-selected', 'false');
  chosen = (chosen + step + rows.length) % rows.length;
  rows[chosen]!.parentElement!.setAttribute('aria-selected', 'true');
  rows[chosen]!.scrollIntoView({ block: 'nearest' });
  input.setAttribute('aria-activedescendant', `o${chosen}`);
}

function close(): void {
  found.hidden = true;
  input.setAttribute('aria-expanded', 'false');
}

function follow(): void {
  const href = found.querySelectorAll('[role=option] a[href]')[chosen]?.getAttribute('href');
  if (!href) return;
  location.hash = href;
  close();
  main.focus();
}

export function startSearch(): void {
  input.addEventListener('input', search);
  input.addEventListener('focus', () => input.value && search());
  input.addEventListener('keydown', event => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      choose(event.key === 'ArrowDown' ? 1 : -1);
      event.preventDefault();
    } else if (event.key === 'Enter') follow();
    else if (event.key === 'Escape') {
      close();
      input.blur();
    }
  });
  document.addEventListener('click', event => {
    const target = event.target as Element;
    if (!target.closest('.search') || target.closest('#found a')) close();
  });
}

export function focusSearch(): void {
  input.focus();
  input.select();
}
