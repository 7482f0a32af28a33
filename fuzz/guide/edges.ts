// Coverage of executions as exact sets: each edge is a pair of points that ran one after the other
// in one call, with no hashing that could make two edges one.
import type { Execution, Executor } from '../executor/executor.ts';
import { HALVES } from '../executor/records.ts';

/** Points are numbered by their place in the kernel: two bytes each, in the low 4 GiB of it. */
const POINTS = 2 ** 24;

/** A set of whole numbers from 1 on, in open addressing. */
export class NumberSet {
  #slots = new Float64Array(1 << 14);
  #mask = (1 << 14) - 1;
  size = 0;

  has(value: number): boolean {
    for (let at = place(value) & this.#mask; ; at = (at + 1) & this.#mask) {
      const there = this.#slots[at]!;
      if (there === value) return true;
      if (there === 0) return false;
    }
  }

  /** True: it was not there before. */
  add(value: number): boolean {
    for (let at = place(value) & this.#mask; ; at = (at + 1) & this.#mask) {
      const there = this.#slots[at]!;
      if (there === value) return false;
      if (there !== 0) continue;
      this.#slots[at] = value;
      if (++this.size * 2 > this.#slots.length) this.#grow();
      return true;
    }
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Float64Array(old.length * 2);
    this.#mask = this.#slots.length - 1;
    this.size = 0;
    for (const value of old) if (value !== 0) this.add(value);
  }
}

const place = (value: number): number =>
  (Math.imul(value | 0, 0x9e37_79b1) ^ Math.imul((value / 0x1_0000_0000) | 0, 0x85eb_ca6b)) >>> 8;

/** The elements of coverage that campaigns collect. */
export type Signal = 'edge' | 'point';

/**
 * Gives each element of what an execution has covered to `see`, some of them more than once: those
 * of the calls themselves, and those of deferred work.
 */
export function covered(
  executor: Executor,
  execution: Execution,
  signal: Signal,
  see: (element: number) => void,
): void {
  if (execution.mode !== 'pc') return;
  for (const call of execution.calls) walk(executor.recordsOf(call), call.begin, call.end, signal, see);
  walk(executor.extra, 0, execution.extra, signal, see);
}

function walk(
  records: Uint32Array,
  begin: number,
  end: number,
  signal: Signal,
  see: (element: number) => void,
): void {
  const isEdge = signal === 'edge';
  let before = 0;
  for (let at = HALVES.pc * (begin + 1), last = HALVES.pc * (end + 1); at < last; at += HALVES.pc) {
    const point = (records[at]! & 0x1ff_ffff) >>> 1;
    see(isEdge ? before * POINTS + point : point);
    before = point;
  }
}
