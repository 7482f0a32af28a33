// Guest RAM: a part of the shared WebAssembly.Memory. Host code accesses it only through this
// class. Every access is checked against the range, so a hostile guest address causes at worst a
// RangeError, never an access to the host's own data. Stores by host code are reported to
// `onWrite`, because the engine may have translated code from the page. The memory never grows
// after construction, hence the views stay valid.

import type { RamPort } from './device.ts';

export class Ram implements RamPort {
  readonly memory: WebAssembly.Memory;
  /** Offset of the first byte of RAM in `memory`; 64 KiB aligned. */
  readonly hostBase: number;
  readonly base: number;
  readonly bytes: number;
  /** All of RAM; index = physical address - base. */
  readonly data: Uint8Array;
  /** Called after a store of host code to RAM. */
  onWrite: (pa: number, bytes: number) => void = () => {};
  readonly #view: DataView;

  constructor(memory: WebAssembly.Memory, hostBase: number, base: number, bytes: number) {
    this.memory = memory;
    this.hostBase = hostBase;
    this.base = base;
    this.bytes = bytes;
    this.data = new Uint8Array(memory.buffer, hostBase, bytes);
    this.#view = new DataView(memory.buffer, hostBase, bytes);
  }

  has(pa: number, bytes: number): boolean {
    return pa >= this.base && bytes >= 0 && pa - this.base <= this.bytes - bytes;
  }

  host(pa: number): number {
    return this.hostBase + this.#offset(pa, 0);
  }

  read8(pa: number): number {
    return this.#view.getUint8(this.#offset(pa, 1));
  }

  read16(pa: number): number {
    return this.#view.getUint16(this.#offset(pa, 2), true);
  }

  read32(pa: number): number {
    return this.#view.getUint32(this.#offset(pa, 4), true);
  }

  read64(pa: number): bigint {
    return this.#view.getBigUint64(this.#offset(pa, 8), true);
  }

  write8(pa: number, value: number): void {
    this.#view.setUint8(this.#offset(pa, 1), value);
    this.onWrite(pa, 1);
  }

  write16(pa: number, value: number): void {
    this.#view.setUint16(this.#offset(pa, 2), value, true);
    this.onWrite(pa, 2);
  }

  write32(pa: number, value: number): void {
    this.#view.setUint32(this.#offset(pa, 4), value, true);
    this.onWrite(pa, 4);
  }

  write64(pa: number, value: bigint): void {
    this.#view.setBigUint64(this.#offset(pa, 8), BigInt.asUintN(64, value), true);
    this.onWrite(pa, 8);
  }

  read(pa: number, bytes: number): Uint8Array {
    const at = this.#offset(pa, bytes);
    return this.data.slice(at, at + bytes);
  }

  write(pa: number, data: Uint8Array): void {
    this.data.set(data, this.#offset(pa, data.length));
    this.onWrite(pa, data.length);
  }

  fill(pa: number, bytes: number, value: number): void {
    const at = this.#offset(pa, bytes);
    this.data.fill(value, at, at + bytes);
    this.onWrite(pa, bytes);
  }

  #offset(pa: number, bytes: number): number {
    if (!this.has(pa, bytes)) throw new RangeError(`0x${pa.toString(16)}+${bytes} is outside guest ram`);
    return pa - this.base;
  }
}
