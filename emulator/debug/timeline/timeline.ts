// A run that goes both ways. A place is a number of units since power-on (instructions and
// exceptions of all harts); `seek` goes to one by the nearest snapshot below it and exact
// re-execution, so it is the same place each time. Questions about the past ("what stored here
// last?") are answered by running intervals of the ladder again, from the latest to the earliest,
// and watching. Nothing here changes what the guest computes.
// Precondition: all input of the run is in the journal that the machine replays.

import { HostError } from '../../base/errors.ts';
import { layout as L } from '../../hart/index.ts';
import type { Machine, RunResult } from '../../machine/machine.ts';
import type { Snapshot } from '../../machine/snapshot.ts';
import { Breakpoints } from '../breakpoints.ts';
import { Ladder } from './ladder.ts';

const MIB = 2 ** 20;
const PAGE = 4096;

export interface TimelineOptions {
  /** Units between two snapshots at first; default one million. */
  readonly spacing?: number;
  /** Bytes that the pages of all snapshots may take; default 256 MiB. */
  readonly maxBytes?: number;
}

/** A store to watched memory. */
export interface Store {
  /** The place in front of the instruction that stored. */
  readonly unit: number;
  /** The hart that ran then, and its program counter. */
  readonly hart: number;
  readonly pc: bigint;
  /** `device`: the store was DMA, which the instruction may have started. */
  readonly by: 'hart' | 'device';
  readonly pa: number;
  readonly bytes: number;
}

/** A place in front of an instruction that was asked for. */
export interface Moment {
  readonly unit: number;
  readonly hart: number;
}

/** Units that are run at a time while the address is not mapped yet. */
const UNMAPPED_UNITS = 10_000;
/** Units that a search backwards looks through first; then so many times more. */
const WINDOW = 1000;
const WINDOW_GROWTH = 8;

export class Timeline {
  readonly #machine: Machine;
  readonly #breakpoints: Breakpoints;
  readonly #ladder: Ladder;

  /** Begins where the machine is now; places before that cannot be reached. */
  constructor(machine: Machine, { spacing = 1_000_000, maxBytes = 256 * MIB }: TimelineOptions = {}) {
    if (!Number.isSafeInteger(spacing) || spacing < 1)
      throw new HostError(`timeline: a spacing of ${spacing} units is not a whole number from 1 on`);
    this.#machine = machine;
    this.#breakpoints = new Breakpoints(machine);
    this.#ladder = new Ladder(maxBytes, spacing);
    this.#ladder.add(machine.snapshot());
  }

  /** Units since power-on. */
  get position(): number {
    return this.#machine.spent;
  }

  /** Snapshots that are kept, and the bytes of their pages. */
  get kept(): { readonly snapshots: number; readonly bytes: number } {
    return { snapshots: this.#ladder.rungs.length, bytes: this.#ladder.bytes };
  }

  /**
   * Goes to `unit`, or to the end of the run if that comes first: then the result says how it
   * ended, else it is `budget`. Errors: HostError for a place before the first.
   */
  seek(unit: number): RunResult {
    const [first] = this.#ladder.rungs;
    if (!Number.isSafeInteger(unit) || unit < first!.rest.spent)
      throw new HostError(`timeline: there is no place ${unit}; it begins at ${first!.rest.spent}`);
    const rung = this.#ladder.below(unit);
    const { spent } = this.#machine;
    if (unit < spent || rung.rest.spent > spent) this.#machine.restore(rung);
    return this.#advance(unit);
  }

  /** Runs to the end, or to `limit`; leaves snapshots on the way. */
  end(limit = Number.MAX_SAFE_INTEGER): RunResult {
    return this.#advance(limit);
  }

  /** A result other than `budget` is the end of the run. */
  #advance(to: number): RunResult {
    const machine = this.#machine;
    let result: RunResult = machine.stopped ?? { kind: 'budget' };
    while (machine.spent < to && result.kind === 'budget') {
      const next = Math.min(to, this.#ladder.next(machine.spent));
      result = machine.run(next - machine.spent);
      if (result.kind === 'budget' && this.#ladder.wants(machine.spent)) this.#ladder.add(machine.snapshot());
    }
    return result;
  }

  /**
   * The last store to [pa, pa + bytes) in front of the place `before`, by default this one; also
   * one that changed nothing. Undefined: there is none since the first place. Afterwards the
   * machine is where it was. Precondition: the bytes are in one page of RAM.
   * Time: one pass over the intervals in which anything stored to the page, from the latest on.
   */
  lastWrite(pa: number, bytes: number, before = this.position): Store | undefined {
    const machine = this.#machine;
    const page = Math.floor((pa - machine.ram.base) / PAGE);
    if (!machine.ram.has(pa, bytes) || Math.floor((pa + bytes - 1 - machine.ram.base) / PAGE) !== page)
      throw new HostError(`timeline: 0x${pa.toString(16)} and ${bytes} bytes are not in one page of ram`);
    const here = this.position;
    let found: Store | undefined;
    const rungs = this.#ladder.rungs.filter(({ rest }) => rest.spent < before);
    for (let i = rungs.length - 1; i >= 0 && !found; i--) {
      const above = rungs[i + 1];
      if (above && isUntouched(page, rungs[i]!, above)) continue;
      const end = above?.rest.spent ?? before;
      const at = this.#lastStore(rungs[i]!, end, pa, bytes);
      if (at !== undefined) found = this.#storeAt(at, pa, bytes);
    }
    this.seek(here);
    return found;
  }

  /**
   * Goes to the next place behind this one, up to `limit`, where a hart is about to execute the
   * instruction at `va`. Undefined: there is none; then the machine is where it was. `va` means
   * what it means to the hart that runs; while nothing is mapped there, it is tried again every
   * UNMAPPED_UNITS, and executions up to then are missed.
   */
  next(va: bigint, limit = Number.MAX_SAFE_INTEGER): Moment | undefined {
    const here = this.position;
    this.#machine.run(1);
    const found = this.#executions(va, limit).next().value;
    this.seek(found?.unit ?? here);
    return found;
  }

  /** The same for the last place in front of this one; looks at more and more of the past. */
  previous(va: bigint): Moment | undefined {
    const here = this.position;
    const first = this.#ladder.rungs[0]!.rest.spent;
    let found: Moment | undefined;
    for (let end = here, size = WINDOW; end > first && !found; size *= WINDOW_GROWTH) {
      const start = Math.max(first, end - size);
      this.seek(start);
      for (const moment of this.#executions(va, end)) found = moment;
      end = start;
    }
    this.seek(found?.unit ?? here);
    return found;
  }

  /** Executions of `va` from here to in front of `end`, in order; the machine goes along. */
  *#executions(va: bigint, end: number): Generator<Moment, undefined> {
    const machine = this.#machine;
    const breakpoints = this.#breakpoints;
    breakpoints.clear();
    breakpoints.add(va);
    while (machine.spent < end && !machine.stopped) {
      const isMapped = breakpoints.plant();
      const left = end - machine.spent;
      const { kind } = machine.run(isMapped ? left : Math.min(left, UNMAPPED_UNITS));
      breakpoints.lift();
      const { hit } = breakpoints;
      if (hit) {
        yield { unit: machine.spent, hart: hit.id };
        machine.run(1);
      } else if (kind !== 'budget') return;
    }
  }

  /** Units spent when the last store to the bytes between a rung and `end` was announced. */
  #lastStore(rung: Snapshot, end: number, pa: number, bytes: number): number | undefined {
    const machine = this.#machine;
    let last: number | undefined;
    machine.restore(rung);
    this.#observe(pa, bytes, () => {
      last = spentNow(machine);
    });
    while (machine.spent < end) if (machine.run(end - machine.spent).kind !== 'budget') break;
    machine.observeStores();
    return last;
  }

  /** The store itself. Where a store is announced, its instruction may be counted or not yet. */
  #storeAt(spent: number, pa: number, bytes: number): Store | undefined {
    const machine = this.#machine;
    for (const unit of [spent, spent - 1]) {
      if (unit < this.#ladder.rungs[0]!.rest.spent) continue;
      this.seek(unit);
      let store: Store | undefined;
      this.#observe(pa, bytes, (at, count, by) => {
        const hart = machine.scheduler.turn;
        store = { unit, hart, pc: machine.harts[hart]!.state.pc, by, pa: at, bytes: count };
      });
      machine.run(1);
      machine.observeStores();
      if (store) return store;
    }
    return undefined;
  }

  #observe(pa: number, bytes: number, seen: (pa: number, bytes: number, by: Store['by']) => void): void {
    const page = Math.floor((pa - this.#machine.ram.base) / PAGE);
    this.#machine.observeStores(page, (at, count, by) => {
      if (at < pa + bytes && pa < at + count) seen(at, count, by);
    });
  }
}

/**
 * A snapshot copies each page that was stored to since the one below, so a shared page was not.
 * Pages of zeros are not kept, so nothing is known of them.
 */
const isUntouched = (page: number, below: Snapshot, above: Snapshot): boolean =>
  below.pages.has(page) && below.pages.get(page) === above.pages.get(page);

/** Units spent by all harts, also in the middle of a quantum. */
function spentNow({ spent, harts, scheduler }: Machine): number {
  const { state } = harts[scheduler.turn]!;
  return spent + state.get(L.QUANTUM) - state.get(L.IC);
}
