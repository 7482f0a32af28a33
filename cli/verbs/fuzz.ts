// `kcovbox fuzz`: coverage-guided campaigns of system calls from a snapshot.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseFaultChoice, scheduleText } from '../../emulator/index.ts';
import { CALL_PATTERN } from '../../run/fuzz/schema.ts';
import { type BenchOptions, bench } from '../fuzz/bench.ts';
import { type RunOptions, runCampaignIn, type VerifyOptions, verifyCampaign } from '../fuzz/campaign.ts';
import { type ExecOptions, execProgram } from '../fuzz/exec.ts';
import { type MinimizeOptions, minimizeCorpus } from '../fuzz/minimize.ts';
import { reproduce } from '../fuzz/repro.ts';
import { jobsOption } from '../io/jobs.ts';
import { repeated } from '../io/repeated.ts';
import { parseCount, parseOrder, parseSeed, sampleOption } from '../io/values.ts';
import { addRobustOptions, ROBUST_HELP } from '../run/robust.ts';
import { addDeviceOptions } from './run.ts';

const EXECUTIONS = 100_000;
const ROUNDS = 200;

function parsePattern(text: string, before: string[] = []): string[] {
  if (!CALL_PATTERN.test(text))
    throw new InvalidArgumentError('expected the name of a call, in which * stands for any text');
  return repeated(text, before);
}

function parseRaceOrder(text: string): string {
  if (text === 'turns') return text;
  try {
    return scheduleText(parseOrder(text));
  } catch (e) {
    if (!(e instanceof InvalidArgumentError)) throw e;
    throw new InvalidArgumentError(e.message.replace('expected ', 'expected turns, '));
  }
}

const engineOption = (): Option =>
  new Option('--engine <name>', 'execution engine').choices(['jit', 'interp']).default('jit');
/** The kernel is of dialect linux: the agent uses its kcov. */
const withKernel = (command: Command): Command =>
  addDeviceOptions(
    addRobustOptions(
      command
        .option('--conf <name>', 'kernel configuration, which begins with linux')
        .option('--kernel-source <dir>', 'build the kernel from this tree')
        .option('--linux <image>', 'a Linux with KCOV of your own, instead of a kernel of kcovbox')
        .option('--xv6 <dir>', 'a checkout of xv6-riscv, instead of a kernel of kcovbox'),
    ),
    { faults: false },
  );

/** Unlike that of `run`, without the numbers of events. */
const faultOption = (): Option =>
  new Option(
    '--fault <device>',
    'let programs have faults of this device: DEVICE or DEVICE:KIND,... (repeatable)',
  ).argParser(parseFaulty);

function parseFaulty(text: string, before: string[] = []): string[] {
  const { device } = parseFaultChoice(text);
  if (before.some(other => parseFaultChoice(other).device === device))
    throw new InvalidArgumentError(`${device} is there twice; write its kinds as one list`);
  return repeated(text, before);
}

/** Or code of the user's own. */
const withTarget = (command: Command): Command =>
  withKernel(command)
    .option('--harness <file>', 'a C file with LLVMFuzzerTestOneInput, instead of a kernel')
    .option('--cflags <flags>', 'more compiler flags for it, separated by blanks');

function addRun(command: Command): void {
  withTarget(command)
    .description('begin a campaign in a new folder, or go on with the one that is there')
    .argument('<dir>', 'folder of the campaign')
    .addOption(
      new Option('-n, --executions <n>', 'executions of the whole campaign, rounded up to an epoch')
        .argParser(parseCount)
        .default(EXECUTIONS),
    )
    .addOption(jobsOption())
    .option('--append <text>', 'more words of the kernel command line')
    .addOption(new Option('--seed <hex>', 'seed of the campaign (default: 1)').argParser(parseSeed))
    .option('--call <pattern>', 'calls that programs make, such as "read*" (repeatable)', parsePattern)
    .option('--describe <file>', 'a description of further calls (repeatable)', repeated)
    .option('--no-comparisons', 'do not try the operands of comparisons')
    .option('--no-snapshots', 'boot the guest for each program')
    .option('--fail', 'let allocations of calls fail, too; on by itself for kernels with fail-nth or debug')
    .option(
      '--schedule <order>',
      'calls of two threads, on two harts, in this order: rw, rp, pos, pct:DEPTH[:UNITS], or turns of random lengths',
      parseRaceOrder,
    )
    .addOption(faultOption())
    .option('--settle', 'sleep behind the last call, so that deferred work is recorded')
    .addOption(engineOption())
    .addHelpText(
      'after',
      '\nEqual options give equal campaigns: the same corpus and crashes at the same executions, on any machine,\n' +
        'with any number of workers. The folder has campaign.json, epochs.jsonl (a line for each epoch),\n' +
        'coverage.csv, corpus/, crashes/ and, if the kernel has historical bugs, bugs/. A campaign that was\n' +
        'killed loses the epoch under way at most, and goes on with its folder alone; -n, -j and --engine\n' +
        'may be given, and -n has to be where it was. The exit status is 1 when there is a crash.\n' +
        'Examples:\n' +
        '  kcovbox fuzz run --kasan --lockdep -n 1000000 campaign\n' +
        '  kcovbox fuzz run --conf linux+kasan+ubsan+debug+bugs --append bugs=all campaign\n' +
        '  kcovbox fuzz run --kasan --lockdep --schedule pos races\n' +
        '  kcovbox fuzz run --device mydev.ts --driver mydev.c --describe mydev.kd --fault mydev drivers\n' +
        '  kcovbox fuzz run --linux arch/riscv/boot/Image -n 20000 linux\n' +
        '  kcovbox fuzz run --xv6 ~/xv6-riscv -n 20000 xv6\n' +
        '  kcovbox fuzz run --harness examples/fuzz/parse.c parse\n' +
        '  kcovbox fuzz run -n 50000 --call "*pipe*" --call read --call write --seed 7 pipes\n' +
        ROBUST_HELP,
    )
    .action(async (path: string, options: RunOptions, self: Command) => {
      const given = self.options.filter(
        option => self.getOptionValueSource(option.attributeName()) === 'cli',
      );
      process.exitCode = await runCampaignIn(
        path,
        options,
        given.map(({ long }) => long!),
      );
    });
}

function addVerify(command: Command): void {
  command
    .description('repeat epochs of a campaign on this machine, and compare them byte by byte')
    .argument('<dir>', 'folder of the campaign')
    .addOption(sampleOption('epochs'))
    .addOption(new Option('--seed <hex>', 'seed of the sample').argParser(parseSeed).default(1n, '1'))
    .addOption(jobsOption())
    .addOption(engineOption())
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nThe programs that were kept before the epoch are executed again, and must cover what the journal says.\n' +
        'The exit status is 1 when an epoch differs; the first difference is printed.\n' +
        'Examples:\n  kcovbox fuzz verify campaign\n  kcovbox fuzz verify --sample 100% -j 1 campaign',
    )
    .action(async (path: string, options: VerifyOptions) => {
      process.exitCode = await verifyCampaign(path, options);
    });
}

function addMinimize(command: Command): void {
  command
    .description('copy few programs of a campaign that cover what all of them cover')
    .argument('<dir>', 'folder of the campaign')
    .requiredOption('-o, --output <dir>', 'new folder for the programs')
    .addOption(jobsOption())
    .addOption(engineOption())
    .addHelpText(
      'after',
      '\nThe programs are executed again. The one that adds most is taken first, of equal ones the shortest; none\n' +
        'of those that are copied can be left out. They keep their names. The campaign does not change.\n' +
        'Examples:\n  kcovbox fuzz minimize campaign -o small\n' +
        '  kcovbox fuzz exec --functions small/000001.txt',
    )
    .action(async (path: string, options: MinimizeOptions) => {
      process.exitCode = await minimizeCorpus(path, options);
    });
}

function addBench(command: Command): void {
  withKernel(command)
    .description('measure executions of five-call programs: target and reset time, pages, stability')
    .addOption(new Option('--rounds <n>', 'executions of each program').argParser(parseCount).default(ROUNDS))
    .option(
      '--describe <file>',
      'a description of further calls, which programs make, too (repeatable)',
      repeated,
    )
    .addOption(faultOption())
    .addOption(engineOption())
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nTimes are of the processor. Stability is the share of programs whose two executions, with others between\n' +
        'them, have the same records and values. With less than 100 % the exit status is 1; a line names the\n' +
        'first different record.\n' +
        'Examples:\n  kcovbox fuzz bench\n  kcovbox fuzz bench --kasan --rounds 50\n' +
        '  kcovbox fuzz bench --xv6 ~/xv6-riscv --rounds 20',
    )
    .action(async (options: BenchOptions) => {
      process.exitCode = await bench(options);
    });
}

function addExec(command: Command): void {
  withTarget(command)
    .description('execute one program, and print its calls; or print it as C')
    .argument('<file>', 'text of a program')
    .option('--describe <file>', 'a description of further calls (repeatable)', repeated)
    .option('--append <text>', 'more words of the kernel command line')
    .option('--functions', 'print the functions of the kernel that each call entered')
    .option('--lines', 'print these functions with the source lines that had points')
    .option('--vmlinux <file>', 'of the Image of --linux, for --functions and --lines')
    .addOption(
      new Option(
        '--runs <n>',
        'of a race: execute it with the seeds 1 to N of each order, and count what goes wrong',
      ).argParser(parseCount),
    )
    .option(
      '--schedule <order>',
      'an order for --runs (repeatable; default: turns, rw, rp, pos, pct:2 and pct:3)',
      (text: string, before?: string[]) => repeated(parseRaceOrder(text), before),
    )
    .option('-c', 'print a C program that makes the same calls')
    .addHelpText(
      'after',
      '\nThe exit status is 1 when the program crashes the kernel.\n' +
        'Examples:\n  kcovbox fuzz exec --functions campaign/corpus/000001.txt\n' +
        '  kcovbox fuzz exec -c campaign/corpus/000001.txt > repro.c',
    )
    .action(async (path: string, options: ExecOptions) => {
      process.exitCode = await execProgram(path, options);
    });
}

function addRepro(command: Command): void {
  command
    .description("compile and run the C program of each crash, and record its capsule where it's the same")
    .argument('<dir>', 'folder of the campaign')
    .addHelpText(
      'after',
      '\nThe capsules are crashes/*/repro.kcapsule; kcovbox replay repeats them. The exit status is 1 when a\n' +
        'program does not show the title of its crash.\nExamples:\n  kcovbox fuzz repro campaign',
    )
    .action(async (path: string) => {
      process.exitCode = await reproduce(path);
    });
}

export function register(program: Command): void {
  const fuzz = program
    .command('fuzz')
    .description('find bugs of the kernel with random system calls, guided by coverage and comparisons')
    .addHelpText(
      'after',
      '\nExamples:\n  kcovbox fuzz run --kasan campaign\n  kcovbox fuzz repro campaign\n  kcovbox fuzz verify campaign',
    );
  addRun(fuzz.command('run'));
  addVerify(fuzz.command('verify'));
  addRepro(fuzz.command('repro'));
  addMinimize(fuzz.command('minimize'));
  addExec(fuzz.command('exec'));
  addBench(fuzz.command('bench'));
}
