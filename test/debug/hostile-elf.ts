// ELF files with hand-made debug information (DWARF 4), for images that no compiler writes.

/** Little-endian bytes that grow. */
export class Bytes {
  #data = new Uint8Array(1 << 12);
  length = 0;

  #room(count: number): void {
    if (this.length + count <= this.#data.length) return;
    const wider = new Uint8Array(2 * (this.length + count));
    wider.set(this.#data);
    this.#data = wider;
  }

  u8(...values: readonly number[]): this {
    this.#room(values.length);
    for (const value of values) this.#data[this.length++] = value;
    return this;
  }

  word(value: number | bigint, size: number): this {
    this.#room(size);
    let rest = BigInt.asUintN(64, BigInt(value));
    for (let i = 0; i < size; i++, rest >>= 8n) this.#data[this.length++] = Number(rest & 255n);
    return this;
  }

  uleb(value: number): this {
    for (; value >= 128; value = Math.floor(value / 128)) this.u8((value % 128) | 128);
    return this.u8(value);
  }

  raw(bytes: ArrayLike<number>): this {
    this.#room(bytes.length);
    this.#data.set(bytes, this.length);
    this.length += bytes.length;
    return this;
  }

  text(value: string): this {
    return this.raw(new TextEncoder().encode(`${value}\0`));
  }

  get bytes(): Uint8Array {
    return this.#data.slice(0, this.length);
  }
}

const TEXT = '.text';

/** A linked file whose `.text` is at `address`. */
export function elfWith(
  code: Uint8Array,
  address: bigint,
  sections: Readonly<Record<string, Uint8Array>>,
): Uint8Array {
  const all: [string, Uint8Array][] = [[TEXT, code], ...Object.entries(sections)];
  const names = new Bytes().u8(0);
  const rows: { name: number; at: number; size: number; isText: boolean }[] = [];
  const out = new Bytes().raw(new Uint8Array(64));
  for (const [name, data] of all) {
    rows.push({ name: names.length, at: out.length, size: data.length, isText: name === TEXT });
    names.text(name);
    out.raw(data);
  }
  rows.push({ name: names.length, at: out.length, size: names.length + 10, isText: false });
  names.text('.shstrtab');
  out.raw(names.bytes);
  const table = out.length;
  out.raw(new Uint8Array(64));
  for (const { name, at, size, isText } of rows) {
    out
      .word(name, 4)
      .word(1, 4)
      .word(isText ? 6 : 0, 8)
      .word(isText ? address : 0, 8);
    out.word(at, 8).word(size, 8).raw(new Uint8Array(24));
  }
  const bytes = out.bytes;
  const head = new Bytes().u8(0x7f, 0x45, 0x4c, 0x46, 2, 1, 1).raw(new Uint8Array(9));
  head.word(2, 2).word(243, 2).word(1, 4).word(address, 8).word(0, 8).word(table, 8).word(0, 4);
  head
    .word(64, 2)
    .word(0, 4)
    .word(64, 2)
    .word(rows.length + 1, 2)
    .word(rows.length, 2);
  bytes.set(head.bytes);
  return bytes;
}

const [ADDR, DATA4, DATA8, STRING, REF4, EXPRLOC, OFFSET, BLOCK] = [1, 6, 7, 8, 0x13, 0x18, 0x17, 9];

/** Abbreviations: tag, children, pairs of attribute and form. Codes are their numbers from 1. */
const ABBREVS = {
  unit: [0x11, 1, 0x03, STRING, 0x11, ADDR, 0x12, DATA8],
  function: [0x2e, 1, 0x03, STRING, 0x11, ADDR, 0x12, DATA8, 0x40, EXPRLOC],
  variable: [0x34, 0, 0x03, STRING, 0x49, REF4, 0x02, EXPRLOC],
  listed: [0x34, 0, 0x03, STRING, 0x49, REF4, 0x02, OFFSET],
  struct: [0x13, 1, 0x03, STRING, 0x0b, DATA4],
  member: [0x0d, 0, 0x03, STRING, 0x49, REF4, 0x38, DATA4],
  ranged: [0x2e, 1, 0x03, STRING, 0x55, OFFSET],
  block: [0x0b, 1, 0x11, ADDR, 0x12, DATA8],
  inlined: [0x1d, 1, 0x31, REF4, 0x11, ADDR, 0x12, DATA8],
  array: [0x01, 1, 0x49, REF4],
  subrange: [0x21, 0, 0x37, DATA8],
  base: [0x24, 0, 0x03, STRING, 0x0b, DATA4, 0x3e, DATA4],
  typedef: [0x16, 0, 0x03, STRING, 0x49, REF4],
  pointer: [0x0f, 0, 0x49, REF4],
  constant: [0x34, 0, 0x03, STRING, 0x49, REF4, 0x1c, BLOCK],
  field: [0x0d, 0, 0x03, STRING, 0x49, REF4, 0x0d, DATA8, 0x6b, DATA8],
} as const satisfies Readonly<Record<string, readonly number[]>>;

type Kind = keyof typeof ABBREVS;
const KINDS = Object.keys(ABBREVS) as Kind[];

export function abbrevs(): Uint8Array {
  const out = new Bytes();
  for (const [i, kind] of KINDS.entries()) out.uleb(i + 1).u8(...ABBREVS[kind], 0, 0);
  return out.u8(0).bytes;
}

/** One unit of .debug_info. */
export class UnitWriter {
  readonly out = new Bytes().word(0, 4).word(4, 2).word(0, 4).u8(8);

  /** Values in the order of the row; an expression is its bytes. Answers the offset. */
  entry(kind: Kind, ...values: readonly (string | number | bigint | readonly number[])[]): number {
    const at = this.out.length;
    this.out.uleb(KINDS.indexOf(kind) + 1);
    const row: readonly number[] = ABBREVS[kind];
    for (const [i, value] of values.entries()) {
      const form = row[3 + 2 * i];
      if (typeof value === 'string') this.out.text(value);
      else if (typeof value === 'object') this.out.uleb(value.length).raw(value);
      else this.out.word(value, form === DATA4 || form === REF4 || form === OFFSET ? 4 : 8);
    }
    return at;
  }

  end(): this {
    this.out.u8(0);
    return this;
  }

  get bytes(): Uint8Array {
    const bytes = this.out.bytes;
    new DataView(bytes.buffer).setUint32(0, bytes.length - 4, true);
    return bytes;
  }
}
