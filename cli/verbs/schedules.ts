// `kcovbox schedules`: a program many times, each time with another order of the harts.
import { availableParallelism } from 'node:os';
import { type Command, Option } from 'commander';
import { visible } from '../../emulator/base/words.ts';
import type { Schedule } from '../../emulator/index.ts';
import { isBad, OUTCOMES } from '../../run/many/outcome.ts';
import type { Search } from '../../run/schedules/search.ts';
import { replayCommand } from '../faults/command.ts';
import { prepare, type UnderTest } from '../faults/prepare.ts';
import { UserError } from '../io/fail.ts';
import { jobsOption } from '../io/jobs.ts';
import { writeTo } from '../io/output.ts';
import { progressLine } from '../io/progress.ts';
import { collect } from '../io/repeated.ts';
import { parseCount, parseOrder, parseSeed } from '../io/values.ts';
import { addRobustOptions, ROBUST_HELP } from '../run/robust.ts';
import { searchIn } from '../schedules/search.ts';
import { addDeviceOptions, addMachineOptions, addProgramOptions } from './run.ts';

interface Options extends Omit<UnderTest, 'schedule'> {
  schedule?: Schedule[];
  runs: number;
  first: bigint;
  jobs?: number;
}

const RUNS = 1000;
const SCHEDULES: Schedule[] = [
  { kind: 'rw' },
  { kind: 'rp' },
  { kind: 'pos' },
  { kind: 'pct', depth: 2 },
  { kind: 'pct', depth: 3 },
];
/** The words of the command line before those of the verb: node, script, its name. */
const VERB_WORDS = 3;

function text({ searched, units }: Search, command: (how: string) => string): string {
  const width = Math.max(...searched.map(({ schedule }) => schedule.length));
  const rows = searched.map(({ schedule, counts, finds }) => {
    const tally = OUTCOMES.filter(outcome => counts[outcome] > 0).map(o => `${counts[o]} ${o}`);
    const seed = finds[0] ? `; first with seed 0x${finds[0].firstSeed.toString(16)}` : '';
    return `${schedule.padEnd(width)}  ${tally.join(', ')}${seed}\n`;
  });
  const found = searched.flatMap(({ schedule, finds }) =>
    finds.map(({ outcome, runs, status, line, firstSeed }) => {
      const what = isBad(outcome) ? outcome : `status ${status}`;
      const how = `--schedule ${schedule} --sched-seed 0x${firstSeed.toString(16)}`;
      return `\n${schedule}: ${what} in ${runs}: ${visible(line)}\n  ${command(how)}\n`;
    }),
  );
  return `${units} instructions and exceptions in the usual order\n${rows.join('')}${found.join('')}`;
}

async function run(
  program: string,
  args: readonly string[],
  { schedule: schedules = SCHEDULES, ...options }: Options,
  isGiven: (option: string) => boolean,
): Promise<number> {
  if (options.smp === 1) throw new UserError('one hart has one order: give --smp 2 or more');
  const { runs, first: firstSeed, maxInsns } = options;
  const { machine } = await prepare(program, args, options, isGiven('dialect'), false);
  const line = progressLine();
  const progress = (done: number, all: number): void => line.show(`${done} of ${all} runs`, done === all);
  const what = { machine, schedules, runs, firstSeed, maxInsns, isEngineFixed: isGiven('engine') };
  // A device of the user's is code of this thread.
  const jobs = options.device ? 1 : (options.jobs ?? availableParallelism());
  const found = await searchIn(jobs, what, progress);
  line.clear();
  const words = process.argv.slice(VERB_WORDS);
  const command = (how: string) => replayCommand(words, found.maxInsns, how, ['--schedule', '-j', '--jobs']);
  writeTo('-', text(found, command));
  return found.searched.some(({ finds }) => finds.length > 0) ? 1 : 0;
}

export function register(program: Command): void {
  const command = program
    .command('schedules')
    .description('search for races: run a program many times, each time with another order of the harts')
    .option(
      '--schedule <order>',
      'search with rw, rp, pos or pct:DEPTH[:UNITS] (repeatable; default: rw, rp, pos, pct:2 and pct:3)',
      (text: string, before?: Schedule[]) => collect(parseOrder(text), before),
    )
    .addOption(
      new Option('--runs <n>', 'number of runs of each schedule, each with a seed of its own')
        .argParser(parseCount)
        .default(RUNS),
    )
    .addOption(new Option('--first <hex>', 'the seed of the first run').argParser(parseSeed).default(1n, '1'))
    .addOption(jobsOption());
  addProgramOptions(
    addRobustOptions(addDeviceOptions(addMachineOptions(command, { order: false }), { faults: false })),
  )
    .addHelpText(
      'after',
      '\nEach run begins at a snapshot of the first moment at which two harts can run, and is the\n' +
        'run of kcovbox run --schedule ORDER --sched-seed SEED with empty standard input, so it can be\n' +
        'recorded, debugged backwards and explained (kcovbox why). The orders:\n' +
        '  rw      random walk: at each point any hart that can run is next\n' +
        '  rp      random priorities: at each point one hart gets a new one\n' +
        '  pos     partial order sampling: each access has a priority, and the highest is next; those\n' +
        '          that race with it get new ones\n' +
        '  pct:D   fixed priorities, and D - 1 points with a new lowest one\n' +
        'Points are counts of instructions, so they are also inside of the kernel; docs/determinism.md\n' +
        'describes the orders.\n' +
        'A run fails if its status is not that of the usual order, if it hangs, or if the kernel\n' +
        'reports an error or panics; one that prints something else (other) does not. Each kind of\n' +
        'failure is printed once, with the command that repeats it; the exit status is then 1.\n' +
        'Examples:\n' +
        '  kcovbox schedules --smp 2 examples/lost.c\n' +
        '  kcovbox schedules --smp 2 --kasan --lockdep --runs 10000 --schedule pct:3 race.c\n' +
        ROBUST_HELP,
    )
    .action(async (file: string, args: string[], options: Options, self: Command) => {
      const isGiven = (option: string) => self.getOptionValueSource(option) === 'cli';
      process.exitCode = await run(file, args, options, isGiven);
    });
}
