// Virtual time and its alarms. Time is the number of instructions that all harts have retired; the
// host's clock is not used. Alarms of one instruction fire in the order in which they were armed
// (the sequence number breaks ties). An alarm is disarmed before it fires, so that it may arm
// itself again. `next()` is Infinity when no alarm is armed.
//
// No alarm can be armed at or before the present: such a time becomes the next unit. Therefore
// `fireDue` calls each alarm at most once, and a device that computes a time in the past is called
// once per unit, not endlessly within one.

import type { Alarm, ClockPort } from '../bus/device.ts';

const ON_TIME = (): number => 0;

interface Entry {
  readonly name: string;
  readonly fire: () => void;
  at: number;
  seq: number;
}

export class Clock implements ClockPort {
  /**
   * Returns the current time; the machine replaces it, because only the machine knows the progress
   * of a running quantum.
   */
  source: () => number = () => 0;
  /**
   * Called when an alarm becomes the next one, so that the machine can shorten the running quantum.
   */
  onEarlier: (at: number) => void = () => {};
  /** Units by which the next alarm is late: 0 in a run; drawn in one that was diverted. */
  #lateness: () => number = ON_TIME;
  readonly nsPerUnit: number;
  readonly #entries = new Map<string, Entry>();
  #seq = 0;
  /** The time for which alarms currently fire. */
  #firing = -Infinity;

  constructor(nsPerUnit = 1) {
    this.nsPerUnit = nsPerUnit;
  }

  now(): number {
    return this.source();
  }

  alarm(name: string, fire: () => void): Alarm {
    if (this.#entries.has(name)) throw new Error(`alarm ${name} exists already`);
    const entry: Entry = { name, fire, at: Infinity, seq: 0 };
    this.#entries.set(name, entry);
    return {
      set: at => this.#arm(entry, at),
      clear: () => {
        entry.at = Infinity;
      },
      get at() {
        return entry.at;
      },
    };
  }

  /** Time of the next alarm; Infinity = no alarm is armed. */
  next(): number {
    let at = Infinity;
    for (const entry of this.#entries.values()) if (entry.at < at) at = entry.at;
    return at;
  }

  /**
   * Fires the alarms due at `now`, in order; each alarm at most once, because `#arm` refuses the
   * past.
   */
  fireDue(now: number): void {
    this.#firing = now;
    for (let entry = this.#first(now); entry; entry = this.#first(now)) {
      entry.at = Infinity;
      entry.fire();
    }
    this.#firing = -Infinity;
  }

  reset(): void {
    for (const entry of this.#entries.values()) entry.at = Infinity;
    this.#seq = 0;
    this.#lateness = ON_TIME;
  }

  /**
   * From now on each alarm is late by so many units, those that are set already too, until the next
   * `load`. Devices and timers allow for it: nothing promises when an interrupt arrives.
   */
  delay(lateness: () => number): void {
    this.#lateness = lateness;
    for (const entry of this.#entries.values()) if (entry.at !== Infinity) entry.at += lateness();
  }

  /** Of all alarms. */
  get names(): Iterable<string> {
    return this.#entries.keys();
  }

  save(): unknown {
    const armed = [...this.#entries.values()].filter(e => e.at !== Infinity);
    armed.sort((a, b) => a.seq - b.seq);
    return armed.map(e => [e.name, e.at]);
  }

  load(state: unknown): void {
    this.reset();
    for (const [name, at] of state as [string, number][]) {
      const entry = this.#entries.get(name);
      if (!entry) throw new Error(`snapshot has an alarm ${name} that this machine lacks`);
      entry.at = at;
      entry.seq = this.#seq++;
    }
  }

  #arm(entry: Entry, wanted: number): void {
    const soonest = Math.max(this.now(), this.#firing) + 1;
    const isLater = wanted > soonest; // NaN is not
    const at = (isLater ? wanted : soonest) + this.#lateness();
    const earlier = at < this.next();
    entry.at = at;
    entry.seq = this.#seq++;
    if (earlier) this.onEarlier(at);
  }

  #first(now: number): Entry | undefined {
    let best: Entry | undefined;
    for (const e of this.#entries.values()) {
      if (e.at > now || e.at === Infinity) continue;
      if (!best || e.at < best.at || (e.at === best.at && e.seq < best.seq)) best = e;
    }
    return best;
  }
}
