// Faults of devices that programs have: the N-th event of a device from the start of the program,
// as `kcovbox run --fault` counts them from power-on.
import { type Fault, type FaultChoice, faultRow, faultText } from '../../emulator/index.ts';
import type { Program } from './program.ts';
import type { Random } from './random.ts';

/** Most faults of a program. */
export const FAULTS_MAX = 8;
/** Events are drawn below powers of two up to this one: early ones more often than late ones. */
const EVENT_BITS = 10;
/** Times are 1 us times a power of two below this: up to 131 ms. */
const TIME_BITS = 17;
const SEEDS = 1 << 16;

/** Adds, changes or removes a fault, or leaves the program as it is. */
export function changeFaults(program: Program, choices: readonly FaultChoice[], random: Random): void {
  const faults = [...(program.faults ?? [])];
  const pick = random.below(8);
  const at = faults.length > 0 ? random.below(faults.length) : 0;
  if (faults.length === 0 ? pick < 5 : pick >= 7 && faults.length < FAULTS_MAX)
    faults.push(draw(choices, random));
  else if (faults.length > 0 && pick === 6) faults.splice(at, 1);
  else if (faults.length > 0 && pick >= 4) faults[at] = change(faults[at]!, choices, random);
  program.faults = faults.length > 0 ? distinct(faults) : undefined;
}

const eventBelow = (random: Random): number => 1 + random.below(2 ** random.below(EVENT_BITS + 1));

function draw(choices: readonly FaultChoice[], random: Random): Fault {
  const { device, kinds } = random.of(choices);
  const kind = random.of(kinds);
  const { time: usual, draws } = faultRow(kind);
  const at = eventBelow(random);
  const time = usual === undefined ? 0 : random.oneIn(2) ? usual : 1e3 * 2 ** random.below(TIME_BITS);
  return { device, kind, at, time, ...(draws && { seed: random.below(SEEDS) }) };
}

/** Another event, often a near one, for the same fault; or another fault at the same event. */
function change(fault: Fault, choices: readonly FaultChoice[], random: Random): Fault {
  const other = draw(choices, random);
  if (random.oneIn(2)) return { ...other, at: fault.at };
  const near = Math.max(1, fault.at + random.below(9) - 4);
  return { ...fault, at: random.oneIn(2) ? near : other.at };
}

/** The same fault of the same event happens once. */
const distinct = (faults: readonly Fault[]): Fault[] => [
  ...new Map(faults.map(fault => [keyOf(fault), fault])).values(),
];

export const keyOf = ({ device, kind, at }: Fault): string => `${device}:${kind}@${at}`;

/** The largest number of an event of a program's faults; 1 without any. */
export const latestEvent = ({ faults = [] }: Program): number => Math.max(1, ...faults.map(({ at }) => at));

/** The same faults at events with smaller numbers. */
export const earlier = (faults: readonly Fault[], by: number): Fault[] =>
  distinct(faults.map(fault => ({ ...fault, at: Math.max(1, fault.at - by) })));

/** One line for each. */
export const faultLines = (faults: readonly Fault[]): string =>
  faults.map(fault => `!fault ${faultText(fault)}\n`).join('');

/** The devices that a program's faults are of. */
export const devicesOf = ({ faults = [] }: Program): string[] => [
  ...new Set(faults.map(({ device }) => device)),
];
