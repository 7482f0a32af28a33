// A run in both directions, as users of the library see it.

import { oneOf } from '../../emulator/base/arguments.ts';
import { KcovboxError } from '../../emulator/base/errors.ts';
import {
  EVENT_KINDS,
  type Machine as Inner,
  type Timeline as InnerTimeline,
  nthEvent,
  translate,
} from '../../emulator/index.ts';
import { ADDRESS, check, EVENT_NUMBER, HART, MOMENTS, STORE_BYTES, UNITS } from './checks.ts';
import type { MomentsOptions } from './options.ts';
import type { StopReason } from './stop.ts';

/** A place of a run, in front of an instruction. */
export interface Moment {
  /** Units since power-on: instructions and exceptions of all harts. */
  readonly unit: number;
  /** The hart that executes next there. */
  readonly hart: number;
}

/** A store to memory. */
export interface StoreMoment extends Moment {
  /** Address of the instruction. */
  readonly pc: bigint;
  /** `device`: the store was DMA; hart and pc are those of the instruction that ran then. */
  readonly by: 'hart' | 'device';
  /** Physical address and number of the bytes stored. */
  readonly address: number;
  readonly bytes: number;
}

/** Events that are counted: coverage records, and traps to S-mode by their kind. */
export type EventKind = 'record' | 'syscall' | 'interrupt' | 'exception';

/**
 * A run that goes back and forth, from `Machine.timeline`. A place is the same each time: the
 * machine goes to it by the nearest snapshot and exact re-execution. While a timeline is in use,
 * the machine must not be run, restored, written to or given input by other means.
 */
export class Timeline {
  readonly #inner: InnerTimeline;
  readonly #machine: Inner;

  /** @internal */
  constructor(inner: InnerTimeline) {
    this.#inner = inner;
    this.#machine = inner.machine;
  }

  /** Units since power-on. */
  get position(): number {
    return this.#inner.position;
  }

  /** The latest place where the machine has been. */
  get latest(): number {
    return this.#inner.latest;
  }

  /**
   * Goes to a place, or to the end of the run if that comes first.
   *
   * @returns `budget` at the place; else how the run ended.
   * @throws KcovboxError of kind `machine` for a place before the first.
   */
  seek(unit: number): StopReason {
    check('Timeline.seek', ['unit', unit, UNITS]);
    return this.#inner.seek(unit);
  }

  /** Runs to the end of the run, or to a place; leaves snapshots on the way. */
  end(limit: number = Number.MAX_SAFE_INTEGER): StopReason {
    check('Timeline.end', ['limit', limit, UNITS]);
    return this.#inner.end(Math.min(limit, Number.MAX_SAFE_INTEGER));
  }

  /**
   * The last store to memory in front of this place, also one that changed nothing. The machine
   * stays.
   *
   * @param address - virtual, in the view of `hart`; all bytes are in one page.
   * @returns undefined: there is none since the timeline's first place.
   * @throws KcovboxError of kind `machine` if no RAM is mapped there.
   */
  lastWrite(address: bigint | number, bytes: number, hart = 0): StoreMoment | undefined {
    check(
      'Timeline.lastWrite',
      ['address', address, ADDRESS],
      ['bytes', bytes, STORE_BYTES],
      ['hart', hart, HART],
    );
    const own = this.#machine.harts[hart];
    const pa = own && translate(this.#machine, own, BigInt.asUintN(64, BigInt(address)));
    if (pa === undefined)
      throw new KcovboxError(
        'machine',
        `Timeline.lastWrite: nothing is mapped at ${address} for hart ${hart}`,
      );
    const store = this.#inner.lastWrite(pa, bytes);
    if (!store) return undefined;
    const { unit, hart: by, pc } = store;
    return { unit, hart: by, pc, by: store.by, address: store.pa, bytes: store.bytes };
  }

  /**
   * The executions of an instruction, in order. The machine stays.
   *
   * @param pc - virtual address, in the view of the hart that executes.
   */
  moments(pc: bigint | number, options: MomentsOptions = {}): Moment[] {
    check('Timeline.moments', ['pc', pc, ADDRESS], ['options', options, MOMENTS]);
    const all = this.#inner.moments(new Set([BigInt.asUintN(64, BigInt(pc))]), options);
    return all.map(({ unit, hart }) => ({ unit, hart }));
  }

  /** Goes to the next execution of an instruction; without one, nowhere. */
  next(pc: bigint | number): Moment | undefined {
    check('Timeline.next', ['pc', pc, ADDRESS]);
    return this.#inner.next(BigInt.asUintN(64, BigInt(pc)));
  }

  /** Goes to the last execution in front of this place; without one, nowhere. */
  previous(pc: bigint | number): Moment | undefined {
    check('Timeline.previous', ['pc', pc, ADDRESS]);
    return this.#inner.previous(BigInt.asUintN(64, BigInt(pc)));
  }

  /**
   * The place of the n-th event since power-on, counted from 1: behind the instruction that made a
   * record; at the handler's first instruction for a trap. Counts to the latest place. The machine
   * stays.
   *
   * @returns undefined: there are fewer.
   */
  event(kind: EventKind, n: number): Moment | undefined {
    check('Timeline.event', ['kind', kind, KIND], ['n', n, EVENT_NUMBER]);
    return nthEvent(this.#inner, kind, n);
  }
}

const KIND = oneOf(...EVENT_KINDS);
