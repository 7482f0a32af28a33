// `kcovbox replay FILE`: repeats the recorded run, on any host and in either engine, with the same
// console, coverage and state. The outcome is compared; a difference is a defect of the emulator,
// and is reported as one. The recording is untrusted: it determines the guest's behaviour and
// nothing else. Images are found by hash or come from the command line; outputs, compiler flags and
// files come from the command line alone.
import { type Command, Option } from 'commander';
import type { EngineKind } from '../../emulator/index.ts';
import { openRecording } from '../../host/recording.ts';
import { choiceOf, differences, recordedImages } from '../../host/replay.ts';
import { UserError } from '../io/fail.ts';
import { splitFlags } from '../io/values.ts';
import { checkOutputs, execute, type Outputs } from '../run/execute.ts';
import { addOutputOptions } from './run.ts';

interface ReplayOptions extends Outputs {
  engine: EngineKind;
  kernel?: string;
  cflags?: string;
}

/** The recorded program's name, quoted for a shell. */
const fileOf = (name: string): string => (/^\w[\w.+-]*$/.test(name) ? `${name}.c` : 'PROGRAM.c');

async function replay(path: string, program: string | undefined, options: ReplayOptions): Promise<number> {
  checkOutputs(options);
  const recording = openRecording(path);
  const choice = { ...choiceOf(recording, options.engine), interactive: false }; // the journal has all of the input
  const images = await recordedImages(path, recording, {
    program,
    cflags: splitFlags(options.cflags),
    kernel: options.kernel,
    kernelHint: 'give it with -k',
    programHint: name => `give it, as in kcovbox replay ${path} ${fileOf(name)}`,
  });
  const { run, journal, outcome: then } = recording;
  const replayed = { journal, end: { outcome: then.end, status: then.status, time: then.time } };
  const executed = await execute(images, choice, options, { run, replay: replayed });
  if (executed.end.signalStatus) return executed.end.signalStatus; // and has said so: the outcome is not comparable
  const different = differences(then, executed.outcome!);
  const unused = executed.end.machine.journal.waiting;
  if (unused > 0) different.push(`${unused} of ${journal.length} journal entries did not arrive`);
  if (different.length > 0)
    throw new UserError(`the replay of ${path} is not the run that was recorded: ${different.join('; ')}`);
  process.stderr.write(
    `kcovbox: the same run: ${then.instret.toLocaleString('en-US')} instructions, state ${then.stateHash}\n`,
  );
  return executed.end.status;
}

export function register(program: Command): void {
  const command = program
    .command('replay')
    .description('repeat a run recorded with `run --record` and check that it is the same')
    .argument('<recording>', 'file that run --record wrote')
    .argument('[program]', 'C source or ELF file, if the recorded one is not in the cache')
    .addOption(
      new Option('--engine <name>', 'execution engine').choices(['jit', 'interp', 'lockstep']).default('jit'),
    )
    .option('-k, --kernel <elf>', 'the kernel, if it can be neither found nor built here')
    .option('--cflags <flags>', 'compiler flags of the given program, separated by blanks');
  addOutputOptions(command)
    .addHelpText(
      'after',
      '\nThe exit status is that of the recorded program, or 125 if the run was not the same.\n' +
        'A recording names images by hash. It cannot name files, flags or outputs, so it may come from anyone.\n' +
        'Examples:\n' +
        '  kcovbox run --record bug.json prog.c\n' +
        '  kcovbox replay --cover bug.html bug.json\n' +
        '  kcovbox replay bug.json prog.c          on another machine: with the program',
    )
    .action(async (path: string, file: string | undefined, options: ReplayOptions) => {
      process.exitCode = await replay(path, file, options);
    });
}
