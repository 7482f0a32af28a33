// The order of the harts under a schedule (schedule.ts), and the random numbers that it draws.
//
// A turn has a length of its own, and ends early when its hart waits. A hart that becomes able to
// run waits for the end of the turn, whatever its priority: what happens inside a turn must not
// depend on how the host cuts the run.

import { Xoshiro } from '../base/xoshiro.ts';
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
  /** Points that are left, in units that all harts have spent; the next one is last. */
  changes: number[];
  /** Turns that the running hart has had in a row without waiting. */
  streak: number;
}

/** A turn that is over. */
export interface Turn {
  readonly hart: number;
  /** False: its hart waits. */
  readonly isWhole: boolean;
}

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

export class Order {
  readonly #kind: Schedule['kind'];
  readonly #rng = new Xoshiro(0n);
  readonly #state: OrderState;

  constructor({ kind }: Schedule, state: OrderState) {
    this.#kind = kind;
    this.#state = state;
    this.#rng.state = [...state.rng];
  }

  /** The order of `harts` harts from the moment at which they have spent `spent` units. */
  static begin(schedule: Schedule, seed: bigint, harts: number, spent: number): Order {
    const rng = new Xoshiro(seed);
    const mean = 2 ** (MEAN_BITS_MIN + (rng.next() % MEAN_BITS_SPAN));
    const state: OrderState = { rng: rng.state, mean, priorities: [], lowest: 0, changes: [], streak: 0 };
    const order = new Order(schedule, state);
    if (schedule.kind === 'rw') return order;
    for (let hart = 0; hart < harts; hart++) state.priorities.push(order.#priority());
    if (schedule.kind === 'rp') return order;
    const { depth, units = UNITS_DEFAULT } = schedule;
    for (let i = 1; i < depth; i++) state.changes.push(spent + order.#below(units));
    state.changes.sort((a, b) => b - a);
    return order;
  }

  /** The hart of the next turn, one of `able`, and its units. `spent`: by all harts until now. */
  next(
    last: Turn,
    spent: number,
    able: readonly number[],
  ): { readonly hart: number; readonly units: number } {
    const { priorities } = this.#state;
    if (this.#kind === 'rw') return { hart: able[this.#below(able.length)]!, units: this.#distance() };
    if (this.#kind === 'rp') priorities[this.#below(priorities.length)] = this.#priority();
    else this.#lower(last.hart, spent);
    const hart = able.reduce((a, b) => (priorities[b]! > priorities[a]! ? b : a));
    if (this.#kind === 'rp') return { hart, units: this.#distance() };
    this.#state.streak = last.isWhole && hart === last.hart ? this.#state.streak + 1 : 0;
    return { hart, units: Math.min(PCT_TURN, (this.#state.changes.at(-1) ?? Infinity) - spent) };
  }

  /** Gives the hart the lowest priority at a point, or where it seems to spin. */
  #lower(hart: number, spent: number): void {
    const { priorities, changes, streak } = this.#state;
    let isLowered = streak >= PCT_STREAK;
    for (; (changes.at(-1) ?? Infinity) <= spent; isLowered = true) changes.pop();
    if (isLowered) priorities[hart] = this.#state.lowest--;
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
    const { priorities, changes } = this.#state;
    return {
      ...this.#state,
      rng: [...this.#rng.state],
      priorities: [...priorities],
      changes: [...changes],
    };
  }
}
