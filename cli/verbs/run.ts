// `kcovbox run`: a C program or an ELF as the guest's first process, with its exit status as ours.
import { type Command, Option } from 'commander';
import { type EngineKind, type KcovMode, type MachineOptions, stateHash } from '../../emulator/index.ts';
import { DIALECTS } from '../../toolchain/index.ts';
import { COVER_FORMATS, type CoverFormat, chooseFormat } from '../cov/formats.ts';
import { GuestConsole } from '../io/console.ts';
import { checkOutput, writeFile } from '../io/output.ts';
import { parseCount, parseHarts, parseRam, parseSeed } from '../io/values.ts';
import { type GuestImages, prepareGuest } from '../run/guest.ts';
import type { Recording } from '../run/recording.ts';
import { addRobustOptions, chooseKernel, ROBUST_HELP, type RobustOptions } from '../run/robust.ts';
import { explain, runSession, type SessionEnd } from '../run/session.ts';

export interface RunOptions extends RobustOptions {
  kcov: KcovMode;
  engine: EngineKind;
  smp: number;
  memory: number;
  append?: string;
  seed?: bigint;
  schedSeed?: bigint;
  maxInsns?: number;
  cflags?: string;
  cover?: string;
  format?: CoverFormat;
  result?: string;
  record?: string;
}

export function machineOptions(images: GuestImages, options: RunOptions): MachineOptions {
  const size = images.size;
  return {
    kernel: { name: 'kernel', bytes: images.kernel },
    initrd: { name: 'initrd', bytes: images.initrd },
    append: images.append,
    ramBytes: options.memory,
    harts: options.smp,
    engine: options.engine,
    kcov: options.kcov,
    ...(size ? { virtio: [{ kind: 'console', size }] } : {}),
    ...(options.seed === undefined ? {} : { seed: options.seed }),
    ...(options.schedSeed === undefined ? {} : { schedSeed: options.schedSeed }),
  };
}

/** What --result writes: enough to say whether two runs were the same, and of what. */
async function resultOf(
  images: GuestImages,
  options: RunOptions,
  end: SessionEnd,
  consoleHash: string,
  records: number,
): Promise<object> {
  const { createHash } = await import('node:crypto');
  const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
  const kcov = end.machine.board.kcov;
  return {
    status: end.status,
    outcome: end.outcome,
    instret: end.machine.instret,
    stateHash: stateHash(end.machine),
    consoleHash,
    kcov: { mode: options.kcov, records, device: kcov !== undefined },
    images: { kernel: sha256(images.kernel), initrd: sha256(images.initrd) },
    options: {
      dialect: options.dialect,
      engine: options.engine,
      smp: options.smp,
      memory: options.memory,
      append: images.append,
      seed: options.seed === undefined ? null : `0x${options.seed.toString(16)}`,
    },
  };
}

/** Builds what the machine needs to run `program`. */
export const prepare = (
  program: string,
  args: readonly string[],
  options: RunOptions,
): Promise<GuestImages> =>
  prepareGuest(program, args, {
    dialect: options.dialect,
    kcov: options.kcov,
    cflags: options.cflags?.split(/\s+/).filter(Boolean) ?? [],
    ...(options.conf === undefined ? {} : { conf: options.conf }),
    ...(options.append === undefined ? {} : { append: options.append }),
    ...(options.seed === undefined ? {} : { seed: options.seed }),
  });

export interface Executed {
  readonly end: SessionEnd;
  /** Of what was printed; only with --result and recordings. */
  readonly consoleHash: string;
  readonly records: number;
}

/** Boots and runs `images`, and writes --cover and --result. With `recording` its input arrives instead of ours. */
export async function execute(
  images: GuestImages,
  options: RunOptions,
  recording?: Pick<Recording, 'journal' | 'end'>,
): Promise<Executed> {
  const wantsHash = options.result !== undefined || options.record !== undefined || recording !== undefined;
  // Modules that only some runs need are loaded by those: a small program takes no longer than loading them.
  const recorder =
    options.cover !== undefined
      ? new (await import('../run/record.ts')).TraceRecorder(options.dialect, images.kernel, images.name)
      : undefined;
  const format = options.cover === undefined ? undefined : chooseFormat(options.cover, options.format);
  const hash = wantsHash ? (await import('node:crypto')).createHash('sha256') : undefined;
  // With --cover - in a machine's format, standard output belongs to that.
  const console = new GuestConsole({ silent: options.cover === '-' && format !== 'source', hash });
  const end = await runSession({
    machine: machineOptions(images, options),
    console,
    input: true,
    endOfInput: 'break',
    prepare: machine => recorder?.attach(machine),
    ...(options.maxInsns === undefined ? {} : { maxInsns: options.maxInsns }),
    ...(recording && { replay: recording }),
  });
  const consoleHash = hash?.digest('hex') ?? '';
  const why = explain(end);
  if (why) process.stderr.write(`kcovbox: ${why}\n`);
  if (recorder && options.cover !== undefined && format !== undefined)
    await (await import('../cov/cover.ts')).writeCoverage(
      options.cover,
      format,
      recorder.finish(),
      images.kernelPath,
      images.name,
    );
  const records = end.machine.kcovRecords;
  if (options.result !== undefined) {
    const json = await resultOf(images, options, end, consoleHash, records);
    writeFile(options.result, `${JSON.stringify(json, null, 2)}\n`);
  }
  return { end, consoleHash, records };
}

/** Runs one program; the status is the one to exit with. */
export async function runProgram(
  program: string,
  args: readonly string[],
  options: RunOptions,
): Promise<number> {
  for (const path of [options.cover, options.result, options.record]) checkOutput(path);
  const images = await prepare(program, args, options);
  const executed = await execute(images, options);
  if (options.record !== undefined)
    await (await import('../run/recording.ts')).writeRecording(options.record, {
      program,
      args,
      options,
      images,
      executed,
    });
  return executed.end.status;
}

/** Options that `run` and its kin share. */
export function addMachineOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--dialect <name>', 'whose kcov the kernel speaks').choices(DIALECTS).default('openbsd'),
    )
    .option('--conf <name>', 'kernel configuration by its files in kernel/conf: openbsd+debug+kasan')
    .addOption(
      new Option('--kcov <how>', 'record with the device, with C hooks in the guest, or not at all')
        .choices(['device', 'guest', 'off'])
        .default('device'),
    )
    .addOption(
      new Option('--engine <name>', 'how to execute').choices(['jit', 'interp', 'lockstep']).default('jit'),
    )
    .option('--smp <harts>', 'number of harts, 1 to 8', parseHarts, 1)
    .addOption(
      new Option('-m, --memory <size>', 'guest RAM').argParser(parseRam).default(256 * 2 ** 20, '256M'),
    )
    .option('--append <words>', 'more words for the kernel command line')
    .option('--seed <hex>', 'seed of everything random in the guest', parseSeed)
    .option('--sched-seed <hex>', 'seed of the order in which harts take turns', parseSeed)
    .option('--max-insns <n>', 'stop with status 124 after this many instructions', parseCount);
}

export function register(program: Command): void {
  addRobustOptions(addMachineOptions(program.command('run')))
    .description('run a C program or a static RISC-V ELF as the first process of the guest')
    .argument('<program>', 'C source (compiled first) or ELF file')
    .argument('[args...]', 'arguments of the program; put -- before them')
    .option('--cflags <flags>', 'more compiler flags, separated by blanks')
    .option('--cover <file>', 'write what kcov recorded; - prints to standard output')
    .addOption(
      new Option('--format <format>', 'format of --cover; default: by its suffix, else kcov').choices(
        COVER_FORMATS,
      ),
    )
    .option('--result <file>', 'write status, instret, hashes and options as JSON')
    .option('--record <file>', 'write what was typed and when, for kcovbox replay')
    .addHelpText(
      'after',
      "\nAt a terminal all keys are the guest's, Ctrl-C too; Ctrl-A x leaves, Ctrl-A Ctrl-A is one Ctrl-A.\n" +
        'Examples:\n' +
        '  kcovbox run prog.c -- -v file      argv is prog -v file\n' +
        '  kcovbox run --dialect linux --cover out.info --format lcov prog.c\n' +
        '  kcovbox run --result a.json prog.c; kcovbox run --result b.json prog.c; cmp a.json b.json\n' +
        '  kcovbox run --kasan --ubsan --panic-on-warn prog.c    status 126 if the kernel has anything to report\n' +
        '  kcovbox run --dialect netbsd --fail-nth 7 prog.c      what happens when that allocation fails?\n' +
        ROBUST_HELP,
    )
    .action(async (file: string, args: string[], options: RunOptions, command: Command) => {
      const { dialect, conf, words } = chooseKernel(
        options,
        command.getOptionValueSource('dialect') === 'cli',
      );
      const append = [...words, ...(options.append ? [options.append] : [])].join(' ');
      process.exitCode = await runProgram(file, args, { ...options, dialect, conf, append });
    });
}
