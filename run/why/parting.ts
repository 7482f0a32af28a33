// Where two runs that are equal up to a place part: the next event of each that the other does not
// have, a change of harts or an interrupt.
import type { Hart, Machine } from '../../emulator/index.ts';
import type { Forks, Place } from './forks.ts';

/** Units that are looked at, one by one: at most, and per unit of the forks' spread. */
const UNITS_MAX = 1_000_000;
const UNITS_PER_SPREAD = 4;
/** A fork may give several turns in a row to one hart. */
const UNITS_PER_SPREAD_OF_FORK = 20;
const UNITS_MORE = 10_000;
/** The CSRs of traps to S-mode and to M-mode. */
const TRAPS = [
  { vector: 0x105, epc: 0x141, cause: 0x142 },
  { vector: 0x305, epc: 0x341, cause: 0x342 },
] as const;
const INTERRUPT = 1n << 63n;

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
  for (let pieces = 0; path.count < most && pieces < 2 * most && !isEnough(path); pieces++) {
    const before = machine.harts.map(hartOf);
    const unit = machine.spent;
    const result = machine.run(1);
    if (machine.spent > unit) {
      const now = machine.scheduler.turn;
      const hart = machine.harts[now]!;
      const cause = interruptOf(before[now]!, hartOf(hart), hart);
      path.steps[path.count] = before[now]!.pc | (cause === undefined ? 0n : 1n);
      path.harts[path.count++] = now;
      if (now !== turn) turns.push({ unit, kind: 'turn', from: turn, to: now, cause: null });
      if (cause !== undefined) turns.push({ unit, kind: 'interrupt', from: now, to: now, cause });
      turn = now;
    }
    if (result.kind !== 'budget') break; // else at most work of devices was done
  }
  return path;
}

interface HartState {
  readonly pc: bigint;
  readonly traps: readonly { readonly epc: bigint; readonly cause: bigint }[];
}

const hartOf = ({ state, csr }: Hart): HartState => ({
  pc: state.pc,
  traps: TRAPS.map(({ epc, cause }) => ({ epc: csr.peek(epc) ?? 0n, cause: csr.peek(cause) ?? 0n })),
});

/**
 * The cause of the interrupt that the hart took in front of the unit; undefined: none. A second one
 * at the same instruction shows by the handler alone, whose first instruction has then run.
 */
function interruptOf(before: HartState, now: HartState, { csr }: Hart): number | undefined {
  for (const [i, { vector }] of TRAPS.entries()) {
    const [then, { epc, cause }] = [before.traps[i]!, now.traps[i]!];
    if ((cause & INTERRUPT) === 0n) continue;
    const handler = (csr.peek(vector) ?? 0n) & ~3n;
    const isEntered = before.pc !== handler && now.pc > handler && now.pc <= handler + 4n;
    if (isEntered || then.epc !== epc || then.cause !== cause) return Number(cause & 0xffffn);
  }
  return undefined;
}
