// The pool of decoded pages in linear memory: the RAM pages that have one, decoding, and the effect
// of stores.
//
// Decoded pages belong to physical pages, so all address spaces and harts share them. Records are
// decoded when first reached. A store to a page that holds decoded records takes effect at once,
// with or without fence.i: the records that overlap it are dropped. To detect those stores, the
// page has no fast write entries in any TLB (CodePort). After many stores without execution the
// page becomes a data page again.

import type { Ram } from '../../bus/ram.ts';
import type { CodePort, TableEffect } from '../../hart/index.ts';
import {
  EXEC_BYTES,
  F as FP,
  SINK,
  TLB_ENTRY_BYTES,
  TLB_EXEC,
  VIEWS,
  WINDOW_BYTES,
  X,
} from '../../hart/layout.ts';
import { purgeWritesOfAll } from '../../hart/tlb.ts';
import { type Decode, expand, type Insn, newInsn, OP_COUNT, rowOf } from '../../isa/index.ts';
import { Breaks } from '../breaks.ts';
import { DirtyPages } from '../dirty-pages.ts';
import { plainCsr } from '../semantics/system.ts';
import { BACK, csrHandlerId, FAR, handlerId, isReturn, NEAR, RETURN } from './handlers.ts';
import {
  CSR_EVEN,
  ENTRY_COLD,
  H_END,
  H_ILLEGAL,
  H_STRADDLE,
  H_UNDECODED,
  PAGE_BYTES,
  R_ENTRY,
  R_HANDLER,
  R_IMM,
  R_RD,
  R_RM,
  R_RS1,
  R_RS2,
  R_RS3,
  RECORD,
  SLOT_END,
  SLOT_STRADDLE,
  SLOT_STRADDLE_END,
  STRADDLE_SHIFT,
} from './records.ts';

const SLOTS = 2048;
const EBREAK = 0x0010_0073;
/**
 * Reasons to report stores to a page: it has decoded records, it is watched, it was translated, it
 * is a page table.
 */
const DECODED = 1;
const WATCHED = 2;
const TRANSLATED = 4;
/** A walk has read it as a page table, and the TLBs may hold its translations. */
export const TABLE = 8;
/**
 * A walk has read it as a table above the last level, where an entry stands for many pages. Set
 * only with TABLE.
 */
export const UPPER_TABLE = 16;
/** Any of these: the byte of the map without the mark of dirty-pages.ts. */
const ANNOUNCED = 0x7f;
/**
 * After so many stores to invalid entries of a table, without a walk through it in between, the
 * table is no longer watched until the next walk.
 */
const FILLS_UNTIL_UNWATCHED = 16;
/** The same for changes of different entries of a table of the last level. */
const CHANGES_UNTIL_UNWATCHED = 16;
/** A byte for each page of the largest RAM. */
const CODE_MAP_BYTES = 0x10_0000;
/** Stores to a page, without a decode in between, after which it counts as data again. */
const STORES_UNTIL_DATA = 64;
/** Records decoded at once. */
const DECODE_AHEAD = 16;

export class DecodedPages implements CodePort {
  /** Bytes of linear memory that the pool occupies. */
  static readonly bytes = (pages: number): number =>
    CODE_MAP_BYTES + DirtyPages.bytes + (pages + 1) * PAGE_BYTES;

  /**
   * Address of a byte per RAM page: not zero = stores must be reported, or the page is clean. It is
   * the start of the pool.
   */
  readonly codeMap: number;
  /** Shares the map. */
  readonly dirty: DirtyPages;
  /** Instructions that a debugger has marked. */
  readonly breaks = new Breaks();

  /** Decodes a word of this machine's CPU. */
  readonly decodeWord: Decode;

  readonly #base: number;
  readonly #capacity: number;
  readonly #ram: Ram;
  readonly #harts: number;
  readonly #i32: Int32Array;
  readonly #u16: Uint16Array;
  readonly #u8: Uint8Array;
  readonly #insn: Insn = newInsn();
  /** Direct-mapped cache: a word and its record, without R_ENTRY. */
  readonly #memo = new Int32Array(MEMO_ENTRIES * MEMO_WORDS);
  /** By RAM page: number of its decoded page + 1, 0 = none. */
  readonly #pageOf: Int32Array;
  /** `codeMap`: DECODED, WATCHED. */
  readonly #isCode: Uint8Array;
  /** By decoded page: its RAM page, and stores since its last decode. */
  readonly #ramPage: Int32Array;
  readonly #stores: Uint8Array;
  /**
   * By decoded page: the 32 bits of its straddling instruction; last: the encoding of the single
   * instruction.
   */
  readonly #straddling: Uint32Array;
  #used = 0;
  #recycled = 0;
  /** Pages of the pool used so far. */
  #touched = 0;
  /** The page table whose entries were filled last, and the number of such stores in a row. */
  #filledPage = -1;
  #fills = 0;
  /** Its entry that was changed last, and the changes of another entry than the last. */
  #changedEntry = -1;
  #changes = 0;
  /** True if any page is DECODED. */
  #marked = false;
  /**
   * R_ENTRY of freshly decoded records: arrivals until the JIT is asked; ENTRY_COLD without a JIT.
   */
  arrivals = ENTRY_COLD;
  /**
   * Called when a page becomes a page table, in the middle of a walk; and after a store to one
   * whose translations may be cached.
   */
  onTable: () => void = () => {};
  onTableStored: () => void = () => {};
  /** The same when only pages with this number in the last level can be affected. */
  onEntryStored: (index: number) => void = () => {};
  /** Called when stores to a RAM page must be reported from now on. */
  onCode: (page: number) => void = () => {};
  /** Called after a store to a RAM page that is protected. */
  onCodeStored: (page: number) => void = () => {};
  /** Called after records of a protected page were decoded. */
  onDecoded: (page: number) => void = () => {};
  /** Called when all of guest memory was replaced. */
  onReset: () => void = () => {};

  /**
   * `base`: address of the pool; `harts`: saved windows that follow the active one (their TLBs are
   * purged, too).
   */
  constructor(ram: Ram, base: number, capacity: number, harts: number, decodeWord: Decode) {
    const buffer = ram.memory.buffer;
    this.decodeWord = decodeWord;
    this.#memo[0] = 1; // else the illegal word 0 would look like a cached one
    this.#ram = ram;
    this.codeMap = base;
    this.#base = base + CODE_MAP_BYTES + DirtyPages.bytes;
    this.#capacity = capacity;
    this.#harts = harts;
    this.#i32 = new Int32Array(buffer);
    this.#u16 = new Uint16Array(buffer);
    this.#u8 = new Uint8Array(buffer);
    this.#pageOf = new Int32Array(ram.bytes / 4096);
    this.#isCode = new Uint8Array(buffer, base, ram.bytes / 4096);
    this.dirty = new DirtyPages(buffer, base + CODE_MAP_BYTES, this.#isCode);
    this.#ramPage = new Int32Array(capacity);
    this.#stores = new Uint8Array(capacity);
    this.#straddling = new Uint32Array(capacity + 1);
    this.breaks.onChange = place => this.#decodeAgain(place);
  }

  // CodePort.

  holdsCode(page: number): boolean {
    return (this.#isCode[page]! & ANNOUNCED) !== 0;
  }

  isClean(page: number): boolean {
    return this.dirty.isClean(page);
  }

  dirtied(page: number): void {
    this.dirty.mark(page);
  }

  /** Stores of harts and, through `Ram.onWrite`, of devices and host code. */
  stored(pa: number, bytes: number, effect: TableEffect = 'changes'): void {
    const first = pa - this.#ram.base;
    const last = first + bytes - 1;
    for (let page = Math.floor(first / 4096); page <= Math.floor(last / 4096); page++) {
      this.dirty.mark(page);
      const marks = this.#isCode[page]!;
      const from = Math.max(first - page * 4096, 0);
      const to = Math.min(last - page * 4096, 4095);
      if ((marks & DECODED) !== 0) this.#forgetRange(page, from, to);
      if ((marks & TRANSLATED) !== 0) this.onCodeStored(page);
      if ((marks & TABLE) !== 0 && effect !== 'none') this.#tableStored(page, from, to, effect);
    }
  }

  tableRead(page: number, level: number): void {
    const wanted = level > 0 ? TABLE | UPPER_TABLE : TABLE;
    if ((this.#isCode[page]! & wanted) === wanted) return;
    this.#mark(page, wanted);
    this.#fills = 0;
    this.#changes = 0;
    this.onTable();
  }

  /**
   * Drops all translations and clears the mark until a walk reads the page again, so a guest that
   * rewrites a whole table pays for few stores. Two stores drop less: an invalid entry is in no
   * TLB; and an entry of the last level is in one place of each table only, because its number
   * there is part of the address of its page. Kernels that patch their code change one entry
   * thousands of times.
   */
  #tableStored(page: number, from: number, to: number, effect: TableEffect): void {
    if (page !== this.#filledPage) {
      this.#fills = 0;
      this.#changes = 0;
      this.#changedEntry = -1;
    }
    this.#filledPage = page;
    if (effect === 'fills' && ++this.#fills < FILLS_UNTIL_UNWATCHED) return;
    const index = from >> 3;
    if (effect === 'changes' && to >> 3 === index && (this.#isCode[page]! & UPPER_TABLE) === 0) {
      if (index !== this.#changedEntry) this.#changes++;
      this.#changedEntry = index;
      if (this.#changes < CHANGES_UNTIL_UNWATCHED) {
        this.onEntryStored(index);
        return;
      }
    }
    this.#isCode[page]! &= ~(TABLE | UPPER_TABLE);
    this.onTableStored();
  }

  /** The decoded page (host address of slot 0) of a RAM page; makes an empty one. */
  attach(page: number): number {
    let number = this.#pageOf[page]! - 1;
    if (number < 0) {
      if (this.#used === this.#capacity) this.#recycle();
      number = this.#used++;
      this.#pageOf[page] = number + 1;
      this.#ramPage[number] = page;
      this.#stores[number] = 0;
      // New memory is zero, which is also the encoding of an undecoded record.
      if (number < this.#touched) this.#clear(number);
      else this.#touched = number + 1;
      this.#end(number);
    }
    return this.#base + number * PAGE_BYTES;
  }

  /** Drops everything derived from guest memory. Call only while no engine runs. */
  forgetAll(): void {
    this.#recycle();
    this.onReset();
  }

  /** How often all records were dropped. */
  get recycled(): number {
    return this.#recycled;
  }

  /** Drops every decoded page. */
  #recycle(): void {
    this.#recycled++;
    for (let number = 0; number < this.#used; number++) this.#pageOf[this.#ramPage[number]!] = 0;
    if (this.#marked) for (let page = 0; page < this.#isCode.length; page++) this.#isCode[page]! &= ~DECODED;
    this.#marked = false;
    this.#used = 0;
    for (let window = 0; window <= this.#harts; window++) this.#detach(window * WINDOW_BYTES);
  }

  /** Decodes the record at `rec` and some after it. */
  decode(rec: number): void {
    const number = this.#numberOf(rec);
    const base = this.#base + number * PAGE_BYTES;
    const slot = (rec - base) / RECORD;
    this.#stores[number] = 0;
    this.#mark(this.#ramPage[number]!, DECODED);
    this.#marked = true;
    this.#decodeAhead(number, slot);
    if ((this.#isCode[this.#ramPage[number]!]! & TRANSLATED) !== 0) this.onDecoded(this.#ramPage[number]!);
  }

  #decodeAhead(number: number, from: number): void {
    const base = this.#base + number * PAGE_BYTES;
    const place = this.#ramPage[number]! * SLOTS;
    const code = this.#ram.hostBase / 2 + this.#ramPage[number]! * 2048;
    let slot = from;
    for (let count = 0; count < DECODE_AHEAD && slot < SLOTS; count++) {
      const at = base + slot * RECORD;
      if (this.#u16[at >> 1] !== H_UNDECODED) return;
      if (!this.breaks.isEmpty && this.breaks.has(place + slot)) {
        this.#write(at, EBREAK, slot, false);
        return;
      }
      const low = this.#u16[code + slot]!;
      const is32 = (low & 3) === 3;
      if (is32 && slot === SLOTS - 1) {
        this.#u16[(at + R_HANDLER) >> 1] = H_STRADDLE;
        // Not a half-word: the first execution compares, fails and decodes.
        this.#i32[(at + R_IMM) >> 2] = -1;
        return;
      }
      const word = is32 ? low | (this.#u16[code + slot + 1]! << 16) : low;
      if (!this.#remembered(at, word) && !this.#write(at, word >>> 0, slot, false)) return;
      slot += is32 ? 2 : 1;
    }
  }

  /**
   * Decodes the straddling instruction whose second half-word lies at `pa`, at the start of some
   * page.
   */
  decodeStraddling(rec: number, pa: number): void {
    const number = this.#numberOf(rec);
    const ram = this.#ram;
    const low = ram.read16(ram.base + this.#ramPage[number]! * 4096 + 4094);
    const high = ram.read16(pa);
    const word = (low | (high << 16)) >>> 0;
    this.#i32[(rec + R_IMM) >> 2] = high;
    this.#straddling[number] = word;
    this.#write(this.#base + number * PAGE_BYTES + SLOT_STRADDLE * RECORD, word, SLOTS - 1, true);
  }

  /**
   * Decodes one instruction at page offset `offset` into a separate decoded page that ends after
   * it. This serves code whose permissions change within the page (PMP) and must be checked every
   * time. Returns its base.
   */
  decodeSingle(word: number, offset: number): number {
    const base = this.#base + this.#capacity * PAGE_BYTES + STRADDLE_SHIFT;
    const at = base + (offset >> 1) * RECORD;
    this.#straddling[this.#capacity] = word;
    this.#write(at, word, offset >> 1, true);
    this.#u16[(at + ((word & 3) === 3 ? 2 : 1) * RECORD) >> 1] = H_END;
    return base;
  }

  /** Sets R_ENTRY of the instruction at a page offset, if it is decoded. */
  setEntry(page: number, offset: number, state: number): void {
    const number = this.#pageOf[page]! - 1;
    if (number < 0) return;
    const at = this.#base + number * PAGE_BYTES + (offset >> 1) * RECORD;
    if (this.#u16[at >> 1] !== H_UNDECODED) this.#u8[at + R_ENTRY] = state;
  }

  /** True if the instruction at a page offset is decoded. */
  isDecoded(page: number, offset: number): boolean {
    const number = this.#pageOf[page]! - 1;
    if (number < 0) return false;
    const at = this.#base + number * PAGE_BYTES + (offset >> 1) * RECORD;
    return this.#u16[at >> 1] !== H_UNDECODED;
  }

  /**
   * The low 33 bits of the last target of the `jalr` at a page offset, if it is decoded; arbitrary
   * if it never ran.
   */
  lastTarget(page: number, offset: number): number | undefined {
    const number = this.#pageOf[page]! - 1;
    if (number < 0) return undefined;
    const at = this.#base + number * PAGE_BYTES + (offset >> 1) * RECORD;
    return this.#u16[(at + R_RS2) >> 1]! * 2 + this.#u16[(at + R_RS3) >> 1]! * 0x2_0000;
  }

  /** The RAM page and page offset of a record; not for the straddling instruction. */
  placeOf(rec: number): { page: number; offset: number } {
    const number = this.#numberOf(rec);
    const slot = (rec - this.#base - number * PAGE_BYTES) / RECORD;
    return { page: this.#ramPage[number]!, offset: slot * 2 };
  }

  /** Requests reports of all stores to a page, whatever it holds. */
  watch(page: number, isOn: boolean): void {
    if (isOn) this.#mark(page, WATCHED);
    else this.#isCode[page]! &= ~WATCHED;
  }

  /** The JIT has translated code of a page: stores to it are reported through `onCodeStored`. */
  protect(page: number): void {
    this.#mark(page, TRANSLATED);
  }

  /** The page has no translated code any more. */
  unprotect(page: number): void {
    this.#isCode[page]! &= ~TRANSLATED;
  }

  /** The encoding of the instruction whose record is at `rec`, 16 bits for a compressed one. */
  wordAt(rec: number): number {
    const number = this.#numberOf(rec);
    const slot = (rec - this.#base - number * PAGE_BYTES) / RECORD;
    if (slot === SLOT_STRADDLE || number === this.#capacity) return this.#straddling[number]!;
    return this.#fetch(number, slot);
  }

  #numberOf(rec: number): number {
    return Math.floor((rec - this.#base) / PAGE_BYTES);
  }

  /** 32 bits at a slot, or 16 at the last one and for compressed instructions. */
  #fetch(number: number, slot: number): number {
    const ram = this.#ram;
    const at = ram.hostBase / 2 + this.#ramPage[number]! * 2048 + slot;
    const low = this.#u16[at]!;
    return (low & 3) === 3 && slot < SLOTS - 1 ? (low | (this.#u16[at + 1]! << 16)) >>> 0 : low;
  }

  /**
   * Copies the cached record of an equal word: programs consist of few different instructions.
   * False if the word is not cached or its record depends on its address.
   */
  #remembered(at: number, word: number): boolean {
    const known = memoOf(word);
    const memo = this.#memo;
    if (memo[known] !== word) return false;
    const i32 = this.#i32;
    i32[at >> 2] = memo[known + 1]!;
    i32[(at + 4) >> 2] = memo[known + 2]!;
    i32[(at + 8) >> 2] = memo[known + 3]!;
    i32[(at + 12) >> 2] = memo[known + 4]! | (this.arrivals << 24);
    return true;
  }

  /**
   * Fills the record at `at`; branches out of the page, and straddling branches, are far. True if
   * the next instruction in memory is likely to run next.
   */
  #write(at: number, word: number, slot: number, straddling: boolean): boolean {
    const insn = this.#insn;
    const u16 = this.#u16;
    if (!this.decodeWord(word, insn)) {
      this.#i32[(at + R_IMM) >> 2] = word;
      u16[(at + R_HANDLER) >> 1] = H_ILLEGAL;
      return false;
    }
    const kind = KIND[insn.op] || kindOf(insn.op);
    const target = slot * 2 + insn.imm;
    const near = (kind & IS_JUMP) !== 0 && !straddling && target >= 0 && target < 4096;
    u16[(at + R_RD) >> 1] = (kind & RD_F) !== 0 ? FP + 8 * insn.rd : insn.rd === 0 ? SINK : X + 8 * insn.rd;
    u16[(at + R_RS1) >> 1] = ((kind & RS1_F) !== 0 ? FP : X) + 8 * insn.rs1;
    u16[(at + R_RS2) >> 1] = ((kind & RS2_F) !== 0 ? FP : X) + 8 * insn.rs2;
    u16[(at + R_RS3) >> 1] = FP + 8 * insn.rs3;
    this.#u8[at + R_RM] = insn.rm;
    this.#u8[at + R_ENTRY] = straddling ? ENTRY_COLD : this.arrivals;
    this.#i32[(at + R_IMM) >> 2] = near
      ? insn.imm * (RECORD / 2)
      : (kind & NEEDS_WORD) !== 0
        ? baseWord(insn)
        : insn.imm;
    if ((kind & IS_CSR) !== 0) this.#writeCsr(at, insn);
    else {
      const isBack = insn.imm <= 0 || ((kind & IS_JAL) !== 0 && insn.rd !== 0);
      const isBackByLink = (kind & IS_JALR) !== 0 && isReturn(insn);
      const variant = near ? (isBack ? BACK : NEAR) : isBackByLink ? RETURN : FAR;
      u16[(at + R_HANDLER) >> 1] = handlerId(insn.op, insn.bytes, variant);
    }
    if ((kind & RUNS_ON) === 0) return false;
    if (!straddling) this.#remember(at, insn.word);
    return true;
  }

  #remember(at: number, word: number): void {
    const known = memoOf(word | 0);
    const memo = this.#memo;
    const i32 = this.#i32;
    memo[known] = word;
    memo[known + 1] = i32[at >> 2]!;
    memo[known + 2] = i32[(at + 4) >> 2]!;
    memo[known + 3] = i32[(at + 8) >> 2]!;
    memo[known + 4] = i32[(at + 12) >> 2]! & 0xff_ffff;
  }

  /**
   * Fast CSRs: slot in place of rs3; privilege, and whether bit 0 is fixed, in place of the
   * rounding mode.
   */
  #writeCsr(at: number, insn: Insn): void {
    const plain = plainCsr(insn.imm);
    this.#u16[(at + R_RS3) >> 1] = plain?.slot ?? 0;
    this.#u8[at + R_RM] = ((insn.imm >> 8) & 3) | (plain?.even ? CSR_EVEN : 0);
    this.#u16[(at + R_HANDLER) >> 1] = csrHandlerId(insn);
  }

  /** Adds a reason to report stores to the page. */
  #mark(page: number, reason: number): void {
    const marks = this.#isCode[page]!;
    this.#isCode[page] = marks | reason;
    if ((marks & ANNOUNCED) !== 0) return;
    this.onCode(page);
    purgeWritesOfAll(this.#i32, this.#harts, this.#ram.hostBase + page * 4096);
  }

  /** A mark on the half-word has come or gone. */
  #decodeAgain(place: number): void {
    const page = Math.floor(place / SLOTS);
    const at = (place % SLOTS) * 2;
    const marks = this.#isCode[page]!;
    if ((marks & DECODED) !== 0) this.#forgetRange(page, at, at + 1);
    if ((marks & TRANSLATED) !== 0) this.onCodeStored(page);
  }

  /** Drops the records that overlap bytes [from, to] of a RAM page. */
  #forgetRange(page: number, from: number, to: number): void {
    const number = this.#pageOf[page]! - 1;
    if (number < 0) return;
    if (++this.#stores[number]! > STORES_UNTIL_DATA || to - from > 1024) {
      this.#clear(number);
      this.#isCode[page]! &= ~DECODED;
      return;
    }
    const base = this.#base + number * PAGE_BYTES;
    // A 32-bit instruction one half-word before the first byte overlaps it, too.
    for (let slot = Math.max((from >> 1) - 1, 0); slot <= to >> 1; slot++) {
      this.#undecode(base + slot * RECORD);
    }
  }

  #undecode(at: number): void {
    this.#u16[at >> 1] = H_UNDECODED;
    this.#u8[at + R_ENTRY] = ENTRY_COLD;
  }

  /**
   * Leaves the fields of the records alone: the running instruction may be among them and still has
   * to write its rd.
   */
  #clear(number: number): void {
    const base = this.#base + number * PAGE_BYTES;
    for (let at = base; at < base + SLOT_END * RECORD; at += RECORD) this.#undecode(at);
    this.#undecode(base + SLOT_STRADDLE * RECORD);
  }

  #end(number: number): void {
    const base = this.#base + number * PAGE_BYTES;
    this.#u16[(base + SLOT_END * RECORD) >> 1] = H_END;
    this.#u16[(base + SLOT_STRADDLE_END * RECORD) >> 1] = H_END;
  }

  #detach(window: number): void {
    const end = window + TLB_EXEC + VIEWS * EXEC_BYTES;
    for (let at = window + TLB_EXEC; at < end; at += TLB_ENTRY_BYTES) this.#i32[(at + 8) >> 2] = 0;
  }
}

/** Facts about an op for making its records; 0 = not computed yet. */
const KIND = new Uint16Array(OP_COUNT);
const RD_F = 1;
const RS1_F = 2;
const RS2_F = 4;
const IS_JUMP = 8;
const IS_JAL = 16;
/** Instructions that the hart executes have their encoding as immediate. */
const NEEDS_WORD = 32;
const IS_CSR = 64;
/** The next instruction follows, unless this one traps. Such records depend on the word alone. */
const RUNS_ON = 128;
const IS_JALR = 256;
const KNOWN = 512;

function kindOf(op: number): number {
  const { regs, flow, ext, mem } = rowOf(op);
  const kind =
    (regs.rd === 'f' ? RD_F : 0) |
    (regs.rs1 === 'f' ? RS1_F : 0) |
    (regs.rs2 === 'f' ? RS2_F : 0) |
    (flow === 'branch' || flow === 'jump' ? IS_JUMP : 0) |
    (flow === 'jump' ? IS_JAL : 0) |
    (flow === 'serialize' || flow === 'trap' || mem.kind === 'block' ? NEEDS_WORD : 0) |
    (ext === 'zicsr' ? IS_CSR : 0) |
    (flow === 'next' ? RUNS_ON : 0) |
    (flow === 'indirect' ? IS_JALR : 0) |
    KNOWN;
  KIND[op] = kind;
  return kind;
}

const MEMO_ENTRIES = 4096;
/** The word and the four of its record. */
const MEMO_WORDS = 5;
const memoOf = (word: number): number => (Math.imul(word, 0x9e37_79b1) >>> 20) * MEMO_WORDS;

const baseWord = (insn: Insn): number => (insn.bytes === 2 ? expand(insn.word) : insn.word) | 0;
