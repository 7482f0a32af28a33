// The description of each command, read from the commander definitions: the one source of --help,
// docs/cli.md and the man pages.
import type { EventEmitter } from 'node:events';
import type { Command, Option } from 'commander';

export interface Entry {
  readonly term: string;
  readonly text: string;
}

export interface CommandPage {
  /** "kcovbox cov report". */
  readonly name: string;
  readonly usage: string;
  readonly description: string;
  readonly arguments: readonly Entry[];
  /** Options by the heading of their group; '' is the main one. */
  readonly options: readonly { readonly heading: string; readonly entries: readonly Entry[] }[];
  /** Text after the options: paragraphs, and indented lines of examples. */
  readonly notes: string;
  readonly commands: readonly Entry[];
}

const nameOf = (command: Command): string =>
  command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();

/** The text that `addHelpText('after', …)` has registered; commander keeps it as a listener. */
function textBehind(command: Command): string {
  let text = '';
  (command as unknown as EventEmitter).emit('afterHelp', {
    command,
    error: false,
    write: (part: string) => (text += part),
  });
  return text.trim();
}

function pageOf(command: Command): CommandPage {
  const help = command.createHelp();
  const groups = new Map<string, Entry[]>();
  for (const option of help.visibleOptions(command) as Option[]) {
    const heading = option.helpGroupHeading ?? '';
    const entries = groups.get(heading) ?? [];
    entries.push({ term: help.optionTerm(option), text: help.optionDescription(option) });
    groups.set(heading, entries);
  }
  return {
    name: nameOf(command),
    usage: help.commandUsage(command),
    description: help.commandDescription(command),
    arguments: help.visibleArguments(command).map(argument => ({
      term: help.argumentTerm(argument),
      text: help.argumentDescription(argument),
    })),
    options: [...groups].map(([heading, entries]) => ({ heading, entries })),
    notes: textBehind(command),
    commands: help
      .visibleCommands(command)
      .filter(child => child.name() !== 'help')
      .map(child => ({ term: child.name(), text: help.subcommandDescription(child) })),
  };
}

/** `program` and every command below it, each before its own. */
export function pagesOf(program: Command): CommandPage[] {
  return [pageOf(program), ...program.commands.filter(c => c.name() !== 'help').flatMap(pagesOf)];
}

/** Notes as paragraphs, and as preformatted blocks. */
export function blocksOf(notes: string): { readonly kind: 'text' | 'lines'; readonly lines: string[] }[] {
  const blocks: { kind: 'text' | 'lines'; lines: string[] }[] = [];
  for (const line of notes.split('\n')) {
    if (line.trim() === '') {
      blocks.push({ kind: 'text', lines: [] });
      continue;
    }
    const kind = line.startsWith(' ') ? 'lines' : 'text';
    const last = blocks.at(-1);
    if (last?.kind === kind) last.lines.push(line);
    else blocks.push({ kind, lines: [line] });
  }
  return blocks.filter(block => block.lines.length > 0);
}
