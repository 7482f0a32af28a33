// The `kcovbox` command: one verb per file, registered here in the order of the help text.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { packageRoot } from '../toolchain/index.ts';
import { EXIT_KCOVBOX, report } from './io/fail.ts';

interface Verb {
  register(program: Command): void;
}

/** In the order of the help text. Loaded when needed, because a run should not pay for the reader of reports. */
const VERBS: Readonly<Record<string, () => Promise<Verb>>> = {
  demo: () => import('./verbs/demo.ts'),
  run: () => import('./verbs/run.ts'),
  replay: () => import('./verbs/replay.ts'),
  boot: () => import('./verbs/boot.ts'),
  build: () => import('./verbs/build.ts'),
  disasm: () => import('./verbs/disasm.ts'),
  symbolize: () => import('./verbs/symbolize.ts'),
  cov: () => import('./verbs/cov.ts'),
  check: () => import('./verbs/check.ts'),
  bench: () => import('./verbs/bench.ts'),
  doctor: () => import('./verbs/doctor.ts'),
};

/** With the one verb that `first` names, or with all of them for help and errors. */
async function createProgram(first: string | undefined): Promise<Command> {
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
      writeErr: text => process.stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error: /, 'kcovbox: ').replace(/\n(?=.)/g, ' ')),
    })
    .addHelpText(
      'after',
      '\nExit status: that of the guest program (128+n when signal n killed it); 124 budget spent; 125 kcovbox failed;\n' +
        '126 guest kernel panicked; 127 the guest could not start the program.\n\nStart with: kcovbox demo',
    );
  const wanted = first !== undefined && Object.hasOwn(VERBS, first) ? [VERBS[first]!] : Object.values(VERBS);
  for (const load of wanted) (await load()).register(program);
  const inherit = (command: Command): void => {
    for (const child of command.commands) {
      child.copyInheritedSettings(command);
      inherit(child);
    }
  };
  inherit(program);
  return program;
}

/**
 * A reader that went away (`| head`) ends us quietly, as it ends other commands; a full disk with a line. Not for `run`, which writes
 * without the stream that this would create (output.ts).
 */
function watchStdout(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE')
      process.stderr.write(`kcovbox: cannot write standard output: ${error.message}\n`);
    process.exit(error.code === 'EPIPE' ? 141 : EXIT_KCOVBOX);
  });
}

/** `--ubsan` alone shall not take the next word for its value, as an option with an optional value would. */
function spellOut(argv: readonly string[]): string[] {
  const end = argv.indexOf('--');
  return argv.map((text, i) => (text === '--ubsan' && (end < 0 || i < end) ? '--ubsan=report' : text));
}

/** Runs the command line; resolves with the exit status. */
export async function main(argv: readonly string[]): Promise<number> {
  try {
    if (argv[2] !== 'run') watchStdout();
    const program = await createProgram(argv[2]);
    await program.parseAsync(spellOut(argv));
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_KCOVBOX;
    return report(error);
  }
}
