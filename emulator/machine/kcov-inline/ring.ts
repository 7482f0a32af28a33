// The ring between compiled code and a passive listener (devices/kcov-ring.ts): its layout in the
// host's memory, and the WebAssembly function that fills it. The function is shared by all regions,
// so a hook is one call of three numbers.
//
// A record goes to the ring if
// - the hart's current context, its buffer and its mode are those of the last record;
// - the buffer has room, and its count says that the record follows the last one, or is the first;
// - unless it is the first, the last record still lies in guest memory as it was written.
// Where its origin differs from that of the last record, or it is the first, a new run begins. For
// everything else the function calls the device. The records of a switch go to the ring all or not
// at all. The caller has proved what a record in compiled code needs (context.ts, records.ts):
// context and buffer lie in RAM, apart, and on pages that hold no code; the table of a switch is in
// RAM, of the usual form, and all its records find room.

import { CMP_WORDS, CTX, HOOK, RECORD } from '../../../devices/kcov-layout.ts';
import type { KcovRing, KcovRun, MakeRecord, RunsFollowed } from '../../../devices/kcov-ring.ts';
import type { Ram } from '../../bus/ram.ts';
import { HARTID } from '../../hart/layout.ts';
import {
  type CodeWriter,
  I32,
  I64,
  type Label,
  type Local,
  type LocalScope,
  ModuleBuilder,
} from '../../wasm/module.ts';
import { REPEATS_BYTES, Repeats } from './repeats.ts';
import { ORIGIN_BYTES, RUN } from './run.ts';

/** Bytes of the records and runs that wait. */
const WAITING_BYTES = 0x2_0000;
/** Bytes of memory that a ring needs. */
export const RING_BYTES = WAITING_BYTES + REPEATS_BYTES;

/** Byte offsets within the ring. The first fields describe the last record. */
const AT = {
  /** i32: RECORD.PC or RECORD.CMP; 0 = the next record must come to the device. */
  MODE: 0,
  /** i32: the hart. */
  HART: 4,
  /** i32: host address of the hart's block; i64: its word CURRENT. */
  BLOCK: 8,
  CURRENT: 16,
  /** i32: host addresses of context and area. */
  CONTEXT: 24,
  AREA_AT: 28,
  /** i64: the context's words AREA and WORDS. */
  AREA: 32,
  WORDS: 40,
  /** i64: how many records there is room for, and the count behind the last record. */
  CAPACITY: 48,
  NEXT: 56,
  ORIGIN: 64,
  /** i32: host address of the next record, and of the next run's entry. */
  PUT: 96,
  RUN: 100,
  /** i32: host address - kernel virtual address. */
  KERNEL: 104,
  /** The last record ends here while the ring is empty; the others follow. */
  DATA: 192,
  RUNS: 0x1_8000,
} as const;

const DATA_END = AT.RUNS;
const RUNS_END = AT.RUNS + Math.floor((WAITING_BYTES - AT.RUNS) / RUN.SIZE) * RUN.SIZE;

export class RecordRing implements KcovRing {
  readonly make: MakeRecord;
  readonly repeats: Repeats;
  readonly #ram: Ram;
  readonly #base: number;
  readonly #words: Uint32Array;
  /** Physical addresses of the last record's context and area. */
  #context = 0;
  #area = 0;

  /** `base`: where its bytes lie in RAM's memory. `slow`, `full`: the device. */
  constructor(ram: Ram, base: number, slow: MakeRecord, full: () => void) {
    this.#ram = ram;
    this.#base = base;
    this.#words = new Uint32Array(ram.memory.buffer);
    this.repeats = new Repeats(ram, base + WAITING_BYTES);
    this.refuse();
    this.make = compile(ram, base, slow, full);
  }

  get pending(): number {
    const bytes = this.#get(AT.PUT) - this.#base - AT.DATA;
    return bytes === 0 ? 0 : bytes / this.#recordBytes();
  }

  take(give: (run: KcovRun) => void, followed: RunsFollowed): void {
    const end = this.#get(AT.PUT);
    const data = this.#base + AT.DATA;
    if (end === data) return;
    this.#giveRuns(give, followed, this.#get(AT.RUN), end);
    const bytes = this.#recordBytes();
    this.#words.copyWithin((data - bytes) >>> 2, (end - bytes) >>> 2, end >>> 2);
    this.#clear();
  }

  makeRoom(give: (run: KcovRun) => void, followed: RunsFollowed): void {
    const end = this.#get(AT.PUT);
    const [data, runs] = [this.#base + AT.DATA, this.#base + AT.RUNS];
    const last = this.#get(AT.RUN) - RUN.SIZE;
    const start = last < runs ? data : this.#words[(last + RUN.START) >>> 2]!;
    if (end - start >= (DATA_END - AT.DATA) / 2 || start === data) {
      this.take(give, followed);
      return;
    }
    this.#giveRuns(give, followed, last, start);
    this.#words.copyWithin(data >>> 2, start >>> 2, end >>> 2);
    this.#words.copyWithin(runs >>> 2, last >>> 2, (last + RUN.SIZE) >>> 2);
    this.#words[(runs + RUN.START) >>> 2] = data;
    this.#set(AT.PUT, data + end - start);
    this.#set(AT.RUN, runs + RUN.SIZE);
  }

  /** The runs whose entries lie before `runsEnd`, and their records before `end`. */
  #giveRuns(give: (run: KcovRun) => void, followed: RunsFollowed, runsEnd: number, end: number): void {
    const words = this.#words;
    const bytes = this.#recordBytes();
    const run = {
      words,
      halves: bytes / 4,
      context: this.#context,
      area: this.#area,
      ...{ origin: 0, at: 0, count: 0, index: 0 },
    };
    const startOf = (entry: number): number => (entry < runsEnd ? words[(entry + RUN.START) >>> 2]! : end);
    for (let entry = this.#base + AT.RUNS; entry < runsEnd; ) {
      const differs = this.repeats.follow(entry, runsEnd, end);
      // The last of those that came as expected, or the one to give.
      const last = differs > entry ? differs - RUN.SIZE : entry;
      run.origin = last >>> 2;
      run.at = startOf(last) >>> 2;
      run.count = (startOf(last + RUN.SIZE) - startOf(last)) / bytes;
      run.index = words[(last + RUN.INDEX) >>> 2]!;
      if (differs > entry) followed(run, (startOf(differs) - startOf(entry)) / bytes);
      else give(run);
      entry = last + RUN.SIZE;
    }
  }

  announce(kvaOffset: bigint): void {
    const { hostBase, base } = this.#ram;
    this.#set(AT.KERNEL, Number(BigInt.asUintN(32, BigInt(hostBase - base) - kvaOffset)));
  }

  follow(
    hart: number,
    block: number,
    context: number,
    words: Uint32Array,
    area: number,
    index: number,
  ): void {
    const ram = this.#ram;
    const at = ram.host(context);
    const current = ram.host(block);
    const all = this.#words;
    const copy = (field: number, from: number, bytes: number): void =>
      void all.copyWithin((this.#base + field) >>> 2, from >>> 2, (from + bytes) >>> 2);
    this.#context = context;
    this.#area = area;
    this.#set(AT.MODE, words.length > 2 ? RECORD.CMP : RECORD.PC);
    this.#set(AT.HART, hart);
    this.#set(AT.BLOCK, current);
    copy(AT.CURRENT, current, 8);
    this.#set(AT.CONTEXT, at);
    this.#set(AT.AREA_AT, ram.host(area));
    copy(AT.AREA, at + CTX.AREA, 8);
    copy(AT.WORDS, at + CTX.WORDS, 8);
    // The device has checked the number of words, which is small.
    const room = this.#get(AT.WORDS) - 1;
    this.#set(AT.CAPACITY, words.length > 2 ? Math.floor(room / CMP_WORDS) : room);
    this.#set(AT.NEXT, index + 1);
    copy(AT.ORIGIN, at + CTX.TID, ORIGIN_BYTES);
    all.set(words, ((this.#base + AT.DATA) >>> 2) - words.length);
  }

  refuse(): void {
    this.#set(AT.MODE, 0);
    this.#clear();
  }

  #clear(): void {
    this.#set(AT.PUT, this.#base + AT.DATA);
    this.#set(AT.RUN, this.#base + AT.RUNS);
  }

  #recordBytes(): number {
    return this.#get(AT.MODE) === RECORD.CMP ? 8 * CMP_WORDS : 8;
  }

  #get(field: number): number {
    return this.#words[(this.#base + field) >>> 2]!;
  }

  #set(field: number, value: number): void {
    this.#words[(this.#base + field) >>> 2] = value;
  }
}

function compile({ memory }: Ram, base: number, slow: MakeRecord, full: () => void): MakeRecord {
  const m = new ModuleBuilder();
  const device = m.importFunction('env', 'slow', [I32, I32, I32]);
  const makeRoom = m.importFunction('env', 'full', []);
  m.importMemory('env', 'memory', { min: 1 });
  const make = m.func([I32, I32, I32], [], 'kcovRecord');
  m.export('make', 'func', make.index);
  const { code: c, params } = make;
  const [kind, lo, hi] = params;
  const refused = c.block();
  const pc = c.local(I64);
  c.local_get(hi).i64_extend_i32_u().i64_const(32).i64_shl();
  c.local_get(lo).i64_extend_i32_u().i64_or().local_set(pc);
  c.local_get(kind).i32_eqz().if_();
  new Writer(c, base, makeRoom, refused, pc, kind, 1).record();
  c.else_();
  c.local_get(kind).i32_const(HOOK.SWITCH).i32_ne().if_();
  new Writer(c, base, makeRoom, refused, pc, kind, CMP_WORDS).record();
  c.else_();
  new Writer(c, base, makeRoom, refused, pc, kind, CMP_WORDS).switch();
  c.end();
  c.end();
  c.return_();
  c.end();
  c.release(pc);
  c.local_get(kind).local_get(lo).local_get(hi).return_call(device);
  const module = new WebAssembly.Module(m.finish());
  const instance = new WebAssembly.Instance(module, { env: { memory, slow, full } });
  return instance.exports.make as MakeRecord;
}

/** Writes the function for records of so many words. */
class Writer {
  readonly #c: CodeWriter;
  readonly #base: number;
  /** Index of the function that makes room. */
  readonly #makeRoom: number;
  readonly #refused: Label;
  readonly #pc: Local<I64>;
  readonly #kind: Local<I32>;
  readonly #words: 1 | typeof CMP_WORDS;
  readonly #own: LocalScope;
  readonly #context: Local<I32>;
  readonly #area: Local<I32>;
  readonly #count: Local<I64>;
  /** Where the record goes: in the area, and in the ring. */
  readonly #slot: Local<I32>;
  readonly #put: Local<I32>;

  constructor(
    c: CodeWriter,
    base: number,
    makeRoom: number,
    refused: Label,
    pc: Local<I64>,
    kind: Local<I32>,
    words: 1 | typeof CMP_WORDS,
  ) {
    this.#c = c;
    this.#base = base;
    this.#makeRoom = makeRoom;
    this.#refused = refused;
    this.#pc = pc;
    this.#kind = kind;
    this.#words = words;
    const own = c.scope();
    this.#own = own;
    this.#context = own.local(I32);
    this.#area = own.local(I32);
    this.#count = own.local(I64);
    this.#slot = own.local(I32);
    this.#put = own.local(I32);
  }

  /** A PC or a comparison. */
  record(): void {
    const c = this.#c;
    this.#needPlace();
    this.#needIndex(() => void c.i32_const(this.#bytes));
    this.#beginRun();
    if (this.#words === 1) this.#word(0, () => void c.local_get(this.#pc));
    else this.#comparison();
    this.#append(() => void c.i64_const(1));
    this.#setPut(() => void c.local_get(this.#put).i32_const(this.#bytes).i32_add());
    this.#own.release();
  }

  /** A record for each case of a switch: type, case, value, pc. */
  switch(): void {
    const c = this.#c;
    const own = c.scope();
    const [table, end] = [own.local(I32), own.local(I32)];
    const [cases, type, label] = [own.local(I64), own.local(I64), own.local(I64)];
    this.#needPlace();
    c.local_get(this.#context).i64_load(CTX.ARG1).i32_wrap_i64();
    this.#field(AT.KERNEL).i32_add().local_tee(table);
    c.i64_load(0).local_tee(cases).i64_eqz().if_();
    c.return_().end();
    const bytes = (): void => void c.local_get(cases).i32_wrap_i64().i32_const(5).i32_shl();
    this.#needIndex(bytes);
    this.#beginRun();
    c.local_get(table).i64_load(8).i64_ctz().i64_const(3).i64_sub().i64_const(1).i64_shl();
    c.i64_const(1).i64_or().local_set(type);
    bytes();
    c.local_get(this.#put).i32_add().local_set(end);
    const next = c.loop();
    c.local_get(table).i64_load(16).local_set(label);
    // As the device: a record and its count may be the next cases, in a kernel of the user's.
    this.#append(() => void c.i64_const(1));
    this.#word(0, () => void c.local_get(type));
    this.#word(1, () => void c.local_get(label));
    this.#word(2, () => void c.local_get(this.#context).i64_load(CTX.ARG0));
    this.#word(3, () => void c.local_get(this.#pc));
    c.local_get(table).i32_const(8).i32_add().local_set(table);
    c.local_get(this.#slot).i32_const(this.#bytes).i32_add().local_set(this.#slot);
    c.local_get(this.#put).i32_const(this.#bytes).i32_add().local_tee(this.#put);
    c.local_get(end).i32_ne().br_if(next);
    c.end();
    this.#setPut(() => void c.local_get(end));
    own.release();
    this.#own.release();
  }

  /** The buffer has so many records more. */
  #append(more: () => void): void {
    const c = this.#c;
    c.local_get(this.#count);
    more();
    c.i64_add().local_set(this.#count);
    this.#setNumber(AT.NEXT, () => void c.local_get(this.#count));
    c.local_get(this.#area).local_get(this.#count).i64_store(0);
  }

  #setPut(value: () => void): void {
    this.#c.i32_const(0);
    value();
    this.#c.i32_store(this.#base + AT.PUT);
  }

  get #bytes(): number {
    return 8 * this.#words;
  }

  /** The same hart, context and area as those of the last record. */
  #needPlace(): void {
    const c = this.#c;
    const mode = this.#words === 1 ? RECORD.PC : RECORD.CMP;
    this.#field(AT.MODE).i32_const(mode).i32_ne();
    c.i32_const(0).i32_load(HARTID);
    this.#field(AT.HART).i32_ne().i32_or().br_if(this.#refused, 'unlikely');
    this.#field(AT.CONTEXT).local_set(this.#context);
    this.#field(AT.AREA_AT).local_set(this.#area);
    this.#field(AT.BLOCK).i64_load(0);
    this.#number(AT.CURRENT).i64_xor();
    c.local_get(this.#context).i64_load(CTX.AREA);
    this.#number(AT.AREA).i64_xor().i64_or();
    c.local_get(this.#context).i64_load(CTX.WORDS);
    this.#number(AT.WORDS).i64_xor().i64_or();
    c.i64_const(0).i64_ne().br_if(this.#refused, 'unlikely');
    c.local_get(this.#context)
      .i32_load(CTX.MODE)
      .i32_const(RECORD.ANY_PC | RECORD.ANY_CMP);
    c.i32_and().i32_const(mode).i32_ne().br_if(this.#refused, 'unlikely');
  }

  /** The records fit, and the first one is the buffer's or follows the last, which is intact. */
  #needIndex(bytes: () => void): void {
    const c = this.#c;
    const isFull = (): void => {
      this.#field(AT.PUT).local_tee(this.#put);
      bytes();
      c.i32_add()
        .i32_const(this.#base + DATA_END)
        .i32_gt_u();
    };
    isFull();
    c.if_(undefined, 'unlikely');
    c.call(this.#makeRoom);
    isFull();
    c.br_if(this.#refused, 'unlikely').end();
    c.local_get(this.#area).i64_load(0).local_tee(this.#count);
    this.#number(AT.CAPACITY).i64_ge_u().br_if(this.#refused, 'unlikely');
    c.local_get(this.#count)
      .i32_wrap_i64()
      .i32_const(this.#words === 1 ? 3 : 5)
      .i32_shl();
    c.local_get(this.#area).i32_add().i32_const(8).i32_add().local_set(this.#slot);
    c.local_get(this.#count).i64_eqz().i32_eqz().if_();
    c.local_get(this.#count);
    this.#number(AT.NEXT).i64_xor();
    for (let word = 0; word < this.#words; word++) {
      const before = (at: Local<I32>): void =>
        void c
          .local_get(at)
          .i32_const(this.#bytes)
          .i32_sub()
          .i64_load(8 * word);
      before(this.#slot);
      before(this.#put);
      c.i64_xor().i64_or();
    }
    c.i64_const(0).i64_ne().br_if(this.#refused, 'unlikely');
    c.end();
  }

  /** Begins a run if the ring is empty, the record is the first, or its origin is another. */
  #beginRun(): void {
    const c = this.#c;
    const run = c.local(I32);
    this.#field(AT.RUN)
      .local_tee(run)
      .i32_const(this.#base + AT.RUNS)
      .i32_eq();
    c.local_get(this.#count).i64_eqz().i32_or();
    for (let at = 0; at < ORIGIN_BYTES; at += 8) {
      c.local_get(this.#context).i64_load(CTX.TID + at);
      this.#number(AT.ORIGIN + at).i64_xor();
      if (at > 0) c.i64_or();
    }
    c.i64_const(0).i64_ne().i32_or().if_();
    c.local_get(run)
      .i32_const(this.#base + RUNS_END)
      .i32_ge_u()
      .if_(undefined, 'unlikely');
    c.call(this.#makeRoom);
    this.#field(AT.RUN).local_set(run);
    this.#field(AT.PUT).local_set(this.#put);
    c.end();
    for (let at = 0; at < ORIGIN_BYTES; at += 8) {
      c.local_get(run)
        .local_get(this.#context)
        .i64_load(CTX.TID + at)
        .i64_store(at);
      this.#setNumber(AT.ORIGIN + at, () => void c.local_get(this.#context).i64_load(CTX.TID + at));
    }
    c.local_get(run).local_get(this.#put).i32_store(RUN.START);
    c.local_get(run).local_get(this.#count).i32_wrap_i64().i32_store(RUN.INDEX);
    c.i32_const(0)
      .local_get(run)
      .i32_const(RUN.SIZE)
      .i32_add()
      .i32_store(this.#base + AT.RUN);
    c.end();
    c.release(run);
  }

  /** Kinds: the four widths, then the same for constants. */
  #comparison(): void {
    const c = this.#c;
    const [isConst, log2, mask] = [c.local(I32), c.local(I32), c.local(I64)];
    c.local_get(this.#kind).i32_const(HOOK.CONST_CMP1).i32_ge_u().local_set(isConst);
    c.local_get(this.#kind).i32_const(HOOK.CMP1).i32_sub();
    c.local_get(isConst)
      .i32_const(HOOK.CONST_CMP1 - HOOK.CMP1)
      .i32_mul()
      .i32_sub()
      .local_set(log2);
    c.i64_const(-1).i64_const(64);
    c.i64_const(8).local_get(log2).i64_extend_i32_u().i64_shl().i64_sub().i64_shr_u().local_set(mask);
    const operand = (field: number): void =>
      void c.local_get(this.#context).i64_load(field).local_get(mask).i64_and();
    this.#word(0, () => {
      c.local_get(log2).i32_const(1).i32_shl().local_get(isConst).i32_or().i64_extend_i32_u();
    });
    this.#word(1, () => operand(CTX.ARG0));
    this.#word(2, () => operand(CTX.ARG1));
    this.#word(3, () => void c.local_get(this.#pc));
    c.release(isConst, log2, mask);
  }

  /** Stores a word of the record to both places. */
  #word(index: number, value: () => void): void {
    for (const at of [this.#slot, this.#put]) {
      this.#c.local_get(at);
      value();
      this.#c.i64_store(8 * index);
    }
  }

  #field(field: number): CodeWriter {
    return this.#c.i32_const(0).i32_load(this.#base + field);
  }

  #number(field: number): CodeWriter {
    return this.#c.i32_const(0).i64_load(this.#base + field);
  }

  #setNumber(field: number, value: () => void): void {
    this.#c.i32_const(0);
    value();
    this.#c.i64_store(this.#base + field);
  }
}
