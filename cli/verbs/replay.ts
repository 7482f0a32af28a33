// `kcovbox replay FILE`: the run of a capsule again, on any host and in either engine, with the
// same console, coverage and state. That it was the same is checked; a difference is a defect of
// the emulator, and reported as one. The capsule is a stranger's: it chooses what the guest does
// and nothing else. Images are in it or found by hash; outputs, compiler flags and files are those
// of the command line alone.
import { type Command, Option } from 'commander';
import {
  compareEngines,
  type EngineKind,
  HostError,
  type MachineOptions,
  RUN_HASH_INTERVAL,
  RunDifference,
} from '../../emulator/index.ts';
import { bootMachine } from '../../host/boot-machine.ts';
import { inCapsule, openCapsule } from '../../host/capsule.ts';
import { capsuleImages } from '../../host/capsule-images.ts';
import { storeImage } from '../../host/image-store.ts';
import { choiceOf, comparedState, differences, guestOf, hasOurHashes, limitOf } from '../../host/replay.ts';
import type { Capsule } from '../../run/capsule/index.ts';
import { type BootDescription, CONSOLE_KEPT, type RunDescription } from '../../run/index.ts';
import { tell } from '../../toolchain/index.ts';
import { GuestConsole } from '../io/console.ts';
import { ConsoleLog } from '../io/console-log.ts';
import { UserError } from '../io/fail.ts';
import { repeated } from '../io/repeated.ts';
import { pathWord } from '../io/shell-word.ts';
import { splitFlags } from '../io/values.ts';
import { loadDevices } from '../run/devices.ts';
import { checkOutputs, type Executed, execute, type Outputs, sessionOutcome } from '../run/execute.ts';
import { addGdbOptions, type GdbFlags, gdbOf } from '../run/gdb-options.ts';
import { recordedMachine } from '../run/recorded.ts';
import { explain, type Replay, runSession } from '../run/session.ts';
import { addOutputOptions } from './run.ts';

interface ReplayOptions extends Outputs, Omit<GdbFlags, 'gdb'> {
  verify?: true;
  engine: EngineKind;
  kernel?: string;
  cflags?: string;
  device?: string[];
}

type Images = ReadonlyMap<string, Uint8Array>;

/** A program's run again, with the outputs that were asked for. */
async function replayRun(
  { manifest }: Capsule,
  run: RunDescription,
  images: Images,
  replay: Replay,
  options: ReplayOptions,
): Promise<Executed> {
  // Reports read their image from a file.
  const kernelPath = options.cover === undefined ? '' : storeImage(images.get('kernel.bin')!);
  const choice = choiceOf(run, manifest.outcome, options.engine, await loadDevices(options.device));
  // The journal has all of the input.
  return execute(guestOf(run, images, kernelPath), { ...choice, interactive: false }, options, {
    recorded: { run, replay },
    whyEmpty:
      run.machine.kcov === 'device'
        ? 'the recorded program did not enable kcov; add --exact, or record it again with run --trace --cover'
        : `the recorded run had --kcov ${run.machine.kcov}; record it again without`,
  });
}

const OF_PROGRAMS = {
  cover: 'cover',
  result: 'result',
  format: 'format',
  testName: 'test-name',
  exact: 'exact',
} as const;

/** A machine's run again. */
async function replayBoot(
  { manifest }: Capsule,
  run: BootDescription,
  images: Images,
  replay: Replay,
  options: ReplayOptions,
): Promise<Pick<Executed, 'end' | 'outcome' | 'log'>> {
  for (const [name, flag] of Object.entries(OF_PROGRAMS))
    if (options[name as keyof typeof OF_PROGRAMS] !== undefined)
      throw new UserError(`replay --${flag}: the capsule is of kcovbox boot, which has no such output`);
  const files = new Map([...images].map(([name, bytes]) => [name, { name, bytes }]));
  const log = new ConsoleLog(CONSOLE_KEPT);
  const end = await runSession({
    machine: {
      ...bootMachine(run, { files, drives: images }, options.engine),
      runHash: RUN_HASH_INTERVAL,
    },
    console: new GuestConsole({ binary: true, log }),
    endsInOrder: true,
    noReboot: run.noReboot,
    maxInsns: limitOf(run, manifest.outcome),
    replay,
    ...(options.gdb && { gdb: options.gdb }),
  });
  const why = explain(end);
  if (why) tell(`kcovbox: ${why}\n`);
  return { end, outcome: sessionOutcome(end, log), log };
}

/** The machine of the capsule, with all its input. */
async function machineAgain(
  capsule: Capsule,
  images: Images,
  replay: Replay,
  { engine, device }: ReplayOptions,
): Promise<MachineOptions> {
  return { ...(await recordedMachine(capsule, images, { engine, device })), replay: replay.journal };
}

/**
 * The replay left the recorded run somewhere in an interval. The recording has nothing finer than
 * its hashes, but if one engine is wrong there, the other one shows where.
 */
async function narrowed(
  difference: RunDifference,
  machine: () => Promise<MachineOptions>,
): Promise<HostError> {
  const { from, to, message } = difference;
  if (from === undefined) return difference;
  tell(`kcovbox: ${message}; comparing the engines there\n`);
  const found = compareEngines(await machine(), from, to);
  if (found) return new HostError(`${message}; ${found.message}`, found.detail);
  return new HostError(`${message}; both engines agree there, and differ from the recording`);
}

/** The journal and the recorded end, for the session. */
function replayOf(path: string, capsule: Capsule, isVerified: boolean): Replay {
  const { end, status, time, runHash } = capsule.manifest.outcome;
  const journal = inCapsule(path, () => capsule.journal());
  inCapsule(path, () => capsule.console());
  const verify = isVerified && hasOurHashes(capsule) ? runHash : undefined;
  return { journal, end: { outcome: end, status, time }, verify };
}

/** The recorded program's name, quoted for a shell. */
const wordOf = (name: string): string => (/^\w[\w.+-]*$/.test(name) ? name : 'PROGRAM.c');

async function replay(path: string, files: readonly string[], options: ReplayOptions): Promise<number> {
  checkOutputs(options);
  const capsule = openCapsule(path);
  const { run, outcome: then } = capsule.manifest;
  const replayed = replayOf(path, capsule, options.verify === true);
  const images = await capsuleImages(path, capsule, {
    files,
    kernel: options.kernel,
    cflags: splitFlags(options.cflags),
    kernelHint: 'give it with -k',
    fileHint: name => `give it, as in kcovbox replay ${pathWord(path)} ${wordOf(name)}`,
  });
  const again =
    run.format === 'kcovbox run'
      ? replayRun(capsule, run, images, replayed, options)
      : replayBoot(capsule, run, images, replayed, options);
  const { end, outcome, log } = await again.catch(async (error: unknown) => {
    if (!(error instanceof RunDifference)) throw error;
    throw await narrowed(error, () => machineAgain(capsule, images, replayed, options));
  });
  if (end.signalStatus) return end.signalStatus; // and has said so: the outcome is not comparable
  const different = differences(capsule, outcome!, log!.text);
  const unused = end.machine.journal.waiting;
  if (unused > 0) different.push(`${unused} of ${replayed.journal.length} journal entries did not arrive`);
  if (different.length > 0)
    throw new UserError(`the replay of ${path} is not the run that was recorded: ${different.join('; ')}`);
  const instret = then.instret.toLocaleString('en-US');
  tell(`kcovbox: the same run: ${instret} instructions, ${comparedState(capsule)}\n`);
  return end.status;
}

export function register(program: Command): void {
  const command = program
    .command('replay')
    .description('run a capsule of --record again, and check that it is the same run')
    .argument('<capsule>', 'file that run --record or boot --record wrote')
    .argument(
      '[images...]',
      'images that a thin capsule names by hash: files, or the C source of the program',
    )
    .addOption(
      new Option('--engine <name>', 'execution engine').choices(['jit', 'interp', 'lockstep']).default('jit'),
    )
    .option(
      '-k, --kernel <elf>',
      'the kernel of a thin capsule, where it can neither be found nor built here',
    )
    .option('--verify', 'stop at the first run hash that differs, and compare the engines there')
    .option('--cflags <flags>', 'compiler flags of a given program, separated by blanks')
    .option(
      '--device <file.ts>',
      'a device that the run had; a capsule does not hold its code (repeatable)',
      repeated,
    );
  addGdbOptions(addOutputOptions(command))
    .addHelpText(
      'after',
      '\nThe exit status is that of the recorded program; 125 when the run was not the same.\n' +
        'A capsule has its images in it, or their hashes. It cannot name files, flags or outputs,\n' +
        "so a stranger's is safe to replay.\n" +
        'Examples:\n' +
        '  kcovbox run --record bug.kcapsule prog.c\n' +
        '  kcovbox replay bug.kcapsule                     on any machine: no compiler, no sources\n' +
        '  kcovbox replay --cover bug.html bug.kcapsule\n' +
        '  kcovbox replay thin.kcapsule prog.c             a thin one, on another machine: with the program\n' +
        '  kcovbox replay -s -S bug.kcapsule               for gdb, which can go back (docs/debugging.md)',
    )
    .action(async (path: string, files: string[], options: Omit<ReplayOptions, 'gdb'> & GdbFlags) => {
      const gdb = gdbOf(options);
      if (gdb && options.engine === 'lockstep') throw new UserError('--gdb needs one engine: jit or interp');
      process.exitCode = await replay(path, files, { ...options, gdb });
    });
}
