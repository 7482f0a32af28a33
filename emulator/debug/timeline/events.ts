// Moments by their number: the n-th coverage record, system call, interrupt.

import type { Moment } from './stops.ts';
import { exhaust, type InPieces, type Timeline } from './timeline.ts';
import { type Trap, trapHandlers, trapOf } from './traps.ts';

const IS_TRAP = {
  syscall: ({ isCall }: Trap): boolean => isCall,
  interrupt: ({ isInterrupt }: Trap): boolean => isInterrupt,
  exception: ({ isCall, isInterrupt }: Trap): boolean => !isCall && !isInterrupt,
} as const;

export type EventKind = 'record' | keyof typeof IS_TRAP;
export const EVENT_KINDS: readonly EventKind[] = ['record', 'syscall', 'interrupt', 'exception'];

/**
 * The n-th event of a kind since power-on, counted from 1; undefined when the run has fewer. A
 * record's place is behind the instruction that made it. Counts to the end of a recorded run, else
 * to the latest place. Afterwards the machine is where it was.
 */
export const nthEvent = (timeline: Timeline, kind: EventKind, n: number): Moment | undefined =>
  exhaust(findEvent(timeline, kind, n));

/** As `nthEvent`; yields from time to time. A search that is ended early also goes back. */
export function* findEvent(timeline: Timeline, kind: EventKind, n: number): InPieces<Moment | undefined> {
  const here = timeline.position;
  try {
    return yield* kind === 'record' ? nthRecord(timeline, n) : nthTrap(timeline, IS_TRAP[kind], n);
  } finally {
    timeline.seek(here);
  }
}

/** A run without a known end may have none. */
const toLast = (timeline: Timeline): InPieces<unknown> =>
  timeline.isRecorded ? timeline.travelToEnd() : timeline.travel(timeline.latest);

/** The counter grows with the place, so the first place with n records is found by halves. */
function* nthRecord(timeline: Timeline, n: number): InPieces<Moment | undefined> {
  const { machine } = timeline;
  yield* toLast(timeline);
  if (n < 1 || machine.kcovRecords < n) return undefined;
  const { rungs } = timeline;
  const above = rungs.findIndex(({ observed }) => observed.records >= n);
  let high = above < 0 ? timeline.position : rungs[above]!.rest.spent;
  let low = (above < 0 ? rungs.at(-1)! : (rungs[above - 1] ?? rungs[0]!)).rest.spent;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    yield* timeline.travel(middle);
    if (machine.kcovRecords >= n) high = middle;
    else low = middle;
  }
  yield* timeline.travel(high);
  return { unit: high, hart: machine.scheduler.turn };
}

/**
 * Traps to S-mode lead to the addresses in stvec: those of the last place, which kernels set once
 * at boot. The moment is that of the handler's first instruction.
 */
function* nthTrap(
  timeline: Timeline,
  isWanted: (trap: Trap) => boolean,
  n: number,
): InPieces<Moment | undefined> {
  yield* toLast(timeline);
  const handlers = trapHandlers(timeline.machine);
  let count = 0;
  let found: Moment | undefined;
  yield* timeline.visitInPieces(handlers, {}, ({ unit, hart }) => {
    if (isWanted(trapOf(hart)) && ++count === n) found = { unit, hart: hart.id };
    return found !== undefined;
  });
  return found;
}
