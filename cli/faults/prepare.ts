// Parts that a sweep shares with hostile devices: the guest, the devices under test, and the
// shell line that repeats one of the runs.
import { type MachineOptions, nodeOf } from '../../emulator/index.ts';
import { describe } from '../../host/describe.ts';
import { prepareGuest } from '../../host/guest.ts';
import { machineOptions } from '../../host/machine.ts';
import type { RunDescription } from '../../run/index.ts';
import { OUTCOME_TEXT } from '../../run/many/outcome.ts';
import { UserError } from '../io/fail.ts';
import { splitFlags } from '../io/values.ts';
import type { RunChoice } from '../run/execute.ts';
import { chooseKernel } from '../run/robust.ts';
import { deviceChoice, type RunOptions } from '../verbs/run.ts';
import { replayCommand } from './command.ts';

export interface UnderTest extends RunOptions {
  of?: string[];
}

interface Prepared {
  readonly machine: MachineOptions;
  /** Names of the devices under test. */
  readonly devices: readonly string[];
  /** Of the run without a fault. */
  readonly run: RunDescription;
}

/** The words of the command line before those of such a verb: node, script, faults, its name. */
const VERB_WORDS = 4;

/** `probesLate`: the drivers start with the program, as with `run --hostile`. */
export async function prepare(
  program: string,
  args: readonly string[],
  options: UnderTest,
  isDialectGiven: boolean,
  probesLate: boolean,
): Promise<Prepared> {
  if (options.engine === 'lockstep') throw new UserError('--engine lockstep: only jit or interp here');
  const { append } = options;
  const { dialect, conf, words } = chooseKernel(options, isDialectGiven);
  const own = await deviceChoice(options);
  const choice: RunChoice = {
    ...options,
    ...own,
    faults: [],
    hostile: [],
    maxInsns: undefined,
    dialect,
    conf,
    cflags: splitFlags(options.cflags),
    env: options.env ?? {},
    interactive: false,
  };
  const more = [...words, ...(append ? [append] : [])].join(' ');
  const ownNames = own.devices.map(({ definition }) => definition.name);
  const devices = options.of ?? (ownNames.length > 0 ? ownNames : ['edu']);
  const images = await prepareGuest(program, args, {
    ...choice,
    ...(probesLate && { probeLate: devices.map(nodeOf) }),
    ...(more !== '' && { append: more }),
  });
  return { machine: machineOptions(images, choice), devices, run: describe(images, choice, [], false) };
}

/** The shell line of one run; `how`: its options about faults. */
export const commandFor =
  (maxInsns: number) =>
  (how: string): string =>
    replayCommand(process.argv.slice(VERB_WORDS), maxInsns, how);

/** The outcomes, one line each. */
export const OUTCOME_HELP = Object.entries(OUTCOME_TEXT)
  .map(([outcome, text]) => `  ${outcome.padEnd(8)}${text}\n`)
  .join('');
