// The records of inline coverage hooks: the words that the kcov device appends to the area
// (devices/kcov-record.ts), written by compiled code. A case that cannot be proved equal branches
// to `real` before any store.

import { AREA_WORDS_MAX, CMP_WORDS, CTX, CTXF, HOOK } from '../../../devices/kcov-layout.ts';
import type { RamPlace } from '../../engine/jit/emit/memory.ts';
import type { InlineContext } from '../../engine/jit/inline-call.ts';
import { type CodeWriter, I32, I64, type Label, type Local, type LocalScope } from '../../wasm/module.ts';
import type { KnownContext } from './context.ts';
import { A0, A1, type HookTable } from './table.ts';
import type { TallyWriter } from './tally.ts';
import { KCOV_RECORDS } from './window.ts';

/** Pushes a return address, as i64 or as its halves; its value, or the local that has it. */
export interface PushPc {
  readonly word: () => void;
  readonly low: () => void;
  readonly high: () => void;
  readonly value: bigint | Local<I64>;
}

/** A return address that is known when code is written. */
export const constantPc = (c: CodeWriter, pc: bigint): PushPc => ({
  word: () => void c.i64_const(BigInt.asIntN(64, pc)),
  low: () => void c.i32_const(Number(BigInt.asIntN(32, pc))),
  high: () => void c.i32_const(Number(BigInt.asIntN(32, pc >> 32n))),
  value: pc,
});

/** A return address in a local. */
export const localPc = (c: CodeWriter, pc: Local<I64>): PushPc => ({
  word: () => void c.local_get(pc),
  low: () => void c.local_get(pc).i32_wrap_i64(),
  high: () => void c.local_get(pc).i64_const(32).i64_shr_u().i32_wrap_i64(),
  value: pc,
});

/** A hook of a listener that counts. */
interface Tallied {
  readonly to: TallyWriter;
  /** Pushes the host address of its cell. */
  readonly cell: () => void;
  /** The device makes the record. Nothing was stored. */
  readonly refused: Label;
}

/** The records of a switch. */
interface Cases {
  /** Host address of its table. */
  readonly table: Local<I32>;
  /** Binary logarithm of the operand's bytes. */
  readonly width: Local<I32>;
  readonly cases: Local<I64>;
  /** Records in the buffer so far. */
  readonly count: Local<I64>;
  /** Host addresses of the first record, and behind the last. */
  readonly at: Local<I32>;
  readonly end: Local<I32>;
}

/** Records of so many cases touch two pages at most. */
const SWITCH_CASES_MAX = 120;
const SWITCH_BYTES_MAX = 16 + 8 * SWITCH_CASES_MAX;

export class RecordWriter {
  readonly #c: CodeWriter;
  readonly #x: InlineContext['x'];
  readonly #ram: RamPlace;
  readonly #table: HookTable;
  readonly #known: KnownContext;
  /** Index of the function that makes the records for a listener. */
  readonly #host: number | undefined;
  /** i64: records since the region's entry, stored and lost ones, for `Machine.kcovRecords`. */
  readonly #made: Local<I64>;

  constructor(
    { c, x, ram, host }: Pick<InlineContext, 'c' | 'x' | 'ram' | 'host'>,
    table: HookTable,
    known: KnownContext,
  ) {
    this.#c = c;
    this.#x = x;
    this.#ram = ram;
    this.#table = table;
    this.#known = known;
    this.#host = host;
    this.#made = c.zeroed(I64);
  }

  /** At each exit of the region: adds its records to those of the hart. */
  leave(): void {
    const c = this.#c;
    c.i32_const(0).i32_const(0).i64_load(KCOV_RECORDS);
    c.local_get(this.#made).i64_add().i64_store(KCOV_RECORDS);
  }

  /** The region is written. */
  release(): void {
    this.#c.release(this.#made);
  }

  #word(at: Local<I32>, index: number, value: () => void): void {
    this.#c.local_get(at);
    value();
    this.#c.i64_store(8 * index);
  }

  /** Sets `count`, and pushes it and the capacity in records of `words` words. */
  #count(words: number, count: Local<I64>): void {
    const c = this.#c;
    c.local_get(this.#known.area).i64_load(0).local_tee(count);
    c.local_get(this.#known.words).i64_const(1).i64_sub();
    if (words === CMP_WORDS) c.i64_const(2).i64_shr_u();
  }

  /** Sets `at` to where record `count` goes. */
  #slot(at: Local<I32>, count: Local<I64>, words: number): void {
    this.#c
      .local_get(count)
      .i32_wrap_i64()
      .i32_const(words === CMP_WORDS ? 5 : 3)
      .i32_shl();
    this.#c.local_get(this.#known.area).i32_add().i32_const(8).i32_add().local_set(at);
  }

  /** Appends a record to the area, or counts it as lost. `tally`: of the listener that counts. */
  #record(real: Label, record: readonly (() => void)[], tally?: Tallied): void {
    const c = this.#c;
    const words = record.length;
    const [at, count] = [c.local(I32), c.local(I64)];
    const one = (): void => void c.i64_const(1);
    tally?.to.needPlace(this.#known.context, this.#known.area, tally.refused);
    this.#count(words, count);
    c.i64_ge_u().if_(undefined, 'unlikely');
    c.local_get(this.#known.context);
    c.local_get(this.#known.context).i64_load(CTX.LOST).i64_const(1).i64_add().i64_store(CTX.LOST);
    tally?.to.add(tally.cell, 'lost', one);
    c.else_();
    this.#slot(at, count, words);
    this.#known.noCode(at, 0, real);
    if (words > 1) this.#known.noCode(at, words * 8 - 1, real);
    tally?.to.needLast(count, at, tally.refused);
    for (const [word, value] of record.entries()) {
      this.#word(at, word, value);
      tally?.to.last(word, value);
    }
    const next = (): void => void c.local_get(count).i64_const(1).i64_add();
    c.local_get(this.#known.area);
    next();
    c.i64_store(0);
    tally?.to.next(next);
    tally?.to.add(tally.cell, 'stored', one);
    c.end();
    c.release(at, count);
    if (words > 1) this.#latch();
    this.#add(one);
  }

  /** Counts records of this region. */
  #add(count: () => void): void {
    this.#c.local_get(this.#made);
    count();
    this.#c.i64_add().local_set(this.#made);
  }

  /** The cell of a comparison or PC; undefined if another hook has it. */
  #cellOf(pc: PushPc, own: LocalScope, refused: Label, words = CMP_WORDS): Tallied | undefined {
    const { tally } = this.#table;
    if (!tally) return undefined;
    const c = this.#c;
    const { value } = pc;
    const isCmp = words === CMP_WORDS;
    const to = tally.writer(c, words);
    if (typeof value === 'bigint') {
      const [lo, hi] = [value, value >> 32n].map(half => Number(BigInt.asUintN(32, half)));
      if (!tally.claim(lo!, hi!, isCmp)) return undefined;
      return { to, cell: () => void c.i32_const(tally.cellOf(lo!)), refused };
    }
    const at = own.local(I32);
    tally.findCell(c, value, isCmp, at, refused);
    return { to, cell: () => void c.local_get(at), refused };
  }

  /** A record in the current context. A listener that counts needs the device for some of them. */
  #make(real: Label, record: readonly (() => void)[], kind: number, pc: PushPc): void {
    const c = this.#c;
    const words = record.length;
    if (this.#host === undefined) {
      this.#record(real, record);
      return;
    }
    const own = c.scope();
    const done = c.block();
    const refused = c.block();
    const tally = this.#cellOf(pc, own, refused, words);
    if (tally) {
      this.#record(real, record, tally);
      c.br(done);
    }
    c.end();
    this.#report(real, words, kind, pc);
    c.end();
    own.release();
  }

  /** The device makes the record, whose pages hold no code; operands are latched. */
  #report(real: Label, words: number, kind: number, pc: PushPc): void {
    const c = this.#c;
    const [at, count] = [c.local(I32), c.local(I64)];
    this.#count(words, count);
    c.i64_lt_u().if_();
    this.#slot(at, count, words);
    this.#known.noCode(at, 0, real);
    if (words > 1) this.#known.noCode(at, words * 8 - 1, real);
    c.end();
    c.release(at, count);
    if (words > 1) this.#latch();
    this.#call(kind, pc);
  }

  #call(kind: number, pc: PushPc): void {
    this.#c.i32_const(kind);
    pc.low();
    pc.high();
    this.#c.call(this.#host!);
  }

  pc(real: Label, pc: PushPc): void {
    this.#make(real, [pc.word], HOOK.PC, pc);
  }

  /** The operands, which the device's registers latch in the context. */
  #latch(): void {
    this.#word(this.#known.context, CTX.ARG0 / 8, () => void this.#c.local_get(this.#x[A0]!));
    this.#word(this.#known.context, CTX.ARG1 / 8, () => void this.#c.local_get(this.#x[A1]!));
  }

  /** type, arg1, arg2, pc. */
  cmp(real: Label, kind: number, pc: PushPc): void {
    const c = this.#c;
    const isConst = kind >= HOOK.CONST_CMP1;
    const log2 = kind - (isConst ? HOOK.CONST_CMP1 : HOOK.CMP1);
    const mask = log2 === 3 ? -1n : (1n << BigInt(8 << log2)) - 1n;
    const operand = (register: number): void => {
      c.local_get(this.#x[register]!);
      if (log2 < 3) c.i64_const(mask).i64_and();
    };
    const type = (): void => void c.i64_const((log2 << 1) | (isConst ? 1 : 0));
    this.#make(real, [type, () => operand(A0), () => operand(A1), pc.word], kind, pc);
  }

  /**
   * A record per case: type, case, value, pc. Only small tables whose records all find room, on
   * pages without code; FreeBSD's form makes the real call.
   */
  switch(real: Label, pc: PushPc): void {
    const c = this.#c;
    const { hostBase, base, bytes } = this.#ram;
    const own = c.scope();
    const [offset, cases, count] = [own.local(I64), own.local(I64), own.local(I64)];
    const [table, width] = [own.local(I32), own.local(I32)];
    const [at, end] = [own.local(I32), own.local(I32)];
    c.local_get(this.#known.context).i32_load(CTX.FLAGS).i32_const(CTXF.SWITCH_FREEBSD).i32_and();
    c.br_if(real, 'unlikely');
    c.local_get(this.#x[A1]!);
    c.i64_const(BigInt.asIntN(64, this.#table.kvaOffset + BigInt(base)))
      .i64_sub()
      .local_tee(offset);
    c.i64_const(bytes - SWITCH_BYTES_MAX)
      .i64_gt_u()
      .br_if(real, 'unlikely');
    c.local_get(offset).i32_wrap_i64().i32_const(hostBase).i32_add().local_tee(table);
    c.i32_const(7).i32_and().br_if(real, 'unlikely');
    c.local_get(table).i64_load(0).local_tee(cases);
    c.i64_const(SWITCH_CASES_MAX).i64_gt_u().br_if(real, 'unlikely');
    // 8, 16, 32 or 64 bits; the type is 1, 3, 5 or 7.
    c.local_get(table).i64_load(8).i64_popcnt().i64_const(1).i64_ne().br_if(real, 'unlikely');
    c.local_get(table).i64_load(8).i64_ctz().i64_const(3).i64_sub().i32_wrap_i64().local_tee(width);
    c.i32_const(3).i32_gt_u().br_if(real, 'unlikely');
    this.#count(CMP_WORDS, count);
    c.local_get(cases).i64_sub().i64_gt_s().br_if(real, 'unlikely');
    c.local_get(count).i64_const(AREA_WORDS_MAX).i64_gt_u().br_if(real, 'unlikely');
    this.#slot(at, count, CMP_WORDS);
    c.local_get(cases).i32_wrap_i64().i32_const(5).i32_shl().local_get(at).i32_add();
    c.local_set(end);
    this.#known.noCode(at, 0, real);
    this.#known.noCode(end, 0, real);
    this.#latch();
    if (this.#host === undefined) this.#cases({ table, width, cases, count, at, end }, pc);
    else {
      const done = c.block();
      const refused = c.block();
      const tally = this.#cellOf(pc, own, refused);
      if (tally) {
        this.#cases({ table, width, cases, count, at, end }, pc, tally);
        c.br(done);
      }
      c.end();
      this.#call(HOOK.SWITCH, pc);
      c.end();
    }
    own.release();
  }

  /** Appends the records of the cases from `at` to `end`. */
  #cases({ table, width, cases, count, at, end }: Cases, pc: PushPc, tally?: Tallied): void {
    const c = this.#c;
    tally?.to.needPlace(this.#known.context, this.#known.area, tally.refused);
    tally?.to.needLast(count, at, tally.refused);
    const none = c.block();
    c.local_get(cases).i64_eqz().br_if(none);
    const [label, stored] = [c.local(I64), c.local(I64)];
    c.local_get(count).local_set(stored);
    const next = c.loop();
    // As the device: a record and its count may be the next cases, in a kernel of the user's.
    c.local_get(table).i64_load(16).local_set(label);
    c.local_get(this.#known.area);
    c.local_get(stored).i64_const(1).i64_add().local_tee(stored);
    c.i64_store(0);
    this.#word(at, 0, () => {
      c.local_get(width).i32_const(1).i32_shl().i32_const(1).i32_or().i64_extend_i32_u();
    });
    this.#word(at, 1, () => void c.local_get(label));
    this.#word(at, 2, () => void c.local_get(this.#x[A0]!));
    this.#word(at, 3, pc.word);
    c.local_get(table).i32_const(8).i32_add().local_set(table);
    c.local_get(at)
      .i32_const(8 * CMP_WORDS)
      .i32_add()
      .local_tee(at)
      .local_get(end)
      .i32_ne()
      .br_if(next);
    c.end();
    c.release(label, stored);
    const all = (): void => void c.local_get(count).local_get(cases).i64_add();
    if (tally) {
      for (let word = 0; word < CMP_WORDS; word++)
        tally.to.last(word, () => {
          c.local_get(end)
            .i32_const(8 * CMP_WORDS)
            .i32_sub()
            .i64_load(8 * word);
        });
      tally.to.next(all);
      tally.to.add(tally.cell, 'stored', () => void c.local_get(cases));
    }
    c.end();
    c.local_get(this.#known.area);
    all();
    c.i64_store(0);
    this.#add(() => void c.local_get(cases));
  }
}
