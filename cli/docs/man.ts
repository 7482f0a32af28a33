// Man pages in the language of man(7): kcovbox.1, kcovbox-run.1, kcovbox-cov-report.1 and so on.
import { blocksOf, type CommandPage, type Entry } from './describe.ts';

/** Escapes text for roff: backslashes and dashes are literal, and no line begins with a request. */
const escaped = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1');

export const manName = (page: CommandPage): string => page.name.replaceAll(' ', '-');

const items = (entries: readonly Entry[]): string[] =>
  entries.flatMap(({ term, text }) => ['.TP', `.B ${escaped(term)}`, escaped(text)]);

function section(heading: string, entries: readonly Entry[]): string[] {
  return entries.length === 0 ? [] : [`.SH ${heading}`, ...items(entries)];
}

function notes(text: string): string[] {
  return blocksOf(text).flatMap(({ kind, lines }) => {
    if (kind === 'lines')
      return ['.PP', '.nf', '.RS', ...lines.map(line => escaped(line.trim())), '.RE', '.fi'];
    const [first = '', ...rest] = lines;
    const heading = /^(Examples?|QEMU options|Own options|Workloads):$/.exec(first)?.[1];
    const more = rest.length > 0 ? ['.PP', ...rest.map(escaped)] : [];
    return heading ? [`.SH ${heading.toUpperCase()}`, ...more] : ['.PP', ...lines.map(escaped)];
  });
}

/** One page. `version`: of the package; no date, so that a page changes with its contents only. */
export function manPage(page: CommandPage, version: string): string {
  const name = manName(page);
  const [main, ...groups] = page.options;
  const lines = [
    `.TH ${name.toUpperCase()} 1 "" "kcovbox ${version}" "kcovbox"`,
    '.SH NAME',
    `${name} \\- ${escaped(page.description)}`,
    '.SH SYNOPSIS',
    `.B ${escaped(page.usage)}`,
    ...section('ARGUMENTS', page.arguments),
    ...section('OPTIONS', main?.entries ?? []),
    ...groups.flatMap(({ heading, entries }) => [
      '.SS',
      escaped(heading.replace(/:$/, '')),
      ...items(entries),
    ]),
    ...section('COMMANDS', page.commands),
    ...(page.notes === '' ? [] : ['.SH NOTES', ...notes(page.notes)]),
    '.SH EXIT STATUS',
    'That of the guest program (128+n when signal n killed it) for run and replay; 1 when a threshold or a comparison',
    'was missed; 123 the program does not compile; 124 budget spent; 125 kcovbox failed; 126 the guest kernel panicked;',
    '127 the guest could not start the program.',
  ];
  return `${lines.join('\n')}\n`;
}
