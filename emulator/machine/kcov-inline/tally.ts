// The numbers that compiled code counts records in for a passive listener (devices/kcov-tally.ts):
// their layout in the host's memory, and the code of a hook that uses them.
//
// A record is counted if
// - the hart's current context, its mode and its buffer are those of the last record;
// - it finds no room; or its index says that it follows the last one, which still lies in guest
//   memory as it was written; or it is the first of the buffer.
// For everything else the hook calls the device.

import { CMP_WORDS, RECORD } from '../../../devices/kcov-layout.ts';
import type { KcovCount, KcovTally, LastRecord } from '../../../devices/kcov-tally.ts';
import type { Ram } from '../../bus/ram.ts';
import type { CodeWriter, I32, I64, Label, Local } from '../../wasm/module.ts';

/** Byte offsets. The first fields describe the last record. */
const AT = {
  /** i32: host address of its context, plus its mode; 0 = the next record comes to the device. */
  CONTEXT: 0,
  /** i32: host address of its buffer. */
  AREA: 4,
  /** i64: its index + 1, or NOT_STORED. */
  NEXT: 8,
  /** i64: its words. */
  LAST: 16,
  CELLS: 64,
} as const;

const NOT_STORED = 2n ** 64n - 1n;

/**
 * A cell: i64 return address, plus 1 for comparisons (0 = the cell is free); i64 stored records;
 * i64 lost ones.
 */
const CELL = { KEY: 0, STORED: 8, LOST: 16, BYTES: 24 } as const;
/** A hook is a call of 8 bytes, so 1 MiB of code has no two hooks with one cell. */
const CELL_SHIFT = 3;
const CELLS = 1 << 17;

/** Bytes of memory that a tally needs. */
export const TALLY_BYTES = Math.ceil((AT.CELLS + CELL.BYTES * CELLS) / 0x1_0000) * 0x1_0000;

export class RecordTally implements KcovTally {
  readonly #ram: Ram;
  readonly #base: number;
  readonly #words: Uint32Array;
  readonly #longs: BigUint64Array;
  /** Physical address of the last record's buffer, and its words as halves. */
  #area = 0;
  #halves = 0;
  /** Numbers of the cells in use. */
  readonly #used: number[] = [];

  /** `base`: where its bytes lie in RAM's memory. */
  constructor(ram: Ram, base: number) {
    this.#ram = ram;
    this.#base = base;
    this.#words = new Uint32Array(ram.memory.buffer);
    this.#longs = new BigUint64Array(ram.memory.buffer);
  }

  take(give: (count: KcovCount) => void): void {
    for (const cell of this.#used) {
      const at = this.#cellAt(cell) >>> 3;
      const [key, stored, lost] = this.#longs.subarray(at, at + 3);
      if (stored === 0n && lost === 0n) continue;
      this.#longs.fill(0n, at + 1, at + 3);
      const lo = Number(key! & 0xfffffffen);
      const hi = Number(key! >> 32n);
      give({ isCmp: (key! & 1n) !== 0n, lo, hi, stored: Number(stored), lost: Number(lost) });
    }
  }

  settle(give: (last: LastRecord) => void): void {
    if (this.#words[(this.#base + AT.CONTEXT) >>> 2] === 0) return;
    const next = this.#longs[(this.#base + AT.NEXT) >>> 3]!;
    // A buffer that was emptied may have as many records again, so its count does not tell.
    if (next === NOT_STORED) return;
    const at = (this.#base + AT.LAST) >>> 2;
    const [words, area, halves] = [this.#words, this.#area, this.#halves];
    give({ words, at, count: 1, halves, area, index: Number(next) - 1 });
  }

  follow(context: number, words: Uint32Array, area: number, index: number): void {
    const isCmp = words.length > 2;
    const mode = isCmp ? RECORD.CMP : RECORD.PC;
    const [contextAt, areaAt] = [(this.#ram.host(context) | mode) >>> 0, this.#ram.host(area)];
    const isSame =
      this.#words[(this.#base + AT.CONTEXT) >>> 2] === contextAt &&
      this.#words[(this.#base + AT.AREA) >>> 2] === areaAt;
    this.claim(words[words.length - 2]!, words[words.length - 1]!, isCmp);
    // The last record of a buffer stays what it was if there is no room for another.
    if (index < 0 && isSame) return;
    this.#words[(this.#base + AT.CONTEXT) >>> 2] = contextAt;
    this.#words[(this.#base + AT.AREA) >>> 2] = areaAt;
    this.#area = area;
    this.#halves = words.length;
    this.#longs[(this.#base + AT.NEXT) >>> 3] = index < 0 ? NOT_STORED : BigInt(index + 1);
    this.#words.set(words, (this.#base + AT.LAST) >>> 2);
  }

  refuse(): void {
    this.#words[(this.#base + AT.CONTEXT) >>> 2] = 0;
  }

  /** True if the hook that returns to this address has a cell now; another may have it. */
  claim(lo: number, hi: number, isCmp: boolean): boolean {
    if (lo & 1 || (lo | hi) === 0) return false;
    const cell = (lo >>> CELL_SHIFT) & (CELLS - 1);
    const at = this.#cellAt(cell) >>> 2;
    const key = (lo | (isCmp ? 1 : 0)) >>> 0;
    if (this.#words[at] === 0 && this.#words[at + 1] === 0) {
      this.#words[at] = key;
      this.#words[at + 1] = hi;
      this.#used.push(cell);
    }
    return this.#words[at] === key && this.#words[at + 1] === hi >>> 0;
  }

  #cellAt(cell: number): number {
    return this.#base + AT.CELLS + CELL.BYTES * cell;
  }

  /** The code of a hook's record in `words` words. */
  writer(c: CodeWriter, words: number): TallyWriter {
    return new TallyWriter(c, this.#base, words);
  }

  /** Host address of the cell of a return address. */
  cellOf(lo: number): number {
    return this.#cellAt((lo >>> CELL_SHIFT) & (CELLS - 1));
  }

  /** The same in code, from a local; sets `cell`, and branches if another hook has it, or none. */
  findCell(c: CodeWriter, pc: Local<I64>, isCmp: boolean, cell: Local<I32>, refused: Label): void {
    c.local_get(pc).i32_wrap_i64().i32_const(CELL_SHIFT).i32_shr_u();
    c.i32_const(CELLS - 1)
      .i32_and()
      .i32_const(CELL.BYTES)
      .i32_mul();
    c.i32_const(this.#base + AT.CELLS)
      .i32_add()
      .local_tee(cell);
    c.i64_load(CELL.KEY).local_get(pc);
    if (isCmp) c.i64_const(1).i64_or();
    c.i64_ne().br_if(refused, 'unlikely');
  }
}

/** Writes the code of a hook; all host addresses are i32. */
export class TallyWriter {
  readonly #c: CodeWriter;
  readonly #base: number;
  readonly #words: number;

  constructor(c: CodeWriter, base: number, words: number) {
    this.#c = c;
    this.#base = base;
    this.#words = words;
  }

  /** Branches unless context, mode and buffer are those of the last record. */
  needPlace(context: Local<I32>, area: Local<I32>, refused: Label): void {
    const c = this.#c;
    const mode = this.#words === CMP_WORDS ? RECORD.CMP : RECORD.PC;
    c.i32_const(0)
      .i32_load(this.#base + AT.CONTEXT)
      .local_get(context)
      .i32_const(mode)
      .i32_or()
      .i32_xor();
    c.i32_const(0)
      .i32_load(this.#base + AT.AREA)
      .local_get(area)
      .i32_xor();
    c.i32_or().br_if(refused, 'unlikely');
  }

  /** Branches unless the record is the first, or follows the last one, which is intact. */
  needLast(count: Local<I64>, slot: Local<I32>, refused: Label): void {
    const c = this.#c;
    c.local_get(count).i64_eqz().i32_eqz().if_();
    c.local_get(count)
      .i32_const(0)
      .i64_load(this.#base + AT.NEXT)
      .i64_xor();
    for (let word = 0; word < this.#words; word++) {
      c.local_get(slot)
        .i32_const(8 * this.#words)
        .i32_sub()
        .i64_load(8 * word);
      c.i32_const(0)
        .i64_load(this.#base + AT.LAST + 8 * word)
        .i64_xor()
        .i64_or();
    }
    c.i64_const(0).i64_ne().br_if(refused, 'unlikely');
    c.end();
  }

  /** A word of the record that is now the last one. */
  last(word: number, value: () => void): void {
    this.#c.i32_const(0);
    value();
    this.#c.i64_store(this.#base + AT.LAST + 8 * word);
  }

  /** The number of records in the buffer. */
  next(count: () => void): void {
    this.#c.i32_const(0);
    count();
    this.#c.i64_store(this.#base + AT.NEXT);
  }

  /** Adds to the cell at the address that `cell` pushes. */
  add(cell: () => void, field: 'stored' | 'lost', more: () => void): void {
    const at = field === 'stored' ? CELL.STORED : CELL.LOST;
    cell();
    cell();
    this.#c.i64_load(at);
    more();
    this.#c.i64_add().i64_store(at);
  }
}
