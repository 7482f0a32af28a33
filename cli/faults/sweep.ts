// `kcovbox faults sweep`: every kind of fault times the first events of each device.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { FAULT_KINDS, type FaultKind, faultText, USUAL_KINDS } from '../../emulator/index.ts';
import type { FaultSweep } from '../../run/faults/schema.ts';
import { type Sweep, sweep } from '../../run/faults/sweep.ts';
import { isBad } from '../../run/many/outcome.ts';
import { checkOutput, writeTo } from '../io/output.ts';
import { progressLine } from '../io/progress.ts';
import { collect, repeated } from '../io/repeated.ts';
import { parseCount } from '../io/values.ts';
import { ROBUST_HELP } from '../run/robust.ts';
import { commandFor, OUTCOME_HELP, prepare, type UnderTest } from './prepare.ts';
import { sweepTable } from './table.ts';

interface SweepOptions extends UnderTest {
  output?: string;
  events: number;
  kind?: FaultKind[];
}

const EVENTS = 200;
const ALL_KINDS = Object.keys(FAULT_KINDS) as FaultKind[];

function addKind(text: string, before: FaultKind[] = []): FaultKind[] {
  if (!Object.hasOwn(FAULT_KINDS, text))
    throw new InvalidArgumentError(`the kinds are ${ALL_KINDS.join(', ')}`);
  return collect(text as FaultKind, before);
}

async function runSweep(
  program: string,
  args: readonly string[],
  options: SweepOptions,
  isGiven: (option: string) => boolean,
): Promise<number> {
  const { output, events, kind: kinds = USUAL_KINDS, maxInsns } = options;
  if (output !== undefined) checkOutput(output);
  const { machine, devices, run } = await prepare(program, args, options, isGiven('dialect'), false);
  const progress = progressLine();
  const showRuns = (done: number, all: number): void => progress.show(`${done} of ${all} runs`, done === all);
  const what = { machine, devices, kinds, events, maxInsns, isEngineFixed: isGiven('engine') };
  const swept = await sweep({ ...what, progress: showRuns });
  progress.clear();
  const command = commandFor(swept.maxInsns);
  const commandOf = (fault: string): string => command(`--fault ${fault}`);
  if (output !== undefined) writeTo(output, `${JSON.stringify(fileOf(swept, run, commandOf), null, 2)}\n`);
  if (output !== '-') writeTo('-', sweepTable(swept, commandOf));
  return swept.rows.some(row => isBad(row.outcome)) ? 1 : 0;
}

function fileOf(swept: Sweep, run: FaultSweep['run'], command: (fault: string) => string): FaultSweep {
  const { without, maxInsns, counts, rows } = swept;
  const status = without.result?.kind === 'exit' ? without.result.status & 0xff : 0;
  return {
    format: 'kcovbox fault sweep',
    version: 1,
    run,
    without: { status, console: without.text },
    maxInsns,
    devices: [...counts].map(([name, events]) => ({ name, events: { ...events } as Record<string, number> })),
    rows: rows.map(({ fault, ...judged }) => ({
      device: fault.device,
      kind: fault.kind,
      at: fault.at,
      ...judged,
      command: command(faultText(fault)),
    })),
  };
}

export function addSweep(command: Command): void {
  command
    .description('run a program once for each kind of fault and event of its devices, and print a table')
    .addOption(
      new Option('--events <n>', 'the first n events of each kind').argParser(parseCount).default(EVENTS),
    )
    .option('--kind <kind>', 'only this kind of fault (repeatable; default: all but dma-misdirect)', addKind)
    .option(
      '--of <device>',
      'a device under test (repeatable; default: those of --device, else edu)',
      repeated,
    )
    .option('-o, --output <file>', 'write the rows as JSON (docs/schemas/fault-sweep.json); - prints them')
    .addHelpText(
      'after',
      '\nAn event is an interrupt, a register access, an alarm or a DMA transfer; faults ls names the event of\n' +
        'each kind. A row begins at a snapshot shortly before its event and is the run of\n' +
        'kcovbox run --fault DEVICE:KIND@N with empty standard input. Its outcome is the worst of:\n' +
        OUTCOME_HELP +
        'A good driver has none of the last three: a device may fail, the kernel must not. With --kasan and\n' +
        '--lockdep the kernel sees more. The exit status is 1 when a row is a hang, a report or a panic.\n' +
        'Examples:\n' +
        '  kcovbox faults sweep --device summer.ts --driver summer.c use.c -- 1 2 39\n' +
        '  kcovbox faults sweep --kasan --lockdep --kind dma-ones -o rows.json examples/factorial.c -- 6\n' +
        ROBUST_HELP,
    )
    .action(async (file: string, args: string[], options: SweepOptions, self: Command) => {
      const isGiven = (option: string) => self.getOptionValueSource(option) === 'cli';
      process.exitCode = await runSweep(file, args, options, isGiven);
    });
}
