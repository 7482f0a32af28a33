// The order of the harts with which the C program of a race shows what the campaign has seen. The
// campaign's own seed orders the calls of its agent; the C program makes other instructions around
// them, so seeds are searched from the first moment at which two harts can run.
import { type Machine, parseCpu, parseSchedule } from '../../emulator/index.ts';
import { prepareGuest } from '../../host/guest.ts';
import { machineOptions } from '../../host/machine.ts';
import { Guest } from '../../run/many/guest.ts';
import type { Ended } from '../../run/many/outcome.ts';
import { confOf } from '../run/robust.ts';

/** Of `kcovbox run`. */
const MEMORY = 256 * 2 ** 20;
const SEEDS = 1000;

export interface RaceRun {
  readonly conf: string;
  readonly append: string;
  /** As the program's text has it. */
  readonly order: string;
  readonly maxInsns: number;
}

/** `turns` and `pct` are of the campaign: without a snapshot of the calls they find little. */
const orderOf = (order: string): string => (['rp', 'pos'].includes(order) ? order : 'rw');

/** The options of `kcovbox run` for the order; undefined: no seed of SEEDS shows it. */
export async function findOrder(
  path: string,
  { conf, append, order, maxInsns }: RaceRun,
  shows: (ended: Ended, machine: Machine) => boolean,
): Promise<string[] | undefined> {
  const choice = {
    dialect: confOf(conf, undefined, undefined).dialect,
    conf,
    kcov: 'device' as const,
    engine: 'jit' as const,
    smp: 2,
    cpu: parseCpu('rv64'),
    memory: MEMORY,
    schedule: parseSchedule(orderOf(order)),
    icount: 0,
    cflags: [],
    env: {},
  };
  const images = await prepareGuest(path, [], { ...choice, ...(append !== '' && { append }) });
  const guest = new Guest(machineOptions(images, choice));
  if (!(await guest.runToUser(maxInsns))) return undefined;
  let start = guest.save();
  if (await guest.runToChoice(maxInsns)) start = guest.save();
  for (let seed = 1n; seed <= BigInt(SEEDS); seed++) {
    guest.goTo(start);
    guest.machine.reschedule(choice.schedule, seed);
    if (shows(await guest.runToEnd(maxInsns), guest.machine))
      return ['--smp', '2', '--schedule', orderOf(order), '--sched-seed', `0x${seed.toString(16)}`];
  }
  return undefined;
}
