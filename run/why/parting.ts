// Where two runs that are equal up to a place part: the next event of each that the other does not
// have, a change of harts or an interrupt.
import type { Machine } from '../../emulator/index.ts';
import type { Forks, Place } from './forks.ts';

/** Units that are looked at, one by one: at most, and per unit of the forks' spread. */
const UNITS_MAX = 1_000_000;
const UNITS_PER_SPREAD = 4;
/** A fork may give several turns in a row to one hart. */
const UNITS_PER_SPREAD_OF_FORK = 20;
const UNITS_MORE = 10_000;

export interface Turn {
  /** The event is in front of the instruction that is executed at this unit. */
  readonly unit: number;
  /** `turn`: the next hart goes on. `interrupt`: the hart enters its handler. */
  readonly kind: 'turn' | 'interrupt';
  /** That stops, or is interrupted. */
  readonly from: number;
  /** That goes on. */
  readonly to: number;
  /** Of an interrupt: scause or mcause without its highest bit. */
  readonly cause: number | null;
}

interface Path {
  /** The pc of the hart that executes, unit by unit; bit 0: it is interrupted there. */
  readonly steps: BigUint64Array;
  /** That hart. */
  readonly harts: Uint8Array;
  readonly count: number;
  readonly turns: readonly Turn[];
}

export interface Parting {
  /** Units up to which both are equal. */
  readonly unit: number;
  /** The first event of each side from there on; undefined: none within reach. */
  readonly failing: Turn | undefined;
  readonly fork: Turn | undefined;
}

/** The parting of the failing run and a fork at `place`. Afterwards the machine is at `place`. */
export function partingOf(forks: Forks, place: Place, seed: bigint): Parting | undefined {
  const most = (perSpread: number): number => Math.min(UNITS_MAX, perSpread * forks.spread + UNITS_MORE);
  forks.back(place);
  const failing = follow(forks.machine, most(UNITS_PER_SPREAD), () => false);
  const isAt = ({ steps, harts }: Path, at: number): boolean =>
    at < failing.count && failing.steps[at] === steps[at] && failing.harts[at] === harts[at];
  let at = 0;
  forks.divert(place, seed);
  const fork = follow(forks.machine, most(UNITS_PER_SPREAD_OF_FORK), path => {
    while (at < path.count && isAt(path, at)) at++;
    return at < path.count && (path.turns.at(-1)?.unit ?? 0) >= place.unit + at;
  });
  forks.back(place);
  if (at === fork.count && at === failing.count) return undefined;
  const unit = place.unit + at;
  const behind = ({ turns }: Path): Turn | undefined => turns.find(turn => turn.unit >= unit);
  return { unit, failing: behind(failing), fork: behind(fork) };
}

/** Executes up to `most` units, one by one, until they are enough. */
function follow(machine: Machine, most: number, isEnough: (path: Path) => boolean): Path {
  const turns: Turn[] = [];
  const path = { steps: new BigUint64Array(most), harts: new Uint8Array(most), count: 0, turns };
  let turn = machine.scheduler.turn;
  /** Interrupts since the last unit: their causes by hart. */
  const taken = new Map<number, number>();
  for (const hart of machine.harts) hart.onInterrupt = cause => taken.set(hart.id, cause);
  for (let pieces = 0; path.count < most && pieces < 2 * most && !isEnough(path); pieces++) {
    const before = machine.harts.map(({ state }) => state.pc);
    const unit = machine.spent;
    const result = machine.run(1);
    if (machine.spent > unit) {
      const now = machine.scheduler.turn;
      const cause = taken.get(now);
      path.steps[path.count] = before[now]! | (cause === undefined ? 0n : 1n);
      path.harts[path.count++] = now;
      if (now !== turn) turns.push({ unit, kind: 'turn', from: turn, to: now, cause: null });
      if (cause !== undefined) turns.push({ unit, kind: 'interrupt', from: now, to: now, cause });
      turn = now;
      taken.clear();
    }
    if (result.kind !== 'budget') break; // else at most work of devices was done
  }
  for (const hart of machine.harts) hart.onInterrupt = () => {};
  return path;
}
