// docs/cli.md and docs/man/ have the texts of --help; UPDATE_DOCS=1 renews them. Every command
// teaches by an example.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
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
const program = await createProgram(undefined);
const pages = pagesOf(program);
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

/**
 * The commands that a cell of the README's table names: `kcovbox cov merge\|diff` is two. Words
 * behind a command are its arguments.
 */
const commandsIn = (cell: string): string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].flatMap(([, text]) => {
    let at = program;
    const path: string[] = [];
    for (const word of text!.replace(/^kcovbox /, '').split(' ')) {
      if (at.commands.length === 0) break;
      const names = word.split('\\|');
      if (names.length > 1) return names.map(name => ['kcovbox', ...path, name].join(' '));
      path.push(word);
      at = at.commands.find(command => command.name() === word) ?? new Command(word);
    }
    return [['kcovbox', ...path].join(' ')];
  });

it('the README names every command once, and no other', () => {
  expect(commandsIn('`kcovbox cov merge\\|diff`, `run PROG.c\\|PROG`, `nothing`')).toEqual([
    'kcovbox cov merge',
    'kcovbox cov diff',
    'kcovbox run',
    'kcovbox nothing',
  ]);
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const rows = readme.split('\n').filter(row => row.startsWith('| `kcovbox '));
  const named = rows.flatMap(row => commandsIn(row.split(' | ')[0]!));
  const commands = pages.filter(({ commands }) => commands.length === 0).map(({ name }) => name);
  expect(named.sort()).toEqual(commands.sort());
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

it('an example sorts the table of functions by its number of covered points', () => {
  const table = readFileSync(join(ROOT, 'coverage', 'export', 'plain.ts'), 'utf8');
  const columns = /yield '(Module,Filename,Function,.*)\\n'/.exec(table)![1]!.split(',');
  const example = /--table functions a\.kcov \| sort -t, -k(\d+)n/;
  const [, column] = example.exec(readFileSync(join(ROOT, 'docs', 'cli.md'), 'utf8'))!;
  expect(columns[Number(column) - 1]).toBe('Covered PCs');
});
