// `kcovbox run`: a C program or an ELF as the guest's first process, with its exit status as ours.

import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  DEFAULT_EXTENSIONS,
  type EngineKind,
  type Extensions,
  type KcovMode,
  nodeOf,
  parseFaults,
  parseHostile,
  type Schedule,
} from '../../emulator/index.ts';
import type { GuestImages, GuestOptions } from '../../host/guest.ts';
import { DIALECTS } from '../../toolchain/index.ts';
import { COVER_FORMATS } from '../cov/formats.ts';
import { UserError } from '../io/fail.ts';
import { repeated } from '../io/repeated.ts';
import {
  parseCount,
  parseCpuModel,
  parseHarts,
  parseMoment,
  parseOrder,
  parseRam,
  parseSeed,
  parseShift,
  splitFlags,
} from '../io/values.ts';
import { loadDevices } from '../run/devices.ts';
import { checkOutputs, execute, type Outputs, type RunChoice } from '../run/execute.ts';
import { addGdbOptions, type GdbFlags, gdbOf } from '../run/gdb-options.ts';
import { prepareGuest } from '../run/guest.ts';
import { addRobustOptions, chooseKernel, ROBUST_HELP, type RobustOptions } from '../run/robust.ts';

export interface RunOptions extends RobustOptions, Omit<Outputs, 'gdb'> {
  kcov: KcovMode;
  engine: EngineKind;
  smp: number;
  cpu: Extensions;
  memory: number;
  append?: string;
  seed?: bigint;
  schedSeed?: bigint;
  schedule?: Schedule;
  icount: number;
  maxInsns?: number;
  cflags?: string;
  env?: Record<string, string>;
  trace?: true;
  interactive?: true;
  device?: string[];
  driver?: string[];
  fault?: string[];
  hostile?: string[];
}

/**
 * Runs one program; the status is the one to exit with. `append`: more words for the kernel's
 * command line.
 */
async function runProgram(
  program: string,
  args: readonly string[],
  choice: RunChoice & Pick<GuestOptions, 'kernel' | 'kernelSource' | 'drivers'>,
  outputs: Outputs,
  append: string,
): Promise<number> {
  checkOutputs(outputs);
  const images: GuestImages = await prepareGuest(program, args, {
    ...choice,
    // As in `kcovbox faults hostile`, whose runs begin at the probe.
    probeLate: choice.hostile?.map(({ device }) => nodeOf(device)),
    ...(append === '' ? {} : { append }),
  });
  const recording = outputs.record === undefined ? undefined : await import('../run/save-capsule.ts');
  recording?.checkRun(outputs.record!, images, choice);
  const isC = /\.c$/i.test(program);
  const why = `the program did not enable kcov; ${isC ? 'add --trace' : 'run its C source with --trace'}`;
  const { end } = await execute(images, choice, outputs, {
    whyEmpty: whyEmpty(choice.kcov, outputs.keepLost ? 'the run ended before the program began' : why),
    ...(recording && {
      write: executed => recording.recordRun(outputs.record!, outputs.thin === true, images, executed),
    }),
  });
  return end.signalStatus || end.status;
}

/** The reason for a coverage file without records. `why`: the one if the kcov device was there. */
export const whyEmpty = (kcov: KcovMode, why: string): string =>
  kcov === 'device' ? why : `with --kcov ${kcov} the host records nothing; omit it`;

/** Options for outputs. `hasTests`: the tests of the run have their own names. */
export function addOutputOptions(command: Command, { hasTests = false } = {}): Command {
  command
    .option(
      '--cover <file>',
      'write the kcov records; the suffix selects the format; - prints to standard output',
    )
    .addOption(
      new Option('--format <format>', 'format of --cover; overrides the suffix').choices(COVER_FORMATS),
    );
  if (!hasTests)
    command
      .option('--exact', 'with --cover: count every kernel instruction that ran instead of kcov records')
      .option('--test-name <name>', 'name of the test in the coverage file (default: the program)');
  return command
    .option(
      '--result <file>',
      'write the run description, outcome and versions as JSON; - for standard output',
    )
    .option('--no-symbolize', "print the kernel's reports as they are, without source lines");
}

/** Refuses --trace where nothing could be recorded. */
function checkTrace(program: string, { cover, kcov }: RunOptions): void {
  if (cover === undefined) throw new UserError('--trace without --cover: add --cover FILE for the records');
  if (kcov !== 'device') throw new UserError(`--trace needs the kcov device: omit --kcov ${kcov}`);
  if (!/\.c$/i.test(program))
    throw new UserError(
      `--trace compiles kcov into a C program, and ${program} is compiled already; ` +
        'compile it with -include kcov-self.h',
    );
}

const addVariable = (text: string, before: Record<string, string> = {}): Record<string, string> => {
  const [, name, value] = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError('expected NAME=VALUE');
  const more = { value, writable: true, enumerable: true, configurable: true }; // also __proto__
  return Object.defineProperty(before, name, more);
};

/** Options that `run` and `replay` share. */
export function addMachineOptions(command: Command, { order } = { order: true }): Command {
  command
    .addOption(
      new Option('--dialect <name>', 'kcov interface of the kernel').choices(DIALECTS).default('openbsd'),
    )
    .option('--conf <name>', 'kernel configuration by its files in kernel/conf: openbsd+debug+kasan')
    .addOption(
      new Option('--kcov <how>', 'record with the device, with C hooks in the guest, or not at all')
        .choices(['device', 'guest', 'off'])
        .default('device'),
    )
    .addOption(
      new Option('--engine <name>', 'execution engine').choices(['jit', 'interp', 'lockstep']).default('jit'),
    )
    .option('--smp <harts>', 'number of harts, 1 to 8', parseHarts, 1)
    .addOption(
      new Option('--cpu <model>', "rv64, rva22s64 or max, then [,EXT=on|off]...; as QEMU's -cpu")
        .argParser(parseCpuModel)
        .default(DEFAULT_EXTENSIONS, 'rv64'),
    )
    .addOption(
      new Option('-m, --memory <size>', 'guest RAM').argParser(parseRam).default(256 * 2 ** 20, '256M'),
    )
    .option('--append <words>', 'more words for the kernel command line')
    .option('--seed <hex>', 'seed of all random bytes in the guest', parseSeed);
  if (order) addOrderOptions(command);
  return command
    .option(
      '--icount <shift>',
      "an instruction takes 2^N ns of the guest's time, 0 to 10; as QEMU's -icount shift=N",
      parseShift,
      0,
    )
    .option(
      '--max-insns <n>',
      'stop with status 124 after this many instructions and exceptions',
      parseCount,
    );
}

/** Options about the order in which harts take turns. */
function addOrderOptions(command: Command): void {
  command
    .option('--sched-seed <hex>', 'seed of the order in which harts take turns', parseSeed)
    .option(
      '--schedule <order>',
      'use that seed, once the program runs, for rw, rp, pos or pct:DEPTH[:UNITS] (docs/determinism.md)',
      parseOrder,
    );
}

/** Options about devices and drivers of the user's own. */
export function addDeviceOptions(command: Command, { faults } = { faults: true }): Command {
  command
    .option(
      '--device <file.ts>',
      'add a device of your own: FILE.ts[,NAME=VALUE]..., where ,, is a comma (repeatable)',
      repeated,
    )
    .option('--driver <file.c>', 'compile this driver into the kernel (repeatable)', repeated);
  if (faults)
    command
      .option(
        '--fault <faults>',
        'make the N-th event of a device fail: DEVICE:KIND@N[=TIME or =0xSEED],... (repeatable)',
        repeated,
      )
      .option(
        '--hostile <device[:seed]>',
        'let the device answer anything that its bus allows, at events that the seed chooses (repeatable)',
        repeated,
      );
  return command;
}

/** The program of `run`, how it is compiled, and the kernel beneath it. */
export function addProgramOptions(command: Command): Command {
  return command
    .argument('<program>', 'C source (compiled first) or ELF file')
    .argument('[args...]', 'arguments of the program; put -- before them')
    .option('--cflags <flags>', 'more compiler flags, separated by blanks')
    .option('--env <NAME=VALUE>', "a variable of the program's environment (repeatable)", addVariable)
    .option('-k, --kernel <elf>', 'use this kernel image instead of building one')
    .option(
      '--kernel-source <dir>',
      "build the kernel from this tree, a copy of kernel/ that you changed; runs the tree's Makefile",
    );
}

/** The options about devices, as a run takes them. */
export async function deviceChoice(options: Pick<RunOptions, 'device' | 'driver' | 'fault' | 'hostile'>) {
  const { driver: drivers = [], fault = [], hostile = [] } = options;
  const devices = await loadDevices(options.device);
  return { devices, drivers, faults: fault.flatMap(parseFaults), hostile: hostile.map(parseHostile) };
}

export function register(program: Command): void {
  const withMachine = addRobustOptions(addDeviceOptions(addMachineOptions(program.command('run'))));
  const command = addGdbOptions(addProgramOptions(withMachine))
    .description('run a C program or a static RISC-V ELF as the first process of the guest')
    .option('--trace', 'record coverage of a C program that does not use kcov itself; needs --cover')
    .option('--interactive', 'deliver piped input as it comes, for a co-process that answers the guest')
    .option('--record <file>', 'write a capsule: all that it takes to repeat the run, for kcovbox replay')
    .option('--snapshot <file>', 'save the run at a moment, to go on from there with --from')
    .option(
      '--snapshot-at <moment>',
      'first-instruction (of the program, default), marker[:N] (a number written to /dev/marker), ' +
        'or a number of instructions and exceptions since power-on',
      parseMoment,
    )
    .option('--cold', 'run as for the first time: boot, and compile without the profile of earlier runs')
    .option('--from <file>', 'go on from a snapshot of this run instead of booting')
    .option('--thin', 'with --record: write hashes instead of the images, which stay in the cache');
  addOutputOptions(command)
    .addHelpText(
      'after',
      '\nAt a terminal the guest gets all keys, including Ctrl-C; Ctrl-A x leaves, Ctrl-A Ctrl-A sends one Ctrl-A.\n' +
        'The delivery of a file or a pipe depends on its bytes alone, so equal input gives equal runs.\n' +
        'A co-process that answers the guest needs --interactive; --record keeps the times of its input.\n' +
        'Examples:\n' +
        '  kcovbox run prog.c -- -v file      argv is prog -v file\n' +
        '  kcovbox run --trace --cover a.html prog.c       coverage of a program that does not use kcov\n' +
        '  kcovbox run --dialect linux --cover out.info prog.c\n' +
        '  kcovbox run --kernel-source my-kernel prog.c    a kernel that you changed; seconds after each edit\n' +
        '  kcovbox run --cflags "-O2 -DN=3" prog.c         on top of -O1 -g -Wall\n' +
        '  kcovbox run --result a.json prog.c; kcovbox run --result b.json prog.c; cmp a.json b.json\n' +
        '  kcovbox run --kasan --ubsan --panic-on-warn prog.c    status 126 at the first report of the kernel\n' +
        '  kcovbox run --record bug.kcapsule prog.c        one file that repeats the run anywhere\n' +
        '  kcovbox run -s -S prog.c                        for gdb, which can go back (docs/debugging.md)\n' +
        '  kcovbox run --dialect netbsd --fail-nth 7 prog.c      make the seventh allocation fail\n' +
        ROBUST_HELP,
    )
    .action(async (file: string, args: string[], options: RunOptions & GdbFlags, command: Command) => {
      const isGiven = command.getOptionValueSource('dialect') === 'cli';
      const { dialect, conf, words } = chooseKernel(options, isGiven);
      const append = [...words, ...(options.append ? [options.append] : [])].join(' ');
      const { s, S, gdb: gdbText } = options;
      const gdb = gdbOf({ ...(s && { s }), ...(S && { S }), ...(gdbText !== undefined && { gdb: gdbText }) });
      if (gdb && options.engine === 'lockstep') throw new UserError('--gdb needs one engine: jit or interp');
      const { cflags, env = {}, trace = false } = options;
      if (trace) checkTrace(file, options);
      const choice = {
        ...options,
        ...(await deviceChoice(options)),
        dialect,
        conf,
        cflags: splitFlags(cflags),
        trace,
        env,
        interactive: options.interactive === true,
      };
      const outputs = { ...options, gdb, keepLost: trace };
      process.exitCode = await runProgram(file, args, choice, outputs, append);
    });
}
