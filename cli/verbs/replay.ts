// `kcovbox replay FILE`: the recorded run again, on any host and in either engine, with the same console, coverage and state. That it was the same
// is checked; a difference is a defect of the emulator, and reported as one.
import { type Command, Option } from 'commander';
import type { EngineKind } from '../../emulator/index.ts';
import { COVER_FORMATS, type CoverFormat } from '../cov/formats.ts';
import { UserError } from '../io/fail.ts';
import { parseSeed } from '../io/values.ts';
import type { GuestImages } from '../run/guest.ts';
import { type Ending, endingOf, hashesOf, type Recording, readRecording } from '../run/recording.ts';
import { execute, prepare, type RunOptions } from './run.ts';

interface ReplayOptions {
  engine?: EngineKind;
  cover?: string;
  format?: CoverFormat;
  result?: string;
}

/** The options of the recorded run, with the outputs and the engine of this one. */
function optionsOf(recording: Recording, own: ReplayOptions): RunOptions {
  const { seed: guestSeed, schedSeed, ...rest } = recording.options;
  const options = { ...rest, ...own } as unknown as RunOptions;
  if (typeof guestSeed === 'string') options.seed = parseSeed(guestSeed);
  if (typeof schedSeed === 'string') options.schedSeed = parseSeed(schedSeed);
  return options;
}

/** The images of the recorded run, built again. */
async function imagesOf(path: string, recording: Recording, options: RunOptions): Promise<GuestImages> {
  const built = await prepare(recording.program, recording.args, options);
  const now = hashesOf(built);
  const differs = (what: string, hash: string, wanted: string, why: string): never => {
    throw new UserError(
      `${path} was recorded with another ${what}: sha256 ${wanted.slice(0, 16)}..., it is ${hash.slice(0, 16)}... now; ${why}`,
    );
  };
  const { kernel, initrd } = recording.images;
  if (now.kernel !== kernel)
    differs('guest kernel', now.kernel, kernel, 'use the kcovbox and compiler that recorded it');
  if (now.initrd !== initrd)
    differs(`program (${recording.program})`, now.initrd, initrd, 'bring back the program as it was');
  // The terminal of then, not of now.
  return { ...built, append: recording.append, size: recording.size ?? undefined };
}

const COMPARED = ['outcome', 'status', 'instret', 'time', 'consoleHash', 'records', 'stateHash'] as const;

function differences(then: Ending, now: Ending): string[] {
  return COMPARED.filter(name => then[name] !== now[name]).map(
    name => `${name} is ${now[name]}, was ${then[name]}`,
  );
}

export async function replay(path: string, own: ReplayOptions): Promise<number> {
  const recording = readRecording(path);
  const options = optionsOf(recording, own);
  const images = await imagesOf(path, recording, options);
  const executed = await execute(images, options, recording);
  const different = differences(recording.end, endingOf(executed));
  if (different.length > 0)
    throw new UserError(`the replay of ${path} is not the run that was recorded: ${different.join('; ')}`);
  process.stderr.write(
    `kcovbox: the same run: ${recording.end.instret.toLocaleString('en-US')} instructions, state ${recording.end.stateHash}\n`,
  );
  return executed.end.status;
}

export function register(program: Command): void {
  program
    .command('replay')
    .description('run a recording of `run --record` again, and check that it is the same run')
    .argument('<recording>', 'file that run --record wrote')
    .addOption(
      new Option('--engine <name>', 'how to execute; default: as recorded').choices([
        'jit',
        'interp',
        'lockstep',
      ]),
    )
    .option('--cover <file>', 'write what kcov recorded; - prints to standard output')
    .addOption(
      new Option('--format <format>', 'format of --cover; default: by its suffix, else kcov').choices(
        COVER_FORMATS,
      ),
    )
    .option('--result <file>', 'write status, instret, hashes and options as JSON')
    .addHelpText(
      'after',
      '\nThe exit status is that of the recorded program; 125 when the run was not the same.\n' +
        'Example:\n  kcovbox run --record bug.json prog.c; kcovbox replay --cover bug.html bug.json',
    )
    .action(async (path: string, options: ReplayOptions) => {
      process.exitCode = await replay(path, options);
    });
}
