// Words and characters of messages.

/** `1 hart`, `2 harts`. */
export const counted = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`;

/**
 * Characters that a text from a file or a guest may not bring to a terminal: those that control it,
 * and those that end a line or turn its direction (Unicode Standard Annex 9), as in "Trojan
 * Source".
 */
const HIDDEN = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu;

export const isVisible = (text: string): boolean => text.search(HIDDEN) < 0;

/**
 * Text with those characters as visible escapes, `\\xNN`; `keep`: characters that stay, such as a
 * line feed.
 */
export function visible(text: string, keep = ''): string {
  return text.replace(HIDDEN, c =>
    keep.includes(c) ? c : `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}
