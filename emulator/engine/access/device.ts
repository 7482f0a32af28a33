// The fast path to a device: an aligned load or store in a page that the TLB marks as a device's.
// The hart handles every other slow access and every fault (emulator/hart/access.ts). Hot: no
// allocation, no BigInt. Compiled regions leave for device accesses, with one exception: when the
// interpreter has seen a load read a device, the region is compiled with a call for it
// (`emitRegionDeviceLoad`) and stays.

import type { Bus } from '../../bus/bus.ts';
import type { Device, Width } from '../../bus/device.ts';
import type { Ram } from '../../bus/ram.ts';
import {
  DATA_VIEW,
  IC,
  PC,
  RECHECK,
  SLOW_ARG,
  SLOW_VALUE,
  TLB_BYTES,
  TLB_MASK,
  TLB_READ,
  TLB_SLOW,
  TLB_WRITE,
} from '../../hart/layout.ts';
import { type CodeWriter, I32, type I64, type Local } from '../../wasm/module.ts';

const ARG = SLOW_ARG >> 2;
const VALUE = SLOW_VALUE >> 2;
/** Cached addresses of loads: about as many as a kernel has active drivers. */
const REMEMBERED = 256;

export class DeviceAccess {
  readonly #i32: Int32Array;
  readonly #bus: Bus;
  /** Pages from here on may be RAM: pages with decoded code have slow entries, too. */
  readonly #ramPage: number;
  /** The last device. */
  #device: Device | undefined;
  #base = 0;
  #end = 0;
  /** By width: accesses to it lie below; 0 for a width that it does not allow. */
  readonly #ends = [0, 0, 0, 0];
  /** By pc / 2: low half of the address of a load that reached a device. */
  readonly #loads = new Int32Array(REMEMBERED);

  constructor(ram: Ram, bus: Bus) {
    this.#i32 = new Int32Array(ram.memory.buffer);
    this.#bus = bus;
    this.#ramPage = ram.base / 4096;
  }

  /** As `SlowAccess.load`; false = no access was made. */
  load(funct3: number): boolean {
    const i32 = this.#i32;
    const log2 = funct3 & 3;
    const pa = this.#devicePage(TLB_READ, 1 << log2);
    if (pa < 0 || this.loadAt(pa, log2) !== 0) return false;
    const pc = i32[PC >> 2]!;
    this.#loads[(pc >>> 1) & (REMEMBERED - 1)] = pc;
    if (log2 === 3) return true;
    const shift = 32 - (8 << log2);
    const isUnsigned = (funct3 & 4) !== 0;
    const raw = i32[VALUE]! << shift;
    const value = isUnsigned ? raw >>> shift : raw >> shift;
    i32[VALUE] = value;
    i32[VALUE + 1] = isUnsigned ? 0 : value >> 31;
    return true;
  }

  /**
   * Loads from `pa`, naturally aligned and below RAM, into the low bytes of SLOW_VALUE. 1 = no
   * access was made. Called directly from wasm, without a function in between.
   */
  readonly loadAt = (pa: number, log2: number): number => {
    if ((pa < this.#base || pa >= this.#ends[log2]!) && !this.#find(pa, log2)) return 1;
    if (log2 < 3) {
      this.#i32[VALUE] = this.#device!.read(pa - this.#base, 1 << log2);
      return 0;
    }
    const bus = this.#bus;
    if (!bus.load(pa, 8)) return 1;
    this.#i32[VALUE] = bus.lo;
    this.#i32[VALUE + 1] = bus.hi;
    return 0;
  };

  /**
   * True if the load at this address has read a device. It is only a prediction: programs change.
   */
  isKnown(pc: bigint): boolean {
    const low = Number(BigInt.asIntN(32, pc));
    return this.#loads[(low >>> 1) & (REMEMBERED - 1)] === low;
  }

  /** As `SlowAccess.store`. */
  store(log2: number): boolean {
    const bytes = 1 << log2;
    const pa = this.#devicePage(TLB_WRITE, bytes);
    if (pa < 0 || !this.#find(pa, log2)) return false;
    return this.#bus.store(pa, bytes, this.#i32[VALUE]!, this.#i32[VALUE + 1]!);
  }

  /**
   * Finds the device of an aligned access. If there is none, the hart counts the access and traps.
   */
  #find(pa: number, log2: number): boolean {
    if (!(pa >= this.#base && pa < this.#end)) {
      const m = this.#bus.find(pa);
      // A device that may refuse is asked once for each access: by the bus, on behalf of the hart.
      if (!m || m.device.refuses) return false;
      this.#device = m.device;
      this.#base = m.base;
      this.#end = m.end;
      const widths = m.device.widths ?? [1, 2, 4, 8];
      for (const [log, bytes] of ([1, 2, 4, 8] as const).entries())
        this.#ends[log] = widths.includes(bytes) ? m.end - bytes + 1 : 0;
    }
    return pa < this.#ends[log2]!;
  }

  /** Physical address of SLOW_ARG if its page is in the TLB and below RAM, else -1. */
  #devicePage(table: number, bytes: number): number {
    const i32 = this.#i32;
    const lo = i32[ARG]!;
    const at = (table + i32[DATA_VIEW >> 2]! * TLB_BYTES + ((lo >>> 8) & TLB_MASK)) >> 2;
    if (i32[at] !== ((lo & ~0xfff) | TLB_SLOW) || i32[at + 1] !== i32[ARG + 1]) return -1;
    const page = i32[at + 3]!;
    if (page >= this.#ramPage || (lo & (bytes - 1)) !== 0) return -1;
    return page * 4096 + (lo & 0xfff);
  }
}

/** Host functions of a device load in a region. */
export interface RegionDeviceImports {
  /** (pa, log2 of the bytes) -> 0, or 1 if no access was made. */
  readonly load: number;
  /** (ic) -> 0, or 1 if the region must end: the device changed IC or set RECHECK. */
  readonly settle: number;
}

/** A load in a region that may read a device. */
export interface RegionDeviceLoad extends RegionDeviceImports {
  readonly va: Local<I64>;
  readonly bytes: Width;
  readonly view: number;
  readonly ramBase: number;
  /** 1 afterwards: leave after this load with the IC in the window. */
  readonly isLast: Local<I32>;
  /** Pushes the instructions left, this one included, so that the device sees the exact time. */
  ic(): void;
  /** Leaves before this load if the i32 on the stack is not 0. */
  leaveIf(): void;
  /** Loads from any other address. */
  otherwise(): void;
}

/** Emits the load. Its value is in the low bytes of SLOW_VALUE. */
export function emitRegionDeviceLoad(c: CodeWriter, o: RegionDeviceLoad): void {
  const view = o.view * TLB_BYTES;
  const page = c.local(I32);
  const entry = c.local(I32);
  c.i32_const(0).local_set(o.isLast);
  c.local_get(o.va).i32_wrap_i64().i32_const(8).i32_shr_u().i32_const(TLB_MASK).i32_and().local_tee(entry);
  c.i64_load(TLB_READ + view);
  c.local_get(o.va).i64_const(-4096).i64_and().i64_const(TLB_SLOW).i64_or().i64_eq();
  c.local_get(entry)
    .i32_load(TLB_READ + view + 12)
    .local_tee(page)
    .i32_const(o.ramBase / 4096)
    .i32_lt_u()
    .i32_and();
  if (o.bytes > 1)
    c.local_get(o.va)
      .i32_wrap_i64()
      .i32_const(o.bytes - 1)
      .i32_and()
      .i32_eqz()
      .i32_and();
  c.if_(undefined, 'likely');
  c.i32_const(0);
  o.ic();
  c.i32_store(IC);
  c.local_get(page).i32_const(12).i32_shl();
  c.local_get(o.va).i32_wrap_i64().i32_const(0xfff).i32_and().i32_or().i32_const(Math.log2(o.bytes));
  c.call(o.load);
  o.leaveIf();
  c.i32_const(0).i32_load(IC);
  o.ic();
  c.i32_ne().i32_const(0).i32_load(RECHECK).i32_or().if_(undefined, 'unlikely');
  o.ic();
  c.call(o.settle).local_set(o.isLast).end();
  c.else_();
  o.otherwise();
  c.end();
  c.release(page, entry);
}
