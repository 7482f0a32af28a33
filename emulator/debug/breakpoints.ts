// Breakpoints as `ebreak` in guest memory while the guest runs; they are removed whenever it stops.
// The hart calls `SystemUnit.breakpoint` before an `ebreak` traps, so one of ours stops the run
// before the instruction. An address that is not mapped yet (of a program that has not started) is
// tried again before every slice, and slices are short as long as there is one; until then the
// breakpoint can be missed.

import type { Hart } from '../hart/index.ts';
import type { Machine } from '../machine/machine.ts';
import { translate } from './guest-memory.ts';

const C_EBREAK = 0x9002;
/** The limit, because all are inserted and removed in every slice. */
const BREAKPOINTS_MAX = 1024;

export class Breakpoints {
  readonly #machine: Machine;
  readonly #wanted = new Set<bigint>();
  /** Physical address -> original half-word. */
  readonly #planted = new Map<number, number>();
  /** The hart that reached one in this run. */
  hit: Hart | undefined;

  constructor(machine: Machine) {
    this.#machine = machine;
    for (const hart of machine.harts) hart.unit.breakpoint = () => this.#met(hart);
  }

  /** False: there are too many already. */
  add(va: bigint): boolean {
    if (this.#wanted.size >= BREAKPOINTS_MAX && !this.#wanted.has(va)) return false;
    this.#wanted.add(va);
    return true;
  }

  delete(va: bigint): void {
    this.#wanted.delete(va);
  }

  clear(): void {
    this.#wanted.clear();
  }

  has(va: bigint): boolean {
    return this.#wanted.has(va);
  }

  /** Inserts them; false = some address is not mapped. */
  plant(): boolean {
    this.hit = undefined;
    let all = true;
    const { ram, harts, scheduler } = this.#machine;
    for (const va of this.#wanted) {
      const pa = translate(this.#machine, harts[scheduler.turn]!, va);
      if (pa === undefined || !ram.has(pa, 2)) {
        all = false;
      } else if (!this.#planted.has(pa)) {
        this.#planted.set(pa, ram.read16(pa));
        ram.write16(pa, C_EBREAK);
      }
    }
    return all;
  }

  lift(): void {
    const { ram } = this.#machine;
    for (const [pa, half] of this.#planted) {
      // The guest may have loaded other code there meanwhile.
      if (ram.read16(pa) === C_EBREAK) ram.write16(pa, half);
    }
    this.#planted.clear();
  }

  #met(hart: Hart): boolean {
    const pa = translate(this.#machine, hart, hart.state.pc);
    if (pa === undefined || !this.#planted.has(pa)) return false;
    this.hit = hart;
    this.#machine.pause();
    return true;
  }
}
