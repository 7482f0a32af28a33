// Flattened device tree blobs. Specification: Devicetree Specification 0.4, chapter 5 (version 17).

import type { FdtNode, FdtValue } from '../bus/device.ts';

const MAGIC = 0xd00d_feed;
const BEGIN_NODE = 1;
const END_NODE = 2;
const PROP = 3;
const END = 9;
const HEADER_BYTES = 40;
const RESERVE_BYTES = 16;

/** A growing big-endian output buffer. */
class Writer {
  #bytes = new Uint8Array(4096);
  length = 0;

  u32(value: number): void {
    this.#room(4);
    new DataView(this.#bytes.buffer).setUint32(this.length, value >>> 0);
    this.length += 4;
  }

  raw(data: Uint8Array): void {
    this.#room(data.length);
    this.#bytes.set(data, this.length);
    this.length += data.length;
  }

  align(): void {
    this.#room(4);
    while (this.length % 4 !== 0) this.#bytes[this.length++] = 0;
  }

  done(): Uint8Array {
    return this.#bytes.slice(0, this.length);
  }

  #room(bytes: number): void {
    if (this.length + bytes <= this.#bytes.length) return;
    const bigger = new Uint8Array(2 * (this.length + bytes));
    bigger.set(this.#bytes);
    this.#bytes = bigger;
  }
}

const ENCODER = new TextEncoder();
const text = (s: string): Uint8Array => ENCODER.encode(`${s}\0`);

function valueBytes(value: FdtValue): Uint8Array {
  if (value === true) return new Uint8Array(0);
  if (typeof value === 'string') return text(value);
  if (value instanceof Uint8Array) return value;
  const list = value as readonly (string | number)[];
  if (typeof list[0] === 'string') return text((list as readonly string[]).join('\0'));
  const out = new Writer();
  for (const cell of list as readonly number[]) out.u32(cell);
  return out.done();
}

/** A 64-bit quantity as two cells. */
export function cells64(value: number): [number, number] {
  return [Math.floor(value / 2 ** 32), value >>> 0];
}

/** The blob of a whole tree. */
export function encodeFdt(root: FdtNode): Uint8Array {
  const struct = new Writer();
  const strings = new Writer();
  const offsets = new Map<string, number>();
  const nameOffset = (name: string): number => {
    let at = offsets.get(name);
    if (at === undefined) {
      at = strings.length;
      offsets.set(name, at);
      strings.raw(text(name));
    }
    return at;
  };
  const node = (n: FdtNode): void => {
    struct.u32(BEGIN_NODE);
    struct.raw(text(n.name));
    struct.align();
    for (const [name, value] of Object.entries(n.props)) {
      const bytes = valueBytes(value);
      struct.u32(PROP);
      struct.u32(bytes.length);
      struct.u32(nameOffset(name));
      struct.raw(bytes);
      struct.align();
    }
    for (const child of n.children ?? []) node(child);
    struct.u32(END_NODE);
  };
  node(root);
  struct.u32(END);

  const structAt = HEADER_BYTES + RESERVE_BYTES;
  const stringsAt = structAt + struct.length;
  const out = new Writer();
  const total = stringsAt + strings.length;
  // totalsize, off_dt_struct, off_dt_strings, off_mem_rsvmap, version, last_comp_version,
  // boot_cpuid, sizes
  for (const word of [
    MAGIC,
    total,
    structAt,
    stringsAt,
    HEADER_BYTES,
    17,
    16,
    0,
    strings.length,
    struct.length,
  ]) {
    out.u32(word);
  }
  out.raw(new Uint8Array(RESERVE_BYTES));
  out.raw(struct.done());
  out.raw(strings.done());
  return out.done();
}
