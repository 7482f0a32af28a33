// The two threads of a race. The second one sleeps while the first one makes the calls in front of
// the first call of the second. Then, while both come to where their next calls begin, turns are
// short; the order of the program holds from there on.
import { type Machine, parseSchedule, type Schedule } from '../../emulator/index.ts';
import type { CallOrder } from '../program/program.ts';

/** While the threads wait for one another: random turns of 16 units on average, the shortest. */
const MEETING: Schedule = { kind: 'rw' };
const MEETING_SEED = 0n;
/** Turns of a time-sharing system: 1 to 40,000 units, as those of `--sched-seed` on average. */
const TURNS_SPREAD = 20_000;
/** Of `pct`, where the order names none: about the units of a few calls of both threads. */
const PCT_UNITS = 10_000;

/** The threads are to meet. */
export const meet = (machine: Machine): void => machine.reschedule(MEETING, MEETING_SEED);

/** Units that they wait where they have met: `turns` would else always begin with one of them. */
export const waitsFor = ({ order, seed }: CallOrder): number =>
  order === 'turns' ? 1 + Number((seed * 0x9e37n) & 0x3ffn) : 0;

/** From now on the threads take turns in this order. */
export function takeTurns(machine: Machine, { order, seed }: CallOrder): void {
  if (order === 'turns') {
    machine.divert(seed, TURNS_SPREAD);
    return;
  }
  const schedule = parseSchedule(order);
  machine.reschedule(schedule.kind === 'pct' ? { units: PCT_UNITS, ...schedule } : schedule, seed);
}
