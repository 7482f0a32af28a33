// How the guest runs under GDB, forwards and backwards, until something that GDB wants to know of.
// A search goes in pieces, so that the connection stays alive and can interrupt it.

import { type Hart, layout as L } from '../hart/index.ts';
import type { Machine } from '../machine/machine.ts';
import type { RunResult } from '../machine/run-result.ts';
import { translate } from './guest-memory.ts';
import type { Found, Range, Stops } from './timeline/stops.ts';
import { exhaust, type Timeline } from './timeline/timeline.ts';
import { type WatchHit, type Watchpoint, Watchpoints } from './watchpoints.ts';

const SIGTRAP = 5;
/** Units between two tries to find the memory of a watchpoint that is not mapped yet. */
const SLICE_UNMAPPED = 10_000;
/** Units of one piece of a search that looks at each instruction. */
const STEPS = 20_000;
const PAGE = 4096;

type Search = Generator<undefined, Stop, undefined>;

/** Why the guest stands, in the words of the protocol. */
export interface Stop {
  readonly hart: number;
  /** Of a stop reply, behind the thread: `swbreak:;`. */
  readonly reason: string;
  /** The run is over. */
  readonly end?: RunResult;
}

export class GdbRun {
  readonly timeline: Timeline;
  readonly breakpoints = new Set<bigint>();
  readonly watchpoints: Watchpoints;
  #search: Search | undefined;
  #origin = 0;
  #limits = { units: 0, time: Infinity };

  constructor(timeline: Timeline) {
    this.timeline = timeline;
    this.watchpoints = new Watchpoints(timeline.machine);
  }

  get #machine(): Machine {
    return this.timeline.machine;
  }

  /** The guest goes on, one way or the other, with the next `run`. */
  start(isBackward: boolean): void {
    this.#origin = this.timeline.position;
    this.#search = isBackward ? this.#backward() : this.#forward();
  }

  /** Goes back to the place where a search into the past began. */
  abandon(): void {
    this.#search = undefined;
    if (this.timeline.position < this.#origin) this.timeline.seek(this.#origin);
  }

  /**
   * A piece of the search, of at most so many units and so much virtual time; undefined: it goes
   * on.
   */
  run(units: number, duration: number): Stop | undefined {
    const { spent, time } = this.#machine;
    this.#limits = { units: spent + units, time: time + duration };
    this.#search ??= this.#forward();
    const { done, value } = this.#search.next();
    if (!done) return undefined;
    this.#search = undefined;
    return value;
  }

  /** Executes one unit of a hart; those of others that come first, too. */
  step(hart: number, most: number): Stop {
    const { timeline } = this;
    const { harts } = this.#machine;
    const watched = this.#ranges();
    const stops: Stops = { stores: watched };
    const before = unitsOf(harts[hart]!);
    for (let n = 0; n < most; n++) {
      const found = exhaust(timeline.forward(stops, { limit: timeline.position + 1, here: 'stores' }));
      if (found.kind === 'store' && found.hart === hart) return this.#stored(found);
      if (found.kind === 'store') timeline.step();
      if (found.kind === 'end') return this.#ended(found);
      if (unitsOf(harts[hart]!) !== before) break;
    }
    return { hart, reason: '' };
  }

  /** Goes back by one unit of a hart: in front of the last instruction that it executed. */
  stepBack(hart: number): Stop {
    const { timeline } = this;
    const own = this.#machine.harts[hart]!;
    const now = unitsOf(own);
    let [low, high] = [timeline.first, timeline.position];
    timeline.seek(low);
    if (unitsOf(own) === now) return this.#atBegin();
    // The hart's count grows with the place: its last unit is in front of the first with this one.
    if (high - 1 > low) {
      timeline.seek(high - 1);
      if (unitsOf(own) < now) return { hart, reason: '' };
    }
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      timeline.seek(middle);
      if (unitsOf(own) < now) low = middle;
      else high = middle;
    }
    timeline.seek(low);
    return { hart, reason: '' };
  }

  *#forward(): Search {
    if (this.watchpoints.hasReads) return yield* this.#stepForward();
    let here: 'stores' | 'counts' = 'stores';
    for (;;) {
      const stores = this.#ranges();
      const isWhole = stores.length >= this.watchpoints.all.length;
      const { units, time } = this.#limits;
      const limit = isWhole ? units : Math.min(units, this.timeline.position + SLICE_UNMAPPED);
      const search = this.timeline.forward({ breakpoints: this.breakpoints, stores }, { limit, time, here });
      here = 'counts';
      for (;;) {
        const { done, value } = search.next();
        if (!done) {
          yield;
          continue;
        }
        if (value.kind === 'breakpoint') return { hart: value.hart, reason: 'swbreak:;' };
        if (value.kind === 'store') return this.#stored(value);
        if (value.kind === 'end' && value.result.kind !== 'halt') return this.#ended(value);
        if (value.kind === 'end' && this.timeline.isRecorded) return this.#ended(value);
        break;
      }
      yield;
    }
  }

  *#backward(): Search {
    if (this.watchpoints.hasReads) return yield* this.#stepBackward();
    const search = this.timeline.backward({ breakpoints: this.breakpoints, stores: this.#ranges() });
    for (;;) {
      const { done, value } = search.next();
      if (!done) {
        yield;
        continue;
      }
      if (value.kind === 'breakpoint') return { hart: value.hart, reason: 'swbreak:;' };
      if (value.kind !== 'store') return this.#atBegin();
      const stop = this.#stored(value);
      // GDB steps back over the store, and compares.
      this.timeline.seek(value.unit + 1);
      return stop;
    }
  }

  /**
   * Instruction by instruction, for watchpoints of loads: until the next one accesses a watched
   * range. GDB expects RISC-V to stop before the access, and steps over it to compare. If the
   * hart's turn begins with this instruction, the access is found after it.
   */
  *#stepForward(): Search {
    for (let n = 1; ; n++) {
      const { scheduler, harts } = this.#machine;
      const { turn } = scheduler;
      const ahead = harts.map(hart => this.watchpoints.ahead(hart));
      if (ahead[turn]) return hit(turn, ahead[turn]);
      const result = this.timeline.step();
      if (this.timeline.isAtEnd || (result.kind !== 'budget' && result.kind !== 'halt'))
        return this.#ended({ kind: 'end', result });
      const now = scheduler.turn;
      const behind = now === turn ? undefined : ahead[now];
      if (behind && harts[now]!.state.pc === behind.next) return hit(now, behind);
      if (this.breakpoints.has(harts[now]!.state.pc)) return { hart: now, reason: 'swbreak:;' };
      if (n % STEPS === 0 || result.kind === 'halt') yield;
    }
  }

  *#stepBackward(): Search {
    const { timeline } = this;
    const rungs = timeline.rungs.filter(({ rest }) => rest.spent < this.#origin);
    for (let end = this.#origin; rungs.length > 0; ) {
      const rung = rungs.pop()!;
      timeline.restore(rung);
      let last: { readonly at: number; readonly stop: Stop } | undefined;
      for (let n = 1; timeline.position < end; n++) {
        const { scheduler, harts } = this.#machine;
        const at = timeline.position;
        const before = harts.map(hart => ({ pc: hart.state.pc, ahead: this.watchpoints.ahead(hart) }));
        timeline.step();
        const { turn } = scheduler;
        const { pc, ahead } = before[turn]!;
        if (ahead) last = { at: at + 1, stop: hit(turn, ahead) };
        else if (this.breakpoints.has(pc)) last = { at, stop: { hart: turn, reason: 'swbreak:;' } };
        if (n % STEPS === 0) yield;
      }
      if (last) {
        timeline.seek(last.at);
        return last.stop;
      }
      end = rung.rest.spent;
    }
    timeline.seek(timeline.first);
    return this.#atBegin();
  }

  /** The memory that the watchpoints of stores mean now, page by page. */
  #ranges(): (Range & { readonly of: Watchpoint })[] {
    const hart = this.#machine.harts[this.#machine.scheduler.turn]!;
    return this.watchpoints.all.flatMap(of => {
      const ranges: (Range & { readonly of: Watchpoint })[] = [];
      for (let done = 0; done < Number(of.bytes); ) {
        const pa = translate(this.#machine, hart, of.va + BigInt(done));
        if (pa === undefined) return [];
        const bytes = Math.min(Number(of.bytes) - done, PAGE - (pa % PAGE));
        if (this.#machine.ram.has(pa, bytes)) ranges.push({ pa, bytes, of });
        done += bytes;
      }
      return ranges;
    });
  }

  #stored(store: Found & { readonly kind: 'store' }): Stop {
    const range = this.#ranges().find(
      ({ pa, bytes }) => store.pa < pa + bytes && pa < store.pa + store.bytes,
    );
    const { kind, va } = range?.of ?? this.watchpoints.all[0]!;
    return { hart: store.hart, reason: `${kind}:${va.toString(16)};` };
  }

  #ended({ result }: Found & { readonly kind: 'end' }): Stop {
    const hart = this.#machine.scheduler.turn;
    return { hart, reason: this.timeline.isRecorded ? 'replaylog:end;' : '', end: result };
  }

  #atBegin(): Stop {
    return { hart: this.#machine.scheduler.turn, reason: 'replaylog:begin;' };
  }
}

/** Units that the hart has spent. */
export const unitsOf = ({ state }: Hart): bigint => state.get64(L.INSTRET);

const hit = (hart: number, { kind, va }: WatchHit): Stop => ({
  hart,
  reason: `${kind}:${va.toString(16)};`,
});

/** The text of a stop reply; signal 5 unless another one is given. */
export const stopReply = ({ hart, reason }: Stop, signal = SIGTRAP): string =>
  `T0${signal}thread:${hart + 1};${reason}`;
