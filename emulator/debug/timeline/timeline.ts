// A run that goes both ways. A place is a number of units since power-on (instructions and
// exceptions of all harts); `seek` goes to one by the nearest snapshot below it and exact
// re-execution, so it is the same place each time. A question about the past is answered by running
// intervals of the ladder again, from the latest to the earliest, and watching. Nothing here
// changes what the guest computes or can see.
// Precondition: input comes through the machine's journal, and only at the latest place.

import { HostError } from '../../base/errors.ts';
import { Journal } from '../../machine/journal.ts';
import type { Machine } from '../../machine/machine.ts';
import type { RunResult } from '../../machine/run-result.ts';
import type { Snapshot } from '../../machine/snapshot.ts';
import { Breakpoints, type Reached } from '../breakpoints.ts';
import { Ladder } from './ladder.ts';
import { type Found, type Moment, overlaps, pagesOf, type Range, type Stops, type Store } from './stops.ts';
import { isKeptBy, trapHandlers, trapOf } from './traps.ts';

const MIB = 2 ** 20;
const SPACING = 1_000_000;
/** A range to watch is bounded, because each of its pages is. */
const RANGE_MAX = 1 << 20;

/** A number of the host that belongs to a place: it goes back and forth with the machine. */
export interface Companion {
  save(): unknown;
  restore(saved: unknown): void;
}

export interface ForwardOptions {
  /** A place. */
  readonly limit?: number;
  /** Virtual time. */
  readonly time?: number;
  /** Does the instruction at the first place count, or its stores alone? Default: neither. */
  readonly here?: 'skipped' | 'stores' | 'counts';
}

export interface TimelineOptions {
  /** Units between two snapshots at first; default one million. */
  readonly spacing?: number;
  /** Bytes that the pages and disk blocks of all snapshots may take; default 256 MiB. */
  readonly maxBytes?: number;
  /** The end of a recorded run, in units and in virtual time; by default it ends by itself. */
  readonly end?: { readonly units: number; readonly time: number };
  readonly companions?: readonly Companion[];
}

/** Places between which to look, and the most to find. */
interface MomentsOptions {
  readonly from?: number;
  readonly to?: number;
  readonly most?: number;
}

/** A place, and the instruction that is about to run there. */
export type Execution = Moment & { readonly pc: bigint };

/** Asked of a caller in one piece of a search: some 50 us each. */
const QUESTIONS_MAX = 1000;

/** Work that yields from time to time, so that its caller can end it. */
export type InPieces<T> = Generator<undefined, T, undefined>;

export class Timeline {
  readonly machine: Machine;
  readonly #breakpoints: Breakpoints;
  readonly #options: TimelineOptions;
  readonly #companions: readonly Companion[];
  #ladder: Ladder;
  #saved = new WeakMap<Snapshot, readonly unknown[]>();
  #latest = { unit: 0, time: 0 };

  /** Begins where the machine is now; places before that cannot be reached. */
  constructor(machine: Machine, options: TimelineOptions = {}) {
    const { spacing = SPACING } = options;
    if (!Number.isSafeInteger(spacing) || spacing < 1)
      throw new HostError(`timeline: a spacing of ${spacing} units is not a whole number from 1 on`);
    this.machine = machine;
    this.#options = options;
    this.#companions = options.companions ?? [];
    this.#breakpoints = new Breakpoints(machine);
    this.#ladder = this.#newLadder();
  }

  /** The machine was changed from outside, or switched on again: history begins here. */
  restart(): void {
    this.#ladder = this.#newLadder();
  }

  #newLadder(): Ladder {
    const { spacing = SPACING, maxBytes = 256 * MIB } = this.#options;
    this.#latest = { unit: 0, time: 0 };
    this.#ladder = new Ladder(maxBytes, spacing);
    this.#add();
    return this.#ladder;
  }

  /** Units since power-on. */
  get position(): number {
    return this.machine.spent;
  }

  /** The first place. */
  get first(): number {
    return this.#ladder.rungs[0]!.rest.spent;
  }

  /** The latest place where the machine has been. */
  get latest(): number {
    return Math.max(this.#latest.unit, this.machine.spent);
  }

  /** Is this place before another one where the machine has been? */
  get isBehind(): boolean {
    const { unit, time } = this.#latest;
    return this.machine.spent < unit || this.machine.time < time;
  }

  /** Is it the run of a recording, with a known end? */
  get isRecorded(): boolean {
    return this.#options.end !== undefined;
  }

  /** Is there nothing behind this place? */
  get isAtEnd(): boolean {
    const { end } = this.#options;
    const { stopped, spent, time } = this.machine;
    return stopped !== undefined || (end !== undefined && (spent >= end.units || time >= end.time));
  }

  /** Snapshots that are kept, and the bytes of their pages. */
  get kept(): { readonly snapshots: number; readonly bytes: number } {
    return { snapshots: this.#ladder.rungs.length, bytes: this.#ladder.bytes };
  }

  get rungs(): readonly Snapshot[] {
    return this.#ladder.rungs;
  }

  /**
   * Goes to `unit`, or to the end of the run if that comes first: then the result says how it
   * ended, else it is `budget`. Errors: HostError for a place before the first.
   */
  seek(unit: number): RunResult {
    return exhaust(this.travel(unit));
  }

  /** As `seek`; yields from time to time, with the machine somewhere on the way. */
  *travel(unit: number): InPieces<RunResult> {
    if (!Number.isSafeInteger(unit) || unit < this.first)
      throw new HostError(`timeline: there is no place ${unit}; it begins at ${this.first}`);
    const rung = this.#ladder.below(unit);
    const { spent } = this.machine;
    if (unit < spent || rung.rest.spent > spent) this.restore(rung);
    return yield* this.#inPieces(this.#advance(unit));
  }

  /** Runs to the end, or to `limit`; leaves snapshots on the way. */
  end(limit = Number.MAX_SAFE_INTEGER): RunResult {
    return exhaust(this.travelToEnd(limit));
  }

  /** As `end`; yields from time to time. */
  travelToEnd(limit = Number.MAX_SAFE_INTEGER): InPieces<RunResult> {
    return this.#inPieces(this.#advance(limit));
  }

  /** Executes one unit. */
  step(): RunResult {
    return this.seek(this.position + 1);
  }

  /** Goes to a snapshot of `rungs`. */
  restore(rung: Snapshot): void {
    const { machine } = this;
    this.#note();
    // Live input was delivered once; from now on it arrives by itself.
    if (machine.journal.isLive) machine.journal = new Journal(machine.journal.entries);
    machine.restore(rung);
    const saved = this.#saved.get(rung)!;
    for (const [i, companion] of this.#companions.entries()) companion.restore(saved[i]);
  }

  /**
   * Runs to the next place behind this one, up to `limit`, where one of `stops` is met, and stays
   * there. Yields from time to time; a caller that does not go on finds the machine at some place
   * on the way.
   */
  *forward(
    stops: Stops,
    { limit = Number.MAX_SAFE_INTEGER, time = Infinity, here = 'skipped' }: ForwardOptions = {},
  ): InPieces<Found> {
    const { machine } = this;
    let found: Found | undefined;
    let storedAt: number | undefined;
    const arm = (hasStores: boolean): void => {
      this.#breakpoints.replace(stops.breakpoints ?? new Set());
      this.#breakpoints.arm(({ unit, hart, pc }) => {
        if (stops.accepts?.(hart, pc) === false) return ++questions >= QUESTIONS_MAX;
        found = { kind: 'breakpoint', unit, hart: hart.id, pc };
        return true;
      }, isAsked);
      if (hasStores)
        this.#observe(stops.stores ?? [], () => {
          storedAt ??= machine.spentNow;
          machine.pause();
        });
    };
    let result: RunResult = machine.stopped ?? { kind: 'budget' };
    let hasStores = here !== 'skipped';
    /** The breakpoint here was met before. */
    let isAsked = here !== 'counts';
    let questions = 0;
    while (this.position < limit && machine.time < time) {
      const to = hasStores ? Math.min(limit, this.#ladder.next(this.position)) : this.position + 1;
      arm(hasStores);
      for (const one of this.#advance(to, time)) {
        result = one;
        if (found || storedAt !== undefined || questions >= QUESTIONS_MAX) break;
      }
      this.#disarm();
      hasStores = true;
      isAsked = questions >= QUESTIONS_MAX;
      questions = 0;
      if (found || storedAt !== undefined || result.kind !== 'budget' || this.isAtEnd) break;
      yield;
    }
    if (storedAt !== undefined) {
      const store = this.#storeAt(storedAt, stops.stores ?? []);
      if (store) return { kind: 'store', ...store };
    }
    if (found) return found;
    return result.kind !== 'budget' || this.isAtEnd ? { kind: 'end', result } : { kind: 'limit' };
  }

  /**
   * Goes to the last place in front of this one where one of `stops` is met; `begin` leads to the
   * first place. Yields after each interval of the ladder, and in one with many questions.
   */
  *backward(stops: Stops, before = this.position): InPieces<Found> {
    const ranges = stops.stores ?? [];
    const pages = [...pagesOf(ranges, this.machine.ram.base)];
    const onlyStores = (stops.breakpoints?.size ?? 0) === 0;
    const rungs = this.#ladder.rungs.filter(({ rest }) => rest.spent < before);
    for (let i = rungs.length - 1; i >= 0; i--) {
      const above = rungs[i + 1];
      const isQuiet =
        onlyStores && above !== undefined && pages.every(page => isUntouched(page, rungs[i]!, above));
      if (isQuiet) continue;
      const found = yield* this.#lastIn(rungs[i]!, above?.rest.spent ?? before, stops);
      if (found) {
        this.seek(found.unit);
        return found;
      }
      stops.passed?.(rungs[i]!.rest.spent);
      yield;
    }
    this.seek(this.first);
    return { kind: 'begin' };
  }

  /**
   * The last store to [pa, pa + bytes) in front of the place `before`, by default this one; also
   * one that changed nothing. Undefined: there is none since the first place. Afterwards the
   * machine is where it was. Time: one pass over the intervals in which anything stored to the
   * pages, from the latest on. Errors: HostError for a range that is not RAM.
   */
  lastWrite(pa: number, bytes: number, before = this.position): Store | undefined {
    return exhaust(this.findLastWrite(pa, bytes, before));
  }

  /** As `lastWrite`; yields from time to time. A search that is ended early also goes back. */
  *findLastWrite(pa: number, bytes: number, before = this.position): InPieces<Store | undefined> {
    this.checkRange({ pa, bytes });
    const here = this.position;
    try {
      const found = yield* this.backward({ stores: [{ pa, bytes }] }, before);
      if (found.kind !== 'store') return undefined;
      const { kind, ...store } = found;
      return store;
    } finally {
      this.seek(here);
    }
  }

  /** Errors: HostError for a range that is not RAM, or too long to watch. */
  checkRange({ pa, bytes }: Range): void {
    if (!(bytes >= 1 && bytes <= RANGE_MAX) || !this.machine.ram.has(pa, bytes))
      throw new HostError(
        `timeline: 0x${pa.toString(16)} and ${bytes} bytes are not 1 to ${RANGE_MAX} bytes of ram`,
      );
  }

  /**
   * Goes to the next place behind this one, up to `limit`, where a hart is about to execute the
   * instruction at `va`. Undefined: there is none; then the machine is where it was. `va` means
   * what it means to the hart that runs.
   */
  next(va: bigint, limit = Number.MAX_SAFE_INTEGER): Moment | undefined {
    const here = this.position;
    const found = exhaust(this.forward({ breakpoints: new Set([va]) }, { limit }));
    return this.#momentOr(here, found);
  }

  /** The same for the last place in front of this one. */
  previous(va: bigint): Moment | undefined {
    const here = this.position;
    const found = exhaust(this.backward({ breakpoints: new Set([va]) }));
    return this.#momentOr(here, found);
  }

  #momentOr(here: number, found: Found): Moment | undefined {
    if (found.kind === 'breakpoint') return { unit: found.unit, hart: found.hart };
    this.seek(here);
    return undefined;
  }

  /**
   * The executions of the instructions at `vas` from `from` up to `to`, in order, at most `most` of
   * them. Afterwards the machine is where it was.
   */
  moments(vas: ReadonlySet<bigint>, options: MomentsOptions = {}): Execution[] {
    return exhaust(this.findMoments(vas, options));
  }

  /** As `moments`; yields from time to time. A search that is ended early also goes back. */
  *findMoments(
    vas: ReadonlySet<bigint>,
    { from = this.first, to = this.latest, most = 1000 }: MomentsOptions = {},
  ): InPieces<Execution[]> {
    const all: Execution[] = [];
    const handlers = this.#handlers(to);
    // An instruction that traps does not run, and is reached again when the trap is over. So the
    // last one is certain only when another follows.
    yield* this.visitInPieces(new Set([...vas, ...handlers]), { from, to }, ({ unit, hart, pc }) => {
      if (handlers.has(pc)) {
        const at = all.findLastIndex(one => one.hart === hart.id);
        if (at >= 0 && isKeptBy(trapOf(hart), unit, all[at]!)) all.splice(at, 1);
      }
      if (vas.has(pc)) all.push({ unit, hart: hart.id, pc });
      return all.length > most;
    });
    return all.slice(0, most);
  }

  /** Of the kernel that runs at `unit`. The machine stays. */
  #handlers(unit: number): Set<bigint> {
    const here = this.position;
    this.seek(Math.max(this.first, Math.min(unit, this.latest)));
    const handlers = trapHandlers(this.machine);
    this.seek(here);
    return handlers;
  }

  /**
   * Executes [from, to) again and calls `isEnough` in front of each instruction at `vas` until it
   * answers true. It may look at the hart. Afterwards the machine is where it was.
   */
  visit(
    vas: ReadonlySet<bigint>,
    options: Pick<MomentsOptions, 'from' | 'to'>,
    isEnough: (reached: Reached) => boolean,
  ): void {
    exhaust(this.visitInPieces(vas, options, isEnough));
  }

  /** As `visit`; yields from time to time. A search that is ended early also goes back. */
  *visitInPieces(
    vas: ReadonlySet<bigint>,
    { from = this.first, to = this.latest }: Pick<MomentsOptions, 'from' | 'to'>,
    isEnough: (reached: Reached) => boolean,
  ): InPieces<void> {
    const here = this.position;
    let last = -1;
    let isOver = false;
    try {
      yield* this.travel(Math.max(from, this.first));
      this.#breakpoints.replace(vas);
      this.#breakpoints.arm(reached => {
        if (reached.unit !== last && !isOver) isOver = isEnough(reached);
        last = reached.unit;
        return isOver;
      }, false);
      for (const _ of this.#advance(to)) {
        if (isOver) break;
        yield;
      }
    } finally {
      this.#disarm();
      this.seek(here);
    }
  }

  *#inPieces(results: Iterable<RunResult>): InPieces<RunResult> {
    let last: RunResult = this.machine.stopped ?? { kind: 'budget' };
    for (const result of results) {
      last = result;
      yield;
    }
    return last;
  }

  /** Runs to `to` or the end of the run in pieces; each result but the last is `budget`. */
  *#advance(to: number, until = Infinity): Generator<RunResult, undefined, undefined> {
    const { machine } = this;
    const { end } = this.#options;
    const limit = Math.min(to, end?.units ?? Infinity);
    const time = Math.min(until, end?.time ?? Infinity);
    while (machine.spent < limit && !machine.stopped && machine.time < time) {
      const next = Math.min(limit, this.#ladder.next(machine.spent));
      const result = machine.run(next - machine.spent, time - machine.time);
      if (result.kind === 'budget' && this.#ladder.wants(machine.spent)) this.#add();
      this.#note();
      yield result;
      if (result.kind !== 'budget') return;
    }
  }

  /** Leaves a snapshot of this place. */
  #add(): void {
    const rung = this.machine.snapshot();
    this.#saved.set(
      rung,
      this.#companions.map(companion => companion.save()),
    );
    this.#ladder.add(rung);
  }

  #note(): void {
    const { spent, time } = this.machine;
    if (time >= this.#latest.time) this.#latest = { unit: Math.max(spent, this.#latest.unit), time };
  }

  #disarm(): void {
    this.machine.observeStores();
    this.machine.breaks.onReached = () => false;
  }

  /** The last of `stops` between a rung and `end`; the machine is anywhere afterwards. */
  *#lastIn(rung: Snapshot, end: number, stops: Stops): InPieces<(Found & Moment) | undefined> {
    const ranges = stops.stores ?? [];
    const { machine } = this;
    let reached: (Found & Moment) | undefined;
    let storedAt: number | undefined;
    let questions = 0;
    const arm = (skips: boolean): void => {
      this.#breakpoints.replace(stops.breakpoints ?? new Set());
      this.#breakpoints.arm(({ unit, hart, pc }) => {
        if (unit < end && stops.accepts?.(hart, pc) !== false)
          reached = { kind: 'breakpoint', unit, hart: hart.id, pc };
        return stops.accepts !== undefined && ++questions >= QUESTIONS_MAX;
      }, skips);
      this.#observe(ranges, () => {
        storedAt = machine.spentNow;
      });
    };
    this.restore(rung);
    arm(false);
    for (const _ of this.#advance(end)) {
      if (questions < QUESTIONS_MAX) continue;
      questions = 0;
      this.#disarm(); // a caller that does not go on moves the machine
      yield;
      arm(true);
    }
    this.#disarm();
    if (storedAt === undefined || (reached && reached.unit > storedAt)) return reached;
    const store = this.#storeAt(storedAt, ranges);
    // In the past a store is met before the breakpoint on its instruction.
    return store && store.unit >= (reached?.unit ?? -1) ? { kind: 'store', ...store } : reached;
  }

  /**
   * The store itself; the machine is in front of it. Where a store is announced, its instruction
   * may be counted or not yet.
   */
  #storeAt(spent: number, ranges: readonly Range[]): Store | undefined {
    const { machine } = this;
    for (const unit of [spent, spent - 1]) {
      if (unit < this.first) continue;
      this.seek(unit);
      let store: Store | undefined;
      this.#observe(ranges, (pa, bytes, by) => {
        const hart = machine.scheduler.turn;
        store = { unit, hart, pc: machine.harts[hart]!.state.pc, by, pa, bytes };
      });
      machine.run(1);
      machine.observeStores();
      this.seek(unit);
      if (store) return store;
    }
    return undefined;
  }

  #observe(ranges: readonly Range[], seen: (pa: number, bytes: number, by: Store['by']) => void): void {
    this.machine.observeStores(pagesOf(ranges, this.machine.ram.base), (pa, bytes, by) => {
      if (ranges.some(range => overlaps(range, pa, bytes))) seen(pa, bytes, by);
    });
  }
}

/** The result of a search, without pauses. */
export function exhaust<T>(search: InPieces<T>): T {
  for (;;) {
    const { done, value } = search.next();
    if (done) return value;
  }
}

/**
 * A snapshot copies each page that was stored to since the one below, so a shared page was not.
 * Pages of zeros are not kept, so nothing is known of them.
 */
const isUntouched = (page: number, below: Snapshot, above: Snapshot): boolean =>
  below.pages.has(page) && below.pages.get(page) === above.pages.get(page);
