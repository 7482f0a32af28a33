// Loads and stores of a region: from a guest address to a host address, with everything unusual
// left to the hart's slow path.
//
// Two methods to find the host address, chosen when the region is emitted:
//   translated  a probe of the software TLB, shared by range-check groups and cached in locals
//               (jit/region/groups.ts);
//   flat        if translation is off and PMP forbids nothing (WALK_BARE), physical RAM is one
//               range: an address is compared with its bounds. No code lies above `dataFirst`; a
//               store below it also consults the map of code pages. The region checks WALK_BARE at
//               its entry; only writes of satp and PMP change it, and those end a region.

import { SLOW_ARG, SLOW_VALUE, TLB_BYTES, TLB_MASK, TLB_READ, TLB_WRITE } from '../../../hart/layout.ts';
import { CACHE_BLOCK_BYTES, type Insn } from '../../../isa/index.ts';
import {
  type CodeWriter,
  F64,
  I32,
  I64,
  type Label,
  type Local,
  type LocalScope,
  type ValType,
} from '../../../wasm/module.ts';
import type { Width } from '../../semantics/ops.ts';
import type { Group } from '../region/groups.ts';

/** Where guest RAM and the map of code pages lie. */
export interface RamPlace {
  readonly hostBase: number;
  readonly base: number;
  readonly bytes: number;
  /** Byte per RAM page, not zero = stores must be reported. */
  readonly codeMap: number;
}

/** RAM as a region without translation sees it. */
export interface FlatRam extends RamPlace {
  /**
   * Offset in RAM of the end of the last page that holds code, valid while the region exists;
   * stores from here on need not consult the map.
   */
  readonly dataFirst: number;
}

export interface MemoryPlace {
  /** View of loads and stores for which the region is compiled. */
  readonly view: number;
  /** Present if addresses are physical. */
  readonly flat?: FlatRam;
  /**
   * Accesses that the TLB cannot serve leave the region, so that it calls no function for them: the
   * interpreter makes them, and fills the TLB.
   */
  readonly leavesOnMiss: boolean;
  /**
   * Function index: (width log2 | zero-extend << 2 | store << 3) -> 0 done, 1 leave; address and
   * value in SLOW_ARG, SLOW_VALUE.
   */
  readonly slow: number;
}

/** The code being emitted, as JitOps sees it. */
export interface MemoryContext {
  readonly c: CodeWriter;
  readonly insn: Insn;
  /** Index of the instruction in its block. */
  readonly index: number;
  readonly group: Group | undefined;
  /**
   * The loop loads the base register (a pointer chase): each address depends on the previous load.
   */
  readonly isChase: boolean;
  /** Locals of x1..x31. */
  readonly x: readonly (Local<I64> | undefined)[];
  rs1(): void;
  /** Leaves the region before this instruction. */
  leave(): void;
  /** Leaves the region before this instruction if the i32 on the stack is not 0. */
  leaveIf(): void;
}

/** Kinds of slow accesses: see `MemoryPlace.slow`. */
export const SLOW_STORE = 8;
const slowLoad = (bytes: Width, signed: boolean): number => Math.log2(bytes) | (signed ? 0 : 4);

/** Host address of an access: an i32 local and a constant. */
interface Host {
  readonly local: Local<I32>;
  readonly offset: number;
}

/**
 * The page of the last probe of a group: an address less than `limit` above its start is at its own
 * low half plus `addend`.
 */
interface PageCache {
  readonly page: Local<I64>;
  readonly limit: Local<I64>;
  readonly addend: Local<I32>;
}

export class JitMemory {
  readonly #o: MemoryContext;
  readonly #c: CodeWriter;
  readonly #place: MemoryPlace;
  readonly #own: LocalScope;
  readonly #address: Local<I64>;
  readonly #host: Local<I32>;
  readonly #value: Local<I64>;
  readonly #number: Local<F64>;
  /** The access is of a whole cache block. */
  #isBlock = false;
  /**
   * Host addresses of the open groups, 0 = every access makes its own check. At most one for each
   * base register.
   */
  readonly #groups = new Map<Group, Local<I32>>();
  /** By number. */
  readonly #caches: PageCache[] = [];
  /** By base register: the addend of its last access; see `#predict`. */
  readonly #lastAddend: Local<I32>[] = [];

  constructor(context: MemoryContext, place: MemoryPlace) {
    this.#o = context;
    this.#c = context.c;
    this.#place = place;
    const own = context.c.scope();
    this.#own = own;
    this.#address = own.local(I64);
    this.#host = own.local(I32);
    this.#value = own.local(I64);
    this.#number = own.local(F64);
  }

  /** The region is written. */
  release(): void {
    this.#own.release();
  }

  /** Loads into the i64 local that is returned. */
  load(bytes: Width, signed: boolean): Local<I64> {
    return this.#load(
      this.#value,
      bytes,
      slowLoad(bytes, signed),
      host => this.#fetch(host, bytes, signed),
      () => void this.#c.i32_const(0).i64_load(SLOW_VALUE),
    );
  }

  /** Loads into the f64 local that is returned. */
  loadDouble(): Local<F64> {
    const c = this.#c;
    return this.#load(
      this.#number,
      8,
      3,
      ({ local, offset }) => void c.local_get(local).f64_load(offset),
      () => void c.i32_const(0).f64_load(SLOW_VALUE),
    );
  }

  /**
   * Loads into i64 local `into`, without the probe of its group; `slow` loads from anything but
   * plain RAM: into `into`, or with `rest` into SLOW_VALUE.
   */
  loadAlone(
    into: Local<I64>,
    bytes: Width,
    signed: boolean,
    slow: (address: Local<I64>, rest: () => void) => void,
  ): void {
    const { group, index } = this.#o;
    // The other accesses of the group need its probe.
    if (group?.first === index && group.members > 1) {
      this.#ifGroup();
      this.#c.end();
    }
    this.#endGroup();
    const fast = (host: Host): void => {
      this.#fetch(host, bytes, signed);
      this.#c.local_set(into);
    };
    this.#access(bytes, false, fast, address =>
      slow(address, () => this.#slowArm(address, slowLoad(bytes, signed))),
    );
  }

  /** Pushes the result of the slow path from the low bytes of SLOW_VALUE. */
  takeSlow(bytes: Width, signed: boolean): void {
    this.#c.i32_const(0);
    this.#extended(bytes, signed, SLOW_VALUE);
  }

  /** `fetch` pushes the value at the host address, `slow` the result of the slow path. */
  #load<T extends ValType>(
    into: Local<T>,
    bytes: Width,
    kind: number,
    fetch: (host: Host) => void,
    slow: () => void,
  ): Local<T> {
    const c = this.#c;
    const shared = this.#ifGroup();
    if (shared !== undefined) {
      fetch({ local: shared, offset: this.#o.insn.imm - this.#o.group!.low });
      c.local_set(into).else_();
    }
    this.#access(
      bytes,
      false,
      host => {
        fetch(host);
        c.local_set(into);
      },
      address => {
        if (this.#place.leavesOnMiss) {
          this.#o.leave();
          return;
        }
        this.#slowArm(address, kind);
        slow();
        c.local_set(into);
      },
    );
    if (shared !== undefined) c.end();
    this.#endGroup();
    return into;
  }

  /** `value` pushes the value to store: f64 if `put` needs it, else i64. */
  store(bytes: Width, value: () => void, put: Width | 'f64' = bytes): void {
    const c = this.#c;
    const shared = this.#ifGroup();
    if (shared !== undefined) {
      c.local_get(shared);
      value();
      this.#put(put, this.#o.insn.imm - this.#o.group!.low);
      c.else_();
    }
    this.#access(
      bytes,
      true,
      host => {
        c.local_get(host.local);
        value();
        this.#put(put, host.offset);
      },
      address => {
        if (this.#place.leavesOnMiss) {
          this.#o.leave();
          return;
        }
        this.#slowArm(address, Math.log2(bytes) | SLOW_STORE, () => {
          value();
          this.#put(put === 'f64' ? put : 8, SLOW_VALUE);
        });
      },
    );
    if (shared !== undefined) c.end();
    this.#endGroup();
  }

  /** Runs `fast` with an i32 local holding the host address of the aligned access, or `slow`. */
  atomic(bytes: Width, writes: boolean, fast: (host: Local<I32>) => void, slow: () => void): void {
    this.#access(
      bytes,
      writes,
      ({ local, offset }) => {
        if (offset !== 0) this.#c.local_get(local).i32_const(offset).i32_add().local_set(local);
        fast(local);
      },
      slow,
      true,
    );
  }

  /**
   * Runs `fast` with an i32 local holding the host address of the cache block that rs1 points into,
   * or `slow`.
   */
  block(writes: boolean, fast: (host: Local<I32>) => void, slow: () => void): void {
    this.#isBlock = true;
    this.atomic(8, writes, fast, slow);
    this.#isBlock = false;
  }

  /** Pushes rs1, or the start of its cache block. */
  #base(): void {
    this.#o.rs1();
    if (this.#isBlock) this.#c.i64_const(-CACHE_BLOCK_BYTES).i64_and();
  }

  /**
   * Emits the test for a plain access to RAM and both paths. `aligned`: the fast path is for
   * aligned addresses only.
   */
  #access(
    bytes: Width,
    writes: boolean,
    fast: (host: Host) => void,
    slow: (address: Local<I64>) => void,
    aligned = false,
  ): void {
    const { flat } = this.#place;
    if (flat) {
      this.#accessFlat(flat, bytes, writes, fast, slow, aligned);
      return;
    }
    const address = this.#effective();
    fast({ local: this.#probe(address, writes ? TLB_WRITE : TLB_READ, bytes, aligned), offset: 0 });
    this.#c.else_();
    slow(address);
    this.#c.end();
  }

  /** i64 local holding rs1 + imm. */
  #effective(): Local<I64> {
    const c = this.#c;
    const { insn, x } = this.#o;
    if (insn.imm === 0 && insn.rs1 !== 0 && !this.#isBlock) return x[insn.rs1]!;
    this.#base();
    if (insn.imm !== 0) c.i64_const(insn.imm).i64_add();
    c.local_set(this.#address);
    return this.#address;
  }

  #accessFlat(
    { base, bytes: size, hostBase, codeMap, dataFirst }: FlatRam,
    bytes: Width,
    writes: boolean,
    fast: (host: Host) => void,
    slow: (address: Local<I64>) => void,
    aligned: boolean,
  ): void {
    const c = this.#c;
    const at = this.#address;
    /** Leaves the block unless the offset in `at` lies below `end`, and is aligned if required. */
    const within = (end: number, otherwise: Label): void => {
      c.local_get(at);
      if ((writes || aligned) && bytes > 1) {
        // After the rotation, a misaligned address is above all of RAM; so an access that passes
        // lies within one page.
        c.i64_const(Math.log2(bytes))
          .i64_rotr()
          .i64_const(end / bytes);
      } else c.i64_const(end - bytes + 1);
      c.i64_ge_u().br_if(otherwise, 'unlikely');
    };
    const access = (offset: number, done: Label): void => {
      c.local_get(at).i32_wrap_i64().local_set(this.#host);
      fast({ local: this.#host, offset: hostBase + offset });
      c.br(done).end();
    };
    const first = writes && !aligned && dataFirst < size ? dataFirst : 0;
    const done = c.block();
    const slowArm = c.block();
    this.#base();
    c.i64_const(this.#o.insn.imm - base - first)
      .i64_add()
      .local_set(at);
    if (first > 0) {
      within(size - first, slowArm);
      access(first, done);
      c.local_get(at).i64_const(first).i64_add().local_set(at);
      const last = c.block();
      this.#lookAtMap(size, codeMap, within, last);
      access(0, done);
    } else {
      if (writes) this.#lookAtMap(size, codeMap, within, slowArm);
      else within(size, slowArm);
      access(0, done);
    }
    c.local_get(at).i64_const(base).i64_add().local_set(at);
    slow(at);
    c.end();
  }

  /**
   * Leaves the block unless the store at the offset in `#address` is in RAM and its page holds no
   * code.
   */
  #lookAtMap(
    size: number,
    codeMap: number,
    within: (end: number, otherwise: Label) => void,
    otherwise: Label,
  ): void {
    const c = this.#c;
    within(size, otherwise);
    c.local_get(this.#address).i32_wrap_i64().i32_const(12).i32_shr_u().i32_load8_u(codeMap);
    c.br_if(otherwise, 'unlikely');
  }

  /**
   * Probes the TLB; opens an `if` whose then-arm has the host address in the returned i32 local.
   */
  #probe(address: Local<I64>, table: number, bytes: Width, aligned: boolean): Local<I32> {
    const c = this.#c;
    const at = table + this.#place.view * TLB_BYTES;
    c.local_get(address).i32_wrap_i64().i32_const(8).i32_shr_u().i32_const(TLB_MASK).i32_and();
    c.local_tee(this.#host).i64_load(at);
    c.local_get(address);
    if (this.#place.leavesOnMiss && bytes > 1 && !aligned)
      c.i64_const(bytes - 1)
        .i64_add()
        .i64_const(-4096);
    else c.i64_const(-4096 | (bytes - 1));
    c.i64_and().i64_eq().if_(undefined, 'likely');
    c.local_get(this.#host).i32_load(at + 8);
    if (this.#o.isChase) this.#predict();
    c.local_get(address).i32_wrap_i64().i32_add().local_set(this.#host);
    return this.#host;
  }

  /**
   * Replaces the addend on the stack by the last one if both are equal, as in a linear mapping. The
   * host's branch predictor then speculates, and the next address does not wait for the TLB.
   */
  #predict(): void {
    const c = this.#c;
    const { rs1 } = this.#o.insn;
    this.#lastAddend[rs1] ??= this.#own.zeroed(I32);
    const last = this.#lastAddend[rs1];
    const addend = c.local(I32);
    c.local_tee(addend).local_get(last).i32_eq().if_(I32, 'likely');
    c.local_get(last).else_().local_get(addend).local_tee(last).end();
    c.release(addend);
  }

  /**
   * Calls the hart's slow path; leaves if it declines. `value` stores the operand to SLOW_VALUE.
   */
  #slowArm(address: Local<I64>, kind: number, value?: () => void): void {
    const c = this.#c;
    c.i32_const(0).local_get(address).i64_store(SLOW_ARG);
    if (value) {
      c.i32_const(0);
      value();
    }
    c.i32_const(kind).call(this.#place.slow);
    this.#o.leaveIf();
  }

  #fetch({ local, offset }: Host, bytes: Width, signed: boolean): void {
    this.#c.local_get(local);
    this.#extended(bytes, signed, offset);
  }

  /** The address is on the stack. */
  #extended(bytes: Width, signed: boolean, offset: number): void {
    const c = this.#c;
    if (bytes === 8) c.i64_load(offset);
    else if (bytes === 4) signed ? c.i64_load32_s(offset) : c.i64_load32_u(offset);
    else if (bytes === 2) signed ? c.i64_load16_s(offset) : c.i64_load16_u(offset);
    else signed ? c.i64_load8_s(offset) : c.i64_load8_u(offset);
  }

  #put(bytes: Width | 'f64', offset: number): void {
    const c = this.#c;
    if (bytes === 'f64') c.f64_store(offset);
    else if (bytes === 8) c.i64_store(offset);
    else if (bytes === 4) c.i64_store32(offset);
    else if (bytes === 2) c.i64_store16(offset);
    else c.i64_store8(offset);
  }

  /**
   * Opens an `if` whose then-arm may use the group's host address, in the i32 local returned;
   * undefined without a group. The group's first access makes the probe, which gives the host
   * address of the range, or 0.
   */
  #ifGroup(): Local<I32> | undefined {
    const c = this.#c;
    const { group } = this.#o;
    if (!group) return undefined;
    let host = this.#groups.get(group);
    if (!host) {
      host = c.local(I32);
      this.#groups.set(group, host);
      const { flat } = this.#place;
      this.#o.rs1();
      c.i64_const(group.low - (flat ? flat.base : 0))
        .i64_add()
        .local_set(this.#value);
      if (flat) this.#probeFlat(flat, group, host);
      else if (group.cache === undefined) this.#probeGroup(group, host);
      else this.#probeCached(group, host, group.cache);
    }
    c.local_get(host).if_(undefined, 'likely');
    return host;
  }

  /** After the last access of a group its local is free. */
  #endGroup(): void {
    const { group, index } = this.#o;
    const host = group?.last === index && this.#groups.get(group);
    if (!host) return;
    this.#c.release(host);
    this.#groups.delete(group);
  }

  /**
   * Sets `host` for the range at offset `#value` of RAM, within one page that holds no code or
   * above all code, or to 0.
   */
  #probeFlat({ bytes, hostBase, codeMap, dataFirst }: FlatRam, group: Group, host: Local<I32>): void {
    const c = this.#c;
    const low = this.#value;
    const length = group.high - group.low;
    const address = (): void => void c.local_get(low).i32_wrap_i64().i32_const(hostBase).i32_add();
    if (dataFirst < bytes) {
      address();
      c.i32_const(0).local_get(low).i64_const(dataFirst).i64_sub();
      c.i64_const(bytes - dataFirst - length + 1)
        .i64_lt_u()
        .select()
        .local_set(host);
      return;
    }
    const done = c.block();
    c.i32_const(0).local_set(host);
    c.local_get(low).i64_const(bytes).i64_ge_u().br_if(done, 'unlikely');
    c.local_get(low).i32_wrap_i64().i32_const(0xfff).i32_and();
    c.i32_const(4096 - length)
      .i32_gt_u()
      .br_if(done, 'unlikely');
    if (group.writes)
      c.local_get(low).i32_wrap_i64().i32_const(12).i32_shr_u().i32_load8_u(codeMap).br_if(done, 'unlikely');
    address();
    c.local_set(host);
    c.end();
  }

  /**
   * Sets `host` to the host address of the range that begins at the address in `#value`, or to 0.
   */
  #probeGroup(group: Group, host: Local<I32>): void {
    const c = this.#c;
    const at = (group.writes ? TLB_WRITE : TLB_READ) + this.#place.view * TLB_BYTES;
    const low = this.#value;
    const entry = this.#host;
    c.local_get(low).i32_wrap_i64().i32_const(8).i32_shr_u().i32_const(TLB_MASK).i32_and().local_tee(entry);
    c.i32_load(at + 8)
      .local_get(low)
      .i32_wrap_i64()
      .i32_add()
      .i32_const(0);
    c.local_get(entry).i64_load(at).local_get(low).i64_const(-4096).i64_and().i64_eq();
    c.local_get(low).i32_wrap_i64().i32_const(0xfff).i32_and();
    c.i32_const(4096 - (group.high - group.low))
      .i32_le_u()
      .i32_and()
      .select()
      .local_set(host);
  }

  /** The same, with a lookup in the page cache first, which is updated on a miss. */
  #probeCached(group: Group, host: Local<I32>, cache: number): void {
    const c = this.#c;
    const own = this.#own;
    this.#caches[cache] ??= { page: own.zeroed(I64), limit: own.zeroed(I64), addend: own.zeroed(I32) };
    const { page, limit, addend } = this.#caches[cache];
    const low = this.#value;
    // Page 0 must not hit in an empty cache: the limit is 0 until a page is cached.
    c.local_get(low).local_get(page).i64_xor().local_get(limit).i64_lt_u().if_(undefined, 'likely');
    c.local_get(low).i32_wrap_i64().local_get(addend).i32_add().local_set(host);
    c.else_();
    this.#probeGroup(group, host);
    c.local_get(host).if_();
    c.local_get(low).i64_const(-4096).i64_and().local_set(page);
    c.i64_const(4097 - (group.high - group.low)).local_set(limit);
    c.local_get(host).local_get(low).i32_wrap_i64().i32_sub().local_set(addend);
    c.end().end();
  }
}
