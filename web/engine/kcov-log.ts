// The work of kcov over time: the records of a run with their moments, and the contexts that the
// harts recorded into. Noted during the first execution.
import type { KcovOrigin, KcovSwitch } from '../../emulator/index.ts';
import type { RunEvent } from '../protocol.ts';
import { Numbers } from './numbers.ts';

/** Records whose moments are known; a run may have a hundred million. */
const RECORDS_MAX = 2_000_000;
const EVENTS_MAX = 10_000;

export interface Logged {
  readonly unit: number;
  readonly origin: KcovOrigin;
  readonly area: number;
  readonly isCmp: boolean;
}

export const nameOf = ({ context, tid, handle }: KcovOrigin): string =>
  context === 'task' ? `thread ${tid}` : `remote section 0x${handle.toString(16)}`;

export class KcovLog {
  readonly events: RunEvent[] = [];
  readonly #units = new Numbers();
  readonly #areas = new Numbers();
  readonly #indexes = new Numbers();
  readonly #origins: { readonly from: number; readonly origin: KcovOrigin; readonly isCmp: boolean }[] = [];
  readonly #recording = new Map<number, string>();
  /** Record numbers by buffer and place in it, in order. */
  #places: Map<number, Map<number, number[]>> | undefined;
  #isWhole = true;

  note(origin: KcovOrigin, isCmp: boolean, area: number, index: number, unit: number): void {
    if (this.#units.length >= RECORDS_MAX) {
      this.#isWhole = false;
      return;
    }
    const last = this.#origins.at(-1);
    if (last?.origin !== origin || last.isCmp !== isCmp)
      this.#origins.push({ from: this.#units.length, origin, isCmp });
    this.#units.push(unit);
    this.#areas.push(area);
    this.#indexes.push(index);
  }

  /** A hart records into another context: sections that begin and end, and modes that change. */
  switched({ hart, before, after }: KcovSwitch, unit: number): void {
    const say = (name: string): void => {
      if (this.events.length < EVENTS_MAX) this.events.push({ unit, hart, kind: 'kcov', name });
    };
    const isRemote = (context: KcovSwitch['after']): boolean =>
      context !== undefined && context.context !== 'task';
    const handle = (context: KcovSwitch['after']): string =>
      `remote section 0x${context!.handle.toString(16)}`;
    if (before && isRemote(before) && before.address !== after?.address) say(`${handle(before)} leaves`);
    if (after && isRemote(after) && before?.address !== after.address) say(`${handle(after)} enters`);
    if (before && !isRemote(before) && before.mode === 0 && this.#recording.delete(before.address))
      say(`thread ${before.tid} stops recording`);
    if (!after || isRemote(after) || after.mode === 0) return;
    const name = `thread ${after.tid} records`;
    if (this.#recording.get(after.address) === name) return;
    this.#recording.set(after.address, name);
    say(name);
  }

  get length(): number {
    return this.#units.length;
  }

  /** Are the records numbered as in a trace of `count` records? */
  isNumberedAs(count: number): boolean {
    return this.#isWhole && this.#units.length === count;
  }

  unitOf(record: number): number {
    return this.#units.at(record);
  }

  at(record: number): Logged {
    let [low, high] = [0, this.#origins.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#origins[middle]!.from <= record) low = middle;
      else high = middle;
    }
    const { origin, isCmp } = this.#origins[low]!;
    return { unit: this.#units.at(record), area: this.#areas.at(record), origin, isCmp };
  }

  /** The number of the last record that was made before a place; -1: none was. */
  before(unit: number): number {
    let [low, high] = [0, this.#units.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#units.at(middle) < unit) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** The records that the instruction at `unit` made: an edge has its own. */
  madeAt(unit: number): (Logged & { readonly index: number })[] {
    const made: (Logged & { readonly index: number })[] = [];
    for (let record = this.before(unit + 1); record >= 0 && this.#units.at(record) === unit; record--)
      made.push({ ...this.at(record), index: this.#indexes.at(record) });
    return made;
  }

  /** The record that wrote a place of a buffer last before a unit; undefined: it is not known. */
  writer(area: number, index: number, unit: number): number | undefined {
    this.#places ??= this.#byPlace();
    return this.#places
      .get(area)
      ?.get(index)
      ?.findLast(record => this.#units.at(record) < unit);
  }

  #byPlace(): Map<number, Map<number, number[]>> {
    const places = new Map<number, Map<number, number[]>>();
    for (let record = 0; record < this.#units.length; record++) {
      const [area, index] = [this.#areas.at(record), this.#indexes.at(record)];
      if (index < 0) continue; // lost
      let own = places.get(area);
      if (!own) places.set(area, (own = new Map()));
      const list = own.get(index);
      if (list) list.push(record);
      else own.set(index, [record]);
    }
    return places;
  }

  /** The records of each thread and remote section, by name; at most `most` places of each. */
  lanes(most: number): { name: string; units: number[] }[] {
    const lanes = new Map<string, number[]>();
    for (const [i, { from, origin }] of this.#origins.entries()) {
      const name = nameOf(origin);
      let units = lanes.get(name);
      if (!units) lanes.set(name, (units = []));
      const to = this.#origins[i + 1]?.from ?? this.#units.length;
      for (let record = from; record < to && units.length < most; record++)
        units.push(this.#units.at(record));
    }
    return [...lanes].map(([name, units]) => ({ name, units }));
  }
}
