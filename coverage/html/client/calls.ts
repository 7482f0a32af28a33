/** Call paths as an icicle: left to right is order, top to bottom is depth. */
import type { PathBox } from '../page.ts';
import { D } from './data.ts';
import { count, element, esc, main, plural } from './dom.ts';
import { only, state } from './state.ts';
import { fileLink, link } from './url.ts';

const ROW = 22;

/** A calm colour for a file: hue by name, one lightness. */
function hue(text: string): string {
  let hash = 7;
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) >>> 0;
  return `hsl(${hash % 360} 38% 76%)`;
}

function list(chosen: string): string {
  const group = only();
  const items = D.paths
    .filter(path => group < 0 || path.g.includes(group))
    .map(path => {
      const notes = [
        path.fresh > 0 ? `<b>${plural(path.fresh, 'new point')}</b>` : '',
        path.same > 0 ? `${plural(path.same, 'call')} like it` : '',
        esc(path.by),
      ];
      return (
        `<li><a href="${esc(link('calls', path.id))}"${path.id === chosen ? ' aria-current="true"' : ''}><code>${esc(path.label)}</code>` +
        `<span>${count(path.records)}</span><small>${notes.filter(Boolean).join(' \u00b7 ')}</small></a></li>`
      );
    });
  const more = D.morePaths > 0 ? `<li><small>${plural(D.morePaths, 'more call')} not drawn</small></li>` : '';
  return `<ol aria-label="System calls">${items.join('')}${more}</ol>`;
}

/** Draws the calls and answers with the title of the page. */
export function drawCalls(id: string): string {
  main.className = 'wide';
  const group = only();
  const path =
    D.paths.find(each => each.id === id) ?? D.paths.find(each => group < 0 || each.g.includes(group));
  if (!path) {
    main.innerHTML =
      '<h1>Calls</h1><p class="meta">There are no records of points here, so there is no path to draw.</p>';
    return 'Calls';
  }
  main.innerHTML =
    '<h1>Calls</h1><p class="meta">The path of each system call, derived from the order of its records. Calls that reach something new come first, rare ones before common ones. ' +
    `Italic boxes are inlined. Click to zoom, again for the source.</p><div class="calls">${list(path.id)}<div><h2>${esc(path.label)} ` +
    `<span>${plural(path.records, 'record')}, ${esc(path.by)}</span></h2><div class="tools"><button type="button" data-zoom="out">whole call <kbd>z</kbd></button>` +
    `${path.cut ? '<span>only the first boxes are drawn</span>' : ''}</div><div class="flame" role="group" aria-label="Call path"></div><div class="axis"></div></div></div>`;
  state.path = path;
  state.zoom = [0, Math.max(1, path.records)];
  drawFlame();
  return `${path.label}, ${path.by}`;
}

export function drawFlame(): void {
  const flame = main.querySelector<HTMLElement>('.flame');
  const { path, zoom } = state;
  if (!flame || !path) return;
  const [from, to] = zoom;
  const width = flame.clientWidth || 800;
  const span = to - from;
  let deepest = 0;
  const boxes = path.n.map((box, i) => {
    const [name, depth, start, end, inlined, file] = box;
    const low = Math.max(start, from);
    const high = Math.min(Math.max(end, start + 0.2), to);
    const pixels = ((high - low) / span) * width;
    if (high <= low || pixels < 1.2) return '';
    deepest = Math.max(deepest, depth);
    const label = esc(D.names[name]);
    const colour = hue(D.files[file]?.p ?? D.names[name]!);
    return (
      `<button type="button" data-box="${i}" class="${inlined ? 'inl' : ''}" style="left:${(100 * (low - from)) / span}%;width:${(100 * (high - low)) / span}%;` +
      `top:${depth * ROW}px;background:${colour}" aria-label="${label}, ${plural(end - start, 'record')}">${pixels > 26 ? label : ''}</button>`
    );
  });
  flame.style.height = `${(deepest + 1) * ROW + 1}px`;
  flame.innerHTML = boxes.join('');
  element('.axis').innerHTML = `<span>record ${count(from)}</span><span>${count(Math.round(to))}</span>`;
}

export function wholeCall(): void {
  if (!state.path) return;
  state.zoom = [0, Math.max(1, state.path.records)];
  drawFlame();
}

/** Zooms into a box; a box that is zoomed into leads to its source. Answers with that link. */
export function openBox(i: number): string | undefined {
  const box: PathBox | undefined = state.path?.n[i];
  if (!box) return undefined;
  const [, , start, end, , file, line] = box;
  const [low, high] = [start, Math.max(end, start + 1)];
  if (state.zoom[0] === low && state.zoom[1] === high)
    return file >= 0 ? fileLink(D.files[file]!.p, line) : undefined;
  state.zoom = [low, high];
  drawFlame();
  main.querySelector<HTMLElement>(`[data-box="${i}"]`)?.focus();
  return undefined;
}

/** The hint of a box. */
export function boxHint(i: number): string {
  const box = state.path?.n[i];
  if (!box) return '';
  const [name, , start, end, inlined, file, line] = box;
  const place = file >= 0 ? `, ${esc(D.files[file]!.p)}:${line}` : '';
  return (
    `<p><b>${esc(D.names[name])}</b>${inlined ? ' <span class="soft">inlined</span>' : ''}</p>` +
    `<p class="soft">${plural(end - start, 'record')}${place}</p>`
  );
}
