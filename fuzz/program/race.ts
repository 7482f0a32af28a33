// Which calls of a program race: the last ones, in two threads.
import { CALLS_MAX, copyCall, isRace, type Program } from './program.ts';
import type { Random } from './random.ts';

/** Most calls at the end of a program that threads share. */
const LAST_MAX = 4;

/**
 * Gives calls to the second thread, or takes them back, and draws a seed for `order`. A race is
 * often of a call with itself, so some calls are made by both threads.
 */
export function arrange(program: Program, order: string, random: Random): void {
  const { calls } = program;
  const seed = random.word();
  const isKept = isRace(program) && random.oneIn(2);
  if (!isKept) {
    for (const call of calls) call.thread = 0;
    if (calls.length > 0 && !random.oneIn(4)) share(program, random);
  }
  program.schedule = isRace(program) ? { order, seed } : undefined;
}

function share({ calls }: Program, random: Random): void {
  const last = calls.slice(-1 - random.below(LAST_MAX));
  for (const call of last) call.thread = random.oneIn(2) ? 1 : 2;
  const isOneSided = last.every(({ thread }) => thread === last[0]!.thread);
  if (!(isOneSided || random.oneIn(3)) || calls.length >= CALLS_MAX) return;
  const twin = random.of(last);
  calls.push({ ...copyCall(twin), thread: twin.thread === 1 ? 2 : 1 });
}
