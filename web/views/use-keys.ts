// The page acts on its keys (keys.ts), wherever the focus of the keyboard is but in a field.
import { useEffect } from 'preact/hooks';
import type { Motion } from '../protocol.ts';
import { ACTS, type Act, type ActKey, MOTIONS, type MotionKey } from './keys.ts';

export function useKeys(
  onMove: (motion: Motion) => void,
  acts: Readonly<Record<Act, () => void>>,
  isOn: boolean,
): void {
  useEffect(() => {
    if (!isOn) return;
    const pressed = (event: KeyboardEvent): void => {
      const row = rowOf(event);
      if (!row) return;
      event.preventDefault();
      if ('act' in row) acts[row.act]();
      else onMove({ way: row.way, direction: row.direction });
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  });
}

/** The row of a key that the page takes; undefined: the key belongs to a field, or to nobody. */
function rowOf(event: KeyboardEvent): MotionKey | ActKey | undefined {
  const target = event.target as HTMLElement;
  if (event.ctrlKey || event.altKey || event.metaKey || target.closest('dialog')) return undefined;
  const isField =
    /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) &&
    !/^(radio|checkbox)$/.test(typeOf(target)) &&
    !target.closest('.terminal'); // its field takes no text
  if (isField) return undefined;
  return MOTIONS.find(({ key }) => key === event.key) ?? ACTS.find(({ key }) => key === event.key);
}

const typeOf = (target: HTMLElement): string => (target as HTMLInputElement).type ?? '';
