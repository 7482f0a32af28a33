// Declared register maps. A device lists its registers once (id, offset, width, access, meaning)
// and then matches on ids, never on offsets. The same rows produce docs/devices.md and the test
// that accesses every register. This module handles partial accesses for all devices: a narrow read
// returns its part of the register; a narrow write is merged with what a read returns (`merge`) or
// dropped (`ignore`); registers wider than 4 bytes are served as 32-bit words, `word` 0 being the
// low one. A read of a write-only or unlisted offset gives 0, a write to a read-only or unlisted
// one has no effect: real peripherals do the same, and drivers probe.

export type Access = 'r' | 'w' | 'rw';

export interface RegRow<Id extends string> {
  id: Id;
  at: number;
  bytes: 1 | 2 | 4 | 8;
  access: Access;
  doc: string;
  /** Repeats `count` times, `stride` bytes apart (default: its width). */
  count?: number;
  stride?: number;
  /** Visible only while the device is in this bank (DLAB of a UART). */
  bank?: string;
}

export interface RegMapOptions {
  title: string;
  /** The document that defines it. */
  spec: string;
  /** Bytes of address space. */
  size: number;
  narrow?: 'merge' | 'ignore';
}

/** Serves one 32-bit word of a register. */
export type Getter<Id> = (id: Id, index: number, word: number) => number;
export type Setter<Id> = (id: Id, value: number, index: number, word: number) => void;

interface Hit<Id extends string> {
  row: RegRow<Id>;
  index: number;
  /** Byte inside the register. */
  byte: number;
}

/** Cached results of `find` by offset, for each bank, and those of the bank of the last call. */
interface Known<Id extends string> {
  readonly banks: Map<string, (Hit<Id> | undefined)[]>;
  bank: string | undefined;
  hits: (Hit<Id> | undefined)[];
}

/** Offsets below this are looked up once. */
const REMEMBERED = 256;
/** The number of cached reads at other offsets, by their word. */
const RECENT = 64;

const mask = (bytes: number): number => (bytes >= 4 ? 0xffff_ffff : (1 << (8 * bytes)) - 1);

export class RegMap<Id extends string> {
  readonly title: string;
  readonly spec: string;
  readonly size: number;
  readonly rows: readonly RegRow<Id>[];
  readonly #narrow: 'merge' | 'ignore';
  readonly #readers: Known<Id> = { banks: new Map(), bank: undefined, hits: [] };
  readonly #writers: Known<Id> = { banks: new Map(), bank: undefined, hits: [] };
  readonly #recentOffsets = new Int32Array(RECENT).fill(-1);
  readonly #recentHits: (Hit<Id> | undefined)[] = Array(RECENT).fill(undefined);

  constructor(options: RegMapOptions, rows: readonly RegRow<Id>[]) {
    this.title = options.title;
    this.spec = options.spec;
    this.size = options.size;
    this.#narrow = options.narrow ?? 'merge';
    this.rows = rows;
    this.#check();
  }

  /** The register of an access; pure, and cached because drivers poll. */
  find(offset: number, access: 'r' | 'w', bank = ''): Hit<Id> | undefined {
    if (offset >= REMEMBERED) {
      return access === 'r' && bank === '' ? this.#recent(offset) : this.#search(offset, access, bank);
    }
    const known = access === 'r' ? this.#readers : this.#writers;
    return (known.bank === bank ? known.hits : this.#bankOf(known, access, bank))[offset];
  }

  #recent(offset: number): Hit<Id> | undefined {
    const at = (offset >>> 2) % RECENT;
    if (this.#recentOffsets[at] !== offset) {
      this.#recentHits[at] = this.#search(offset, 'r', '');
      this.#recentOffsets[at] = offset;
    }
    return this.#recentHits[at];
  }

  #bankOf(known: Known<Id>, access: 'r' | 'w', bank: string): Known<Id>['hits'] {
    let hits = known.banks.get(bank);
    if (!hits) {
      const length = Math.min(this.size, REMEMBERED);
      hits = Array.from({ length }, (_, at) => this.#search(at, access, bank));
      known.banks.set(bank, hits);
    }
    known.bank = bank;
    known.hits = hits;
    return hits;
  }

  #search(offset: number, access: 'r' | 'w', bank: string): Hit<Id> | undefined {
    for (const row of this.rows) {
      if (offset < row.at || !row.access.includes(access)) continue;
      if (row.bank !== undefined && row.bank !== bank) continue;
      const stride = row.stride ?? row.bytes;
      const index = Math.floor((offset - row.at) / stride);
      const byte = offset - row.at - index * stride;
      if (index < (row.count ?? 1) && byte < row.bytes) return { row, index, byte };
    }
    return undefined;
  }

  read(offset: number, bytes: number, get: Getter<Id>, bank = ''): number {
    const hit = this.find(offset, 'r', bank);
    if (!hit) return 0;
    const value = get(hit.row.id, hit.index, hit.byte >>> 2) >>> 0;
    return ((value >>> (8 * (hit.byte & 3))) & mask(bytes)) >>> 0;
  }

  write(offset: number, bytes: number, value: number, set: Setter<Id>, get: Getter<Id>, bank = ''): void {
    const hit = this.find(offset, 'w', bank);
    if (!hit) return;
    const word = hit.byte >>> 2;
    const shift = 8 * (hit.byte & 3);
    const width = Math.min(4, hit.row.bytes);
    if (bytes >= width && shift === 0) {
      set(hit.row.id, (value & mask(width)) >>> 0, hit.index, word);
    } else if (this.#narrow === 'merge') {
      const old = hit.row.access === 'rw' ? get(hit.row.id, hit.index, word) : 0;
      const part = mask(bytes) << shift;
      set(hit.row.id, ((old & ~part) | ((value << shift) & part)) >>> 0, hit.index, word);
    }
  }

  /** Checks that every row is inside the map and no two rows match the same access. */
  #check(): void {
    const taken = new Map<string, string>();
    for (const row of this.rows) {
      const last = row.at + ((row.count ?? 1) - 1) * (row.stride ?? row.bytes) + row.bytes;
      if (last > this.size) throw new Error(`${this.title}: ${row.id} ends at ${last}, after ${this.size}`);
      for (const access of row.access) {
        // Arrays are checked by their first element only; the devices' arrays do not interleave.
        const key = `${access}${row.at}${row.bank ?? ''}`;
        const other = taken.get(key);
        if (other) throw new Error(`${this.title}: ${row.id} and ${other} share an offset`);
        taken.set(key, row.id);
      }
    }
  }
}

/** Declares a map; the ids become a union type from the rows. */
export function regmap<const Id extends string>(
  options: RegMapOptions,
  rows: readonly RegRow<Id>[],
): RegMap<Id> {
  return new RegMap(options, rows);
}
