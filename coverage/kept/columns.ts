/**
 * Columns of numbers and a list of texts in one piece of bytes, which is read without a copy: a
 * length, a line of JSON, and the columns, each at a multiple of eight bytes.
 */
import { CoverageError } from '../base/bytes.ts';

const TYPES = { f64: Float64Array, u32: Uint32Array, u8: Uint8Array } as const;
type Column = Float64Array | Uint32Array | Uint8Array;
type TypeName = keyof typeof TYPES;

/** In the processor's order of bytes; the files stay on the machine that wrote them. */
interface Head {
  readonly texts: readonly string[];
  readonly values: Readonly<Record<string, unknown>>;
  readonly columns: Readonly<Record<string, readonly [type: TypeName, at: number, length: number]>>;
}

const aligned = (bytes: number): number => (bytes + 7) & ~7;

const typeOf = (column: Column): TypeName =>
  column instanceof Float64Array ? 'f64' : column instanceof Uint32Array ? 'u32' : 'u8';

/** Gathers columns and lists for `Columns`. */
export class ColumnWriter {
  readonly #columns = new Map<string, Column>();
  readonly #texts = new Map<string, number>();
  readonly #values: Record<string, unknown> = {};

  column(name: string, values: Column): void {
    this.#columns.set(name, values);
  }

  /** A list for each row: their values behind each other, and where each ends. */
  lists(name: string, rows: readonly (ArrayLike<number> & Iterable<number>)[], wide = false): void {
    const ends = new Uint32Array(rows.length);
    let count = 0;
    for (const [i, row] of rows.entries()) ends[i] = count += row.length;
    const values = wide ? new Float64Array(count) : new Uint32Array(count);
    let at = 0;
    for (const row of rows) for (const value of row) values[at++] = value;
    this.column(name, values);
    this.column(`${name} ends`, ends);
  }

  /** A small structure, as JSON. */
  value(name: string, value: unknown): void {
    this.#values[name] = value;
  }

  /** The number of a text. */
  text(text: string): number {
    let number = this.#texts.get(text);
    if (number === undefined) this.#texts.set(text, (number = this.#texts.size));
    return number;
  }

  finish(): Uint8Array {
    const columns: Record<string, [TypeName, number, number]> = {};
    let size = 0;
    for (const [name, column] of this.#columns) {
      columns[name] = [typeOf(column), size, column.length];
      size += aligned(column.byteLength);
    }
    const head: Head = { texts: [...this.#texts.keys()], values: this.#values, columns };
    const json = new TextEncoder().encode(JSON.stringify(head));
    const first = aligned(4 + json.length);
    const bytes = new Uint8Array(first + size);
    new DataView(bytes.buffer).setUint32(0, json.length, true);
    bytes.set(json, 4);
    for (const [name, { buffer, byteOffset, byteLength }] of this.#columns)
      bytes.set(new Uint8Array(buffer, byteOffset, byteLength), first + columns[name]![1]);
    return bytes;
  }
}

/** Of each row a list. Errors: lists that are not those of `ColumnWriter`. */
export class Lists {
  readonly #values: Column;
  readonly #ends: Uint32Array;

  constructor(values: Column, ends: Uint32Array) {
    let last = 0;
    for (const end of ends) {
      // A list would have values that are not there, billions perhaps.
      if (end < last) throw new CoverageError('lists of a kept analysis that are not in order');
      last = end;
    }
    if (last !== values.length) throw new CoverageError('lists of a kept analysis that end elsewhere');
    this.#values = values;
    this.#ends = ends;
  }

  get rows(): number {
    return this.#ends.length;
  }

  of(row: number): number[] {
    const found: number[] = [];
    const end = this.#ends[row]!;
    for (let i = row === 0 ? 0 : this.#ends[row - 1]!; i < end; i++) found.push(this.#values[i]!);
    return found;
  }
}

/** Reads the bytes of a `ColumnWriter`. */
export class Columns {
  readonly texts: readonly string[];
  readonly values: Readonly<Record<string, unknown>>;
  readonly #columns: Head['columns'];
  readonly #bytes: Uint8Array;
  readonly #first: number;

  constructor(bytes: Uint8Array) {
    // A view of numbers needs an aligned place.
    this.#bytes = bytes.byteOffset % 8 === 0 ? bytes : bytes.slice();
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
    const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))) as Head;
    this.texts = head.texts;
    this.values = head.values;
    this.#columns = head.columns;
    this.#first = aligned(4 + length);
  }

  #column<K extends TypeName>(name: string, wanted: K): InstanceType<(typeof TYPES)[K]> {
    const [type, at, length] = this.#columns[name] ?? [];
    if (type !== wanted) throw new CoverageError(`a kept analysis has no column ${name} of ${wanted}`);
    const { buffer, byteOffset } = this.#bytes;
    return new TYPES[wanted](buffer as ArrayBuffer, byteOffset + this.#first + at!, length) as InstanceType<
      (typeof TYPES)[K]
    >;
  }

  f64(name: string): Float64Array {
    return this.#column(name, 'f64');
  }

  u32(name: string): Uint32Array {
    return this.#column(name, 'u32');
  }

  u8(name: string): Uint8Array {
    return this.#column(name, 'u8');
  }

  lists(name: string): Lists {
    return new Lists(this.u32(name), this.u32(`${name} ends`));
  }

  /** Of addresses. */
  wideLists(name: string): Lists {
    return new Lists(this.f64(name), this.u32(`${name} ends`));
  }
}
