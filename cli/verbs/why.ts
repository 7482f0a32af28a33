// `kcovbox why`: after which instruction of a recorded run its failure became inevitable.
import { type Command, Option } from 'commander';
import { backtraceOf } from '../../debug/backtrace.ts';
import { entryOf } from '../../debug/image.ts';
import type { EngineKind } from '../../emulator/index.ts';
import { EXIT_BUDGET } from '../../run/verdict.ts';
import { type Failure, failureOf, failureText, lineFailure } from '../../run/why/failure.ts';
import { fileOf } from '../../run/why/file.ts';
import { INEVITABLE } from '../../run/why/search.ts';
import { BUDGET, FORKS, SEED, SPREAD, why } from '../../run/why/why.ts';
import { tell } from '../../toolchain/index.ts';
import { openRecorded } from '../debug/recorded-run.ts';
import { SourceView, sourceFolders } from '../debug/source.ts';
import { UserError } from '../io/fail.ts';
import { checkOutput, writeTo } from '../io/output.ts';
import { progressLine } from '../io/progress.ts';
import { repeated, repeatedFolder } from '../io/repeated.ts';
import { parseCount, parseRegex, parseSeed, parseWithin } from '../io/values.ts';
import { reportOf } from '../why/report.ts';

interface Options {
  engine: EngineKind;
  console?: RegExp;
  status?: number;
  forks: number;
  spread: number;
  seed: bigint;
  budget: number;
  output?: string;
  source?: string[];
  device?: string[];
}

const STATUS_MAX = 255;

/** Of the options, or the one that the capsule ended with. */
function failureFor(
  path: string,
  { console, status }: Options,
  outcome: Parameters<typeof failureOf>[0],
  text: () => Uint8Array,
): Failure {
  if (console !== undefined && status !== undefined)
    throw new UserError('why: --console and --status are two failures; give one of them');
  if (console !== undefined) return lineFailure(console);
  if (status !== undefined) return { kind: 'status', status };
  const own = failureOf(outcome, new TextDecoder().decode(text()));
  if (own) return own;
  throw new UserError(
    `why ${path}: the run ended with status 0 and no report of the kernel; say what failed with --console REGEX`,
  );
}

async function run(path: string, files: readonly string[], options: Options): Promise<number> {
  const { output, forks: most, seed, spread, budget } = options;
  if (output !== undefined) checkOutput(output);
  const { capsule, machine, end, images } = await openRecorded(path, files, options);
  const failure = failureFor(path, options, capsule.manifest.outcome, () => capsule.console());
  const progress = progressLine();
  const answer = await why({
    machine,
    end,
    failure,
    seed,
    spread,
    most,
    budget,
    entry: entryOf(images),
    look: (now, hart) => backtraceOf(now, hart, images),
    progress: async ({ unit, forks, fails }) => {
      progress.show(`${fails} of ${forks} forks from unit ${unit} fail`);
    },
  });
  progress.clear();
  if (!answer)
    throw new UserError(`why ${path}: the recorded run has another end: not ${failureText(failure)}`);
  const facts = { failure: failureText(failure), most, seed, spread };
  if (output !== undefined) writeTo(output, `${JSON.stringify(fileOf(answer, facts), null, 2)}\n`);
  if (output !== '-') {
    const say = (text: string): void => tell(`kcovbox: ${text}\n`);
    const view = new SourceView(sourceFolders(options.source), { images, say });
    writeTo('-', reportOf(answer, facts, path, view));
  }
  return answer.kind === 'unfinished' ? EXIT_BUDGET : 0;
}

export function register(program: Command): void {
  program
    .command('why')
    .description('find the instruction after which the failure of a recorded run was inevitable')
    .argument('<capsule>', 'file that run --record or boot --record wrote')
    .argument('[images...]', 'images that a thin capsule names by hash')
    .addOption(
      new Option('--console <regex>', 'the failure is a console line that matches').argParser(parseRegex),
    )
    .addOption(
      new Option('--status <n>', 'the failure is this exit status').argParser(parseWithin(0, STATUS_MAX)),
    )
    .addOption(
      new Option('--forks <n>', 'forks at each place')
        .argParser(parseWithin(FORKS.least, FORKS.most))
        .default(FORKS.usual),
    )
    .addOption(
      new Option('--spread <units>', "a hart's turn lasts up to twice this, and a timer is up to this late")
        .argParser(parseWithin(SPREAD.least, SPREAD.most))
        .default(SPREAD.usual),
    )
    .addOption(
      new Option('--seed <hex>', 'seed of the forks; the same seed gives the same answer')
        .argParser(parseSeed)
        .default(SEED, `${SEED}`),
    )
    .addOption(
      new Option('--budget <n>', 'instructions of all forks together').argParser(parseCount).default(BUDGET),
    )
    .addOption(new Option('--engine <name>', 'execution engine').choices(['jit', 'interp']).default('jit'))
    .option('-o, --output <file>', 'write the answer as JSON (docs/schemas/why.json); - prints it')
    .option('--source <dir>', 'a folder with source text (repeatable)', repeatedFolder)
    .option('--device <file.ts>', 'a device that the run had (repeatable)', repeated)
    .addHelpText(
      'after',
      '\nA fork repeats the recorded run up to some unit, and then continues with another schedule: the harts\n' +
        'take turns of other lengths in another order, timers and devices interrupt later, random devices\n' +
        'draw other values. Few of the forks from early units fail like the recorded run; after the decision\n' +
        `nearly all do. By bisection the command finds the last unit at which the share reaches ${INEVITABLE * 100} %. It\n` +
        'prints where the recorded run and a fork that does not fail diverge, with the backtraces of both.\n' +
        "The failure is the kernel's first report or panic, whose numbers are ignored; without one, the exit\n" +
        'status; without that, a run that does not end. --console and --status name another failure.\n' +
        'The exit status is 0; 124 when the budget is spent first (the answer is then wider).\n' +
        'Examples:\n' +
        '  for seed in $(seq 99); do\n' +
        '    kcovbox run --smp 2 --sched-seed $seed --record lost.kcapsule examples/lost.c || break\n' +
        '  done\n' +
        '  kcovbox why lost.kcapsule\n' +
        "  kcovbox why --console 'balance 9' --forks 200 -o why.json lost.kcapsule\n" +
        "  kcovbox debug lost.kcapsule -x 'goto UNIT'      look around at the decision",
    )
    .action(async (path: string, files: string[], options: Options) => {
      process.exitCode = await run(path, files, options);
    });
}
