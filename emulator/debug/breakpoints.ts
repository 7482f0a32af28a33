// Breakpoints at virtual addresses, as marks on the physical instructions behind them
// (engine/breaks.ts). A hart executes code of a page only after it has fetched the page through its
// TLB, and each such fetch places the marks of that page first. So a breakpoint on a page that is
// mapped later, or again elsewhere, is never missed, and the guest's memory is not changed.

import type { Hart } from '../hart/index.ts';
import type { Machine } from '../machine/machine.ts';

const PAGE_BITS = 12n;
const HALVES = 2048;

/** A hart in front of a wanted instruction. */
export interface Reached {
  /** Units spent before it. */
  readonly unit: number;
  readonly hart: Hart;
  readonly pc: bigint;
}

export class Breakpoints {
  readonly #machine: Machine;
  #wanted: ReadonlySet<bigint> = new Set();
  /** As of the last `arm`; differs from what is wanted until the next run. */
  #armed = new Map<bigint, number[]>();
  #isChanged = false;
  #onReached: (reached: Reached) => boolean = () => true;
  /** The place from which the run goes on, which does not count: its unit, and each hart's pc. */
  #start: { readonly unit: number; readonly pcs: readonly bigint[] } | undefined;

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  /** Exactly these from now on; cheap when they are the same. */
  replace(wanted: ReadonlySet<bigint>): void {
    const isSame = wanted.size === this.#wanted.size && [...wanted].every(va => this.#wanted.has(va));
    if (isSame) return;
    this.#wanted = new Set(wanted);
    this.#isChanged = true;
  }

  /**
   * Before each run: `onReached` decides in front of each wanted instruction whether the run stops
   * there. `skips`: the instruction at which the run begins is executed without a question.
   */
  arm(onReached: (reached: Reached) => boolean, skips: boolean): void {
    const machine = this.#machine;
    this.#onReached = onReached;
    const pcs = machine.harts.map(({ state }) => state.pc);
    this.#start = skips ? { unit: machine.spent, pcs } : undefined;
    machine.breaks.onReached = () => this.#reached();
    if (!this.#isChanged) return;
    this.#isChanged = false;
    this.#armed = new Map();
    for (const va of this.#wanted) {
      const page = BigInt.asUintN(64, va) >> PAGE_BITS;
      const half = Number((va & 0xfffn) >> 1n);
      const halves = this.#armed.get(page);
      if (halves) halves.push(half);
      else this.#armed.set(page, [half]);
    }
    machine.breaks.clear();
    machine.observeFetches(this.#armed.size > 0 ? (lo, hi, page) => this.#mark(lo, hi, page) : undefined);
  }

  #mark(lo: number, hi: number, page: number): void {
    const va = (BigInt(hi >>> 0) << 20n) | BigInt(lo >>> 12);
    for (const half of this.#armed.get(va) ?? []) this.#machine.breaks.set(page * HALVES + half, true);
  }

  /** A mark is of a physical place: the hart may have come to it by another address. */
  #reached(): boolean {
    const machine = this.#machine;
    const hart = machine.harts[machine.scheduler.turn]!;
    const { pc } = hart.state;
    if (!this.#wanted.has(pc)) return false;
    const unit = machine.spentNow;
    if (unit === this.#start?.unit && pc === this.#start.pcs[hart.id]) return false;
    if (!this.#onReached({ unit, hart, pc })) return false;
    machine.pause();
    return true;
  }
}
