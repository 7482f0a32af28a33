// The command line of `kcovbox debug`: reads lines from a terminal, a file or a pipe.
import { createInterface } from 'node:readline';
import { visible } from '../../emulator/base/words.ts';
import { exhaust, type InPieces, KcovboxError } from '../../emulator/index.ts';
import { linesOf } from '../io/lines.ts';
import { COMMANDS, type CommandRow, type Desk, whereAmI } from './commands.ts';
import { inTurns } from './in-turns.ts';

const HELP = `Commands can be shortened as far as they stay unique; an empty line repeats the last motion.
Every motion has a way back: step and rstep, next and rnext, continue and back.
A first session:
  break sum          stop at a function
  continue           go there
  backtrace          who called it
  print *at          a value
  watch at->next     what changed it?
  back               to the store that did
`;

const LEAVING = ['quit', 'q', 'exit'];
const HELPING = ['help', 'h'];

/** The commands that a word means: one by its name, or all that it may be short for. */
function rowsOf(word: string): readonly CommandRow[] {
  const exact = COMMANDS.find(({ names }) => names.includes(word));
  return exact ? [exact] : COMMANDS.filter(({ names }) => names[0]!.startsWith(word));
}

/** Is the word a command's name, or short for some? */
export function meaningOf(word: string): 'name' | 'short' | undefined {
  const names = [...COMMANDS.flatMap(row => row.names), ...LEAVING, ...HELPING];
  if (names.includes(word)) return 'name';
  return word !== '' && rowsOf(word).length > 0 ? 'short' : undefined;
}

export class Repl {
  readonly #desk: Desk;
  #last = '';
  #hasFailed = false;

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  /** Has a command failed? */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** One line. False: the user leaves. */
  execute(line: string): boolean {
    return exhaust(this.steps(line));
  }

  /** The same; yields from time to time while the run moves. */
  *steps(line: string): InPieces<boolean> {
    const text = line.trim() === '' ? this.#last : line.trim();
    const [word = ''] = text.split(/\s+/);
    const args = text.slice(word.length).trim();
    if (word === '' || word.startsWith('#')) return true;
    if (LEAVING.includes(word)) return false;
    if (HELPING.includes(word)) {
      this.#help(args);
      return true;
    }
    const row = this.#row(word);
    this.#last = row?.repeats ? text : '';
    if (!row) return true;
    try {
      yield* row.run(this.#desk, args) ?? [];
    } catch (error) {
      if (!(error instanceof KcovboxError)) throw error;
      this.#fail(error.message);
    }
    return true;
  }

  /** `isEchoed`: lines are shown, as a transcript. */
  async run(input: NodeJS.ReadableStream, isEchoed: boolean): Promise<void> {
    const terminal = !isEchoed && process.stdin.isTTY === true ? this.#terminal(input) : undefined;
    terminal?.prompt();
    let going: AbortController | undefined;
    // Ctrl-C at the prompt leaves, as Ctrl-D does.
    terminal?.on('SIGINT', () => (going ? going.abort() : terminal.close()));
    for await (const line of terminal ?? linesOf(input, 'commands')) {
      if (isEchoed) this.#desk.say(`(kcovbox) ${line}`);
      going = new AbortController();
      const goesOn = await this.#inTurns(line, going.signal);
      // Ctrl-C during a command that leaves no turns is read between two immediates, as its own.
      for (let turn = 0; terminal && turn < 2; turn++) await new Promise(setImmediate);
      going = undefined;
      if (!goesOn) break;
      terminal?.prompt();
    }
    terminal?.close();
  }

  #terminal(input: NodeJS.ReadableStream) {
    return createInterface({
      input,
      output: process.stdout,
      historySize: 1000,
      prompt: '(kcovbox) ',
      completer: (text: string) => this.#complete(text),
    });
  }

  /** As `execute`, until the signal comes. */
  async #inTurns(line: string, signal: AbortSignal): Promise<boolean> {
    const { session, say } = this.#desk;
    const from = session.stand;
    const goesOn = await inTurns(this.steps(line), signal);
    if (goesOn !== undefined) return goesOn;
    session.abandon(from);
    say('interrupted');
    whereAmI(this.#desk);
    return true;
  }

  #row(word: string): CommandRow | undefined {
    const found = rowsOf(word);
    if (found.length === 1) return found[0];
    this.#fail(
      found.length === 0
        ? `there is no command ${word}; help lists them`
        : `${word} may be ${found.map(({ names }) => names[0]).join(', ')}`,
    );
    return undefined;
  }

  #fail(message: string): void {
    this.#hasFailed = true;
    this.#desk.say(visible(message));
  }

  #help(word: string): void {
    const { say } = this.#desk;
    const rows = word === '' ? COMMANDS : COMMANDS.filter(({ names }) => names.includes(word));
    for (const { names, args = '', help } of rows) {
      const [name, ...short] = names;
      say(`${`${name} ${args}`.padEnd(40)} ${help}${short.length > 0 ? ` (${short.join(', ')})` : ''}`);
    }
    if (word === '') say(`\n${HELP}`.trimEnd());
    else if (rows.length === 0) this.#fail(`there is no command ${word}`);
  }

  /** Commands, then functions of the images. */
  #complete(text: string): [string[], string] {
    const [, word = ''] = /(\S*)$/.exec(text) ?? [];
    if (!/\s/.test(text.trim()) && !text.endsWith(' '))
      return [COMMANDS.flatMap(({ names }) => names.filter(name => name.startsWith(word))), word];
    const names = this.#desk.session.images.flatMap(({ functionNames }) => [...functionNames]);
    return [[...new Set(names)].filter(name => name.startsWith(word)).slice(0, 100), word];
  }
}
