// Every Markdown file: no line is longer than 100 columns, every relative link leads to a file and
// a heading that exist, every npm script that it names is one, and every code block ends. Tables,
// code blocks and lines that hold one long link are exempt from the limit. So are pages that are
// generated from the definitions of the code; their own tests compare them.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../support/command.ts';

const COLUMNS = 100;
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter(path => path !== '' && existsSync(join(ROOT, path)));

interface Line {
  readonly number: number;
  readonly text: string;
}

/** The lines outside fenced and indented code blocks. */
function proseOf(text: string): Line[] {
  let fence: string | undefined;
  return text
    .split('\n')
    .map((line, i) => ({ number: i + 1, text: line }))
    .filter(({ text: line }) => {
      const [mark] = /^\s*(```+|~~~+)/.exec(line) ?? [];
      if (fence !== undefined) {
        if (mark?.trim().startsWith(fence)) fence = undefined;
        return false;
      }
      fence = mark?.trim();
      return mark === undefined && !/^ {4}\S/.test(line);
    });
}

/**
 * Fenced blocks that show commands with their output, and are not ones that setup/readme.mjs runs.
 */
const unchecked = (text: string): string[] =>
  [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)]
    .filter(([, words = '', block = '']) => !/^console\b/.test(words) && /^\$ /m.test(block))
    .map(([, , block = '']) => /^\$ .*/m.exec(block)![0]);

/** Why a fence is none: commands stand on its line, it ends inside of one, or it never ends. */
function brokenFence(text: string): string | undefined {
  let open: string | undefined;
  for (const line of text.split('\n')) {
    const [, mark, words = ''] = /^\s*(```+|~~~+)(.*)/.exec(line) ?? [];
    if (mark === undefined) {
      if (/\S.*```/.test(line.replace(/`+[^`]+`+/g, ''))) return `inside of a line: ${line}`;
    } else if (open !== undefined) {
      if (mark.startsWith(open) && words.trim() === '') open = undefined;
    } else if (/^[\w-]*( slow)?( exit=\d+)?$/.test(words)) open = mark;
    else return `more than a language: ${line}`;
  }
  return open && 'the last block has no end';
}

/** A heading's anchor, as GitHub and VitePress make it. */
const anchorOf = (heading: string): string =>
  heading
    .replace(/`|\*/g, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');

/** The anchors of a page; a heading that comes again gets a number. */
function anchors(path: string): Set<string> {
  const found = new Set<string>();
  for (const { text } of proseOf(readFileSync(path, 'utf8'))) {
    const [, heading] = /^#+ (.*)/.exec(text) ?? [];
    if (heading === undefined) continue;
    const anchor = anchorOf(heading);
    let name = anchor;
    for (let n = 1; found.has(name); n++) name = `${anchor}-${n}`;
    found.add(name);
  }
  return found;
}

const scripts = Object.keys(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).scripts);

/** Names of `npm run NAME` in a text that package.json does not have. */
const missingScripts = (text: string): string[] =>
  [...text.matchAll(/\bnpm run ([a-z][a-z:-]*)/g)]
    .map(([, name]) => name!)
    .filter(name => !scripts.includes(name));

/** Why a link of `path` leads nowhere; undefined when it is good. */
function brokenLink(path: string, target: string): string | undefined {
  if (/^[a-z]+:/.test(target)) return undefined;
  const [file = '', anchor] = target.split('#');
  const full = file === '' ? join(ROOT, path) : join(ROOT, dirname(path), file);
  if (!existsSync(full)) return `${target}: there is no such file`;
  return anchor !== undefined && !anchors(full).has(anchor) ? `${target}: no such heading` : undefined;
}

it('the check sees long lines, dead links, missing headings, scripts and blocks, broken fences', () => {
  expect(unchecked('```sh\n$ ls\na\n```\n```console slow\n$ ls\n```\n')).toEqual(['$ ls']);
  expect(brokenFence('```sh\nls\n```\n```console slow exit=1\n$ ls\n```\n')).toBeUndefined();
  expect(brokenFence('```text kcovbox run\n')).toMatch('more than a language');
  expect(brokenFence('```\nls ```\n')).toMatch('inside of a line');
  expect(brokenFence('```\nls\n')).toMatch('no end');
  expect(missingScripts('`npm run test:unit` and npm run none')).toEqual(['none']);
  expect(proseOf('a\n```\nb\n```\n    c\nd').map(line => line.text)).toEqual(['a', 'd']);
  expect(brokenLink('README.md', 'docs/none.md')).toMatch('no such file');
  expect(brokenLink('README.md', 'CONTRIBUTING.md#none')).toMatch('no such heading');
  expect(brokenLink('README.md', 'CONTRIBUTING.md#house-rules')).toBeUndefined();
});

it('every page of the site is in its menu; decision records are linked from the texts', () => {
  const menu = readFileSync(join(ROOT, 'docs', '.vitepress', 'config.mjs'), 'utf8');
  const pages = files
    .filter(path => path.startsWith('docs/') && !/^docs\/(adr\/|index\.md)/.test(path))
    .map(path => `'/${path.slice('docs/'.length, -'.md'.length)}'`);
  expect(pages.length).toBeGreaterThan(30);
  expect(pages.filter(page => !menu.includes(page))).toEqual([]);
});

describe.each(files)('%s', path => {
  const source = readFileSync(join(ROOT, path), 'utf8');
  const lines = proseOf(source);
  const isGenerated = /^(This page is g|G)enerated from /m.test(source.slice(0, 200));

  it.skipIf(isGenerated)(`has lines of at most ${COLUMNS} columns`, () => {
    const long = lines
      .filter(({ text }) => [...text].length > COLUMNS && !/^\s*(\||!?\[[^\]]*\]\([^)]*\)$)/.test(text))
      .map(({ number, text }) => `${path}:${number}: ${[...text].length} columns`);
    expect(long).toEqual([]);
  });

  it('has links that lead somewhere', () => {
    const broken = lines.flatMap(({ number, text }) =>
      [...text.replace(/`[^`]*`/g, '').matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target]) => {
        const why = brokenLink(path, target!);
        return why === undefined ? [] : [`${path}:${number}: ${why}`];
      }),
    );
    expect(broken).toEqual([]);
  });

  it('shows output of commands in console blocks only, which are run', () =>
    expect(unchecked(source)).toEqual([]));

  it('has code blocks that begin and end on lines of their own', () =>
    expect(brokenFence(source)).toBeUndefined());

  it('names scripts that exist', () => expect(missingScripts(source)).toEqual([]));
});
