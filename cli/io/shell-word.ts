// Words of commands that a person pastes into a shell, or that /bin/sh reads from a file.
import { isVisible } from '../../emulator/base/words.ts';
import { quoted } from '../../toolchain/index.ts';

/** A word as any POSIX shell reads it from a file. */
export const shellWord = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : quoted(word));

/**
 * A word of a command that is printed. One with characters that control a terminal becomes `$'...'`
 * with the octal numbers of their bytes (POSIX.1-2024; bash, ksh, zsh).
 */
export function printedWord(word: string): string {
  if (isVisible(word)) return shellWord(word);
  const escaped = [...word].map(c =>
    isVisible(c) ? c.replace(/['\\]/, '\\$&') : [...Buffer.from(c)].map(octal).join(''),
  );
  return `$'${escaped.join('')}'`;
}

const octal = (byte: number): string => `\\${byte.toString(8).padStart(3, '0')}`;

/** A path as an argument: one that begins with `-` would be an option. */
export const pathWord = (path: string): string => printedWord(path.startsWith('-') ? `./${path}` : path);
