// `kcovbox faults hostile`: a program many times with hostile devices, a seed for each run.
import { type Command, Option } from 'commander';
import { visible } from '../../emulator/base/words.ts';
import { type Campaign, campaign } from '../../run/faults/hostile.ts';
import { OUTCOMES } from '../../run/many/outcome.ts';
import { writeTo } from '../io/output.ts';
import { progressLine } from '../io/progress.ts';
import { repeated } from '../io/repeated.ts';
import { parseCount } from '../io/values.ts';
import { ROBUST_HELP } from '../run/robust.ts';
import { commandFor, OUTCOME_HELP, prepare, type UnderTest } from './prepare.ts';

interface HostileOptions extends UnderTest {
  runs: number;
  first: number;
  misdirect?: true;
}

const RUNS = 1000;

function text({ counts, finds }: Campaign, command: (seed: number) => string): string {
  const tally = OUTCOMES.filter(outcome => counts[outcome] > 0).map(o => `${counts[o]} ${o}`);
  const found = finds.map(
    ({ outcome, runs, line, firstSeed }) =>
      `\n${outcome} in ${runs}: ${visible(line)}\n  ${command(firstSeed)}\n`,
  );
  return `${tally.join(', ')}\n${found.join('')}`;
}

async function runHostile(
  program: string,
  args: readonly string[],
  options: HostileOptions,
  isGiven: (option: string) => boolean,
): Promise<number> {
  const { runs, first: firstSeed, maxInsns } = options;
  const misdirects = options.misdirect === true;
  const { machine, devices } = await prepare(program, args, options, isGiven('dialect'), true);
  const line = progressLine();
  const progress = (done: number, all: number): void => line.show(`${done} of ${all} runs`, done === all);
  const what = { machine, devices, runs, firstSeed, misdirects, maxInsns };
  const found = await campaign({ ...what, isEngineFixed: isGiven('engine'), progress });
  line.clear();
  const command = commandFor(found.maxInsns);
  const commandOf = (seed: number): string =>
    command(devices.map(name => `--hostile ${name}:${seed}${misdirects ? ':misdirect' : ''}`).join(' '));
  writeTo('-', text(found, commandOf));
  return found.finds.length > 0 ? 1 : 0;
}

export function addHostile(command: Command): void {
  command
    .description('run a program many times with devices that answer anything that their bus allows')
    .addOption(
      new Option('--runs <n>', 'number of runs, each with a seed of its own')
        .argParser(parseCount)
        .default(RUNS),
    )
    .addOption(new Option('--first <seed>', 'the seed of the first run').argParser(parseCount).default(1))
    .option('--misdirect', 'let DMA also go where the driver does not expect it')
    .option(
      '--of <device>',
      'a device under test (repeatable; default: those of --device, else edu)',
      repeated,
    )
    .addHelpText(
      'after',
      '\nA hostile device is the model of the device behind a layer that makes faults of all kinds,\n' +
        'at events that the seed chooses: any value of a register, interrupts at any time, DMA with\n' +
        'any contents to the address that the driver gave. Each seed has its own rate and subset of\n' +
        'the kinds. The driver is probed when the program is loaded. A run begins at a snapshot shortly\n' +
        'before that, and is the run of kcovbox run --hostile DEVICE:SEED with empty standard input.\n' +
        'Its outcome is the worst of:\n' +
        OUTCOME_HELP +
        'The last three are printed, each kind once, with the command that repeats it; the exit status\n' +
        'is then 1. --misdirect also drops writes and misreads memory, which no driver survives without\n' +
        'an IOMMU.\n' +
        'Examples:\n' +
        '  kcovbox faults hostile --kasan --runs 10000 examples/factorial.c -- 6\n' +
        '  kcovbox faults hostile --kasan --lockdep --device summer.ts --driver summer.c use.c -- 1 2\n' +
        ROBUST_HELP,
    )
    .action(async (file: string, args: string[], options: HostileOptions, self: Command) => {
      const isGiven = (option: string) => self.getOptionValueSource(option) === 'cli';
      process.exitCode = await runHostile(file, args, options, isGiven);
    });
}
