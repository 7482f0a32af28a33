/**
 * Elements of the page. Text is text: names of the experiment and the guest's lines are no HTML.
 */

type Child = Node | string | number | undefined | readonly Child[];

function append(parent: Element, child: Child): void {
  if (child === undefined) return;
  if (child instanceof Node || typeof child !== 'object')
    parent.append(child instanceof Node ? child : String(child));
  else for (const one of child) append(parent, one);
}

export type Attributes = Readonly<Record<string, string | number | undefined>>;

function filled<T extends Element>(element: T, attributes: Attributes, children: readonly Child[]): T {
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined) element.setAttribute(name, String(value));
  append(element, children);
  return element;
}

export const h = <K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] => filled(document.createElement(name), attributes, children);

export const svg = (name: string, attributes: Attributes = {}, ...children: Child[]): SVGElement =>
  filled(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);

/** A table that scrolls by itself where the window is narrow. */
export const table = (head: readonly Child[], rows: readonly (readonly Child[])[]): HTMLElement =>
  h(
    'div',
    { class: 'wide' },
    h(
      'table',
      {},
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          head.map(cell => h('th', { scope: 'col' }, cell)),
        ),
      ),
      h(
        'tbody',
        {},
        rows.map(row =>
          h(
            'tr',
            {},
            row.map((cell, i) => h(i === 0 ? 'th' : 'td', {}, cell)),
          ),
        ),
      ),
    ),
  );

/** The colour of the variant at this place of the list, as the style has it. */
export const colourOf = (index: number): string =>
  getComputedStyle(document.documentElement)
    .getPropertyValue(`--series-${index % 8}`)
    .trim();

export const ink = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** Draws again when the colours or the width change. */
export function redraw(draw: () => void): void {
  draws.push(draw);
  draw();
}
const draws: (() => void)[] = [];
export const redrawAll = (): void => {
  for (const draw of draws) draw();
};

/** A button for each choice, of which one is pressed. */
export function choices(
  label: string,
  names: readonly string[],
  choose: (name: string) => void,
): HTMLElement {
  const buttons = names.map(name => {
    const button = h('button', { type: 'button' }, name);
    button.onclick = () => {
      for (const other of buttons) other.setAttribute('aria-pressed', String(other === button));
      choose(name);
    };
    return button;
  });
  for (const [i, button] of buttons.entries()) button.setAttribute('aria-pressed', String(i === 0));
  return h('div', { class: 'choices', role: 'group', 'aria-label': label }, buttons);
}
