// The order of the harts. Harts run one after another in slices of virtual time, so that a run is
// the same on every host. A turn ends with its slice or when its hart waits; an event that cuts a
// quantum does not end it, so events and the host's pauses do not change the order. With one hart
// there are no slices. A schedule (schedule.ts) replaces the slices from `begin` on.

import { Xoshiro } from '../base/xoshiro.ts';
import type { Access } from './next-access.ts';
import { Order, type OrderState } from './order.ts';
import type { Schedule } from './schedule.ts';

/**
 * Virtual time of a slice: long enough to make switching harts cheap, short enough for spin locks.
 */
const SLICE = 20_000;
const SLICE_RANDOM_MIN = 2_000;
const SLICE_RANDOM_SPAN = 40_000;

/** Turns of a random order: at least `min` units long, and less than `span` longer. */
interface Turns {
  readonly rng: Xoshiro;
  readonly min: number;
  readonly span: number;
}

interface Saved {
  readonly turn: number;
  readonly end: number;
  readonly rng?: Xoshiro['state'];
  readonly order?: OrderState | null;
}

export class Scheduler {
  readonly #harts: number;
  readonly #access: (hart: number) => Access | undefined;
  readonly #able: number[] = [];
  /** Of the machine; `begin` may have put others in their place. */
  #ownSeed: bigint | undefined;
  readonly #ownSchedule: Schedule | undefined;
  #seed: bigint | undefined;
  #schedule: Schedule | undefined;
  /** Absent: round robin. */
  #turns: Turns | undefined;
  /** Of a schedule that has begun. */
  #order: Order | undefined;
  #turn = 0;
  #end = 0;

  /** `access`: of the next instruction of a hart. */
  constructor(
    harts: number,
    seed: bigint | undefined,
    schedule?: Schedule,
    access: (hart: number) => Access | undefined = () => undefined,
  ) {
    this.#harts = harts;
    this.#access = access;
    this.#ownSeed = seed;
    this.#ownSchedule = schedule;
    this.#beOwn();
    this.reset();
  }

  #beOwn(): void {
    this.#seed = this.#ownSeed;
    this.#schedule = this.#ownSchedule;
  }

  /** The current hart. */
  get turn(): number {
    return this.#turn;
  }

  /** Virtual time at which the turn ends. */
  get end(): number {
    return this.#end;
  }

  /** A schedule is still to begin; a diverted run has left it. */
  get awaitsBegin(): boolean {
    return this.#schedule !== undefined && !this.#order && !this.#turns && this.#harts > 1;
  }

  /** The current hart runs until another one can, which ends its turn. */
  get isAlone(): boolean {
    return this.#order !== undefined && this.#end === Infinity;
  }

  /** The schedule would choose now among several harts. */
  isChoice(now: number, canRun: (hart: number) => boolean): boolean {
    if (!this.#order || (now < this.#end && !this.isAlone && canRun(this.#turn))) return false;
    return this.#listAble(canRun).length > 1;
  }

  /** Units under the schedule in which a hart ran and others could. `spent`: of all harts. */
  contended(spent: number): number {
    return this.#order?.contended(spent) ?? 0;
  }

  /** Begins the schedule, or another one with a seed of its own, at virtual time `now`. */
  begin(now: number, schedule = this.#schedule, seed = this.#seed): void {
    if (!schedule || this.#harts === 1) return;
    this.#schedule = schedule;
    this.#seed = seed;
    this.#turns = undefined;
    this.#order = Order.begin(schedule, seed ?? 0n, this.#harts);
    this.#end = now;
  }

  /** Chooses among the harts that can run; false = none can. `spent`: units of all harts. */
  pick(now: number, spent: number, canRun: (hart: number) => boolean): boolean {
    if (this.#harts === 1) {
      this.#end = Infinity;
      return canRun(0);
    }
    if (now < this.#end && !this.isAlone && canRun(this.#turn)) return true;
    if (this.#order) return this.#next(this.#order, now, spent, canRun);
    // Nothing is drawn while all harts wait: how often this is asked then depends on how the run is
    // cut.
    if (!this.#anyCanRun(canRun)) return false;
    const skip = this.#turns ? this.#turns.rng.next() % this.#harts : 0;
    for (let i = 1; i <= this.#harts; i++) {
      const hart = (this.#turn + skip + i) % this.#harts;
      if (!canRun(hart)) continue;
      this.#turn = hart;
      this.#end = now + this.#slice();
      return true;
    }
    return false;
  }

  /** Nothing is drawn while fewer than two harts can run. */
  #next(order: Order, now: number, spent: number, canRun: (hart: number) => boolean): boolean {
    const able = this.#listAble(canRun);
    if (able.length === 0) return false;
    if (able.length === 1) {
      if (!this.isAlone) order.alone(spent);
      this.#turn = able[0]!;
      this.#end = Infinity;
      return true;
    }
    const last = { hart: this.#turn, isWhole: canRun(this.#turn) };
    const { hart, units } = order.next(last, spent, { able, access: this.#access });
    this.#turn = hart;
    this.#end = now + units;
    return true;
  }

  /** Valid until the next call. */
  #listAble(canRun: (hart: number) => boolean): readonly number[] {
    const able = this.#able;
    let count = 0;
    for (let hart = 0; hart < this.#harts; hart++) if (canRun(hart)) able[count++] = hart;
    if (able.length !== count) able.length = count; // V8 is slow to shorten an array and to fill it
    return able;
  }

  #anyCanRun(canRun: (hart: number) => boolean): boolean {
    for (let hart = 0; hart < this.#harts; hart++) if (canRun(hart)) return true;
    return false;
  }

  reset(): void {
    this.#turns = this.#seeded();
    this.#order = undefined;
    this.#turn = 0;
    this.#end = SLICE;
  }

  /** At power-on: from now on the order of a machine with this seed. */
  reseed(seed: bigint): void {
    this.#ownSeed = seed;
    this.#seed = seed;
    this.reset();
  }

  #seeded(): Turns | undefined {
    if (this.#seed === undefined || this.#schedule) return undefined;
    return { rng: new Xoshiro(this.#seed), min: SLICE_RANDOM_MIN, span: SLICE_RANDOM_SPAN };
  }

  /**
   * From `now` on a random order, with turns of 1 to `longest` units, until the next `load`. The
   * current turn goes on for such a time.
   */
  divert(rng: Xoshiro, longest: number, now: number): void {
    if (this.#harts === 1) return;
    this.#order = undefined;
    this.#turns = { rng, min: 1, span: longest };
    this.#end = now + this.#slice();
  }

  save(): unknown {
    // Infinity does not survive JSON; -1 stands for it.
    return {
      turn: this.#turn,
      end: this.#end === Infinity ? -1 : this.#end,
      rng: this.#turns && [...this.#turns.rng.state],
      ...(this.#schedule && { order: this.#order?.save() ?? null }),
    };
  }

  load(state: unknown): void {
    const s = state as Saved;
    this.#turn = s.turn;
    this.#end = s.end === -1 ? Infinity : s.end;
    // Before the beginning of a schedule it is the machine's, not one of a later `begin`.
    if (!s.order) this.#beOwn();
    this.#turns = this.#seeded();
    if (this.#turns && s.rng) this.#turns.rng.state = [...s.rng];
    this.#order = this.#schedule && s.order ? Order.load(this.#schedule, s.order) : undefined;
  }

  #slice(): number {
    return this.#turns ? this.#turns.min + (this.#turns.rng.next() % this.#turns.span) : SLICE;
  }
}
