// docs/cli.md and docs/man/ have the texts of --help; UPDATE_DOCS=1 renews them. Every command
// teaches by an example.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pagesOf } from '../../cli/docs/describe.ts';
import { manName, manPage } from '../../cli/docs/man.ts';
import { cliMarkdown } from '../../cli/docs/markdown.ts';
import { createProgram } from '../../cli/main.ts';
import { ROOT } from '../support/command.ts';
import { findProgram, runProgram } from '../support/tools.ts';

const MAN = join(ROOT, 'docs', 'man');
const CLI = join(ROOT, 'docs', 'cli.md');
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
const pages = pagesOf(await createProgram(undefined));
const manPages = new Map(pages.map(page => [`${manName(page)}.1`, manPage(page, version)]));

if (process.env['UPDATE_DOCS']) {
  writeFileSync(CLI, cliMarkdown(pages));
  rmSync(MAN, { recursive: true, force: true });
  mkdirSync(MAN, { recursive: true });
  for (const [name, text] of manPages) writeFileSync(join(MAN, name), text);
}

describe('documents of the command line', () => {
  it('docs/cli.md is current', () => expect(readFileSync(CLI, 'utf8')).toBe(cliMarkdown(pages)));

  it('docs/man is current', () => {
    expect(readdirSync(MAN).sort()).toEqual([...manPages.keys()].sort());
    for (const [name, text] of manPages) expect(readFileSync(join(MAN, name), 'utf8'), name).toBe(text);
  });

  it('man pages are good roff', () => {
    const mandoc = findProgram('mandoc');
    const groff = findProgram('groff');
    const check = mandoc ? ['-T', 'lint', '-W', 'error'] : ['-man', '-ww', '-Tutf8', '-z'];
    if (!mandoc && !groff) console.warn('skipped: neither mandoc nor groff is installed');
    else for (const name of manPages.keys()) runProgram((mandoc ?? groff)!, [...check, join(MAN, name)]);
  });
});

it('the README names every command', () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const rows = readme.split('\n').filter(row => row.startsWith('| `kcovbox '));
  const named = rows.flatMap(row => row.split(' | ')[0]!.match(/[a-z]+/g)!);
  const commands = pages
    .filter(({ commands }) => commands.length === 0)
    .map(({ name }) => name.split(' ').at(-1)!);
  expect(commands.filter(name => !named.includes(name))).toEqual([]);
});

describe.each(pages.map(page => [page.name, page] as const))('%s --help', (name, page) => {
  it('says what it does and shows an example', () => {
    expect(page.description.length).toBeGreaterThan(10);
    if (!['kcovbox demo', 'kcovbox doctor'].includes(name)) expect(page.notes).toMatch(/Examples?:\n/);
    for (const { entries } of page.options)
      for (const { term, text } of entries) expect(text, term).not.toBe('');
    for (const { term, text } of page.arguments) expect(text, term).not.toBe('');
  });

  it('has no line of more than 130 columns in its notes', () => {
    for (const line of page.notes.split('\n')) expect(line.length, line).toBeLessThanOrEqual(130);
  });
});
