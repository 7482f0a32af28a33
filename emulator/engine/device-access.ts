// The short way to a device: an aligned load or store in a page that the TLB remembers as a device's. Everything else of the slow
// arm, and every fault, is the hart's (emulator/hart/access.ts). Hot: no allocation, no BigInt.

import type { Mapping } from '../bus/bus.ts';
import type { Ram } from '../bus/ram.ts';
import type { Hart } from '../hart/index.ts';
import { DATA_VIEW, SLOW_ARG, SLOW_VALUE, TLB_BYTES, TLB_READ, TLB_SLOW, TLB_WRITE } from '../hart/layout.ts';

const ARG = SLOW_ARG >> 2;
const VALUE = SLOW_VALUE >> 2;

export class DeviceAccess {
  readonly #i32: Int32Array;
  /** Pages from here on may be RAM: those with decoded code have slow entries, too. */
  readonly #ramPage: number;
  /** Who answered last, and the widths that it allows, as bits. */
  #mapping: Mapping | undefined;
  #widths = 0;

  constructor(ram: Ram) {
    this.#i32 = new Int32Array(ram.memory.buffer);
    this.#ramPage = ram.base / 4096;
  }

  /** As `SlowAccess.load`; false = nothing has happened. Doublewords are left to the hart. */
  load(hart: Hart, funct3: number): boolean {
    const log2 = funct3 & 3;
    const pa = this.#devicePage(TLB_READ, 1 << log2);
    if (pa < 0 || log2 === 3 || !this.#find(hart, pa, 1 << log2)) return false;
    const raw = this.#mapping!.device.read(pa - this.#mapping!.base, 1 << log2);
    const shift = 32 - (8 << log2);
    const isUnsigned = (funct3 & 4) !== 0;
    const value = isUnsigned ? (raw << shift) >>> shift : (raw << shift) >> shift;
    this.#i32[VALUE] = value;
    this.#i32[VALUE + 1] = isUnsigned ? 0 : value >> 31;
    return true;
  }

  /** As `SlowAccess.store`. */
  store(hart: Hart, log2: number): boolean {
    const pa = this.#devicePage(TLB_WRITE, 1 << log2);
    if (pa < 0) return false;
    return hart.ports.bus.store(pa, 1 << log2, this.#i32[VALUE]!, this.#i32[VALUE + 1]!);
  }

  /** Finds who answers an aligned access; what refuses it, the bus counts. */
  #find(hart: Hart, pa: number, bytes: number): boolean {
    let m = this.#mapping;
    if (!m || pa < m.base || pa >= m.end) {
      m = hart.ports.bus.find(pa);
      if (!m) return false;
      this.#mapping = m;
      this.#widths = (m.device.widths ?? [1, 2, 4, 8]).reduce((all: number, width) => all | width, 0);
    }
    return (this.#widths & bytes) !== 0 && pa + bytes <= m.end;
  }

  /** Physical address of SLOW_ARG when its page is known and below RAM, else -1. */
  #devicePage(table: number, bytes: number): number {
    const i32 = this.#i32;
    const lo = i32[ARG]!;
    const at = (table + i32[DATA_VIEW >> 2]! * TLB_BYTES + ((lo >>> 8) & 0xff0)) >> 2;
    if (i32[at] !== ((lo & ~0xfff) | TLB_SLOW) || i32[at + 1] !== i32[ARG + 1]) return -1;
    const page = i32[at + 3]!;
    if (page >= this.#ramPage || (lo & (bytes - 1)) !== 0) return -1;
    return page * 4096 + (lo & 0xfff);
  }
}
