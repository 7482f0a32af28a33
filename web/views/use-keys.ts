// The page acts on its keys (keys.ts), wherever the focus of the keyboard is but in a field.
import { useEffect } from 'preact/hooks';
import type { Motion } from '../protocol.ts';
import { type Act, rowOf } from './keys.ts';

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
