// A region's facts about the context of the running thread, for the coverage hooks in it. They are
// determined once, at the entry: addresses and bounds follow from four words of the guest (live
// pointer, CURRENT, area, length). A site after a store or a call compares the thread and those
// words with what they were; other sites rely on the last comparison. Translations and code pages
// change only while no region runs.

import { AREA_WORDS_MAX, CTX } from '../../../devices/kcov-layout.ts';
import type { RamPlace } from '../../engine/jit/emit/memory.ts';
import type { InlineContext } from '../../engine/jit/inline-call.ts';
import { EPOCH, HARTID, TLB_BYTES, TLB_MASK, TLB_READ, TLB_SLOW, TLB_WRITE, X } from '../../hart/layout.ts';
import { type CodeWriter, I32, I64, type Label, type Local, type LocalScope } from '../../wasm/module.ts';
import { deviceVa, type HookTable, TP } from './table.ts';

/** Not a value of a context's mode that records. */
export const DISABLED = 64;
const ALL_MODES = 31;

/** Of the memory in which a helper keeps its facts: the key, and the facts, of 8 bytes each. */
const KEY = { epoch: 0, hart: 8, thread: 16 } as const;
const FACTS = 24;

export class KnownContext {
  readonly #c: CodeWriter;
  readonly #table: HookTable;
  readonly #ram: RamPlace;
  readonly #view: number;
  readonly #isVerified: Local<I32>;
  readonly #own: LocalScope;
  /**
   * i32, host addresses: the live pointer (0 = not known: real calls), CURRENT, the context, the
   * area, the base variable.
   */
  readonly liveAt: Local<I32>;
  readonly currentAt: Local<I32>;
  readonly context: Local<I32>;
  readonly area: Local<I32>;
  readonly baseAt: Local<I32>;
  /**
   * i32, for clean sites: the mode (RECORD) found at region entry if nothing may have changed
   * since; DISABLED; or 0 = compare first.
   */
  readonly state: Local<I32>;
  /**
   * i64, words of the guest at the entry; the live pointer 0 = none then, which no site takes for a
   * context.
   */
  readonly thread: Local<I64>;
  readonly live: Local<I64>;
  readonly current: Local<I64>;
  readonly areaPa: Local<I64>;
  readonly words: Local<I64>;

  constructor(
    { c, ram, dataView, isVerified }: Pick<InlineContext, 'c' | 'ram' | 'dataView' | 'isVerified'>,
    table: HookTable,
  ) {
    this.#c = c;
    this.#table = table;
    this.#ram = ram;
    this.#view = dataView;
    this.#isVerified = isVerified;
    const own = c.scope();
    this.#own = own;
    this.liveAt = own.zeroed(I32);
    this.currentAt = own.zeroed(I32);
    this.context = own.zeroed(I32);
    this.area = own.zeroed(I32);
    this.baseAt = own.zeroed(I32);
    this.state = own.zeroed(I32);
    this.thread = own.zeroed(I64);
    this.live = own.zeroed(I64);
    this.current = own.zeroed(I64);
    this.areaPa = own.zeroed(I64);
    this.words = own.zeroed(I64);
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
      .local_tee(this.thread)
      .i64_const(this.#table.liveOffset)
      .i64_add()
      .local_set(address);
    const known = c.block();
    c.local_get(this.#isVerified).i32_eqz().br_if(known, 'unlikely');
    this.#probe(address, this.liveAt);
    c.local_get(this.liveAt).i32_eqz().br_if(known);
    c.i32_const(DISABLED).local_set(this.state);
    c.local_get(this.liveAt).i64_load(0).local_tee(this.live).i64_eqz().br_if(known);
    const unknown = c.block();
    this.#enterContext(unknown);
    this.#enterArea(unknown);
    c.i64_const(BigInt.asIntN(64, this.#table.baseVar)).local_set(address);
    this.#probe(address, this.baseAt);
    this.#needMapped(unknown);
    this.#needApart(unknown);
    this.look(this.live);
    c.br(known);
    c.end();
    c.i32_const(0).local_tee(this.liveAt).local_set(this.state);
    c.end();
    c.release(address);
  }

  /**
   * The same as `enter`, for a helper. Problem: each call would find the same facts again, in a
   * hundred instructions of the host. Trick: they are kept in memory, with the hart, its thread
   * pointer and the number of its last change of translations. Proof: a fact is an address, a bound
   * or a mapping. Addresses and bounds follow from words that `look` compares. A mapping holds as
   * long as no translation changes; that the TLB has lost one since costs the stub a walk that
   * nobody sees. Only code may have come to a page, so that is looked up.
   */
  recall(scratch: number): void {
    const c = this.#c;
    const now = c.local(I64);
    const facts: readonly (Local<I32> | Local<I64>)[] = [
      ...[this.live, this.current, this.areaPa, this.words],
      ...[this.liveAt, this.currentAt, this.context, this.area, this.baseAt],
    ];
    const key = (each: (stored: number, value: () => void) => void): void => {
      each(KEY.epoch, () => void c.i32_const(0).i64_load(EPOCH));
      each(KEY.hart, () => void c.i32_const(0).i64_load32_u(HARTID));
      each(KEY.thread, () => void c.i32_const(0).i64_load(X + 8 * TP));
    };
    const done = c.block();
    const stale = c.block();
    key((at, value) => {
      c.i32_const(scratch).i64_load(at);
      value();
      c.i64_ne().br_if(stale, 'unlikely');
    });
    for (const [i, fact] of facts.entries()) {
      c.i32_const(scratch);
      if (fact.type === I64) c.i64_load(FACTS + 8 * i).local_set(fact as Local<I64>);
      else c.i32_load(FACTS + 8 * i).local_set(fact as Local<I32>);
    }
    c.local_get(this.liveAt).i64_load(0).local_tee(now).i64_eqz().if_();
    c.local_get(now).local_set(this.live);
    c.i32_const(DISABLED).local_set(this.state).br(done).end();
    for (const end of [0, CTX.SIZE - 1]) this.noCode(this.context, end, stale);
    this.noCode(this.area, 0, stale);
    this.look(now);
    c.local_get(this.state).br_if(done, 'likely').end();
    this.enter();
    c.local_get(this.state).i32_eqz().local_get(this.state).i32_const(DISABLED).i32_eq().i32_or().if_();
    c.br(done).end();
    key((at, value) => {
      c.i32_const(scratch);
      value();
      c.i64_store(at);
    });
    for (const [i, fact] of facts.entries()) {
      c.i32_const(scratch).local_get(fact);
      if (fact.type === I64) c.i64_store(FACTS + 8 * i);
      else c.i32_store(FACTS + 8 * i);
    }
    c.end();
    c.release(now);
  }

  /**
   * Host address of the word at `address` by the read TLB, 0 = not there. The table's tag is
   * compared as for `ld`.
   */
  #probe(address: Local<I64>, into: Local<I32>): void {
    const c = this.#c;
    const entry = c.local(I32);
    const at = TLB_READ + this.#view * TLB_BYTES;
    c.local_get(address)
      .i32_wrap_i64()
      .i32_const(8)
      .i32_shr_u()
      .i32_const(TLB_MASK)
      .i32_and()
      .local_tee(entry);
    c.i32_load(at + 8)
      .local_get(address)
      .i32_wrap_i64()
      .i32_add()
      .i32_const(0);
    c.local_get(entry).i64_load(at).local_get(address).i64_const(~0xff8n).i64_and().i64_eq();
    c.select().local_set(into);
    c.release(entry);
  }

  /**
   * The stub loads the mode through the context's address and stores to the device's: both must be
   * known to the TLB.
   */
  #needMapped(unknown: Label): void {
    const c = this.#c;
    const at = c.local(I32);
    const table = TLB_READ + this.#view * TLB_BYTES;
    c.local_get(this.live)
      .i32_wrap_i64()
      .i32_const(8)
      .i32_shr_u()
      .i32_const(TLB_MASK)
      .i32_and()
      .local_tee(at);
    c.i64_load(table).local_get(this.live).i64_const(~0xff8n).i64_and().i64_ne().br_if(unknown, 'unlikely');
    c.local_get(at)
      .i32_load(table + 8)
      .local_get(this.live)
      .i32_wrap_i64()
      .i32_add();
    c.local_get(this.context).i32_ne().br_if(unknown, 'unlikely');
    c.release(at);
    const va = deviceVa(this.#table);
    const entry = TLB_WRITE + this.#view * TLB_BYTES + Number((va >> 8n) & BigInt(TLB_MASK));
    c.i32_const(0).i64_load(entry);
    c.i64_const((va & ~0xfffn) | BigInt(TLB_SLOW))
      .i64_ne()
      .br_if(unknown, 'unlikely');
    c.i32_const(0)
      .i32_load(entry + 12)
      .i32_const(Number(this.#table.device / 4096n))
      .i32_ne();
    c.br_if(unknown, 'unlikely');
  }

  /** The live context must be CURRENT of this hart's block, aligned, in RAM and not among code. */
  #enterContext(unknown: Label): void {
    const c = this.#c;
    const { hostBase, base, bytes } = this.#ram;
    const offset = c.local(I64);
    c.i32_const(0).i32_load(HARTID).i32_const(6).i32_shl();
    c.i32_const(hostBase + this.#table.harts - base)
      .i32_add()
      .local_tee(this.currentAt);
    c.i64_load(0).local_tee(this.current);
    c.i64_const(BigInt.asIntN(64, this.#table.kvaOffset)).i64_add().local_get(this.live).i64_ne();
    c.br_if(unknown, 'unlikely');
    c.local_get(this.live)
      .i64_const(CTX.ALIGN - 1)
      .i64_and()
      .i64_const(0)
      .i64_ne();
    c.br_if(unknown, 'unlikely');
    c.local_get(this.current).i64_const(base).i64_sub().local_tee(offset);
    c.i64_const(bytes - CTX.SIZE)
      .i64_gt_u()
      .br_if(unknown, 'unlikely');
    c.local_get(offset).i32_wrap_i64().i32_const(hostBase).i32_add().local_set(this.context);
    for (const end of [0, CTX.SIZE - 1]) this.noCode(this.context, end, unknown);
    c.release(offset);
  }

  /** The area must be aligned, in RAM and apart from the context, and its count not among code. */
  #enterArea(unknown: Label): void {
    const c = this.#c;
    const { hostBase, base, bytes } = this.#ram;
    const [offset, length] = [c.local(I64), c.local(I64)];
    c.local_get(this.context).i64_load(CTX.AREA).local_tee(this.areaPa);
    c.i64_const(base).i64_sub().local_tee(offset);
    c.i64_const(7).i64_and().i64_const(0).i64_ne().br_if(unknown, 'unlikely');
    c.local_get(this.context).i64_load(CTX.WORDS).local_tee(this.words);
    c.i64_const(1).i64_sub().i64_const(AREA_WORDS_MAX).i64_ge_u().br_if(unknown, 'unlikely');
    c.local_get(offset).i64_const(bytes).i64_ge_u().br_if(unknown, 'unlikely');
    c.local_get(this.words).i64_const(3).i64_shl().local_tee(length);
    c.local_get(offset).i64_add().i64_const(bytes).i64_gt_u().br_if(unknown, 'unlikely');
    // Apart: the context ends before the area, or the area before the context.
    c.local_get(this.current).local_get(this.areaPa).i64_sub().local_get(length).i64_lt_u();
    c.local_get(this.areaPa).local_get(this.current).i64_sub().i64_const(CTX.SIZE).i64_lt_u();
    c.i32_or().br_if(unknown, 'unlikely');
    c.local_get(offset).i32_wrap_i64().i32_const(hostBase).i32_add().local_set(this.area);
    this.noCode(this.area, 0, unknown);
    c.release(offset, length);
  }

  /**
   * The hooks' own stores (records and latched operands) must not hit the words that the hooks
   * compare.
   */
  #needApart(unknown: Label): void {
    const c = this.#c;
    for (const word of [this.liveAt, this.currentAt, this.baseAt]) {
      c.local_get(word).local_get(this.context).i32_sub().i32_const(CTX.SIZE).i32_lt_u();
      c.local_get(word).local_get(this.area).i32_sub();
      c.local_get(this.words).i32_wrap_i64().i32_const(3).i32_shl().i32_lt_u();
      c.i32_or().br_if(unknown, 'unlikely');
    }
  }

  /**
   * Pushes 1 if the thread is that of the entry. A call may have come back in another one, at the
   * same return address. The region itself does not write tp, so its value is in the window.
   */
  isSameThread(): void {
    this.#c
      .i32_const(0)
      .i64_load(X + 8 * TP)
      .local_get(this.thread)
      .i64_eq();
  }

  /**
   * Sets `state` by comparing all words with those of the entry; right with any values of the
   * locals. `live` is the live pointer as it is now.
   */
  look(live: Local<I64>): void {
    const c = this.#c;
    const same = (at: Local<I32>, offset: number, known: Local<I64>): void =>
      void c.local_get(at).i64_load(offset).local_get(known).i64_xor();
    c.local_get(this.context).i32_load(CTX.MODE).i32_const(ALL_MODES).i32_and().i32_const(0);
    c.local_get(live).local_get(this.live).i64_xor();
    same(this.currentAt, 0, this.current);
    c.i64_or();
    same(this.context, CTX.AREA, this.areaPa);
    c.i64_or();
    same(this.context, CTX.WORDS, this.words);
    c.i64_or();
    // Nonzero only if the entry found the device, so it never matches by chance.
    c.local_get(this.baseAt).i64_load(0).i64_const(deviceVa(this.#table)).i64_xor().i64_or();
    c.i64_eqz().select().local_set(this.state);
  }

  /**
   * Branches when the page of the byte at `local` + `more` holds translated code: stores there must
   * be announced.
   */
  noCode(local: Local<I32>, more: number, label: Label): void {
    const { hostBase, codeMap } = this.#ram;
    const c = this.#c;
    c.local_get(local)
      .i32_const(more - hostBase)
      .i32_add()
      .i32_const(12)
      .i32_shr_u();
    c.i32_load8_u(codeMap).br_if(label, 'unlikely');
  }
}
