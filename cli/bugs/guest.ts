// A program on a kernel with historical bugs, as `kcovbox run` would run it with empty input.
import type { MachineOptions } from '../../emulator/index.ts';
import { parseCpu } from '../../emulator/index.ts';
import { prepareGuest } from '../../host/guest.ts';
import { machineOptions } from '../../host/machine.ts';
import { type CanaryTable, findCanaries } from '../../run/bugs/canaries.ts';
import { type BugOutcome, runWithCanaries } from '../../run/bugs/outcome.ts';
import { UserError } from '../io/fail.ts';
import { confOf } from '../run/robust.ts';

/** All checkers, so that a run is detected by the first that can. */
export const BUG_CONF = 'linux+kasan+ubsan+debug+bugs';
const MEMORY = 256 * 2 ** 20;

export interface BugRun {
  readonly conf: string;
  readonly engine: 'jit' | 'interp';
  readonly harts: number;
  readonly schedSeed: bigint | undefined;
  readonly maxInsns: number;
}

/** The words of the kernel's command line that switch bugs on. */
export const bugWords = (ids: readonly string[]): string =>
  ['panic_on_warn', ...(ids.length === 0 ? [] : [`bugs=${ids.join(',')}`])].join(' ');

/** Errors: UserError if the kernel of this configuration has no bugs. */
export async function runProgram(path: string, bugs: readonly string[], how: BugRun): Promise<BugOutcome> {
  const { machine, table } = await prepare(path, bugs, how);
  return runWithCanaries(machine, table, how.maxInsns);
}

async function prepare(
  path: string,
  bugs: readonly string[],
  { conf, engine, harts, schedSeed }: BugRun,
): Promise<{ machine: MachineOptions; table: CanaryTable }> {
  const { dialect, fragments } = confOf(conf, undefined, undefined);
  if (!fragments.includes('bugs'))
    throw new UserError(`--conf ${conf}: write ${conf}+bugs, which has the bugs`);
  const choice = {
    dialect,
    conf,
    kcov: 'device' as const,
    engine,
    smp: harts,
    cpu: parseCpu('rv64'),
    memory: MEMORY,
    schedSeed,
    icount: 0,
    cflags: [],
    env: {},
  };
  const images = await prepareGuest(path, [], { ...choice, append: bugWords(bugs) });
  const table = findCanaries(images.kernel);
  if (!table) throw new UserError(`--conf ${conf}: the kernel has no canaries`);
  return { machine: machineOptions(images, choice), table };
}
