// docs/cli.md: every command with its arguments, options and examples.
import { blocksOf, type CommandPage, type Entry } from './describe.ts';

const escaped = (text: string): string =>
  text.replace(/[<>]/g, c => (c === '<' ? '&lt;' : '&gt;')).replaceAll('|', '\\|');

function table(heading: string, entries: readonly Entry[]): string[] {
  if (entries.length === 0) return [];
  const rows = entries.map(({ term, text }) => `| \`${term.replaceAll('|', '\\|')}\` | ${escaped(text)} |`);
  return [`| ${heading} | |`, '| --- | --- |', ...rows, ''];
}

function notes(text: string): string[] {
  return blocksOf(text).flatMap(({ kind, lines }) =>
    kind === 'lines'
      ? ['```', ...lines.map(line => line.replace(/^ {2}/, '')), '```', '']
      : [...lines.map(escaped), ''],
  );
}

function section(page: CommandPage): string[] {
  const level = '#'.repeat(Math.min(page.name.split(' ').length, 3) + (page.name.includes(' ') ? 0 : 1));
  return [
    `${level} ${page.name}`,
    '',
    `${page.description[0]!.toUpperCase()}${escaped(page.description.slice(1))}.`,
    '',
    '```',
    page.usage,
    '```',
    '',
    ...table('argument', page.arguments),
    ...page.options.flatMap(({ heading, entries }) => table(heading.replace(/:$/, '') || 'option', entries)),
    ...table('command', page.commands),
    ...notes(page.notes),
  ];
}

/** The document, with a final line feed. */
export function cliMarkdown(pages: readonly CommandPage[]): string {
  const head = [
    '# The command line',
    '',
    'Generated from the definitions that `kcovbox --help` prints (`UPDATE_DOCS=1 npx vitest run test/cli/docs.test.ts`).',
    'The same text is in the man pages of `docs/man/`: `man -l docs/man/kcovbox-run.1`.',
    '',
  ];
  return `${[...head, ...pages.flatMap(section)].join('\n').trimEnd()}\n`;
}
