// The words of this project are the field's. A table of coinages, each with the word to use and the
// reason; none of them may stand in a document or a comment. Code, quotations and `spans` are free.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../support/command.ts';

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter(path => /\.(md|ts|mjs|cjs|c|h|S)$/.test(path) && !/\.generated\.ts$/.test(path))
  .filter(path => path !== 'test/docs/plain-english.test.ts' && existsSync(join(ROOT, path)));

/** What must not be written, what to write, and why. */
const WORDS: readonly { readonly word: RegExp; readonly use: string; readonly because: string }[] = [
  { word: /\bforetell/i, use: 'predict', because: 'compilers and processors predict' },
  { word: /\bpatience\b/i, use: 'hotness counter', because: "it is every JIT's term" },
  { word: /\bdoors?\b/i, use: 'public API, entry check', because: 'a module has an API' },
  { word: /\bthis room\b|\brooms\b/i, use: 'module', because: 'room means free space only' },
  { word: /\bslow arm\b/i, use: 'slow path', because: 'it is the common term' },
  { word: /(?<!pointer )\bchas(e|es|ing)\b/i, use: 'pointer chase', because: 'alone it says little' },
  { word: /\bfor ever\b/i, use: 'forever, without end', because: 'it is read as one word' },
  { word: /\banew\b/i, use: 'again', because: 'it is archaic' },
  { word: /\bin the manner of\b/i, use: 'like, in the style of', because: 'it is archaic' },
  { word: /\bstands? still\b/i, use: 'does not run, stops', because: 'machines run or stop' },
  { word: /\bwhoever\b/i, use: 'the caller, the process ...', because: 'a sentence names its actor' },
  { word: /\bPriv §?4\.\d/, use: 'Priv §10.n', because: 'sections are those of 20240411' },
  {
    word: /(?:^|(?<=[.:;] ))(What|Who) (?![^.:;]*\?)[a-z]/,
    use: 'a noun as the subject',
    because: 'a clause as the subject hides the actor',
  },
];

/** The prose of a document by paragraph, without fenced code. */
const paragraphs = (text: string): string[] =>
  text.replace(/^\s*(```+|~~~+)[\s\S]*?^\s*\1/gm, '').split(/\n\s*\n|\n(?=\s*(?:[*-]|\d+\.|\|) ?)/);

/** The comments of a source; lines that follow one another are one. */
function comments(text: string): string[] {
  const found: string[] = [];
  let isInside = false;
  let isOpen = false;
  for (const line of text.split('\n')) {
    const start = line.trim();
    const isComment = isInside || /^(\/\/|\/\*)/.test(start);
    const words = isComment ? start.replace(/^(\/\/|\/\*+|\*(?!\/))|\*\/$/g, '').trim() : '';
    if (isComment && (isInside || start.startsWith('//')) && isOpen) found.push(`${found.pop()} ${words}`);
    else if (isComment) found.push(words);
    isOpen = isComment && !(start.startsWith('//') ? false : start.endsWith('*/'));
    if (start.startsWith('/*') || isInside) isInside = !start.includes('*/');
    const [, , trailing] = isComment
      ? []
      : (/^([^'"`]|'[^']*'|"[^"]*"|`[^`]*`)*?\s\/[/*] (.*)$/.exec(line) ?? []);
    if (trailing !== undefined) found.push(trailing);
  }
  return found;
}

const QUOTED = /`[^`]*`|"[^"]*"|\u201c[^\u201d]*\u201d/g;

const coinages = (path: string, text: string): string[] =>
  (path.endsWith('.md') ? paragraphs(text) : comments(text))
    .map(part => part.replace(QUOTED, 'x').replace(/\s+/g, ' ').trim())
    .flatMap(part =>
      WORDS.filter(({ word }) => word.test(part)).map(
        ({ word, use, because }) =>
          `${path}: "${word.exec(part)![0]}" in "${part.slice(0, 60)}": write ${use}; ${because}`,
      ),
    );

it('sees each coinage, and leaves ordinary uses alone', () => {
  const bad = [
    '// the door of the module',
    'a(); // runs for ever',
    '/*\n * What is left is\n * unknown.\n */',
    '/** Done. Who asks, waits. */',
    '// split over\n// two for\n// ever lines',
  ];
  expect(bad.map(text => coinages('a.ts', text).length)).toEqual([1, 1, 1, 1, 1]);
  const good = [
    '// no room for the request; a pointer chase',
    'const a = \'the door\'; // `anew` and "whoever" are quoted',
    '// What is this? A question.',
    '/** The unit tells what it is. */',
  ];
  expect(good.flatMap(text => coinages('a.ts', text))).toEqual([]);
  expect(coinages('a.md', '```\nfor ever\n```\n\nWhat next?\n\nThe door\nis open.')).toHaveLength(1);
});

it('documents and comments use the terms of the field', () => {
  expect(files.flatMap(path => coinages(path, readFileSync(join(ROOT, path), 'utf8')))).toEqual([]);
});
