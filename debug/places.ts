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
export class Places {
  readonly #thread: string;
  readonly #imageAt: (pc: bigint) => Image | undefined;
  readonly #isDone: (hart: Hart) => boolean;
  readonly #bases = new Map<bigint, number>();
  readonly #refused = new Set<string>();

  constructor(thread: string, imageAt: (pc: bigint) => Image | undefined, isDone: (hart: Hart) => boolean) {
    this.#thread = thread;
    this.#imageAt = imageAt;
    this.#isDone = isDone;
  }

  /** It may be, for it is not a place that was refused before. */
  mayEnd(hart: Hart): boolean {
    if (this.#refused.size > 0 && this.#refused.has(this.#keyOf(hart))) return false;
    return threadOf(hart) === this.#thread;
  }

  ends(hart: Hart): boolean {
    if (!this.mayEnd(hart)) return false;
    const isIt = this.#isDone(hart);
    if (!isIt && this.#refused.size < REFUSED_MAX) this.#refused.add(this.#keyOf(hart));
    return isIt;
  }

  #keyOf({ state }: Hart): string {
    const { pc } = state;
    let base = this.#bases.get(pc);
    if (base === undefined) this.#bases.set(pc, (base = frameRegister(this.#imageAt(pc), pc)));
    return `${pc} ${state.getX(SP)} ${base === SP ? '' : state.getX(base)}`;
  }
}
