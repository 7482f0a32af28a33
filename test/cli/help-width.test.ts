// The help of every command fits a terminal of 80 columns; only examples may be wider.
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { foldHelp } from '../../cli/io/help-width.ts';
import { fitting } from '../../cli/io/progress.ts';
import { createProgram } from '../../cli/main.ts';

const commandsOf = (command: Command): Command[] => [command, ...command.commands.flatMap(commandsOf)];
const pathOf = (command: Command): string =>
  command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();

test('the help of every command has at most 80 columns', async () => {
  const program = await createProgram(undefined);
  const commands = commandsOf(program);
  expect(commands.length).toBeGreaterThan(60);
  for (const command of commands) {
    let help = '';
    const { writeOut } = command.configureOutput();
    expect(writeOut, pathOf(command)).toBeDefined();
    command.configureOutput({ writeOut: text => (help += foldHelp(text, 80)) });
    command.outputHelp();
    expect(help).toContain(`Usage: ${pathOf(command)}`);
    const wide = help.split('\n').filter(line => line.length > 80 && !/kcovbox |^ {4}-/.test(line));
    expect(wide, pathOf(command)).toEqual([]);
  }
}, 180_000);

test('paragraphs and rows are folded where they are too wide, examples are not', () => {
  const text =
    'One sentence that is long.\nAnother one.\nExamples:\n  kcovbox one --with many --words\n\nNames:\n  name    a text that is too long\n  other   short';
  expect(foldHelp(text, 24).split('\n')).toEqual([
    'One sentence that is',
    'long. Another one.',
    'Examples:',
    '  kcovbox one --with many --words',
    '',
    'Names:',
    '  name    a text that is',
    '          too long',
    '  other   short',
  ]);
  expect(foldHelp(text, 80)).toBe(text);
});

test('a line of progress fits the window', () => {
  expect(fitting('12 of 20 trials', 80)).toBe('12 of 20 trials');
  expect(fitting('12 of 20 trials', 15)).toBe('12 of 20 trial');
  expect(fitting('12 of 20 trials', undefined)).toBe('12 of 20 trials');
  expect(fitting('12 of 20 trials', 0)).toBe('12 of 20 trials');
});
