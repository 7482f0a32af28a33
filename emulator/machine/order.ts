// The order of the harts under a schedule (schedule.ts), and the random numbers that it draws.
//
// A turn has a length of its own, and ends early when its hart waits. A hart that becomes able to
// run waits for the end of the turn, whatever its priority: what happens inside a turn must not
// depend on how the host cuts the run. While one hart alone can run there is nothing to order: it
// runs until another one can, and nothing is drawn. So all runs of a program are the same up to the
// first moment at which two harts can run.

import { Xoshiro } from '../base/xoshiro.ts';
import type { Access } from './next-access.ts';
import { type Schedule, UNITS_DEFAULT } from './schedule.ts';

/** Plain data. */
export interface OrderState {
  rng: Xoshiro['state'];
  /** Mean distance of two points, in units. */
  mean: number;
  /** Of each hart; empty for a random walk. Higher ones run first. */
  priorities: number[];
  /** The next priority that is below all others. */
  lowest: number;
  /** PCT: points that are left, in contended units; the next one is last. */
  changes: number[];
  /** PCT and POS: turns that the running hart has had in a row without waiting. */
  streak: number;
  /**
   * POS: the access with which the turn began, as its word and 1 for a store; empty: with none.
   * Then the units for which the next one was looked for.
   */
  access: number[];
  looked: number;
  /** Units that harts have spent while others could run, until this turn. */
  contended: number;
  /** Units of all harts at the beginning of this turn; -1: its hart is alone. */
  from: number;
}

/** A turn that is over. */
export interface Turn {
  readonly hart: number;
  /** False: its hart waits. */
  readonly isWhole: boolean;
}

/** The harts between two turns. */
export interface Harts {
  /** Those that can run: two or more. */
  readonly able: readonly number[];
  /** The access to memory that is a hart's next instruction. */
  readonly access: (hart: number) => Access | undefined;
}

export interface NextTurn {
  readonly hart: number;
  readonly units: number;
}

/** The state before anything is drawn; each has lists of its own. */
export const emptyOrder = (): OrderState => ({
  rng: [0, 0, 0, 0],
  mean: 0,
  priorities: [],
  lowest: 0,
  changes: [],
  streak: 0,
  access: [],
  looked: 0,
  contended: 0,
  from: -1,
});

/** Points are 2^4 to 2^13 units apart on average: each seed has a distance of its own. */
const MEAN_BITS_MIN = 4;
const MEAN_BITS_SPAN = 10;
/** Length of a turn where priorities are fixed. */
const PCT_TURN = 1000;
/**
 * A hart may spin until one of lower priority releases a lock. After so many turns in a row it
 * gets the lowest priority, as a thread that yields does.
 */
const PCT_STREAK = 3;
/**
 * The same for accesses: behind so many in a row of one hart, all priorities are drawn again. One
 * hart's low priority would else outlast thousands of accesses of another that waits for it.
 */
const POS_STREAK = 16;
/** From a random point on, the next access is looked for among so many instructions. */
const LOOK_MAX = 16;

export class Order {
  readonly #kind: Schedule['kind'];
  readonly #rng = new Xoshiro(0n);
  readonly #state: OrderState;

  private constructor({ kind }: Schedule, state: OrderState) {
    this.#kind = kind;
    this.#state = state;
    this.#rng.state = [...state.rng];
  }

  /** From a state that `save` gave. */
  static load(schedule: Schedule, state: OrderState): Order {
    return new Order(schedule, copied(state, state.rng));
  }

  /** The order of `harts` harts. */
  static begin(schedule: Schedule, seed: bigint, harts: number): Order {
    const rng = new Xoshiro(seed);
    const mean = 2 ** (MEAN_BITS_MIN + (rng.next() % MEAN_BITS_SPAN));
    const state: OrderState = { ...emptyOrder(), rng: rng.state, mean };
    const order = new Order(schedule, state);
    if (schedule.kind === 'rw') return order;
    for (let hart = 0; hart < harts; hart++) state.priorities.push(order.#priority());
    if (schedule.kind !== 'pct') return order;
    const { depth, units = UNITS_DEFAULT } = schedule;
    for (let i = 1; i < depth; i++) state.changes.push(order.#below(units));
    state.changes.sort((a, b) => b - a);
    return order;
  }

  /** Units that harts have spent while others could run, when all have spent `spent`. */
  contended(spent: number): number {
    const { contended, from } = this.#state;
    return from < 0 ? contended : contended + spent - from;
  }

  /** From now on one hart alone can run. `spent`: by all harts until now. */
  alone(spent: number): void {
    const s = this.#state;
    s.contended = this.contended(spent);
    s.from = -1;
    s.streak = 0;
    s.looked = 0;
    s.access = [];
  }

  /** The hart of the next turn, and its units. `spent`: by all harts until now. */
  next(last: Turn, spent: number, harts: Harts): NextTurn {
    const s = this.#state;
    s.contended = this.contended(spent);
    s.from = spent;
    if (this.#kind === 'rw')
      return { hart: harts.able[this.#below(harts.able.length)]!, units: this.#distance() };
    if (this.#kind === 'pct') return this.#pct(last, harts.able);
    if (this.#kind === 'pos') return this.#pos(last, harts);
    s.priorities[this.#below(s.priorities.length)] = this.#priority();
    return { hart: this.#highest(harts.able), units: this.#distance() };
  }

  #pct(last: Turn, able: readonly number[]): NextTurn {
    const s = this.#state;
    let isLowered = s.streak >= PCT_STREAK;
    for (; (s.changes.at(-1) ?? Infinity) <= s.contended; isLowered = true) s.changes.pop();
    if (isLowered) s.priorities[last.hart] = s.lowest--;
    const hart = this.#highest(able);
    s.streak = last.isWhole && hart === last.hart ? s.streak + 1 : 0;
    return { hart, units: Math.min(PCT_TURN, (s.changes.at(-1) ?? Infinity) - s.contended) };
  }

  /** A turn is an access, and what its hart does up to the next one that takes part. */
  #pos(last: Turn, { able, access }: Harts): NextTurn {
    const s = this.#state;
    if (last.isWhole && s.looked < LOOK_MAX && access(last.hart) === undefined) {
      s.looked++;
      return { hart: last.hart, units: 1 };
    }
    s.looked = 0;
    const isStuck = s.streak >= POS_STREAK;
    for (const hart of able)
      if (isStuck || hart === last.hart || races(s.access, access(hart)))
        s.priorities[hart] = this.#priority();
    const hart = this.#highest(able);
    s.streak = !isStuck && last.isWhole && hart === last.hart ? s.streak + 1 : 0;
    const first = access(hart);
    s.access = first ? [first.word, Number(first.stores)] : [];
    return { hart, units: this.#distance() };
  }

  #highest(able: readonly number[]): number {
    const { priorities } = this.#state;
    let best = able[0]!;
    for (const hart of able) if (priorities[hart]! > priorities[best]!) best = hart;
    return best;
  }

  #priority(): number {
    return 1 + this.#rng.next();
  }

  #distance(): number {
    return 1 + this.#below(2 * this.#state.mean - 1);
  }

  #below(n: number): number {
    return this.#rng.next() % n;
  }

  save(): OrderState {
    return copied(this.#state, this.#rng.state);
  }
}

const copied = (
  { priorities, changes, access, ...state }: OrderState,
  rng: Xoshiro['state'],
): OrderState => ({
  ...state,
  rng: [...rng],
  priorities: [...priorities],
  changes: [...changes],
  access: [...access],
});

/** The result depends on the order of the two. */
const races = ([word, stores]: readonly number[], other: Access | undefined): boolean =>
  other !== undefined && other.word === word && (stores === 1 || other.stores);
