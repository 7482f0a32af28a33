// Coverage hooks inline: a call of `__sanitizer_cov_trace_*` from compiled code does what the stub in kernel/kcov/hooks.S and
// the kcov device would do, without calling either: same registers (t0, t1, ra), same bytes in context and area, same number of
// retired instructions. What it cannot prove equal (no translation at hand, a context elsewhere, UNIQ modes, FreeBSD's switch
// records, an area that holds code, a listener on the device) takes the real call.
//
// The stub's ways, by retired instructions after the call itself (hooks.S is drawn there):
//   ld beqz ret                                     3   no live context: t0 = 0
//   ld beqz lw andi beqz ret                        6   its mode is another: t0 = context, t1 = 0
//   ... auipc ld beqz [sd sd] sd ret           10, 12   recorded, or lost: t1 = device

import { HARTID, KCOV_RECORDS, TLB_BYTES, TLB_READ, X } from '../../../hart/layout.ts';
import { type Insn, rowOf } from '../../../isa/index.ts';
import { type CodeWriter, I32, I64, type Label, type Local, type LocalScope } from '../../../wasm/module.ts';
import { type Block, type Region, successors } from '../region/region.ts';
import type { RamPlace } from './memory.ts';
import type { JitOps } from './ops.ts';

/** What the kernel announced about its hooks, and where the device's structures have their fields. */
export interface HookTable {
  /** Address of each hook by kind: 0 = pc, then cmp1..8, const_cmp1..8, switch. */
  readonly addresses: readonly bigint[];
  /** Bytes from tp to the pointer to the live context. */
  readonly liveOffset: number;
  /** Address of the variable that holds the device's virtual address. */
  readonly baseVar: bigint;
  /** Kernel virtual = physical + this, for RAM and the device. */
  readonly kvaOffset: bigint;
  /** Physical address of the hart blocks: one for each hart, CURRENT first. */
  readonly harts: number;
  /** Physical address of the device. */
  readonly device: bigint;
}

/** Byte offsets in a context, and mode bits: kernel/abi/kcov-device.h, held to the device by test/bench/kcov.guest.test.ts. */
export const CONTEXT = { mode: 0, flags: 4, area: 8, words: 16, arg0: 56, arg1: 64, lost: 72 } as const;
export const MODE = { pc: 1, cmp: 2, anyPc: 13, anyCmp: 18, all: 31 } as const;
const CONTEXT_BYTES = 128;
const CONTEXT_ALIGN = 64;
const AREA_WORDS_MAX = 0x0fff_ffff;
/** Not a value of a context's mode that records. */
const DISABLED = 64;
const CMP_WORDS = 4;
const SWITCH_FREEBSD = 1;
/** Records of so many cases touch two pages at most. */
const SWITCH_CASES_MAX = 120;
const SWITCH_BYTES_MAX = 16 + 8 * SWITCH_CASES_MAX;
const SWITCH = 9;
const FIRST_CONST = 5;

const TP = 4;
const T0 = 5;
const T1 = 6;
const A0 = 10;
const A1 = 11;
/** Registers that an inline hook reads and writes, besides ra. Not every way writes t1, so its old value must be there. */
export const HOOK_READS = (1 << A0) | (1 << A1) | (1 << T1);
export const HOOK_WRITES = (1 << T0) | (1 << T1);
/** Most instructions that an inline hook retires. */
export const HOOK_COST = 12;

/** True when no instruction of the region moves tp, so that the live pointer can be looked up once. */
export const keepsThreadPointer = (region: Region): boolean =>
  region.blocks.every(block => block.insns.every(({ insn }) => insn.rd !== TP || !writesX(insn)));
const writesX = (insn: Insn): boolean => rowOf(insn.op).regs.rd === 'x';

/**
 * By block position, 1 where the hook at the block's end is reached without a store or a call since the entry or the last
 * hook, on every way.
 */
export function cleanBlocks(order: readonly Block[]): Uint8Array {
  const mayStore = order.map(block =>
    block.insns.some(({ insn }) => {
      const { mem, ext } = rowOf(insn.op);
      return (mem.kind !== 'none' && mem.kind !== 'load') || ext === 'zicsr';
    }),
  );
  /** State at the start of a block: clean until a way says otherwise. */
  const start = new Uint8Array(order.length).fill(1);
  const isClean = (i: number): boolean => start[i] === 1 && !mayStore[i];
  for (let changed = true; changed; ) {
    changed = false;
    for (const [i, block] of order.entries()) {
      const { kind } = block.end;
      if (kind === 'hook' || (isClean(i) && kind !== 'call' && kind !== 'callIndirect')) continue;
      for (const to of successors(block)) {
        if (start[to.order] === 0) continue;
        start[to.order] = 0;
        changed = true;
      }
    }
  }
  return start.map((_, i) => Number(isClean(i)));
}

/**
 * What a region knows about the thread's context is found out once, at its entry: addresses and bounds follow from four
 * words of the guest (live pointer, CURRENT, area, length). A site behind a store or a call compares those words with what
 * they were; others (`cleanBlocks`) go by what the last one found. Translations and code pages change only while no region
 * runs.
 */
export class HookEmitter {
  readonly #c: CodeWriter;
  readonly #ops: JitOps;
  readonly #table: HookTable;
  readonly #ram: RamPlace;
  readonly #view: number;
  readonly #own: LocalScope;
  /** i32, host addresses: the live pointer (0 = not known: real calls), CURRENT, the context, the area, the base variable. */
  readonly #liveAt: Local<I32>;
  readonly #currentAt: Local<I32>;
  readonly #context: Local<I32>;
  readonly #area: Local<I32>;
  readonly #baseAt: Local<I32>;
  /** i32: what clean sites go by: a mode of MODE in which all is as at the entry, DISABLED, or 0 = look. */
  readonly #state: Local<I32>;
  /** i64, words of the guest at the entry; the live pointer 0 = none then, which no site takes for a context. */
  readonly #live: Local<I64>;
  readonly #current: Local<I64>;
  readonly #areaPa: Local<I64>;
  readonly #words: Local<I64>;

  constructor(ops: JitOps, table: HookTable, ram: RamPlace, view: number) {
    this.#c = ops.c;
    this.#ops = ops;
    this.#table = table;
    this.#ram = ram;
    this.#view = view;
    const own = ops.c.scope();
    this.#own = own;
    this.#liveAt = own.zeroed(I32);
    this.#currentAt = own.zeroed(I32);
    this.#context = own.zeroed(I32);
    this.#area = own.zeroed(I32);
    this.#baseAt = own.zeroed(I32);
    this.#state = own.zeroed(I32);
    this.#live = own.zeroed(I64);
    this.#current = own.zeroed(I64);
    this.#areaPa = own.zeroed(I64);
    this.#words = own.zeroed(I64);
  }

  /** The region is written. */
  release(): void {
    this.#own.release();
  }

  /** At the region's entry; looks at TLB and memory without effects. */
  enter(): void {
    const c = this.#c;
    const address = c.local(I64);
    c.i32_const(0)
      .i64_load(X + 8 * TP)
      .i64_const(this.#table.liveOffset)
      .i64_add()
      .local_set(address);
    this.#probe(address, this.#liveAt);
    const known = c.block();
    c.local_get(this.#liveAt).i32_eqz().br_if(known);
    c.i32_const(DISABLED).local_set(this.#state);
    c.local_get(this.#liveAt).i64_load(0).local_tee(this.#live).i64_eqz().br_if(known);
    const unknown = c.block();
    this.#enterContext(unknown);
    this.#enterArea(unknown);
    c.i64_const(BigInt.asIntN(64, this.#table.baseVar)).local_set(address);
    this.#probe(address, this.#baseAt);
    this.#needApart(unknown);
    this.#look();
    c.br(known);
    c.end();
    c.i32_const(0).local_tee(this.#liveAt).local_set(this.#state);
    c.end();
    c.release(address);
  }

  /** Host address of the word at `address` by the read TLB, 0 = not there. The table's tag is compared as for `ld`. */
  #probe(address: Local<I64>, into: Local<I32>): void {
    const c = this.#c;
    const entry = c.local(I32);
    const at = TLB_READ + this.#view * TLB_BYTES;
    c.local_get(address).i32_wrap_i64().i32_const(8).i32_shr_u().i32_const(0xff0).i32_and().local_tee(entry);
    c.i32_load(at + 8)
      .local_get(address)
      .i32_wrap_i64()
      .i32_add()
      .i32_const(0);
    c.local_get(entry).i64_load(at).local_get(address).i64_const(~0xff8n).i64_and().i64_eq();
    c.select().local_set(into);
    c.release(entry);
  }

  /** The live context must be CURRENT of this hart's block, aligned, in RAM and not among code. */
  #enterContext(unknown: Label): void {
    const c = this.#c;
    const { hostBase, base, bytes } = this.#ram;
    const offset = c.local(I64);
    c.i32_const(0).i32_load(HARTID).i32_const(6).i32_shl();
    c.i32_const(hostBase + this.#table.harts - base)
      .i32_add()
      .local_tee(this.#currentAt);
    c.i64_load(0).local_tee(this.#current);
    c.i64_const(BigInt.asIntN(64, this.#table.kvaOffset)).i64_add().local_get(this.#live).i64_ne();
    c.br_if(unknown, 'unlikely');
    c.local_get(this.#live)
      .i64_const(CONTEXT_ALIGN - 1)
      .i64_and()
      .i64_const(0)
      .i64_ne();
    c.br_if(unknown, 'unlikely');
    c.local_get(this.#current).i64_const(base).i64_sub().local_tee(offset);
    c.i64_const(bytes - CONTEXT_BYTES)
      .i64_gt_u()
      .br_if(unknown, 'unlikely');
    c.local_get(offset).i32_wrap_i64().i32_const(hostBase).i32_add().local_set(this.#context);
    for (const end of [0, CONTEXT_BYTES - 1]) this.#noCode(this.#context, end, unknown);
    c.release(offset);
  }

  /** The area must be aligned, in RAM and apart from the context, and its count not among code. */
  #enterArea(unknown: Label): void {
    const c = this.#c;
    const { hostBase, base, bytes } = this.#ram;
    const [offset, length] = [c.local(I64), c.local(I64)];
    c.local_get(this.#context).i64_load(CONTEXT.area).local_tee(this.#areaPa);
    c.i64_const(base).i64_sub().local_tee(offset);
    c.i64_const(7).i64_and().i64_const(0).i64_ne().br_if(unknown, 'unlikely');
    c.local_get(this.#context).i64_load(CONTEXT.words).local_tee(this.#words);
    c.i64_const(1).i64_sub().i64_const(AREA_WORDS_MAX).i64_ge_u().br_if(unknown, 'unlikely');
    c.local_get(offset).i64_const(bytes).i64_ge_u().br_if(unknown, 'unlikely');
    c.local_get(this.#words).i64_const(3).i64_shl().local_tee(length);
    c.local_get(offset).i64_add().i64_const(bytes).i64_gt_u().br_if(unknown, 'unlikely');
    // Apart: the context ends before the area, or the area before the context.
    c.local_get(this.#current).local_get(this.#areaPa).i64_sub().local_get(length).i64_lt_u();
    c.local_get(this.#areaPa).local_get(this.#current).i64_sub().i64_const(CONTEXT_BYTES).i64_lt_u();
    c.i32_or().br_if(unknown, 'unlikely');
    c.local_get(offset).i32_wrap_i64().i32_const(hostBase).i32_add().local_set(this.#area);
    this.#noCode(this.#area, 0, unknown);
    c.release(offset, length);
  }

  /** What the hooks themselves store, records and latched operands, must not be what they go by. */
  #needApart(unknown: Label): void {
    const c = this.#c;
    for (const word of [this.#liveAt, this.#currentAt, this.#baseAt]) {
      c.local_get(word).local_get(this.#context).i32_sub().i32_const(CONTEXT_BYTES).i32_lt_u();
      c.local_get(word).local_get(this.#area).i32_sub();
      c.local_get(this.#words).i32_wrap_i64().i32_const(3).i32_shl().i32_lt_u();
      c.i32_or().br_if(unknown, 'unlikely');
    }
  }

  /** Sets `state` by comparing all words with those of the entry; right with any values of the locals. */
  #look(): void {
    const c = this.#c;
    const same = (at: Local<I32>, offset: number, known: Local<I64>): void =>
      void c.local_get(at).i64_load(offset).local_get(known).i64_xor();
    c.local_get(this.#context).i32_load(CONTEXT.mode).i32_const(MODE.all).i32_and().i32_const(0);
    same(this.#liveAt, 0, this.#live);
    same(this.#currentAt, 0, this.#current);
    c.i64_or();
    same(this.#context, CONTEXT.area, this.#areaPa);
    c.i64_or();
    same(this.#context, CONTEXT.words, this.#words);
    c.i64_or();
    // Not where the device is unless the entry found it, so this is never right by chance.
    c.local_get(this.#baseAt).i64_load(0).i64_const(this.#deviceVa).i64_xor().i64_or();
    c.i64_eqz().select().local_set(this.#state);
  }

  /** Branches when the page of the byte at `local` + `more` holds translated code: stores there must be announced. */
  #noCode(local: Local<I32>, more: number, label: Label): void {
    const { hostBase, codeMap } = this.#ram;
    const c = this.#c;
    c.local_get(local)
      .i32_const(more - hostBase)
      .i32_add()
      .i32_const(12)
      .i32_shr_u();
    c.i32_load8_u(codeMap).br_if(label, 'unlikely');
  }

  /**
   * One call site: `kind` as in the table, `pc` the return address that is recorded. `generic` makes the real call and leaves
   * all locals as after one. `isClean`: nothing was stored since the entry or the last site, whatever way led here.
   */
  site(kind: number, pc: bigint, isClean: boolean, generic: () => void): void {
    const c = this.#c;
    const t0 = this.#ops.x[T0]!;
    const t1 = this.#ops.x[T1]!;
    const live = c.local(I64);
    const isPc = kind === 0;
    const done = c.block();
    const real = c.block();
    if (!isClean) {
      c.local_get(this.#liveAt).i32_eqz().br_if(real, 'unlikely');
      c.local_get(this.#liveAt).i64_load(0).i64_eqz().if_();
      c.i32_const(DISABLED).local_set(this.#state);
      c.else_();
      this.#look();
      c.end();
    }
    c.local_get(this.#state)
      .i32_const(isPc ? MODE.pc : MODE.cmp)
      .i32_eq()
      .if_();
    if (isPc) this.#recordPc(real, pc);
    else if (kind === SWITCH) this.#recordSwitch(real, pc);
    else this.#recordCmp(real, kind, pc);
    c.local_get(this.#live).local_set(t0).i64_const(this.#deviceVa).local_set(t1);
    this.#retire(isPc ? 10 : 12);
    c.br(done).end();
    c.local_get(this.#state).i32_const(DISABLED).i32_eq().if_();
    c.i64_const(0).local_set(t0);
    this.#retire(3);
    c.br(done).end();
    // Another mode in a context that is known does nothing; all else is rare.
    c.local_get(this.#liveAt).i32_eqz().br_if(real, 'unlikely');
    c.local_get(this.#liveAt).i64_load(0).local_tee(live).i64_eqz().br_if(real, 'unlikely');
    c.local_get(live).local_get(this.#live).i64_xor();
    c.local_get(this.#currentAt).i64_load(0).local_get(this.#current).i64_xor().i64_or();
    c.i64_const(0).i64_ne().br_if(real, 'unlikely');
    c.local_get(this.#context).i32_load(CONTEXT.mode);
    c.i32_const(isPc ? MODE.anyPc : MODE.anyCmp)
      .i32_and()
      .br_if(real);
    c.local_get(live).local_set(t0).i64_const(0).local_set(t1);
    this.#retire(6);
    c.br(done);
    c.end();
    generic();
    c.i32_const(0).local_set(this.#state);
    c.end();
    c.release(live);
  }

  get #deviceVa(): bigint {
    return BigInt.asIntN(64, this.#table.device + this.#table.kvaOffset);
  }

  #retire(count: number): void {
    this.#c.local_get(this.#ops.ic).i32_const(count).i32_sub().local_set(this.#ops.ic);
  }

  #word(at: Local<I32>, index: number, value: () => void): void {
    this.#c.local_get(at);
    value();
    this.#c.i64_store(8 * index);
  }

  /** Sets `count`, and pushes it and the room for records of `words` words. */
  #count(words: number, count: Local<I64>): void {
    const c = this.#c;
    c.local_get(this.#area).i64_load(0).local_tee(count);
    c.local_get(this.#words).i64_const(1).i64_sub();
    if (words === CMP_WORDS) c.i64_const(2).i64_shr_u();
  }

  /** Sets `at` to where record `count` goes. */
  #slot(at: Local<I32>, count: Local<I64>, words: number): void {
    this.#c
      .local_get(count)
      .i32_wrap_i64()
      .i32_const(words === CMP_WORDS ? 5 : 3)
      .i32_shl();
    this.#c.local_get(this.#area).i32_add().i32_const(8).i32_add().local_set(at);
  }

  /** Appends a record to the area, or counts it as lost; `write` gets a local with its host address. */
  #record(real: Label, words: number, write: (at: Local<I32>) => void): void {
    const c = this.#c;
    const [at, count] = [c.local(I32), c.local(I64)];
    this.#count(words, count);
    c.i64_ge_u().if_(undefined, 'unlikely');
    c.local_get(this.#context);
    c.local_get(this.#context).i64_load(CONTEXT.lost).i64_const(1).i64_add().i64_store(CONTEXT.lost);
    c.else_();
    this.#slot(at, count, words);
    this.#noCode(at, 0, real);
    if (words > 1) this.#noCode(at, words * 8 - 1, real);
    write(at);
    c.local_get(this.#area).local_get(count).i64_const(1).i64_add().i64_store(0);
    c.end();
    c.release(at, count);
    this.#tally(() => void c.i64_const(1));
  }

  /** Counts records for `Machine.kcovRecords`, stored and lost ones alike. */
  #tally(count: () => void): void {
    const c = this.#c;
    c.i32_const(0).i32_const(0).i64_load(KCOV_RECORDS);
    count();
    c.i64_add().i64_store(KCOV_RECORDS);
  }

  #recordPc(real: Label, pc: bigint): void {
    this.#record(real, 1, at => this.#word(at, 0, () => void this.#c.i64_const(BigInt.asIntN(64, pc))));
  }

  /** The operands, which the device's registers latch in the context. */
  #latch(): void {
    this.#word(this.#context, CONTEXT.arg0 / 8, () => void this.#c.local_get(this.#ops.x[A0]!));
    this.#word(this.#context, CONTEXT.arg1 / 8, () => void this.#c.local_get(this.#ops.x[A1]!));
  }

  /** type, arg1, arg2, pc. */
  #recordCmp(real: Label, kind: number, pc: bigint): void {
    const c = this.#c;
    const isConst = kind >= FIRST_CONST;
    const log2 = kind - (isConst ? FIRST_CONST : 1);
    const mask = log2 === 3 ? -1n : (1n << BigInt(8 << log2)) - 1n;
    const operand = (register: number): void => {
      c.local_get(this.#ops.x[register]!);
      if (log2 < 3) c.i64_const(mask).i64_and();
    };
    this.#record(real, CMP_WORDS, at => {
      this.#word(at, 0, () => void c.i64_const((log2 << 1) | (isConst ? 1 : 0)));
      this.#word(at, 1, () => operand(A0));
      this.#word(at, 2, () => operand(A1));
      this.#word(at, 3, () => void c.i64_const(BigInt.asIntN(64, pc)));
    });
    this.#latch();
  }

  /** A record per case: type, case, value, pc. Only small tables whose records all find room; FreeBSD's form makes the real call. */
  #recordSwitch(real: Label, pc: bigint): void {
    const c = this.#c;
    const { hostBase, base, bytes } = this.#ram;
    const own = c.scope();
    const [offset, cases, count] = [own.local(I64), own.local(I64), own.local(I64)];
    const [table, width, left] = [own.local(I32), own.local(I32), own.local(I32)];
    const [at, end] = [own.local(I32), own.local(I32)];
    c.local_get(this.#context).i32_load(CONTEXT.flags).i32_const(SWITCH_FREEBSD).i32_and();
    c.br_if(real, 'unlikely');
    c.local_get(this.#ops.x[A1]!);
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
    c.local_get(cases).i32_wrap_i64().local_tee(left).i32_const(5).i32_shl().local_get(at).i32_add();
    c.local_set(end);
    this.#noCode(at, 0, real);
    this.#noCode(end, 0, real);
    this.#latch();
    const none = c.block();
    c.local_get(left).i32_eqz().br_if(none);
    const next = c.loop();
    this.#word(at, 0, () => {
      c.local_get(width).i32_const(1).i32_shl().i32_const(1).i32_or().i64_extend_i32_u();
    });
    this.#word(at, 1, () => void c.local_get(table).i64_load(16));
    this.#word(at, 2, () => void c.local_get(this.#ops.x[A0]!));
    this.#word(at, 3, () => void c.i64_const(BigInt.asIntN(64, pc)));
    c.local_get(table).i32_const(8).i32_add().local_set(table);
    c.local_get(at)
      .i32_const(8 * CMP_WORDS)
      .i32_add()
      .local_tee(at)
      .local_get(end)
      .i32_ne()
      .br_if(next);
    c.end();
    c.end();
    c.local_get(this.#area).local_get(count).local_get(cases).i64_add().i64_store(0);
    this.#tally(() => void c.local_get(cases));
    own.release();
  }
}

/** The stub's instructions; `verify` compares what lies at a hook's address with this before any call is inlined. */
const STUB = ['ld', 'beq', 'lw', 'andi', 'beq', 'auipc', 'ld', 'beq'] as const;

/** Does the code at `address` look like the stub of `kind`? `fetch` decodes at a displacement from it. */
export function verifyHook(kind: number, table: HookTable, fetch: (at: number) => Insn | undefined): boolean {
  const insns: Insn[] = [];
  for (let at = 0; at < 4 * (kind === 0 ? 10 : 12); at += 4) {
    const insn = fetch(at);
    if (insn?.bytes !== 4) return false;
    insns.push(insn);
  }
  if (!STUB.every((name, i) => insns[i]!.name === name)) return false;
  const [live, , mode, kinds] = insns as [Insn, Insn, Insn, Insn];
  if (live.rd !== T0 || live.rs1 !== TP || live.imm !== table.liveOffset) return false;
  if (mode.rd !== T1 || mode.rs1 !== T0 || mode.imm !== CONTEXT.mode) return false;
  if (kinds.imm !== (kind === 0 ? MODE.anyPc : MODE.anyCmp)) return false;
  const [auipc, device] = [insns[5]!, insns[6]!];
  const from = BigInt.asUintN(64, table.addresses[kind]! + 20n + BigInt(auipc.imm) + BigInt(device.imm));
  if (from !== BigInt.asUintN(64, table.baseVar) || device.rd !== T1) return false;
  const stores = insns.slice(8, kind === 0 ? 9 : 11);
  return stores.every(insn => insn.name === 'sd' && insn.rs1 === T1) && insns.at(-1)!.name === 'jalr';
}
