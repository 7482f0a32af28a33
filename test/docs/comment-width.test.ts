// Comments have at most 100 columns, also those after code: two files fit side by side on a screen.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../support/command.ts';

const COLUMNS = 100;
const sources = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter(path => /\.(ts|mjs|cjs|c|h|S)$/.test(path) && !/\.generated\.ts$/.test(path))
  .filter(path => existsSync(join(ROOT, path)));

/** Code, then a comment that ends the line; the code has no open quotation mark. */
const TRAILING = /^([^'"`]|'[^']*'|"[^"]*"|`[^`]*`)*?\s(\/\/ .*|\/\*[^*].*\*\/|# .*)$/;

/** The lines that are, or end in, a comment; numbered from 1. */
function commentLines(text: string): { number: number; line: string }[] {
  let isInside = false;
  return text
    .split('\n')
    .map((line, i) => ({ number: i + 1, line }))
    .filter(({ line }) => {
      const start = line.trimStart();
      if (isInside) {
        isInside = !line.includes('*/');
        return true;
      }
      if (start.startsWith('/*')) {
        isInside = !start.includes('*/');
        return true;
      }
      return start.startsWith('//') || (line.length > COLUMNS && TRAILING.test(line));
    });
}

const tooLong = (path: string, text: string): string[] =>
  commentLines(text)
    .filter(({ line }) => [...line].length > COLUMNS)
    .map(({ number, line }) => `${path}:${number}: ${[...line].length} columns`);

it('sees long comments of every form, and no long code', () => {
  const words = 'w'.repeat(COLUMNS);
  const comments = [
    `// ${words}`,
    `/* ${words} */`,
    `/**\n * ${words}\n */`,
    `a(); // ${words}`,
    `a; /* ${words} */`,
  ];
  expect(comments.map(text => tooLong('a.ts', text).length)).toEqual([1, 1, 1, 1, 1]);
  const code = [`const a = '// ${words}';`, `const a = 'http://a /* ${words} */';`, `f(${words} * 2);`];
  expect(code.flatMap(text => tooLong('a.ts', text))).toEqual([]);
});

it(`comments have at most ${COLUMNS} columns`, () => {
  expect(sources.flatMap(path => tooLong(path, readFileSync(join(ROOT, path), 'utf8')))).toEqual([]);
});
