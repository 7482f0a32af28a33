// `kcovbox faults`: the faults that any device can have, one by one or all of them.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { FAULT_KINDS, type FaultKind, faultText } from '../../emulator/index.ts';
import { describe } from '../../host/describe.ts';
import { prepareGuest } from '../../host/guest.ts';
import { machineOptions } from '../../host/machine.ts';
import { isBad, OUTCOME_TEXT } from '../../run/faults/outcome.ts';
import type { FaultSweep } from '../../run/faults/schema.ts';
import { type Sweep, sweep } from '../../run/faults/sweep.ts';
import { replayCommand } from '../faults/command.ts';
import { sweepTable } from '../faults/table.ts';
import { UserError } from '../io/fail.ts';
import { checkOutput, writeTo } from '../io/output.ts';
import { parseCount, splitFlags } from '../io/values.ts';
import type { RunChoice } from '../run/execute.ts';
import { addRobustOptions, chooseKernel, ROBUST_HELP } from '../run/robust.ts';
import {
  addDeviceOptions,
  addMachineOptions,
  addProgramOptions,
  deviceChoice,
  type RunOptions,
  repeated,
} from './run.ts';

interface SweepCliOptions extends RunOptions {
  output?: string;
  events: number;
  kind?: FaultKind[];
  of?: string[];
}

const EVENTS = 200;
/** The words of the command line before those of the sweep: node, script, faults, sweep. */
const VERB_WORDS = 4;
/** Milliseconds between two progress lines. */
const PROGRESS_MS = 200;

function addKind(text: string, before: FaultKind[] = []): FaultKind[] {
  if (!Object.hasOwn(FAULT_KINDS, text))
    throw new InvalidArgumentError(`the kinds are ${Object.keys(FAULT_KINDS).join(', ')}`);
  return [...before, text as FaultKind];
}

function kindList(): string {
  return Object.entries(FAULT_KINDS)
    .map(([kind, { event, doc }]) => `${kind.padEnd(16)}${`n-th ${event}`.padEnd(18)}${doc}\n`)
    .join('');
}

/** On a terminal, one line that is written over. */
function progressLine(): { show: (done: number, all: number) => void; clear: () => void } {
  if (!process.stderr.isTTY) return { show: () => {}, clear: () => {} };
  let last = 0n;
  return {
    show(done, all) {
      const now = process.hrtime.bigint();
      if (done < all && now - last < BigInt(PROGRESS_MS) * 1_000_000n) return;
      last = now;
      process.stderr.write(`\r${done} of ${all} runs`);
    },
    clear: () => process.stderr.write('\r\x1b[K'),
  };
}

async function runSweep(
  program: string,
  args: readonly string[],
  options: SweepCliOptions,
  isDialectGiven: boolean,
): Promise<number> {
  const { output, events, kind = Object.keys(FAULT_KINDS) as FaultKind[], append, maxInsns } = options;
  if (options.engine === 'lockstep') throw new UserError('--engine lockstep: a sweep takes jit or interp');
  if (output !== undefined) checkOutput(output);
  const { dialect, conf, words } = chooseKernel(options, isDialectGiven);
  const own = await deviceChoice(options);
  const choice: RunChoice = {
    ...options,
    ...own,
    faults: [],
    dialect,
    conf,
    cflags: splitFlags(options.cflags),
    env: options.env ?? {},
    interactive: false,
  };
  const more = [...words, ...(append ? [append] : [])].join(' ');
  const images = await prepareGuest(program, args, { ...choice, ...(more !== '' && { append: more }) });
  const ownNames = own.devices.map(({ definition }) => definition.name);
  const devices = options.of ?? (ownNames.length > 0 ? ownNames : ['edu']);
  const progress = progressLine();
  const machine = machineOptions(images, choice);
  const swept = await sweep({ machine, devices, kinds: kind, events, maxInsns, progress: progress.show });
  progress.clear();
  const command = (fault: string): string =>
    replayCommand(process.argv.slice(VERB_WORDS), swept.maxInsns, fault);
  if (output !== undefined) {
    const run = describe(images, { ...choice, maxInsns: undefined }, [], false);
    writeTo(output, `${JSON.stringify(fileOf(swept, run, command), null, 2)}\n`);
  }
  if (output !== '-') writeTo('-', sweepTable(swept, command));
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

const OUTCOME_HELP = Object.entries(OUTCOME_TEXT)
  .map(([outcome, text]) => `  ${outcome.padEnd(8)}${text}\n`)
  .join('');

export function register(program: Command): void {
  const faults = program
    .command('faults')
    .description('test a driver with a device that fails: list the faults, or run a program with each')
    .addHelpText(
      'after',
      '\nExamples:\n  kcovbox faults ls\n  kcovbox faults sweep --device mydev.ts --driver mydev.c use.c',
    );
  faults
    .command('ls')
    .description('list the kinds of fault that any device can have')
    .addHelpText('after', '\nExample:\n  kcovbox run --fault edu:irq-drop@2 examples/factorial.c -- 6')
    .action(() => writeTo('-', kindList()));
  addProgramOptions(
    addRobustOptions(addDeviceOptions(addMachineOptions(faults.command('sweep')), { faults: false })),
  )
    .description('run a program once for each kind of fault and event of its devices, and print a table')
    .addOption(
      new Option('--events <n>', 'the first n events of each kind').argParser(parseCount).default(EVENTS),
    )
    .option('--kind <kind>', 'only this kind of fault (repeatable)', addKind)
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
    .action(async (file: string, args: string[], options: SweepCliOptions, command: Command) => {
      const isGiven = command.getOptionValueSource('dialect') === 'cli';
      process.exitCode = await runSweep(file, args, options, isGiven);
    });
}
