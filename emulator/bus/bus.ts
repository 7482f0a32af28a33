// The physical address map of devices: half-open ranges [base, base + size), found by binary
// search. An access to no device, of a width that its device refuses, or misaligned, is an access
// fault for the guest and a counted event for the host. Values are passed as two u32 halves, so
// that the hot callers allocate nothing.

import type { Device, Width } from './device.ts';

/** A mapped range. `end` is the first address after it. */
export interface Mapping {
  readonly device: Device;
  readonly base: number;
  readonly end: number;
}

export class BusError extends Error {
  override readonly name = 'BusError';
  readonly reason: 'empty' | 'wrap' | 'overlap';

  constructor(reason: 'empty' | 'wrap' | 'overlap', message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Physical addresses have 56 bits (Priv §10.4.1, Sv39). */
const PA_END = 2 ** 56;
const ALL_WIDTHS: readonly Width[] = [1, 2, 4, 8];
const hex = (n: number): string => `0x${n.toString(16)}`;

export class Bus {
  /** Halves of the value of the last successful `load`, unsigned. */
  lo = 0;
  hi = 0;
  /** Accesses that ended in a fault, and the address of the last one. */
  faults = 0;
  lastFault = 0;
  readonly mappings: Mapping[] = [];
  #last: Mapping | undefined;

  add(device: Device, base: number, size: number): void {
    const what = `${device.name} at ${hex(base)}`;
    if (!(size > 0)) throw new BusError('empty', `${what} has no length`);
    if (base < 0 || base + size > PA_END) throw new BusError('wrap', `${what} ends after 2^56`);
    const end = base + size;
    const other = this.mappings.find(m => base < m.end && m.base < end);
    if (other) throw new BusError('overlap', `${what} overlaps ${other.device.name} at ${hex(other.base)}`);
    this.mappings.push({ device, base, end });
    this.mappings.sort((a, b) => a.base - b.base);
  }

  find(pa: number): Mapping | undefined {
    let low = 0;
    let high = this.mappings.length - 1;
    while (low <= high) {
      const mid = (low + high) >>> 1;
      const m = this.mappings[mid]!;
      if (pa < m.base) high = mid - 1;
      else if (pa >= m.end) low = mid + 1;
      else return m;
    }
    return undefined;
  }

  /** True if [pa, pa + bytes) is free of devices. */
  free(pa: number, bytes: number): boolean {
    return !this.mappings.some(m => pa < m.end && m.base < pa + bytes);
  }

  /** Guest load; false = access fault, else the value is in `lo` and `hi`. */
  load(pa: number, bytes: number): boolean {
    const m = this.#target(pa, bytes);
    if (!m) return false;
    const offset = pa - m.base;
    const device = m.device;
    this.hi = 0;
    if (bytes < 8) {
      this.lo = device.read(offset, bytes) >>> 0;
    } else if (device.read64) {
      const value = device.read64(offset);
      this.lo = Number(value & 0xffff_ffffn);
      this.hi = Number((value >> 32n) & 0xffff_ffffn);
    } else {
      const lo = device.read(offset, 4) >>> 0;
      this.hi = device.read(offset + 4, 4) >>> 0;
      this.lo = lo;
    }
    return true;
  }

  /** Guest store of the low `bytes` of hi:lo; false = access fault. */
  store(pa: number, bytes: number, lo: number, hi: number): boolean {
    const m = this.#target(pa, bytes);
    if (!m) return false;
    const offset = pa - m.base;
    const device = m.device;
    if (bytes < 4) {
      device.write(offset, bytes, lo & ((1 << (8 * bytes)) - 1));
    } else if (bytes === 4) {
      device.write(offset, 4, lo >>> 0);
    } else if (device.write64) {
      device.write64(offset, (BigInt(hi >>> 0) << 32n) | BigInt(lo >>> 0));
    } else {
      device.write(offset, 4, lo >>> 0);
      device.write(offset + 4, 4, hi >>> 0);
    }
    return true;
  }

  /**
   * A read for debuggers, without side effects; undefined = no device, or the device cannot be read
   * this way.
   */
  peek(pa: number, bytes: number): number | undefined {
    const m = this.find(pa);
    return m?.device.peek && pa + bytes <= m.end ? m.device.peek(pa - m.base, bytes) : undefined;
  }

  #target(pa: number, bytes: number): Mapping | undefined {
    // Drivers poll one device, so the last range nearly always matches.
    let m = this.#last;
    if (!m || pa < m.base || pa >= m.end) m = this.find(pa);
    if (
      !m ||
      pa + bytes > m.end ||
      pa % bytes !== 0 ||
      !(m.device.widths ?? ALL_WIDTHS).includes(bytes as Width) ||
      m.device.refuses?.()
    ) {
      this.faults++;
      this.lastFault = pa;
      return undefined;
    }
    this.#last = m;
    return m;
  }
}
