// The slow path of loads, stores and atomics: TLB misses, misaligned and page-crossing accesses,
// devices, pages that hold code, and faults. Arguments and results pass through SLOW_ARG (va) and
// SLOW_VALUE in the window, so that the import signatures are i32 only. Result 0 = done, 1 = trap:
// TRAP_CAUSE and TRAP_TVAL describe it, and nothing has changed. Misaligned loads and stores are
// supported if the bytes are RAM; each page of a crossing access is translated before the first
// byte is stored, and tval is the first byte of the failing part. Atomics must be aligned. LR/SC:
// the reservation is one physical address. It is lost by any SC of the hart and when another hart
// runs.
// Divergence: AMOs to devices are a load and a store there, as in QEMU; real boards would raise an
// access fault.

import { CACHE_BLOCK_BYTES } from '../isa/index.ts';
import { amoResult } from './amo.ts';
import * as C from './cause.ts';
import { RECHECK, RESERVATION, SLOW_ARG, SLOW_VALUE, TRAP_CAUSE } from './layout.ts';
import type { Mmu } from './mmu.ts';
import type { HartPorts } from './ports.ts';
import type { State } from './state.ts';
import { type Access, FETCH, LOAD, PTE_V, STORE } from './walk.ts';

const ACCESS_CAUSE = [C.LOAD_ACCESS, C.STORE_ACCESS, C.INSN_ACCESS] as const;

export class SlowAccess {
  readonly #state: State;
  readonly #mmu: Mmu;
  readonly #ports: HartPorts;
  readonly #bytes: DataView;
  readonly #firstPage: number;
  readonly #pages: number;
  readonly #hostBase: number;
  /** Result of `#read`. */
  #lo = 0;
  #hi = 0;
  /** Results of `#crossing`. */
  #page1 = 0;
  #page2 = 0;

  constructor(state: State, mmu: Mmu, ports: HartPorts) {
    this.#state = state;
    this.#mmu = mmu;
    this.#ports = ports;
    this.#firstPage = ports.ram.base / 4096;
    this.#pages = Math.floor(ports.ram.bytes / 4096);
    this.#hostBase = ports.ram.hostBase;
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

  /** cbo.zero of the block at SLOW_ARG. Devices get single bytes, as from QEMU. */
  zeroBlock(): number {
    const s = this.#state;
    const [lo, hi] = [s.get(SLOW_ARG), s.hi(SLOW_ARG)];
    const page = this.#mmu.locatePage(lo, hi, STORE, CACHE_BLOCK_BYTES);
    if (page < 0) return 1;
    const bytes = this.#isRam(page) ? 8 : 1;
    for (let at = 0; at < CACHE_BLOCK_BYTES; at += bytes)
      if (!this.#write(page, (lo & 0xfff) + at, bytes, 0, 0)) return this.#deviceFault(page, STORE);
    return 0;
  }

  /**
   * Management of the block at SLOW_ARG: allowed if a load or a store is. Otherwise a store page
   * fault, but a store access fault if translation permits one of them (CMO §2.5.2).
   */
  manageBlock(): number {
    const s = this.#state;
    const [lo, hi] = [s.get(SLOW_ARG), s.hi(SLOW_ARG)];
    let page = this.#mmu.locatePage(lo, hi, LOAD, CACHE_BLOCK_BYTES);
    const isDenied = page < 0 && s.get(TRAP_CAUSE) === C.LOAD_ACCESS;
    if (page < 0) page = this.#mmu.locatePage(lo, hi, STORE, CACHE_BLOCK_BYTES);
    if (page >= 0 && (this.#isRam(page) || this.#ports.bus.find(page * 4096 + (lo & 0xfff)))) return 0;
    if (isDenied || page >= 0) this.#mmu.fail(C.STORE_ACCESS, lo, hi);
    return 1;
  }

  /** Translates SLOW_ARG for execution and installs its exec entry; code lives in RAM only. */
  fetch(): number {
    const s = this.#state;
    const lo = s.get(SLOW_ARG);
    const hi = s.hi(SLOW_ARG);
    const page = this.#mmu.locatePage(lo, hi, FETCH, 2);
    if (page < 0) return 1;
    if (this.#isRam(page)) return 0;
    this.#mmu.fail(C.INSN_ACCESS, lo, hi);
    return 1;
  }

  /** lr.w (log2 = 2) and lr.d (3): the sign-extended value goes to SLOW_VALUE. */
  lr(log2: number): number {
    const offset = this.#state.get(SLOW_ARG) & 0xfff;
    const page = this.#atomicPage(log2, LOAD, C.LOAD_MISALIGNED);
    if (page < 0 || !this.#read(page, offset, 1 << log2)) return this.#deviceFault(page, LOAD);
    this.#state.put(RESERVATION, (page << 12) | offset, page >>> 20);
    this.#state.put(SLOW_VALUE, this.#lo, log2 === 2 ? this.#lo >> 31 : this.#hi);
    return 0;
  }

  /**
   * sc.w and sc.d: stores SLOW_VALUE if the reservation is valid, and sets SLOW_VALUE to 0, else to
   * 1.
   */
  sc(log2: number): number {
    const s = this.#state;
    const none = s.hi(RESERVATION) < 0;
    const lo = s.get(SLOW_ARG);
    if (none && (lo & ((1 << log2) - 1)) === 0) {
      s.put(SLOW_VALUE, 1, 0);
      return 0;
    }
    const offset = lo & 0xfff;
    const page = this.#atomicPage(log2, STORE, C.STORE_MISALIGNED);
    if (page < 0) return 1;
    const holds = s.get(RESERVATION) === ((page << 12) | offset) && s.hi(RESERVATION) === page >>> 20;
    if (holds && !this.#write(page, offset, 1 << log2, s.get(SLOW_VALUE), s.hi(SLOW_VALUE))) {
      return this.#deviceFault(page, STORE);
    }
    s.put(RESERVATION, -1, -1);
    s.put(SLOW_VALUE, holds ? 0 : 1, 0);
    return 0;
  }

  /** `funct5` of the AMO, operand in SLOW_VALUE; the old value, sign-extended, replaces it. */
  amo(funct5: number, log2: number): number {
    const s = this.#state;
    const offset = this.#state.get(SLOW_ARG) & 0xfff;
    const page = this.#atomicPage(log2, STORE, C.STORE_MISALIGNED);
    if (page < 0 || !this.#read(page, offset, 1 << log2)) return this.#deviceFault(page, STORE);
    const old = join(this.#lo, this.#hi);
    const value = amoResult(funct5, log2, old, s.get64(SLOW_VALUE));
    const bits = BigInt.asUintN(64, value);
    if (!this.#write(page, offset, 1 << log2, Number(bits & 0xffff_ffffn) | 0, Number(bits >> 32n) | 0)) {
      return this.#deviceFault(page, STORE);
    }
    s.set64(SLOW_VALUE, BigInt.asUintN(64, BigInt.asIntN(8 << log2, old)));
    return 0;
  }

  #atomicPage(log2: number, access: Access, misaligned: number): number {
    const s = this.#state;
    const lo = s.get(SLOW_ARG);
    if ((lo & ((1 << log2) - 1)) !== 0) return this.#mmu.fail(misaligned, lo, s.hi(SLOW_ARG));
    return this.#mmu.locatePage(lo, s.hi(SLOW_ARG), access, 1 << log2);
  }

  /**
   * After a failed device access (page >= 0), records the fault; page < 0 means it is already
   * recorded.
   */
  #deviceFault(page: number, access: Access): number {
    if (page >= 0) this.#mmu.fail(ACCESS_CAUSE[access], this.#state.get(SLOW_ARG), this.#state.hi(SLOW_ARG));
    return 1;
  }

  #loadBytes(bytes: number): boolean {
    const s = this.#state;
    const lo = s.get(SLOW_ARG);
    const hi = s.hi(SLOW_ARG);
    const inFirst = 4096 - (lo & 0xfff);
    if (bytes <= inFirst) {
      const page = this.#mmu.locatePage(lo, hi, LOAD, bytes);
      if (page < 0) return false;
      return this.#read(page, lo & 0xfff, bytes) || this.#refused(LOAD, lo, hi);
    }
    if (!this.#crossing(LOAD, lo, hi, inFirst, bytes)) return false;
    let value = 0n;
    for (let i = bytes - 1; i >= 0; i--) {
      const second = i >= inFirst;
      this.#read(second ? this.#page2 : this.#page1, second ? i - inFirst : (lo & 0xfff) + i, 1);
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
      const page = this.#mmu.locatePage(lo, hi, STORE, bytes);
      if (page < 0) return false;
      return this.#write(page, lo & 0xfff, bytes, valueLo, valueHi) || this.#refused(STORE, lo, hi);
    }
    if (!this.#crossing(STORE, lo, hi, inFirst, bytes)) return false;
    for (let i = 0; i < bytes; i++) {
      const byte = ((i < 4 ? valueLo : valueHi) >>> (8 * (i & 3))) & 0xff;
      const second = i >= inFirst;
      this.#write(second ? this.#page2 : this.#page1, second ? i - inFirst : (lo & 0xfff) + i, 1, byte, 0);
    }
    return true;
  }

  /**
   * Translates both pages of a crossing access into #page1 and #page2. Both must be RAM: a device
   * access must not be part of an access that could fail half way.
   */
  #crossing(access: Access, lo: number, hi: number, inFirst: number, bytes: number): boolean {
    const lo2 = (lo + inFirst) | 0;
    const hi2 = lo2 === 0 ? (hi + 1) | 0 : hi;
    this.#page1 = this.#mmu.locatePage(lo, hi, access, inFirst);
    if (this.#page1 < 0) return false;
    this.#page2 = this.#mmu.locatePage(lo2, hi2, access, bytes - inFirst);
    if (this.#page2 < 0) return false;
    if (!this.#isRam(this.#page1)) return this.#refused(access, lo, hi);
    return this.#isRam(this.#page2) || this.#refused(access, lo2, hi2);
  }

  #refused(access: Access, lo: number, hi: number): false {
    this.#mmu.fail(ACCESS_CAUSE[access], lo, hi);
    return false;
  }

  #isRam(page: number): boolean {
    const index = page - this.#firstPage;
    return index >= 0 && index < this.#pages;
  }

  /** Reads inside a page into #lo and #hi; false = access fault. */
  #read(page: number, offset: number, bytes: number): boolean {
    if (this.#isRam(page)) {
      const at = this.#hostBase + (page - this.#firstPage) * 4096 + offset;
      this.#hi = bytes === 8 ? this.#bytes.getInt32(at + 4, true) : 0;
      if (bytes >= 4) this.#lo = this.#bytes.getInt32(at, true);
      else this.#lo = bytes === 1 ? this.#bytes.getUint8(at) : this.#bytes.getUint16(at, true);
      return true;
    }
    // Interrupt lines and the next event may change: they are checked before the next instruction.
    this.#state.set(RECHECK, 1);
    if (!this.#ports.bus.load(page * 4096 + offset, bytes)) return false;
    this.#lo = this.#ports.bus.lo | 0;
    this.#hi = this.#ports.bus.hi | 0;
    return true;
  }

  #write(page: number, offset: number, bytes: number, lo: number, hi: number): boolean {
    if (!this.#isRam(page)) {
      this.#state.set(RECHECK, 1);
      return this.#ports.bus.store(page * 4096 + offset, bytes, lo, hi);
    }
    const index = page - this.#firstPage;
    const at = this.#hostBase + index * 4096 + offset;
    const code = this.#ports.code;
    code.dirtied?.(index);
    const isAnnounced = code.holdsCode(index);
    const effect = isAnnounced && this.#isValidPte(at, bytes) ? 'changes' : 'fills';
    if (bytes === 8) this.#bytes.setInt32(at + 4, hi, true);
    if (bytes >= 4) this.#bytes.setInt32(at, lo, true);
    else if (bytes === 2) this.#bytes.setInt16(at, lo, true);
    else this.#bytes.setInt8(at, lo);
    if (isAnnounced) code.stored(page * 4096 + offset, bytes, effect);
    return true;
  }

  /**
   * Interprets the bytes as page-table entries: true if one of the entries that they touch has the
   * bit V.
   */
  #isValidPte(at: number, bytes: number): boolean {
    // Not `at & ~7`, which is negative above 2 GiB.
    const [first, last] = [at - (at & 7), at + bytes - 1];
    return ((this.#bytes.getUint8(first) | this.#bytes.getUint8(last - (last & 7))) & PTE_V) !== 0;
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
