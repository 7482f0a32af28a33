// The places that a step has passed: a loop comes to each of them again in every round.
import type { Hart } from '../emulator/index.ts';
import { frameRegister, SP } from './frames.ts';
import type { Image } from './image.ts';
import { threadOf } from './thread.ts';

const REFUSED_MAX = 1 << 16;

/**
 * Is this thread where it `isDone`, by its innermost call? That call follows from the pc and the
 * registers of its frame, so it is looked at once for each of their values. The answer costs 50 us,
 * which a loop of a million rounds would pay in each one.
 */
export function refusedOnce(
  thread: string,
  imageAt: (pc: bigint) => Image | undefined,
  isDone: (hart: Hart) => boolean,
): (hart: Hart) => boolean {
  const bases = new Map<bigint, number>();
  const refused = new Set<string>();
  return hart => {
    const { state } = hart;
    const { pc } = state;
    let base = bases.get(pc);
    if (base === undefined) bases.set(pc, (base = frameRegister(imageAt(pc), pc)));
    const place = `${pc} ${state.getX(SP)} ${base === SP ? '' : state.getX(base)}`;
    if (refused.has(place) || threadOf(hart) !== thread) return false;
    const isIt = isDone(hart);
    if (!isIt && refused.size < REFUSED_MAX) refused.add(place);
    return isIt;
  };
}
