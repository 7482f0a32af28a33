/**
 * Addresses, bounded reading and small text helpers shared by every reader of this module.
 *
 * An address is kept as the *signed* value of its 64 bits in a JavaScript number. Canonical Sv39,
 * Sv48 and Sv57 addresses are sign-extended, so both halves of the address space are exact doubles
 * and comparison needs no BigInt. Values that are not canonical addresses lose low bits here; such
 * values never match a call site.
 *
 * All input comes from files that may be hostile: each overrun is a `CoverageError` of one line.
 */
import { KcovboxError } from '../../emulator/base/errors.ts';

/**
 * A fault in an input file, or a request the input cannot answer. The message is one line, fit for
 * a user.
 */
export class CoverageError extends KcovboxError {
  constructor(message: string) {
    super('coverage', message);
  }
}

/** Signed value of a 64-bit address; see the file header. */
export type Addr = number;

const TWO32 = 0x1_0000_0000;

export function addrOf(pc: bigint): Addr {
  return Number(BigInt.asIntN(64, pc));
}

/** The unsigned 64-bit value of an address, as the public API of this module uses it. */
export function pcOf(addr: Addr): bigint {
  return BigInt.asUintN(64, BigInt(addr));
}

/** Lower-case hex with `0x` and no padding, e.g. `0xffffffff80200000`. */
export function hex(addr: Addr): string {
  if (addr >= 0) return `0x${addr.toString(16)}`;
  const hi = (Math.floor(addr / TWO32) >>> 0).toString(16);
  return `0x${hi}${(addr >>> 0).toString(16).padStart(8, '0')}`;
}

/** Of the last byte of a LEB128 that counts: values of any length stay finite and whole. */
const LEB_SCALE_MAX = 2 ** 70;

/** A cursor over little-endian bytes that throws instead of reading past `end`. */
export class Cursor {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly what: string;
  at: number;
  end: number;

  /** `what` is the name for error texts, e.g. `.debug_line`. */
  constructor(bytes: Uint8Array, what: string, at = 0, end = bytes.length) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.what = what;
    this.at = at;
    this.end = Math.min(end, bytes.length);
  }

  overrun(): never {
    throw new CoverageError(`${this.what} ends early at offset 0x${this.at.toString(16)}`);
  }

  /** Step over `count` bytes and return where they began. */
  take(count: number): number {
    const at = this.at;
    if (!(count >= 0) || at + count > this.end) this.overrun();
    this.at = at + count;
    return at;
  }

  seek(at: number): void {
    if (!(at >= 0) || at > this.end) {
      throw new CoverageError(
        `${this.what} has no offset 0x${at.toString(16)} (ends at 0x${this.end.toString(16)})`,
      );
    }
    this.at = at;
  }

  u8(): number {
    if (this.at >= this.end) this.overrun();
    return this.bytes[this.at++]!;
  }

  i8(): number {
    return (this.u8() << 24) >> 24;
  }

  u16(): number {
    return this.view.getUint16(this.take(2), true);
  }

  u24(): number {
    const at = this.take(3);
    return this.bytes[at]! | (this.bytes[at + 1]! << 8) | (this.bytes[at + 2]! << 16);
  }

  u32(): number {
    return this.view.getUint32(this.take(4), true);
  }

  /** A 64-bit word as an address (signed). */
  addr(): Addr {
    const at = this.take(8);
    return this.view.getInt32(at + 4, true) * TWO32 + this.view.getUint32(at, true);
  }

  /** A 64-bit size or offset: unsigned, and inexact only where no file can be that large. */
  u64(): number {
    const at = this.take(8);
    return this.view.getUint32(at + 4, true) * TWO32 + this.view.getUint32(at, true);
  }

  uleb(): number {
    let byte = this.u8();
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    let scale = 0x80;
    do {
      byte = this.u8();
      value += (byte & 0x7f) * scale;
      scale = Math.min(scale * 0x80, LEB_SCALE_MAX);
    } while (byte >= 0x80);
    return value;
  }

  sleb(): number {
    let value = 0;
    let scale = 1;
    let byte: number;
    do {
      byte = this.u8();
      value += (byte & 0x7f) * scale;
      scale = Math.min(scale * 0x80, LEB_SCALE_MAX);
    } while (byte >= 0x80);
    return byte & 0x40 ? value - scale : value;
  }

  /** All 64 bits of an unsigned or signed LEB128; bits above are dropped. */
  leb64(isSigned: boolean): bigint {
    let value = 0n;
    let shift = 0n;
    let byte: number;
    do {
      byte = this.u8();
      if (shift < 64n) value |= BigInt(byte & 0x7f) << shift;
      shift += 7n;
    } while (byte >= 0x80);
    if (!isSigned) return BigInt.asUintN(64, value);
    return BigInt.asIntN(64, byte & 0x40 && shift < 64n ? value - (1n << shift) : value);
  }

  skipLeb(): void {
    while (this.u8() >= 0x80);
  }

  skipString(): void {
    const zero = this.bytes.subarray(this.at, this.end).indexOf(0);
    if (zero < 0) this.overrun();
    this.at += zero + 1;
  }

  string(): string {
    const start = this.at;
    this.skipString();
    return text(this.bytes, start, this.at - 1);
  }
}

const decoder = new TextDecoder();

/** Bytes `[start, end)` as text, with a fast path for ASCII. */
export function text(bytes: Uint8Array, start: number, end: number): string {
  if (end - start > 64) return decoder.decode(bytes.subarray(start, end));
  let out = '';
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!;
    if (byte >= 0x80) return decoder.decode(bytes.subarray(start, end));
    out += String.fromCharCode(byte);
  }
  return out;
}

/**
 * Longest text in a table of strings, in bytes: otherwise a table without NULs would be read
 * entirely for each of its users.
 */
const TEXT_MAX = 1 << 16;

/**
 * The NUL-terminated text at `offset`, cut after `max` bytes, or '' if the table ends before it.
 */
export function stringAt(bytes: Uint8Array, offset: number, max = TEXT_MAX): string {
  if (!(offset >= 0) || offset >= bytes.length) return '';
  const limit = Math.min(bytes.length, offset + max);
  let end = offset;
  while (end < limit && bytes[end] !== 0) end++;
  return text(bytes, offset, end);
}

/**
 * First index in `[0, count)` whose `key(index)` is greater than `value`; `key` must not decrease.
 */
export function upperBound(count: number, value: number, key: (index: number) => number): number {
  let lo = 0;
  let hi = count;
  while (lo < hi) {
    const mid = (lo + hi) >>> 1;
    if (key(mid) > value) hi = mid;
    else lo = mid + 1;
  }
  return lo;
}

/**
 * The number of values of a sorted array up to `value`. `hint`: an answer for a value near it, with
 * which that takes a few steps.
 */
export function countUpTo(sorted: ArrayLike<number>, value: number, hint: number): number {
  const { length } = sorted;
  let [lo, hi] = [0, length];
  if (hint > 0 && hint <= length) {
    if (sorted[hint - 1]! > value) hi = hint - 1;
    else {
      let step = 1;
      for (lo = hint; lo + step <= length && sorted[lo + step - 1]! <= value; step *= 2) lo += step;
      hi = Math.min(lo + step - 1, length);
    }
  }
  while (lo < hi) {
    const mid = (lo + hi) >>> 1;
    if (sorted[mid]! > value) hi = mid;
    else lo = mid + 1;
  }
  return lo;
}

/** Byte-wise order of strings: the same on every host, unlike `localeCompare`. */
export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A path without `./`, `//` and `a/../`: the form that reports show and compare. */
export function cleanPath(path: string): string {
  if (!path.includes('./') && !path.includes('//')) return path;
  const out: string[] = [];
  for (const part of path.split('/')) {
    if (part === '.' || (part === '' && out.length > 0)) continue;
    if (part === '..' && out.length > 0 && out[out.length - 1] !== '..' && out[out.length - 1] !== '')
      out.pop();
    else out.push(part);
  }
  return out.join('/') || '.';
}
