// A long motion that leaves turns to the rest of the process, so that a user can end it.

import type { InPieces } from '../../emulator/index.ts';

/** A turn of the motion; a person does not notice a delay of this length. */
const TURN_MS = 20;

/**
 * Runs the motion to its end, or until the signal comes: then undefined; a search has gone back.
 * `onSlow`: it has not ended within its first turn.
 */
export async function inTurns<T>(
  motion: InPieces<T>,
  signal: AbortSignal,
  onSlow?: () => void,
): Promise<T | undefined> {
  for (let turn = 0; !signal.aborted; turn++) {
    if (turn === 1) onSlow?.();
    const end = performance.now() + TURN_MS;
    do {
      const { done, value } = motion.next();
      if (done) return value;
    } while (performance.now() < end);
    await new Promise(setImmediate);
  }
  motion.return(undefined as T);
  return undefined;
}
