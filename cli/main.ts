// The `kcovbox` command: one verb per file, registered here in the order of the help text.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { visible } from '../emulator/base/words.ts';
import { EXIT_KCOVBOX } from '../run/verdict.ts';
import { packageRoot, tell, tieTools } from '../toolchain/index.ts';
import { report, UserError } from './io/fail.ts';
import { foldHelp } from './io/help-width.ts';
import { checkDistinct, endOfStdout, writeOut } from './io/output.ts';
import { refuseRepeats } from './io/repeated.ts';
import { refuseOtherBytes, refuseOtherFolder } from './io/utf8.ts';

interface Verb {
  register(program: Command): void;
}

/**
 * In the order of the help text. Verbs are loaded on demand, because a run should not pay for the
 * reports' code.
 */
const VERBS: Readonly<Record<string, () => Promise<Verb>>> = {
  demo: () => import('./verbs/demo.ts'),
  run: () => import('./verbs/run.ts'),
  replay: () => import('./verbs/replay.ts'),
  debug: () => import('./verbs/debug.ts'),
  why: () => import('./verbs/why.ts'),
  dap: () => import('./verbs/dap.ts'),
  capsule: () => import('./verbs/capsule.ts'),
  serve: () => import('./verbs/serve.ts'),
  dev: () => import('./verbs/dev.ts'),
  faults: () => import('./verbs/faults.ts'),
  schedules: () => import('./verbs/schedules.ts'),
  fuzz: () => import('./verbs/fuzz.ts'),
  experiment: () => import('./verbs/experiment.ts'),
  bugs: () => import('./verbs/bugs.ts'),
  ktest: () => import('./verbs/ktest.ts'),
  lab: () => import('./verbs/lab.ts'),
  grade: () => import('./verbs/grade.ts'),
  boot: () => import('./verbs/boot.ts'),
  build: () => import('./verbs/build.ts'),
  disasm: () => import('./verbs/disasm.ts'),
  symbolize: () => import('./verbs/symbolize.ts'),
  cov: () => import('./verbs/cov.ts'),
  check: () => import('./verbs/check.ts'),
  cache: () => import('./verbs/cache.ts'),
  bench: () => import('./verbs/bench.ts'),
  doctor: () => import('./verbs/doctor.ts'),
};

const MAY_BE_EMPTY = ['args', 'options'];

/** Options with a path as value, by the word that stands for it in the help. */
const PATH = /<(file|elf|dir|trace)(\.\w+)?>$/;
/** Options with other values that must not be empty, by the word in the help. */
const NOUNS: readonly (readonly [what: string, flags: RegExp])[] = [
  ['path', PATH],
  ['pattern', /<(glob|regex)>$/], // an empty one would select everything
  ['name', /^--(module|test-name) /],
  ['title', /^--title /],
];

/**
 * An empty path is a variable of a script that was not set: `--result "$OUT"`. The system's own
 * message would name nothing. Arguments of the guest's program, and QEMU's options, may be empty.
 */
function refuseEmpty(command: Command): void {
  for (const option of command.options) {
    const what = NOUNS.find(([, flags]) => flags.test(option.flags))?.[0];
    if (what && [command.getOptionValue(option.attributeName())].flat().includes(''))
      throw new UserError(`${option.flags}: the ${what} is empty`);
  }
  for (const [i, argument] of command.registeredArguments.entries())
    if (!MAY_BE_EMPTY.includes(argument.name()) && [command.processedArgs[i]].flat().includes(''))
      throw new UserError(`${command.name()}: the argument "${argument.name()}" is empty`);
}

/** Options that name an output; each other path on a command line is an input. */
const OUTPUTS: readonly string[] = ['cover', 'result', 'record', 'snapshot', 'json', 'svg', 'output'];

/** The words of an option or argument, given once or repeatedly. */
const words = (value: unknown): string[] => [value].flat().filter(word => typeof word === 'string');

/** An argument may also be a name, such as a function's. */
function isFile(word: string): boolean {
  try {
    return statSync(word).isFile();
  } catch {
    return false;
  }
}

/** An output may not be a file that the same command line reads. */
function refuseOverwrites(command: Command): void {
  const paths = command.options
    .filter(({ flags }) => PATH.test(flags))
    .flatMap(option => {
      const name = option.attributeName();
      const isOutput = OUTPUTS.includes(name);
      return words(command.getOptionValue(name)).map(path => ({ option, isOutput, path }));
    });
  const outputs = paths.filter(({ isOutput }) => isOutput);
  if (outputs.length === 0) return;
  const files = command.registeredArguments
    .flatMap((argument, i) => (MAY_BE_EMPTY.includes(argument.name()) ? [] : words(command.processedArgs[i])))
    .filter(isFile);
  checkDistinct(
    outputs.map(({ option, path }) => [option.short ?? option.long!, path]),
    [...paths.filter(({ isOutput }) => !isOutput).map(({ path }) => path), ...files],
  );
}

/** Columns; commander's default, where standard output is no terminal. */
const helpWidth = (): number => process.stdout.columns ?? 80;

/** `experiment submit`. */
const pathOf = (command: Command): string =>
  command.parent?.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();

/** `there are info, verify`. */
const thereAre = ({ commands }: Command): string =>
  `there ${commands.length === 1 ? 'is' : 'are'} ${commands.map(command => command.name()).join(', ')}`;

/** `cov` alone is a wrong argument like any other: one line, and the help only for --help. */
function wantCommand(group: Command): void {
  const { help } = group;
  const isProgram = group.parent === null;
  const remedy = isProgram
    ? 'start with kcovbox demo; kcovbox --help lists all'
    : `${thereAre(group)}; kcovbox ${pathOf(group)} --help explains them`;
  group.help = ((context?: { error?: boolean }) => {
    if (context?.error)
      throw new UserError(`${isProgram ? '' : `${pathOf(group)}: `}a command is missing; ${remedy}`);
    return (help as () => never).call(group);
  }) as Command['help'];
}

/** `run --cover hello.c`: the name of the program became that of an output. */
function takenBy(command: Command): string | undefined {
  for (const option of command.options) {
    const name = option.attributeName();
    const [path] = OUTPUTS.includes(name) ? words(command.getOptionValue(name)).filter(isFile) : [];
    if (path !== undefined) return `${path} is the value of ${option.short ?? option.long}`;
  }
  return undefined;
}

/**
 * Commander's error as one line of ours. A required option that lacks is explained as in the help,
 * and an unknown command by those that there are.
 */
function errorLine(command: Command, text: string): string {
  const line = text
    .replace(/^error: /, 'kcovbox: ')
    .trimEnd()
    .replaceAll('\n', ' ');
  const [, flags] = /: required option '(.*)' not specified$/.exec(line) ?? [];
  const option = command.options.find(one => one.flags === flags);
  // A group has few commands, so all are named; commander itself proposes one spelled alike.
  const isGroup = command.parent !== null && /: unknown command '[^']*'$/.test(line);
  const isMissing = /: missing required argument '[^']*'$/.test(line);
  const more = isGroup ? thereAre(command) : isMissing ? takenBy(command) : option?.description;
  return `${visible(more === undefined ? line : `${line}: ${more}`)}\n`;
}

/**
 * The command with the one verb that `first` names, or with all of them for help, errors and
 * documents.
 */
export async function createProgram(first: string | undefined): Promise<Command> {
  const { version, description } = JSON.parse(
    readFileSync(join(packageRoot(), 'package.json'), 'utf8'),
  ) as Record<string, string>;
  const program = new Command('kcovbox')
    .description(description ?? '')
    .version(version ?? '')
    .enablePositionalOptions()
    .showHelpAfterError(false)
    .exitOverride()
    .configureOutput({
      // Synchronous: errors are thrown, and no text is lost.
      writeOut: text => writeOut(new TextEncoder().encode(foldHelp(text, helpWidth()))),
      writeErr: text => tell(text),
    })
    .addHelpText(
      'after',
      '\nExit status: that of the guest program (128+n when signal n killed it); 123 the program does not compile;\n' +
        '124 budget spent; 125 kcovbox failed; 126 guest kernel panicked; 127 the guest could not start the program.\n\n' +
        'Examples:\n  kcovbox demo                                 the lines that one read(2) covers\n' +
        '  kcovbox run --trace --cover a.html prog.c    run a program and show its coverage\n' +
        '  kcovbox help cov report                      help for one command',
    );
  const wanted = first !== undefined && Object.hasOwn(VERBS, first) ? [VERBS[first]!] : Object.values(VERBS);
  for (const load of wanted) (await load()).register(program);
  const inherit = (command: Command): void => {
    if (command.commands.length > 0) wantCommand(command);
    command.configureOutput({ outputError: (text, write) => write(errorLine(command, text)) });
    refuseRepeats(command);
    for (const child of command.commands) {
      child.copyInheritedSettings(command);
      inherit(child);
    }
  };
  inherit(program);
  return program.hook('preAction', (_, command) => {
    refuseOtherFolder();
    refuseEmpty(command);
    refuseOverwrites(command);
  });
}

/** `run` does not use this: it writes without the stream that this would create (output.ts). */
function watchStdout(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(report(endOfStdout(error))));
}

/**
 * `--ubsan` alone must not take the next word as its value, as an option with an optional value
 * would.
 */
function spellOut(argv: readonly string[]): string[] {
  const end = argv.indexOf('--');
  return argv.map((text, i) => (text === '--ubsan' && (end < 0 || i < end) ? '--ubsan=report' : text));
}

/**
 * `help cov export` is `cov export --help`: commander's own help command knows one level only.
 * `help help` is that of all commands.
 */
function unfoldHelp(argv: readonly string[]): string[] {
  const [node = '', script = '', first, ...rest] = argv;
  const isVerbs = rest.length > 0 && rest.every(word => !word.startsWith('-'));
  const verbs = rest[0] === 'help' ? rest.slice(1) : rest;
  return first === 'help' && isVerbs ? [node, script, ...verbs, '--help'] : [...argv];
}

/**
 * The first of `words` that is not a command below `program`; commander would show the help of the
 * last valid one.
 */
function unknownCommand(program: Command, words: readonly string[]): string | undefined {
  let at = program;
  for (const word of words) {
    const next = at.commands.find(command => command.name() === word);
    if (!next) return at.commands.length > 0 ? word : undefined;
    at = next;
  }
  return undefined;
}

/** Runs the command line; resolves with the exit status. */
export async function main(argv: readonly string[]): Promise<number> {
  try {
    tieTools();
    refuseOtherBytes(argv.slice(2));
    const words = unfoldHelp(argv);
    if (words[2] !== 'run') watchStdout();
    const program = await createProgram(words[2]);
    const unknown = argv[2] === 'help' ? unknownCommand(program, words.slice(2, -1)) : undefined;
    if (unknown !== undefined)
      throw new UserError(`help: there is no command "${unknown}"; kcovbox --help lists them`);
    await program.parseAsync(spellOut(words));
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_KCOVBOX;
    return report(error);
  }
}

/** The body of a worker thread of `fuzz` (fuzz/pool.ts). */
export async function fuzzWorker(): Promise<void> {
  (await import('./fuzz/worker.ts')).serveBatches();
}

/** The same of `schedules`. */
export async function schedulesWorker(): Promise<void> {
  (await import('./schedules/search.ts')).serveParts();
}
