// Options that make the guest kernel check itself. Each stands for a fragment of kernel/conf and
// sometimes a word of the kernel's command line; together with --dialect they name a kernel
// configuration such as "linux+kasan+lockdep".
import { type Command, Option } from 'commander';
import { kernelDialect } from '../../host/guest.ts';
import { DIALECTS, type Dialect, kernelConfigs } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';
import { parseWithin } from '../io/values.ts';

export interface RobustOptions {
  dialect: Dialect;
  conf?: string;
  kernel?: string;
  kernelSource?: string;
  kasan?: true;
  ubsan?: 'report' | 'trap';
  lockdep?: true;
  poison?: true;
  debug?: true;
  failNth?: number;
  hungTask?: number;
  panicOnWarn?: true;
}

/** The effect of the options. */
export interface KernelChoice {
  readonly dialect: Dialect;
  /** For buildKernel. */
  readonly conf: string;
  /** For the kernel command line. */
  readonly words: readonly string[];
}

/** In the order in which a configuration names them, so that equal kernels have equal names. */
const FRAGMENTS = [
  'kasan',
  'ubsan',
  'ubsan-trap',
  'debug',
  'lockdep',
  'poison',
  'fail-nth',
  'hung-task',
  'bugs',
];
/** The contents of the fragment "debug". */
const IN_DEBUG = ['lockdep', 'poison', 'fail-nth', 'hung-task'];

const isDialect = (name: string): name is Dialect => (DIALECTS as readonly string[]).includes(name);

/**
 * Personality and fragments of --conf, checked; `dialect`: what --dialect says, where it is given.
 */
export function confOf(
  conf: string,
  source: string | undefined,
  dialect: Dialect | undefined,
): { dialect: Dialect; fragments: string[] } {
  const parts = conf.split('+');
  const known = kernelConfigs(source);
  const unknown = parts.find(part => !known.includes(part));
  if (unknown !== undefined)
    throw new UserError(`no kernel configuration "${unknown}"; there are ${known.join(', ')}`);
  const who = parts.filter(isDialect);
  if (who.length !== 1)
    throw new UserError(
      who.length === 0
        ? `--conf ${conf} names no personality; write for example openbsd+${conf}`
        : `--conf ${conf} names ${who.length} personalities; a kernel has one`,
    );
  const own = who[0]!;
  if (dialect !== undefined && dialect !== own)
    throw new UserError(`--conf ${conf} is a kernel of ${own}, --dialect says ${dialect}`);
  return { dialect: own, fragments: parts.filter(part => !isDialect(part)) };
}

/** The kernel that the options ask for. `isDialectGiven` tells a choice from the default. */
export function chooseKernel(options: RobustOptions, isDialectGiven: boolean): KernelChoice {
  const wantedDialect = isDialectGiven ? options.dialect : undefined;
  const given =
    options.conf === undefined ? undefined : confOf(options.conf, options.kernelSource, wantedDialect);
  const wanted = new Set(given?.fragments);
  if (options.kasan) wanted.add('kasan');
  if (options.ubsan) wanted.add(options.ubsan === 'trap' ? 'ubsan-trap' : 'ubsan');
  if (options.lockdep) wanted.add('lockdep');
  if (options.poison) wanted.add('poison');
  if (options.debug) wanted.add('debug');
  if (options.failNth !== undefined) wanted.add('fail-nth');
  if (options.hungTask !== undefined) wanted.add('hung-task');
  if (wanted.has('ubsan') && wanted.has('ubsan-trap'))
    throw new UserError('undefined behaviour is either reported or trapped: --ubsan=report or --ubsan=trap');
  if (wanted.has('debug')) for (const name of IN_DEBUG) wanted.delete(name);
  if (
    options.kernel !== undefined &&
    (options.conf !== undefined || options.kernelSource !== undefined || wanted.size > 0)
  )
    throw new UserError(
      `--kernel ${options.kernel} is already built: omit --kernel-source, --conf and the options for kernel checks`,
    );
  const dialect = given?.dialect ?? dialectOf(options, isDialectGiven);
  const fragments = [...wanted].sort((a, b) => FRAGMENTS.indexOf(a) - FRAGMENTS.indexOf(b));
  return {
    dialect,
    conf: [dialect, ...fragments].join('+'),
    words: [
      ...(options.failNth === undefined ? [] : [`fail_nth=${options.failNth}`]),
      ...(options.hungTask === undefined ? [] : [`hung_task_secs=${options.hungTask}`]),
      ...(options.panicOnWarn ? ['panic_on_warn'] : []),
    ],
  };
}

/** The dialect given, or that of the image given. */
function dialectOf({ kernel, dialect }: RobustOptions, isDialectGiven: boolean): Dialect {
  const own = kernel === undefined ? undefined : kernelDialect(kernel);
  if (own === undefined || own === dialect) return dialect;
  if (isDialectGiven)
    throw new UserError(
      `--kernel ${kernel} is a kernel of ${own}, --dialect says ${dialect}; omit --dialect`,
    );
  return own;
}

/** A new list for each verb: a verb may change its options. */
function robustOptions(): Option[] {
  const group = 'Checks of the kernel (each combination builds a separate kernel, once):';
  const option = (flags: string, text: string): Option => new Option(flags, text).helpGroup(group);
  return [
    option('--kasan', 'every memory access: out of bounds, use after free, double free'),
    option('--ubsan [how]', 'undefined behaviour of C: report it and continue, or trap')
      .choices(['report', 'trap'])
      .preset('report'), // main.ts gives it to --ubsan alone
    option('--lockdep', 'the order in which locks are acquired'),
    option('--poison', 'writes to free pages and free objects'),
    option('--hung-task <seconds>', 'tasks that sleep longer than this without being woken').argParser(
      parseWithin(1, 86_400, 'seconds from '),
    ),
    option('--fail-nth <n>', "refuse the n-th allocation for the program's first thread").argParser(
      parseWithin(1, 2 ** 31 - 1, 'a number from '),
    ),
    option('--debug', 'lockdep, poison, /dev/fail-nth and hung tasks (30 s) in one kernel'),
    option('--panic-on-warn', 'end the run with status 126 at the first report'),
  ];
}

/** Adds the options to a verb. */
export function addRobustOptions(command: Command): Command {
  for (const option of robustOptions()) command.addOption(option);
  return command;
}

/** The name of the first of them that is given, for messages; undefined: none is. */
export const givenCheck = (options: RobustOptions): string | undefined =>
  robustOptions().find(option => options[option.attributeName() as keyof RobustOptions] !== undefined)?.long;

export const ROBUST_HELP =
  '\nA report of these checks is text on the console, as Linux prints it ("BUG: KASAN: slab-out-of-bounds in f+0x1c"), and the\n' +
  'kernel continues unless --panic-on-warn is given. Checks combine freely, with every --dialect and --kcov.\n' +
  'They cost time: --kasan executes about 3 times as many instructions. docs/kernel.md, section 8, describes each.\n';
