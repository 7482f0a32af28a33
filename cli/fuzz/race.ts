// The order of the harts with which the C program of a race shows what the campaign has seen. The
// campaign's own seed orders the calls of its agent; the C program makes other instructions around
// them, so seeds are searched from the first moment at which two harts can run.
import { type Machine, parseSchedule } from '../../emulator/index.ts';
import { Guest } from '../../run/many/guest.ts';
import type { Ended } from '../../run/many/outcome.ts';
import { type CRun, prepareRun } from './c-run.ts';

const SEEDS = 1000;

export interface RaceRun extends Omit<CRun, 'smp' | 'schedule'> {
  /** As the program's text has it. */
  readonly order: string;
  readonly maxInsns: number;
}

/** `turns` and `pct` are of the campaign: without a snapshot of the calls they find little. */
const orderOf = (order: string): string => (['rp', 'pos'].includes(order) ? order : 'rw');

/** The options of `kcovbox run` for the order; undefined: no seed of SEEDS shows it. */
export async function findOrder(
  { order, maxInsns, ...run }: RaceRun,
  shows: (ended: Ended, machine: Machine) => boolean,
): Promise<string[] | undefined> {
  const schedule = orderOf(order);
  const { machine } = await prepareRun({ ...run, smp: 2, schedule });
  const guest = new Guest(machine);
  if (!(await guest.runToUser(maxInsns))) return undefined;
  let start = guest.save();
  if (await guest.runToChoice(maxInsns)) start = guest.save();
  for (let seed = 1n; seed <= BigInt(SEEDS); seed++) {
    guest.goTo(start);
    guest.machine.reschedule(parseSchedule(schedule), seed);
    if (shows(await guest.runToEnd(maxInsns), guest.machine))
      return ['--smp', '2', '--schedule', schedule, '--sched-seed', `0x${seed.toString(16)}`];
  }
  return undefined;
}
