// `kcovbox replay FILE`: the recorded run again, on any host and in either engine, with the same console, coverage and state.
// That it was the same is checked; a difference is a defect of the emulator, and reported as one.
// The recording is a stranger's: it chooses what the guest does and nothing else. Images are found by hash, or come from
// the command line; outputs, compiler flags and files are those of the command line alone.
import { type Command, Option } from 'commander';
import type { EngineKind } from '../../emulator/index.ts';
import type { RunOutcome } from '../../run/index.ts';
import { buildKernel } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';
import { readInput } from '../io/input.ts';
import { splitFlags } from '../io/values.ts';
import { sha256 } from '../run/describe.ts';
import { checkOutputs, execute, type MachineChoice, type Outputs } from '../run/execute.ts';
import { type GuestImages, packProgram } from '../run/guest.ts';
import { findImage } from '../run/image-store.ts';
import { openRecording, type Recording } from '../run/recording.ts';
import { addOutputOptions } from './run.ts';

interface ReplayOptions extends Outputs {
  engine: EngineKind;
  kernel?: string;
  cflags?: string;
}

function choiceOf({ run, outcome }: Recording, options: ReplayOptions): MachineChoice {
  const { kernel, machine, program, budget } = run;
  const seedOf = (text: string | null): bigint | undefined => (text === null ? undefined : BigInt(text));
  return {
    dialect: kernel.dialect,
    conf: kernel.conf,
    kcov: machine.kcov,
    engine: options.engine,
    smp: machine.harts,
    memory: machine.memory,
    seed: seedOf(machine.seed),
    schedSeed: seedOf(machine.schedSeed),
    icount: machine.icountShift,
    interactive: false, // the journal has all of the input
    // A run that goes on behind its recorded end is another one already.
    maxInsns: Math.min(budget ?? Number.POSITIVE_INFINITY, outcome.time + 1),
    cflags: splitFlags(options.cflags),
    env: program.environment,
  };
}

interface Image {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** The recorded program as a word that may be pasted into a shell, whatever a stranger called it. */
const fileOf = (name: string): string => (/^\w[\w.+-]*$/.test(name) ? `${name}.c` : 'PROGRAM.c');

const short = (hash: string): string => `sha256 ${hash.slice(0, 16)}...`;

/** The recorded kernel: the file that was given, one that was kept, or one that is built for its configuration. */
async function kernelOf(path: string, { run }: Recording, given: string | undefined): Promise<Image> {
  const wanted = run.images.kernel.sha256;
  const image = given === undefined ? findImage(wanted) : { path: given, bytes: readInput(given, 'kernel') };
  if (image !== undefined && sha256(image.bytes) === wanted) return image;
  if (image !== undefined)
    throw new UserError(
      `${path} was recorded with another kernel: ${short(wanted)}, ${given} is ${short(sha256(image.bytes))}`,
    );
  const built = (await buildKernel(run.kernel.conf)).path;
  const bytes = readInput(built, 'kernel');
  if (sha256(bytes) === wanted) return { path: built, bytes };
  throw new UserError(
    `${path} was recorded with another guest kernel: ${short(wanted)}, the ${run.kernel.conf} kernel is ${short(sha256(bytes))} now; give it with -k`,
  );
}

/** The recorded root file system: kept from the recording, or made of the program that was given. */
async function initrdOf(
  path: string,
  { run }: Recording,
  program: string | undefined,
  choice: MachineChoice,
): Promise<Uint8Array> {
  const wanted = run.images.initrd;
  if (program === undefined) {
    const kept = findImage(wanted);
    if (kept) return kept.bytes;
    throw new UserError(
      `the program of ${path} is not in the cache (${run.program.name}, ${short(run.images.program)}): give it, as in kcovbox replay ${path} ${fileOf(run.program.name)}`,
    );
  }
  const { initrd, bytes } = await packProgram(program, choice);
  if (sha256(initrd) === wanted) return initrd;
  throw new UserError(
    `${path} was recorded with another program: ${run.program.name} ${short(run.images.program)}, ${program} is ${short(sha256(bytes))}; bring it back as it was, with the same --cflags`,
  );
}

async function imagesOf(
  path: string,
  recording: Recording,
  program: string | undefined,
  options: ReplayOptions,
  choice: MachineChoice,
): Promise<GuestImages> {
  const kernel = await kernelOf(path, recording, options.kernel);
  const initrd = await initrdOf(path, recording, program, choice);
  const { run } = recording;
  return {
    kernelPath: kernel.path,
    kernel: kernel.bytes,
    initrd,
    append: run.kernel.append,
    size: run.machine.devices[0], // the terminal of then, not of now
    name: run.program.name,
    args: run.program.argv.slice(1),
    program: new Uint8Array(0),
  };
}

const COMPARED = ['end', 'status', 'instret', 'time', 'consoleHash', 'records', 'stateHash'] as const;

function differences(then: RunOutcome, now: RunOutcome): string[] {
  return COMPARED.filter(name => then[name] !== now[name]).map(
    name => `${name} is ${now[name]}, was ${then[name]}`,
  );
}

async function replay(path: string, program: string | undefined, options: ReplayOptions): Promise<number> {
  checkOutputs(options);
  const recording = openRecording(path);
  const choice = choiceOf(recording, options);
  const images = await imagesOf(path, recording, program, options, choice);
  const { run, journal, outcome: then } = recording;
  const replayed = { journal, end: { outcome: then.end, status: then.status, time: then.time } };
  const executed = await execute(images, choice, options, { run, replay: replayed });
  if (executed.end.isInterrupted) return executed.end.status; // and has said so: it tells nothing about the run
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
    .description('run a recording of `run --record` again, and check that it is the same run')
    .argument('<recording>', 'file that run --record wrote')
    .argument('[program]', 'C source or ELF file, where the recorded one is not in the cache of this machine')
    .addOption(
      new Option('--engine <name>', 'how to execute').choices(['jit', 'interp', 'lockstep']).default('jit'),
    )
    .option('-k, --kernel <elf>', 'the kernel, where it can neither be found nor built here')
    .option('--cflags <flags>', 'compiler flags of the given program, separated by blanks');
  addOutputOptions(command)
    .addHelpText(
      'after',
      '\nThe exit status is that of the recorded program; 125 when the run was not the same.\n' +
        "A recording names images by hash. It cannot name files, flags or outputs, so a stranger's is safe to replay.\n" +
        'Examples:\n' +
        '  kcovbox run --record bug.json prog.c\n' +
        '  kcovbox replay --cover bug.html bug.json\n' +
        '  kcovbox replay bug.json prog.c          on another machine: with the program',
    )
    .action(async (path: string, file: string | undefined, options: ReplayOptions) => {
      process.exitCode = await replay(path, file, options);
    });
}
