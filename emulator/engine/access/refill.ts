// Serves translation misses in wasm: the walk of Sv39, and identity if translation is off, for
// loads and stores to RAM. It is a fast path of emulator/hart/mmu.ts, which is the definition and
// handles all special cases (faults, A or D to set, MXR, PMP, devices, Sv48, pages that hold code).
// Priv §10.3.2, §10.4.

import {
  DATA_VIEW,
  LARGE_END,
  LARGE_FIRST,
  LEAF_TABLE,
  LEAF_TAG,
  SLOW_ARG,
  SLOW_VALUE,
  TLB_BYTES,
  TLB_GROUP_SHIFT,
  TLB_MASK,
  TLB_READ,
  TLB_SLOW,
  TLB_USED,
  VIEWS,
  WALK,
  WALK_BARE,
  WALK_M,
  WALK_NONE,
} from '../../hart/layout.ts';
import { VIEW_M } from '../../hart/mmu.ts';
import { PTE_A, PTE_D, PTE_R, PTE_U, PTE_V, PTE_W, PTE_X } from '../../hart/walk.ts';
import {
  type CodeWriter,
  type FunctionHandle,
  I32,
  I64,
  type Label,
  type Local,
  type LocalScope,
  type ModuleBuilder,
} from '../../wasm/module.ts';
import { CLEAN, type DirtyPlace } from '../dirty-pages.ts';
import { TABLE, UPPER_TABLE } from '../interp/decoded-pages.ts';

/** Bits of a PTE above its page number: N, PBMT and reserved ones. */
const PTE_HIGH = -1n << 54n;

export interface RefillPlace {
  readonly ram: { readonly hostBase: number; readonly base: number; readonly bytes: number };
  /** Address of the bytes that say, by RAM page, whether stores must be reported. */
  readonly codeMap: number;
  readonly dirty: DirtyPlace;
}

/** Results that are not addresses are at most this. */
export const REFUSED = 1;

/**
 * Adds (va: i64, bytes - 1: i32, is store: i32) -> host address of va after filling the TLB, 0 if
 * the hart must do it, or REFUSED if the TLB marks the page as a device's or as one that holds
 * code. The access lies within one page if the result is neither; it need not be aligned.
 */
export function addRefill(m: ModuleBuilder, place: RefillPlace): FunctionHandle {
  const f = m.func([I64, I32, I32], [I32], 'refill');
  new Refill(f, place).write();
  return f;
}

class Refill {
  readonly #c: CodeWriter;
  readonly #place: RefillPlace;
  readonly #va: Local<I64>;
  readonly #lowBits: Local<I32>;
  readonly #isStore: Local<I32>;
  readonly #own: LocalScope;
  readonly #view: Local<I32>;
  /** Host address of the table being read, or the kind of walk. */
  readonly #table: Local<I32>;
  readonly #pte: Local<I64>;
  /** Offset in RAM of the translated page. */
  readonly #offset: Local<I64>;
  readonly #entry: Local<I32>;
  /** Table of the view, as numbered in TLB_USED. */
  readonly #number: Local<I32>;
  readonly #first: Local<I32>;

  constructor({ code, params }: FunctionHandle<readonly [I64, I32, I32]>, place: RefillPlace) {
    this.#c = code;
    this.#place = place;
    [this.#va, this.#lowBits, this.#isStore] = params;
    const own = code.scope();
    this.#own = own;
    this.#view = own.local(I32);
    this.#table = own.local(I32);
    this.#entry = own.local(I32);
    this.#number = own.local(I32);
    this.#first = own.local(I32);
    this.#pte = own.local(I64);
    this.#offset = own.local(I64);
  }

  write(): void {
    const c = this.#c;
    const decline = c.block();
    c.i32_const(0).i32_load(DATA_VIEW).local_set(this.#view);
    this.#findEntry();
    c.local_get(this.#va).i32_wrap_i64().local_get(this.#lowBits).i32_and().if_();
    this.#misaligned(decline);
    c.end();
    c.i32_const(0).i32_load(WALK_M).i32_const(0).i32_load(WALK);
    c.local_get(this.#view).i32_const(VIEW_M).i32_eq();
    c.select().local_tee(this.#table).i32_const(WALK_NONE).i32_eq().br_if(decline);
    this.#refuseSlow();
    const found = c.block();
    c.local_get(this.#table).i32_const(WALK_BARE).i32_eq().if_();
    c.local_get(this.#va).i64_const(-4096).i64_and();
    this.#inRam(decline);
    c.br(found).end();
    this.#walk(found, decline);
    c.end();
    this.#refuseCode(decline);
    this.#install();
    c.return_();
    c.end().i32_const(0);
    this.#own.release();
  }

  /**
   * The tag that a fast test compares rejects every misaligned address, so the page may well be in
   * the TLB. Crossing into the next page is the hart's.
   */
  #misaligned(decline: Label): void {
    const c = this.#c;
    c.local_get(this.#va).i32_wrap_i64().i32_const(0xfff).i32_and().local_get(this.#lowBits).i32_add();
    c.i32_const(0xfff).i32_gt_u().br_if(decline);
    c.local_get(this.#entry).i64_load(TLB_READ).local_get(this.#va).i64_const(-4096).i64_and().i64_eq();
    c.if_();
    c.local_get(this.#va).i32_wrap_i64();
    c.local_get(this.#entry)
      .i32_load(TLB_READ + 8)
      .i32_add()
      .return_();
    c.end();
  }

  /** Physical address on the stack -> `offset`. */
  #inRam(decline: Label): void {
    const { base, bytes } = this.#place.ram;
    const c = this.#c;
    c.i64_const(base).i64_sub().local_tee(this.#offset).i64_const(bytes).i64_ge_u().br_if(decline);
  }

  #walk(found: Label, decline: Label): void {
    const c = this.#c;
    c.local_get(this.#va)
      .i64_const(25)
      .i64_shl()
      .i64_const(25)
      .i64_shr_s()
      .local_get(this.#va)
      .i64_ne()
      .br_if(decline);
    // Problem: most misses of a flushed TLB are in a few megabytes, and each takes three loads that
    // depend on each other. Trick: the last table of leaves is kept with the va that led to it.
    // Proof: both tables above it are watched, so a store that changes the way flushes, and every
    // flush forgets it; the leaf itself is always read.
    c.i32_const(0).i64_load(LEAF_TAG).local_get(this.#va).i64_const(21).i64_shr_u().i64_eq().if_();
    c.i32_const(0).i32_load(LEAF_TABLE).local_set(this.#table);
    c.else_();
    for (const level of [2, 1]) {
      this.#level(level, found, decline);
      this.#descend(decline);
    }
    c.i32_const(0).local_get(this.#va).i64_const(21).i64_shr_u().i64_store(LEAF_TAG);
    c.i32_const(0).local_get(this.#table).i32_store(LEAF_TABLE);
    c.end();
    this.#level(0, found, decline);
    c.br(decline);
  }

  /** Reads the PTE of a level. A leaf goes to `found` with its page. */
  #level(level: number, found: Label, decline: Label): void {
    const c = this.#c;
    c.local_get(this.#va)
      .i64_const(12 + 9 * level)
      .i64_shr_u()
      .i32_wrap_i64()
      .i32_const(511)
      .i32_and();
    c.i32_const(3).i32_shl().local_get(this.#table).i32_add().i64_load().local_set(this.#pte);
    if (level < 2) this.#needWatched(level, decline);
    // Valid, and none of the bits above the page number.
    this.#pteBits(PTE_HIGH | BigInt(PTE_V))
      .i64_const(PTE_V)
      .i64_ne()
      .br_if(decline);
    this.#pteBits(PTE_R | PTE_X)
      .i64_eqz()
      .i32_eqz()
      .if_();
    this.#leaf(level, decline);
    c.br(found).end();
  }

  /**
   * A store to the table must drop cached translations, so the table must be marked; the hart's
   * walk marks it the first time (and `Mmu` marks the root).
   */
  #needWatched(level: number, decline: Label): void {
    const { codeMap, ram } = this.#place;
    const wanted = level > 0 ? TABLE | UPPER_TABLE : TABLE;
    // RAM begins at a page boundary, so the page number gives the offset directly.
    this.#c
      .local_get(this.#table)
      .i32_const(12)
      .i32_shr_u()
      .i32_load8_u(codeMap - ram.hostBase / 4096)
      .i32_const(wanted)
      .i32_and()
      .i32_const(wanted)
      .i32_ne()
      .br_if(decline);
  }

  #descend(decline: Label): void {
    const c = this.#c;
    this.#pteBits(PTE_W | PTE_A | PTE_D | PTE_U)
      .i64_eqz()
      .i32_eqz()
      .br_if(decline);
    this.#pagePa();
    this.#inRam(decline);
    c.local_get(this.#offset)
      .i32_wrap_i64()
      .i32_const(this.#place.ram.hostBase)
      .i32_add()
      .local_set(this.#table);
  }

  /** Permissions, superpage alignment, the page. */
  #leaf(level: number, decline: Label): void {
    const c = this.#c;
    const need = c
      .i64_const(PTE_R | PTE_W | PTE_A | PTE_D)
      .i64_const(PTE_R | PTE_A)
      .local_get(this.#isStore)
      .select();
    const wanted = this.#offset;
    need.local_tee(wanted).local_get(this.#pte).i64_and().local_get(wanted).i64_ne().br_if(decline);
    // View U = 0 requires the U bit, view S = 1 forbids it, S with SUM = 2 accepts both.
    this.#pteBits(PTE_U).i64_eqz().i32_eqz().local_get(this.#view).i32_eq().br_if(decline);
    const inLeaf = 4096 * (512 ** level - 1);
    if (level > 0) {
      this.#pagePa();
      c.i64_const(inLeaf).i64_and().i64_eqz().i32_eqz().br_if(decline);
    }
    this.#pagePa();
    if (level > 0) c.local_get(this.#va).i64_const(inLeaf).i64_and().i64_or();
    this.#inRam(decline);
    if (level > 0) this.#noteLarge(level);
  }

  /** The equivalent of `Tlb.noteLarge`. */
  #noteLarge(level: number): void {
    const c = this.#c;
    const first = this.#first;
    const count = 512 ** (level - 1);
    c.local_get(this.#va)
      .i64_const(21)
      .i64_shr_u()
      .i32_wrap_i64()
      .i32_const(0x7ff_ffff & -count)
      .i32_and()
      .local_set(first);
    c.local_get(first).i32_const(0).i32_load(LARGE_FIRST).i32_lt_s().if_();
    c.i32_const(0).local_get(first).i32_store(LARGE_FIRST).end();
    c.local_get(first).i32_const(count).i32_add().local_tee(first);
    c.i32_const(0).i32_load(LARGE_END).i32_gt_s().if_();
    c.i32_const(0).local_get(first).i32_store(LARGE_END).end();
  }

  /** Stores to pages with decoded code stay slow; a clean page is stored to from now on. */
  #refuseCode(decline: Label): void {
    const c = this.#c;
    const { codeMap, dirty } = this.#place;
    const page = this.#first;
    const count = this.#table;
    c.local_get(this.#isStore).if_();
    c.local_get(this.#offset).i64_const(12).i64_shr_u().i32_wrap_i64().local_tee(page).i32_load8_u(codeMap);
    c.if_();
    c.local_get(page).i32_load8_u(codeMap).i32_const(CLEAN).i32_ne().br_if(decline);
    c.local_get(page).i32_const(0).i32_store8(codeMap);
    c.i32_const(0).i32_load(dirty.dirtyCount).local_tee(count);
    c.i32_const(2).i32_shl().local_get(page).i32_store(dirty.dirtyList);
    c.i32_const(0).local_get(count).i32_const(1).i32_add().i32_store(dirty.dirtyCount);
    c.end().end();
  }

  /** Finds the entry in the table of the view. */
  #findEntry(): void {
    const c = this.#c;
    c.local_get(this.#va).i32_wrap_i64().i32_const(8).i32_shr_u().i32_const(TLB_MASK).i32_and();
    c.local_get(this.#view).local_get(this.#isStore).i32_const(VIEWS).i32_mul().i32_add();
    c.local_tee(this.#number).i32_const(TLB_BYTES).i32_mul().i32_add().local_set(this.#entry);
  }

  /** An entry marked as slow needs the hart. */
  #refuseSlow(): void {
    const c = this.#c;
    c.local_get(this.#entry)
      .i64_load(TLB_READ)
      .local_get(this.#va)
      .i64_const(-4096)
      .i64_and()
      .i64_const(TLB_SLOW)
      .i64_or();
    c.i64_eq().if_();
    c.i32_const(REFUSED).return_().end();
  }

  /** Fills the entry and pushes the host address of va. */
  #install(): void {
    const c = this.#c;
    const { hostBase, base } = this.#place.ram;
    const host = this.#table;
    const used = this.#number;
    c.local_get(used).i32_const(2).i32_shl().local_tee(used).local_get(used).i32_load(TLB_USED);
    // Of the number of the group, the shift takes the low five bits.
    c.i32_const(1).local_get(this.#va).i32_wrap_i64().i32_const(TLB_GROUP_SHIFT).i32_shr_u().i32_shl();
    c.i32_or().i32_store(TLB_USED);
    c.local_get(this.#entry).local_get(this.#va).i64_const(-4096).i64_and().i64_store(TLB_READ);
    c.local_get(this.#offset).i32_wrap_i64().i32_const(hostBase).i32_add().local_set(host);
    c.local_get(this.#entry).local_get(host);
    c.local_get(this.#va)
      .i32_wrap_i64()
      .i32_const(-4096)
      .i32_and()
      .i32_sub()
      .i32_store(TLB_READ + 8);
    c.local_get(this.#entry).local_get(this.#offset).i64_const(12).i64_shr_u().i32_wrap_i64();
    c.i32_const(base / 4096)
      .i32_add()
      .i32_store(TLB_READ + 12);
    c.local_get(host).local_get(this.#va).i32_wrap_i64().i32_const(4095).i32_and().i32_or();
  }

  /** i64: some bits of the PTE. */
  #pteBits(bits: number | bigint): CodeWriter {
    return this.#c.local_get(this.#pte).i64_const(bits).i64_and();
  }

  /** i64: physical address in the PTE. */
  #pagePa(): void {
    this.#c.local_get(this.#pte).i64_const(10).i64_shr_u().i64_const(12).i64_shl();
  }
}

/**
 * Adds (kind: i32) -> 0 done, 1 leave, else the result of `fallback`: it makes the whole access at
 * SLOW_ARG with its value in SLOW_VALUE, for compiled regions. `kind`: log2 of the bytes |
 * zero-extend << 2
 * | store << 3.
 */
export function addRegionSlow(m: ModuleBuilder, refill: number, fallback: number): FunctionHandle {
  const f = m.func([I32], [I32], 'region slow');
  const { code: c } = f;
  const [kindOf] = f.params;
  const [host, log2] = [c.local(I32), c.local(I32)];
  const value = () => c.i32_const(0).i64_load(SLOW_VALUE);
  c.i32_const(0).i64_load(SLOW_ARG);
  c.i32_const(1).local_get(kindOf).i32_const(3).i32_and().local_tee(log2).i32_shl().i32_const(1).i32_sub();
  c.local_get(kindOf).i32_const(3).i32_shr_u().call(refill).local_tee(host).i32_const(REFUSED).i32_le_u();
  c.if_();
  c.local_get(host).if_(I32);
  c.i32_const(1).else_();
  c.local_get(kindOf).call(fallback).end();
  c.return_().end();
  const done = c.block();
  const labels: Label[] = [];
  for (let kind = 11; kind >= 0; kind--) labels[kind] = c.block();
  c.local_get(kindOf).br_table(labels, labels[0]!);
  for (let kind = 0; kind < 12; kind++) {
    c.end();
    if (kind < 8) {
      c.i32_const(0).local_get(host);
      LOADS[kind]!(c);
      c.i64_store(SLOW_VALUE);
    } else {
      c.local_get(host);
      value();
      STORES[kind - 8]!(c);
    }
    c.br(done);
  }
  c.end().i32_const(0);
  c.release(host, log2);
  return f;
}

/** By funct3; the last is not an instruction. */
const LOADS: readonly ((c: CodeWriter) => void)[] = [
  c => c.i64_load8_s(),
  c => c.i64_load16_s(),
  c => c.i64_load32_s(),
  c => c.i64_load(),
  c => c.i64_load8_u(),
  c => c.i64_load16_u(),
  c => c.i64_load32_u(),
  c => c.i64_load(),
];
const STORES: readonly ((c: CodeWriter) => void)[] = [
  c => c.i64_store8(),
  c => c.i64_store16(),
  c => c.i64_store32(),
  c => c.i64_store(),
];
