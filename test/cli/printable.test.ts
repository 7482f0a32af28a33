// Control characters in names from files never reach a terminal unescaped.
import { describe, expect, it } from 'vitest';
import { printableLine } from '../../cli/io/fail.ts';
import { visible } from '../../emulator/base/words.ts';

describe('text for terminals', () => {
  it.each([
    ['plain ä 漢 text', 'plain ä 漢 text'],
    ['\u001b]0;title\u0007', '\\x1b]0;title\\x07'],
    ['a\u009b2Jb', 'a\\x9b2Jb'],
    ['\r\n\t\u0000\u007f', '\\x0d\\x0a\\x09\\x00\\x7f'],
    ['\u202egnp.exe', '\\x202egnp.exe'],
  ])('%j', (text, shown) => expect(visible(text)).toBe(shown));

  it('keeps what it is told to keep', () => expect(visible('a\tb\nc\r', '\n\t')).toBe('a\tb\nc\\x0d'));

  it('keeps tabs and colours of our own lines, and nothing else', () => {
    expect(printableLine('\u001b[1;31mred\u001b[0m\tx\u001b[2J\u0007')).toBe(
      '\u001b[1;31mred\u001b[0m\tx\\x1b[2J\\x07',
    );
  });
});
