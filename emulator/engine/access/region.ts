// Accesses of compiled regions that neither the TLB nor the refill could serve.

import type { Ram } from '../../bus/ram.ts';
import type { Hart } from '../../hart/index.ts';
import { SLOW_ARG, SLOW_VALUE } from '../../hart/layout.ts';
import { SLOW_STORE } from '../jit/emit/memory.ts';

const ARG = SLOW_ARG >> 2;
const VALUE = SLOW_VALUE >> 2;

export class RegionAccess {
  readonly #ram: Ram;
  readonly #i32: Int32Array;
  readonly #view: DataView;

  constructor(ram: Ram) {
    this.#ram = ram;
    this.#i32 = new Int32Array(ram.memory.buffer);
    this.#view = new DataView(ram.memory.buffer);
  }

  /**
   * Serves accesses to plain RAM after a TLB miss or with a misaligned address: SLOW_ARG,
   * SLOW_VALUE, 0 = done. 1 leaves every other access to the interpreter. `kind`: as in
   * `MemoryPlace.slow`. A walk may store A or D, and a region does not know the time exactly, so
   * while stores are observed, it always leaves.
   */
  run({ mmu, ports }: Hart, kind: number): number {
    const lo = this.#i32[ARG]!;
    const bytes = 1 << (kind & 3);
    if ((lo & 0xfff) + bytes > 4096 || ports.code.isObserved?.()) return 1;
    const isStore = (kind & SLOW_STORE) !== 0;
    const { base, bytes: size, hostBase } = this.#ram;
    const page = mmu.locatePage(lo, this.#i32[ARG + 1]!, isStore ? 1 : 0, bytes) - base / 4096;
    if (!(page >= 0 && page < size / 4096)) return 1;
    const at = hostBase + page * 4096 + (lo & 0xfff);
    if (!isStore) this.#load(at, kind);
    else if (ports.code.holdsCode(page)) return 1;
    else {
      ports.code.dirtied?.(page);
      this.#store(at, bytes);
    }
    return 0;
  }

  #load(at: number, kind: number): void {
    const view = this.#view;
    const isUnsigned = (kind & 4) !== 0;
    let lo = 0;
    switch (kind & 3) {
      case 0:
        lo = isUnsigned ? view.getUint8(at) : view.getInt8(at);
        break;
      case 1:
        lo = isUnsigned ? view.getUint16(at, true) : view.getInt16(at, true);
        break;
      default:
        lo = view.getInt32(at, true);
    }
    this.#i32[VALUE] = lo;
    this.#i32[VALUE + 1] = (kind & 3) === 3 ? view.getInt32(at + 4, true) : isUnsigned ? 0 : lo >> 31;
  }

  #store(at: number, bytes: number): void {
    const view = this.#view;
    const lo = this.#i32[VALUE]!;
    if (bytes === 1) view.setInt8(at, lo);
    else if (bytes === 2) view.setInt16(at, lo, true);
    else view.setInt32(at, lo, true);
    if (bytes === 8) view.setInt32(at + 4, this.#i32[VALUE + 1]!, true);
  }
}
