/** Light or dark: the reader's system decides until the reader presses the button. */
import { element } from './dom.ts';

const KEY = 'kcovbox-theme';
const dark = element('#dark');

function use(theme: string): void {
  dark.setAttribute('media', theme === 'dark' ? 'all' : 'not all');
}

export function toggleTheme(): void {
  const theme = matchMedia(dark.getAttribute('media')!).matches ? 'light' : 'dark';
  use(theme);
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // file:// may have no storage
  }
}

export function restoreTheme(): void {
  try {
    const theme = localStorage.getItem(KEY);
    if (theme) use(theme);
  } catch {
    // as above
  }
}
