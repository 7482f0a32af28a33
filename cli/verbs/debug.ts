// `kcovbox debug`: a debugger for a recorded run that goes both ways, for people without GDB.
import { createReadStream } from 'node:fs';
import { type Command, Option } from 'commander';
import { visible } from '../../emulator/base/words.ts';
import type { EngineKind } from '../../emulator/index.ts';
import { systemReason } from '../../toolchain/index.ts';
import { whereAmI } from '../debug/commands.ts';
import { openDebugger } from '../debug/open.ts';
import { Repl } from '../debug/repl.ts';
import { SourceView, sourceFolders } from '../debug/source.ts';
import { UserError } from '../io/fail.ts';
import { writeOut } from '../io/output.ts';
import { repeated, repeatedFolder } from '../io/repeated.ts';

interface Options {
  engine: EngineKind;
  batch?: string;
  x?: string[];
  source?: string[];
  device?: string[];
}

/** Status when a command of `--batch` or `-x` failed. */
const STATUS_FAILED = 1;
const CR = 13;
const encoder = new TextEncoder();

async function debug(path: string, files: readonly string[], options: Options): Promise<number> {
  const say = (line: string): void => writeOut(encoder.encode(`${visible(line, '\n\t')}\n`));
  let text: number[] = [];
  const flush = (): void => {
    if (text.length > 0)
      writeOut(encoder.encode(visible(new TextDecoder().decode(Uint8Array.from(text)), '\n\t')));
    text = [];
  };
  const { session, start } = await openDebugger(path, files, options, byte => {
    if (byte !== CR) text.push(byte);
  });
  const sayBehind = (line: string): void => {
    flush();
    say(line);
  };
  const source = new SourceView(sourceFolders(options.source), { images: session.images, say: sayBehind });
  const desk = { session, source, start, say: sayBehind, log: sayBehind };
  const repl = new Repl(desk);
  whereAmI(desk);
  for (const line of options.x ?? []) {
    desk.say(`(kcovbox) ${line}`);
    if (!repl.execute(line)) return repl.hasFailed ? STATUS_FAILED : 0;
  }
  if (options.batch !== undefined) await batch(repl, options.batch);
  else if (options.x === undefined) await repl.run(process.stdin, process.stdin.isTTY !== true);
  flush();
  const isScript = options.x !== undefined || options.batch !== undefined;
  return isScript && repl.hasFailed ? STATUS_FAILED : 0;
}

async function batch(repl: Repl, path: string): Promise<void> {
  try {
    await repl.run(path === '-' ? process.stdin : createReadStream(path), true);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new UserError(`debug --batch ${path}: ${systemReason(String(error.code)) ?? error.message}`);
  }
}

export function register(program: Command): void {
  program
    .command('debug')
    .description('debug a recorded run in both directions: step, step back, find the last write of a value')
    .argument('<capsule>', 'file that run --record or boot --record wrote')
    .argument('[images...]', 'images that a thin capsule names by hash')
    .addOption(new Option('--engine <name>', 'execution engine').choices(['jit', 'interp']).default('jit'))
    .option('--batch <file>', 'commands from a file, or - for standard input')
    .option('-x <command>', 'a command; ends after the last one (repeatable)', repeated)
    .option('--source <dir>', 'a folder with source text (repeatable)', repeatedFolder)
    .option('--device <file.ts>', 'a device that the run had (repeatable)', repeated)
    .addHelpText(
      'after',
      '\nThe debugger begins at the first instruction of the program. `help` lists the commands.\n' +
        'The exit status is 0; 1 when a command of -x or --batch failed; 125 when kcovbox did.\n' +
        'Examples:\n' +
        '  kcovbox run --record bug.kcapsule prog.c\n' +
        '  kcovbox debug bug.kcapsule\n' +
        "  kcovbox debug bug.kcapsule -x 'goto end' -x 'last-write list->next'",
    )
    .action(async (path: string, files: string[], options: Options) => {
      process.exitCode = await debug(path, files, options);
    });
}
