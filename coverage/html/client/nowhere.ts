/** Addresses that name something this report does not have: a typing error, or an old link. */
import { D, groupNamed, numberOf } from './data.ts';
import { esc, main } from './dom.ts';
import { hashOf, here } from './url.ts';

const HOME = '<a class="button" href="#/">All files</a>';

function drawNothing(title: string, text: string): string {
  main.innerHTML = `<h1>${title}</h1><p class="meta">${text}</p><p>${HOME}</p>`;
  return title;
}

/** Draws an address that is not one of a view, and answers with the title of the page. */
export const drawNowhere = (): string =>
  drawNothing('No such page', `This report has no page <code>${esc(location.hash)}</code>.`);

export const drawNoFile = (path: string): string =>
  drawNothing('No such file', `This report has no file <code>${esc(path)}</code>.`);

/** One sentence for each part of the address that is ignored. */
export function ignoredParts(): string[] {
  const { view, name, line, only, a, b } = here;
  const said: string[] = [];
  for (const group of [only, a, b])
    if (group !== undefined && groupNamed(group) < 0)
      said.push(
        `This report has no <code>${esc(group.replace(':', ' '))}</code> to filter by or to compare.`,
      );
  if (a !== undefined && a === b) said.push('A and B are the same, so there is nothing to compare.');
  if (view === 'calls' && name && !D.paths.some(path => path.id === name))
    said.push(`This report has no call <code>${esc(name)}</code>. Another one is shown.`);
  if (view === 'file' && numberOf(name) >= 0 && line && !document.getElementById(`L${line}`))
    said.push(`<code>${esc(name)}</code> has no line ${line}.`);
  return said;
}

/** Puts those sentences above the view. */
export function sayIgnored(): void {
  const said = ignoredParts();
  if (said.length === 0) return;
  const { view, name } = here;
  const known = view === 'file' ? { view, name } : { view };
  const plain = `<a class="button" href="${esc(hashOf(known))}">Continue without it</a>`;
  const notices = said.map(text => `<p class="notice mild">${text}</p>`).join('');
  main.insertAdjacentHTML('afterbegin', `<div class="ignored" role="status">${notices}<p>${plain}</p></div>`);
}
