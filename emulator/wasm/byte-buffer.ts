// A growing byte string: it encodes all emitted WebAssembly (core spec 2.0 §5.2). It does not
// collect arrays of numbers first, because the emitter's speed is part of the compile cost of the
// JIT.

/** Bytes written so far are `bytes[0, length)`. */
export class ByteBuffer {
  bytes: Uint8Array<ArrayBuffer>;
  length = 0;

  constructor(capacity = 256) {
    this.bytes = new Uint8Array(capacity);
  }

  /** Reserves space for `count` more bytes. */
  reserve(count: number): void {
    if (this.length + count <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.length + count));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }

  /** One raw byte. */
  byte(value: number): void {
    if (this.length === this.bytes.length) this.reserve(1);
    this.bytes[this.length++] = value;
  }

  /** Unsigned LEB128 of a number below 2^32 (§5.2.2). */
  u32(value: number): void {
    let rest = value >>> 0;
    this.reserve(5);
    while (rest >= 0x80) {
      this.bytes[this.length++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.bytes[this.length++] = rest;
  }

  /** Unsigned LEB128 in exactly five bytes, for sizes that are filled in later with `patchU32`. */
  paddedU32(value: number): number {
    const at = this.length;
    this.reserve(5);
    this.length += 5;
    this.patchU32(at, value);
    return at;
  }

  /** Overwrites what `paddedU32` wrote at `at`. */
  patchU32(at: number, value: number): void {
    for (let i = 0; i < 4; i++) this.bytes[at + i] = ((value >>> (7 * i)) & 0x7f) | 0x80;
    this.bytes[at + 4] = value >>> 28;
  }

  /** Signed LEB128 of a 32-bit number. */
  s32(value: number): void {
    let rest = value | 0;
    this.reserve(5);
    while (rest < -64 || rest > 63) {
      this.bytes[this.length++] = (rest & 0x7f) | 0x80;
      rest >>= 7;
    }
    this.bytes[this.length++] = rest & 0x7f;
  }

  /** Signed LEB128 of the low 64 bits of a bigint. */
  s64(value: bigint): void {
    let rest = BigInt.asIntN(64, value);
    this.reserve(10);
    while (rest < -64n || rest > 63n) {
      this.bytes[this.length++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.bytes[this.length++] = Number(rest & 0x7fn);
  }

  /** Vector of raw bytes without its length. */
  raw(source: Uint8Array): void {
    this.reserve(source.length);
    this.bytes.set(source, this.length);
    this.length += source.length;
  }

  /** A name: UTF-8 with its length (§5.2.4). Names here are plain ASCII. */
  name(text: string): void {
    this.u32(text.length);
    for (let i = 0; i < text.length; i++) this.byte(text.charCodeAt(i) & 0x7f);
  }

  /** The bytes written so far; a view that the next write may invalidate. */
  view(): Uint8Array<ArrayBuffer> {
    return this.bytes.subarray(0, this.length);
  }
}
