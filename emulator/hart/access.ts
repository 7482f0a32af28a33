// The slow arm of loads, stores and atomics: TLB misses, misaligned and page-crossing accesses, devices, pages that hold
// code, and faults. Arguments and results pass through SLOW_ARG (va) and SLOW_VALUE in the window, so that the import
// signatures are i32 only. Result 0 = done, 1 = TRAP_CAUSE and TRAP_TVAL say which trap to take, nothing has changed.
// Misaligned loads and stores are supported wherever the bytes are RAM; each page of a crossing access is translated before the first byte
// is stored, and tval is the first byte of the failing part. Atomics must be aligned.
// LR/SC: the reservation is one physical address. It is lost by any SC of the hart and when another hart runs.
// Divergence: AMOs to devices are a load and a store there, as in QEMU; real boards would raise an access fault.

import { amoResult } from './amo.ts';
import * as C from './cause.ts';
import { RECHECK, RESERVATION, SLOW_ARG, SLOW_VALUE } from './layout.ts';
import type { Mmu } from './mmu.ts';
import type { HartPorts } from './ports.ts';
import type { State } from './state.ts';
import { type Access, FETCH, LOAD, STORE } from './walk.ts';

const ACCESS_CAUSE = [C.LOAD_ACCESS, C.STORE_ACCESS, C.INSN_ACCESS] as const;

export class SlowAccess {
  readonly #state: State;
  readonly #mmu: Mmu;
  readonly #ports: HartPorts;
  readonly #bytes: DataView;
  /** Result of `#read`. */
  #lo = 0;
  #hi = 0;

  constructor(state: State, mmu: Mmu, ports: HartPorts) {
    this.#state = state;
    this.#mmu = mmu;
    this.#ports = ports;
    this.#bytes = new DataView(ports.memory.buffer);
  }

  /** `funct3` of the load instructions: bits 1:0 = log2 bytes, bit 2 = zero-extend. */
  load(funct3: number): number {
    if (!this.#loadBytes(1 << (funct3 & 3))) return 1;
    const { lo, hi } = { lo: this.#lo, hi: this.#hi };
    this.#state.put(SLOW_VALUE, extendLo(funct3, lo), extendHi(funct3, lo, hi));
    return 0;
  }

  /** Stores the low 1 << log2 bytes of SLOW_VALUE. */
  store(log2: number): number {
    const s = this.#state;
    return this.#storeBytes(1 << log2, s.get(SLOW_VALUE), s.hi(SLOW_VALUE)) ? 0 : 1;
  }

  /** Translates SLOW_ARG for execution and installs its exec entry; code lives in RAM only. */
  fetch(): number {
    const s = this.#state;
    const lo = s.get(SLOW_ARG);
    const hi = s.hi(SLOW_ARG);
    const pa = this.#mmu.locate(lo, hi, FETCH, 2);
    if (pa < 0) return 1;
    if (this.#ports.ram.has(pa, 2)) return 0;
    this.#mmu.fail(C.INSN_ACCESS, lo, hi);
    return 1;
  }

  /** lr.w (log2 = 2) and lr.d (3): the sign-extended value goes to SLOW_VALUE. */
  lr(log2: number): number {
    const pa = this.#atomicAddress(log2, LOAD, C.LOAD_MISALIGNED);
    if (pa < 0 || !this.#read(pa, 1 << log2)) return this.#deviceFault(pa, LOAD);
    this.#state.put(RESERVATION, (pa % 2 ** 32) | 0, Math.floor(pa / 2 ** 32));
    this.#state.put(SLOW_VALUE, this.#lo, log2 === 2 ? this.#lo >> 31 : this.#hi);
    return 0;
  }

  /** sc.w and sc.d: stores SLOW_VALUE when the reservation holds; then SLOW_VALUE is 0, else 1. */
  sc(log2: number): number {
    const s = this.#state;
    const none = s.hi(RESERVATION) < 0;
    const lo = s.get(SLOW_ARG);
    if (none && (lo & ((1 << log2) - 1)) === 0) {
      s.put(SLOW_VALUE, 1, 0);
      return 0;
    }
    const pa = this.#atomicAddress(log2, STORE, C.STORE_MISALIGNED);
    if (pa < 0) return 1;
    const holds =
      s.get(RESERVATION) === ((pa % 2 ** 32) | 0) && s.hi(RESERVATION) === Math.floor(pa / 2 ** 32);
    if (holds && !this.#write(pa, 1 << log2, s.get(SLOW_VALUE), s.hi(SLOW_VALUE)))
      return this.#deviceFault(pa, STORE);
    s.put(RESERVATION, -1, -1);
    s.put(SLOW_VALUE, holds ? 0 : 1, 0);
    return 0;
  }

  /** `funct5` of the AMO, operand in SLOW_VALUE; the old value, sign-extended, replaces it. */
  amo(funct5: number, log2: number): number {
    const s = this.#state;
    const pa = this.#atomicAddress(log2, STORE, C.STORE_MISALIGNED);
    if (pa < 0 || !this.#read(pa, 1 << log2)) return this.#deviceFault(pa, STORE);
    const old = join(this.#lo, this.#hi);
    const value = amoResult(funct5, log2, old, s.get64(SLOW_VALUE));
    const bits = BigInt.asUintN(64, value);
    if (!this.#write(pa, 1 << log2, Number(bits & 0xffff_ffffn) | 0, Number(bits >> 32n) | 0)) {
      return this.#deviceFault(pa, STORE);
    }
    s.set64(SLOW_VALUE, BigInt.asUintN(64, BigInt.asIntN(8 << log2, old)));
    return 0;
  }

  #atomicAddress(log2: number, access: Access, misaligned: number): number {
    const s = this.#state;
    const lo = s.get(SLOW_ARG);
    if ((lo & ((1 << log2) - 1)) !== 0) return this.#mmu.fail(misaligned, lo, s.hi(SLOW_ARG));
    return this.#mmu.locate(lo, s.hi(SLOW_ARG), access, 1 << log2);
  }

  /** After a failed device access (pa >= 0) records the fault; pa < 0 is recorded already. */
  #deviceFault(pa: number, access: Access): number {
    if (pa >= 0) this.#mmu.fail(ACCESS_CAUSE[access], this.#state.get(SLOW_ARG), this.#state.hi(SLOW_ARG));
    return 1;
  }

  #loadBytes(bytes: number): boolean {
    const s = this.#state;
    const lo = s.get(SLOW_ARG);
    const hi = s.hi(SLOW_ARG);
    const inFirst = 4096 - (lo & 0xfff);
    if (bytes <= inFirst) {
      const pa = this.#mmu.locate(lo, hi, LOAD, bytes);
      if (pa < 0) return false;
      return this.#read(pa, bytes) || this.#refused(LOAD, lo, hi);
    }
    const lo2 = (lo + inFirst) | 0;
    const hi2 = lo2 === 0 ? (hi + 1) | 0 : hi;
    const pa1 = this.#mmu.locate(lo, hi, LOAD, inFirst);
    if (pa1 < 0) return false;
    const pa2 = this.#mmu.locate(lo2, hi2, LOAD, bytes - inFirst);
    if (pa2 < 0) return false;
    let value = 0n;
    for (let i = bytes - 1; i >= 0; i--) {
      const second = i >= inFirst;
      if (!this.#read(second ? pa2 + i - inFirst : pa1 + i, 1)) {
        return this.#refused(LOAD, second ? lo2 : lo, second ? hi2 : hi);
      }
      value = (value << 8n) | BigInt(this.#lo & 0xff);
    }
    this.#lo = Number(value & 0xffff_ffffn) | 0;
    this.#hi = Number(value >> 32n) | 0;
    return true;
  }

  #storeBytes(bytes: number, valueLo: number, valueHi: number): boolean {
    const s = this.#state;
    const lo = s.get(SLOW_ARG);
    const hi = s.hi(SLOW_ARG);
    const inFirst = 4096 - (lo & 0xfff);
    if (bytes <= inFirst) {
      const pa = this.#mmu.locate(lo, hi, STORE, bytes);
      if (pa < 0) return false;
      return this.#write(pa, bytes, valueLo, valueHi) || this.#refused(STORE, lo, hi);
    }
    const lo2 = (lo + inFirst) | 0;
    const hi2 = lo2 === 0 ? (hi + 1) | 0 : hi;
    const pa1 = this.#mmu.locate(lo, hi, STORE, inFirst);
    if (pa1 < 0) return false;
    const pa2 = this.#mmu.locate(lo2, hi2, STORE, bytes - inFirst);
    if (pa2 < 0) return false;
    for (let i = 0; i < bytes; i++) {
      const byte = ((i < 4 ? valueLo : valueHi) >>> (8 * (i & 3))) & 0xff;
      const second = i >= inFirst;
      if (!this.#write(second ? pa2 + i - inFirst : pa1 + i, 1, byte, 0)) {
        return this.#refused(STORE, second ? lo2 : lo, second ? hi2 : hi);
      }
    }
    return true;
  }

  #refused(access: Access, lo: number, hi: number): false {
    this.#mmu.fail(ACCESS_CAUSE[access], lo, hi);
    return false;
  }

  #read(pa: number, bytes: number): boolean {
    const ram = this.#ports.ram;
    if (ram.has(pa, bytes)) {
      const at = ram.hostBase + (pa - ram.base);
      this.#hi = 0;
      if (bytes === 8) this.#hi = this.#bytes.getInt32(at + 4, true);
      if (bytes >= 4) this.#lo = this.#bytes.getInt32(at, true);
      else this.#lo = bytes === 1 ? this.#bytes.getUint8(at) : this.#bytes.getUint16(at, true);
      return true;
    }
    // Interrupt lines and the next event may change: look before the next instruction.
    this.#state.set(RECHECK, 1);
    if (!this.#ports.bus.load(pa, bytes)) return false;
    this.#lo = this.#ports.bus.lo | 0;
    this.#hi = this.#ports.bus.hi | 0;
    return true;
  }

  #write(pa: number, bytes: number, lo: number, hi: number): boolean {
    const ram = this.#ports.ram;
    if (!ram.has(pa, bytes)) {
      this.#state.set(RECHECK, 1);
      return this.#ports.bus.store(pa, bytes, lo, hi);
    }
    const offset = pa - ram.base;
    const at = ram.hostBase + offset;
    if (bytes === 8) this.#bytes.setInt32(at + 4, hi, true);
    if (bytes >= 4) this.#bytes.setInt32(at, lo, true);
    else if (bytes === 2) this.#bytes.setInt16(at, lo, true);
    else this.#bytes.setInt8(at, lo);
    const code = this.#ports.code;
    if (code.holdsCode(Math.floor(offset / 4096))) code.stored(pa, bytes);
    return true;
  }
}

const join = (lo: number, hi: number): bigint => (BigInt(hi >>> 0) << 32n) | BigInt(lo >>> 0);

function extendLo(funct3: number, lo: number): number {
  switch (funct3) {
    case 0:
      return (lo << 24) >> 24;
    case 1:
      return (lo << 16) >> 16;
    default:
      return lo;
  }
}

function extendHi(funct3: number, lo: number, hi: number): number {
  if ((funct3 & 3) === 3) return hi;
  return funct3 & 4 ? 0 : extendLo(funct3, lo) >> 31;
}
