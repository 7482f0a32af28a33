/** Bytes that grow at their end, for tables that are written. */
export class Bytes {
  #all = new Uint8Array(1 << 16);
  #view = new DataView(this.#all.buffer);
  length = 0;

  /** The place of `count` more bytes. */
  #grow(count: number): number {
    const at = this.length;
    this.length += count;
    if (this.length > this.#all.length) {
      const more = new Uint8Array(2 * this.length);
      more.set(this.#all);
      this.#all = more;
      this.#view = new DataView(more.buffer);
    }
    return at;
  }

  u8(value: number): void {
    const at = this.#grow(1);
    this.#all[at] = value;
  }

  u16(value: number): void {
    const at = this.#grow(2);
    this.#view.setUint16(at, value, true);
  }

  u32(value: number): void {
    const at = this.#grow(4);
    this.#view.setUint32(at, value, true);
  }

  u64(value: bigint): void {
    const at = this.#grow(8);
    this.#view.setBigUint64(at, BigInt.asUintN(64, value), true);
  }

  uleb(value: number): void {
    for (; value >= 0x80; value = Math.floor(value / 0x80)) this.u8((value % 0x80) | 0x80);
    this.u8(value);
  }

  sleb(value: number): void {
    for (; value < -0x40 || value >= 0x40; value >>= 7) this.u8((value & 0x7f) | 0x80);
    this.u8(value & 0x7f);
  }

  /** With a zero behind it. */
  text(value: string): void {
    this.bytes(new TextEncoder().encode(value));
    this.u8(0);
  }

  bytes(value: Uint8Array): void {
    const at = this.#grow(value.length);
    this.#all.set(value, at);
  }

  align(to: number): void {
    while (this.length % to !== 0) this.u8(0);
  }

  set32(at: number, value: number): void {
    this.#view.setUint32(at, value, true);
  }

  take(): Uint8Array<ArrayBuffer> {
    return this.#all.slice(0, this.length);
  }
}
