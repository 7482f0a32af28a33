/** The hint beside the pointer or the focus, for boxes of a call path. */
import { boxHint } from './calls.ts';
import { element } from './dom.ts';

const pop = element('.pop');

export const hideHint = (): void => {
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

export function startHints(): void {
  document.addEventListener('mouseover', event => {
    const box = boxAt(event);
    if (box) show(boxHint(Number(box.dataset['box'])), event.clientX, event.clientY);
    else hideHint();
  });
  document.addEventListener('focusin', event => {
    const box = boxAt(event);
    if (!box) return hideHint();
    const { left, bottom } = box.getBoundingClientRect();
    show(boxHint(Number(box.dataset['box'])), left, bottom);
  });
  addEventListener('scroll', hideHint, { passive: true });
}
