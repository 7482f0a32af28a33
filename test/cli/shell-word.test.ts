// Words of printed commands mean the same to a shell, and control no terminal.
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { pathWord, printedWord, shellWord } from '../../cli/io/shell-word.ts';
import { isVisible } from '../../emulator/base/words.ts';

const WORDS = [
  'plain/a-b_c.d',
  'it\'s a \\ $HOME `x` "y"',
  '',
  '\u001b]0;title\u0007',
  "a\nb'c\\d\r1",
  'ä\u009b2J漢',
  '\u202egnp.exe',
];

it.each(WORDS)('%j', word => {
  const printed = printedWord(word);
  expect(isVisible(printed)).toBe(true);
  expect(execFileSync('bash', ['-c', `printf %s ${printed}`], { encoding: 'utf8' })).toBe(word);
  // For scripts: shells without $'...' have to know it.
  expect(execFileSync('sh', ['-c', `printf %s ${shellWord(word)}`], { encoding: 'utf8' })).toBe(word);
});

it('a path that begins with - is no option', () => {
  expect(pathWord('-x y')).toBe("'./-x y'");
  expect(pathWord('-\u0007')).toBe("$'./-\\007'");
});
