// Ops for the region JIT: operands are known, registers live in wasm locals, a TLB probe is inline and everything unusual
// leaves the region *before* the instruction, which the interpreter then executes. So there is one kind of leaving,
// and traps, devices, atomics on odd pages and soft-float share the interpreter's exact paths.
//
// Leaving = set `leavePc`, take `ic` back to the count before this instruction, branch to the epilogue that stores the
// registers that may be dirty here. Epilogues are shared by all points with the same dirty set (jit-emit.ts opens them).
// Hot path: no call, no store but the guest's own.

import { F, FFLAGS, SLOW_ARG, SLOW_VALUE, TLB_BYTES, TLB_READ, TLB_WRITE } from '../hart/layout.ts';
import type { Insn } from '../isa/index.ts';
import { hostFuses } from '../wasm/host-fma.ts';
import { type CodeWriter, F64, I32, I64, type Label, type ValType } from '../wasm/module.ts';
import { type FpHelpers, JitFloat } from './jit-fp.ts';
import type { Group } from './jit-groups.ts';
import type { Mask } from './jit-registers.ts';
import type { Atomic, Format, Ops, ResultCheck, Width } from './ops.ts';
import {
  csrClass,
  csrOp,
  emitPlainCsr,
  emitStatusCsr,
  type PlainAccess,
  plainCsr,
} from './semantics-system.ts';

/** Function indexes of what a region may call, and constants of this machine. */
export interface JitPort {
  /** (width log2 | zero-extend << 2 | store << 3) -> 0 done, 1 leave; address and value in SLOW_ARG, SLOW_VALUE. */
  readonly slow: number;
  /** Functions of this module around soft-float. */
  readonly fp: FpHelpers;
  /** Physical address = host address + this (i64). */
  readonly physicalOffset: bigint;
}

/** Slow-arm kinds: see `JitPort.slow`. */
export const SLOW_STORE = 8;

const BOX = 0xffff_ffff_0000_0000n;

export class JitOps implements Ops {
  readonly c: CodeWriter;
  readonly #port: JitPort;
  /** Locals of x1..x31 and f0..f31, -1 = not used by this region. */
  readonly x: Int32Array;
  readonly f: Int32Array;
  readonly fp: JitFloat;
  readonly ic: number;
  readonly leavePc: number;
  /** Target of an indirect jump, bit 0 clear. */
  readonly target: number;
  /** View of loads and stores this region was made for. */
  readonly #view: number;
  readonly #entry: bigint;
  readonly #epilogue: (dirty: Mask) => Label;
  readonly #temps = new Map<string, number>();
  readonly #address: number;
  readonly #host: number;
  readonly #value: number;
  readonly #number: number;

  // The instruction being emitted.
  insn!: Insn;
  /** Its displacement from the entry. */
  at = 0;
  /** Instructions of the block before it; not yet taken off `ic`. */
  before = 0;
  /** Registers that may differ from the window before it. */
  dirty: Mask = { x: 0, f: 0 };
  /** The range-check group of this instruction's access. */
  group: Group | undefined;
  /** Its place in the block. */
  index = 0;

  constructor(
    c: CodeWriter,
    port: JitPort,
    used: Mask,
    region: { entry: bigint; view: number },
    epilogue: (dirty: Mask) => Label,
  ) {
    this.c = c;
    this.#port = port;
    this.#entry = region.entry;
    this.#view = region.view;
    this.#epilogue = epilogue;
    const locals = (mask: number, type: ValType) =>
      Int32Array.from({ length: 32 }, (_, i) => ((mask >>> i) & 1 ? c.local(type) : -1));
    this.x = locals(used.x, I64);
    this.f = locals(used.f, F64);
    this.ic = c.local(I32);
    this.leavePc = c.local(I64);
    this.target = c.local(I64);
    this.#address = c.local(I64);
    this.#host = c.local(I32);
    this.#value = c.local(I64);
    this.#number = c.local(F64);
    this.fp = new JitFloat(this, port.fp);
  }

  /** Guest address of a displacement. */
  addressOf(at: number): bigint {
    return BigInt.asUintN(64, this.#entry + BigInt(at));
  }

  /** Leaves before this instruction; the interpreter goes on there. Bit 0 of the pc says so to callers. */
  leave(): void {
    const { c } = this;
    if (this.before > 0) c.local_get(this.ic).i32_const(this.before).i32_sub().local_set(this.ic);
    c.i64_const(BigInt.asIntN(64, this.addressOf(this.at) | 1n)).local_set(this.leavePc);
    c.br(this.#epilogue(this.dirty));
  }

  /** Leaves when the i32 on the stack is not 0. */
  leaveIf(): void {
    this.c.if_(undefined, 'unlikely');
    this.leave();
    this.c.end();
  }

  // Integer operands.

  #readX(register: number): void {
    if (register === 0) this.c.i64_const(0);
    else this.c.local_get(this.x[register]!);
  }
  rs1(): void {
    this.#readX(this.insn.rs1);
  }
  rs2(): void {
    this.#readX(this.insn.rs2);
  }
  rs1w(): void {
    if (this.insn.rs1 === 0) this.c.i32_const(0);
    else this.c.local_get(this.x[this.insn.rs1]!).i32_wrap_i64();
  }
  rs2w(): void {
    if (this.insn.rs2 === 0) this.c.i32_const(0);
    else this.c.local_get(this.x[this.insn.rs2]!).i32_wrap_i64();
  }
  imm(): void {
    this.c.i64_const(this.insn.imm);
  }
  immw(): void {
    this.c.i32_const(this.insn.imm);
  }
  pc(): void {
    this.c.i64_const(BigInt.asIntN(64, this.addressOf(this.at)));
  }
  nextPc(): void {
    this.c.i64_const(BigInt.asIntN(64, this.addressOf(this.at + this.insn.bytes)));
  }
  rd(value: () => void): void {
    value();
    if (this.insn.rd === 0) this.c.drop();
    else this.c.local_set(this.x[this.insn.rd]!);
  }
  rdw(value: () => void): void {
    this.rd(() => {
      value();
      this.c.i64_extend_i32_s();
    });
  }
  temp(type: ValType, n = 0): number {
    const key = `${type}.${n}`;
    let local = this.#temps.get(key);
    if (local === undefined) {
      local = this.c.local(type);
      this.#temps.set(key, local);
    }
    return local;
  }

  // Control: the region's writer does the rest when the rule has returned.

  branch(condition: () => void): void {
    condition();
  }
  jump(): void {
    if (this.insn.rd !== 0) this.rd(() => this.nextPc());
  }
  jumpIndirect(target: () => void): void {
    target();
    this.c.i64_const(-2).i64_and().local_set(this.target);
    if (this.insn.rd !== 0) this.rd(() => this.nextPc());
  }

  // Memory.

  /** i64 local holding rs1 + imm. */
  #effective(): number {
    const { c } = this;
    if (this.insn.imm === 0 && this.insn.rs1 !== 0) return this.x[this.insn.rs1]!;
    this.rs1();
    if (this.insn.imm !== 0) c.i64_const(this.insn.imm).i64_add();
    c.local_set(this.#address);
    return this.#address;
  }

  /** Probes the TLB; opens an `if` whose then-arm has the host address in the returned i32 local. */
  #probe(address: number, table: number, bytes: number): number {
    const { c } = this;
    const at = table + this.#view * TLB_BYTES;
    c.local_get(address).i32_wrap_i64().i32_const(8).i32_shr_u().i32_const(0xff0).i32_and();
    c.local_tee(this.#host).i64_load(at);
    c.local_get(address)
      .i64_const(~0xfffn | BigInt(bytes - 1))
      .i64_and()
      .i64_eq()
      .if_(undefined, 'likely');
    c.local_get(this.#host)
      .i32_load(at + 8)
      .local_get(address)
      .i32_wrap_i64()
      .i32_add()
      .local_set(this.#host);
    return this.#host;
  }

  /** The else-arm: the hart's slow path; leaves when it declines. `value` puts what is stored to SLOW_VALUE. */
  #slowArm(address: number, kind: number, value?: () => void): void {
    const { c } = this;
    c.else_();
    c.i32_const(0).local_get(address).i64_store(SLOW_ARG);
    if (value) {
      c.i32_const(0);
      value();
    }
    c.i32_const(kind).call(this.#port.slow);
    this.leaveIf();
  }

  #fetch(host: number, bytes: Width, signed: boolean, offset = 0): void {
    const { c } = this;
    c.local_get(host);
    if (bytes === 8) c.i64_load(offset);
    else if (bytes === 4) signed ? c.i64_load32_s(offset) : c.i64_load32_u(offset);
    else if (bytes === 2) signed ? c.i64_load16_s(offset) : c.i64_load16_u(offset);
    else signed ? c.i64_load8_s(offset) : c.i64_load8_u(offset);
  }

  #put(bytes: Width | 'f64', offset = 0): void {
    const { c } = this;
    if (bytes === 'f64') c.f64_store(offset);
    else if (bytes === 8) c.i64_store(offset);
    else if (bytes === 4) c.i64_store32(offset);
    else if (bytes === 2) c.i64_store16(offset);
    else c.i64_store8(offset);
  }

  /**
   * Opens an `if` whose then-arm may use the group's host address, in the i32 local returned; undefined without a group.
   * The group's first access makes the probe: host address of the range, or 0.
   */
  #ifGroup(): number | undefined {
    const { c, group } = this;
    if (!group) return undefined;
    const host = this.temp(I32, 16 + group.number);
    if (group.first === this.index) {
      this.rs1();
      c.i64_const(group.low).i64_add().local_set(this.#value);
      if (group.cache === undefined) this.#probeGroup(group, host);
      else this.#probeCached(group, host, group.cache);
    }
    c.local_get(host).if_(undefined, 'likely');
    return host;
  }

  /** Sets `host` to the host address of the range that begins at the address in `#value`, or to 0. */
  #probeGroup(group: Group, host: number): void {
    const { c } = this;
    const at = (group.writes ? TLB_WRITE : TLB_READ) + this.#view * TLB_BYTES;
    const low = this.#value;
    const entry = this.#host;
    c.local_get(low).i32_wrap_i64().i32_const(8).i32_shr_u().i32_const(0xff0).i32_and().local_tee(entry);
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

  /** The same, asking the page cache first and teaching it. */
  #probeCached(group: Group, host: number, cache: number): void {
    const { c } = this;
    const page = this.temp(I64, 200 + cache);
    const limit = this.temp(I64, 300 + cache);
    const addend = this.temp(I32, 200 + cache);
    const low = this.#value;
    // The limit is 0 until something is remembered: locals begin as 0, and page 0 must not be found in an empty cache.
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

  /** `fetch` pushes what is at local + offset, `slow` what the slow arm found; the value goes to local `into`. */
  #loadInto(
    into: number,
    bytes: Width,
    kind: number,
    fetch: (host: number, offset: number) => void,
    slow: () => void,
  ): void {
    const { c } = this;
    const shared = this.#ifGroup();
    if (shared !== undefined) {
      fetch(shared, this.insn.imm - this.group!.low);
      c.local_set(into).else_();
    }
    const address = this.#effective();
    const host = this.#probe(address, TLB_READ, bytes);
    fetch(host, 0);
    c.local_set(into);
    this.#slowArm(address, kind);
    slow();
    c.local_set(into).end();
    if (shared !== undefined) c.end();
  }

  /** Loads into the i64 local that is returned. */
  #loadValue(bytes: Width, signed: boolean): number {
    this.#loadInto(
      this.#value,
      bytes,
      Math.log2(bytes) | (signed ? 0 : 4),
      (host, offset) => this.#fetch(host, bytes, signed, offset),
      () => void this.c.i32_const(0).i64_load(SLOW_VALUE),
    );
    return this.#value;
  }

  load(bytes: Width, signed: boolean): void {
    const value = this.#loadValue(bytes, signed);
    if (this.insn.rd !== 0) this.rd(() => void this.c.local_get(value));
  }
  loadFp(bytes: 4 | 8): void {
    const { c } = this;
    if (bytes === 4) {
      const value = this.#loadValue(4, false);
      this.fdBits(() => void c.local_get(value).i64_const(BigInt.asIntN(64, BOX)).i64_or());
      return;
    }
    this.#loadInto(
      this.#number,
      8,
      3,
      (host, offset) => void c.local_get(host).f64_load(offset),
      () => void c.i32_const(0).f64_load(SLOW_VALUE),
    );
    c.local_get(this.#number).local_set(this.f[this.insn.rd]!);
  }

  /** `value` pushes what is stored: f64 when `put` says so, else i64. */
  #storeValue(bytes: Width, value: () => void, put: Width | 'f64' = bytes): void {
    const { c } = this;
    const shared = this.#ifGroup();
    if (shared !== undefined) {
      c.local_get(shared);
      value();
      this.#put(put, this.insn.imm - this.group!.low);
      c.else_();
    }
    const address = this.#effective();
    const host = this.#probe(address, TLB_WRITE, bytes);
    c.local_get(host);
    value();
    this.#put(put);
    this.#slowArm(address, Math.log2(bytes) | SLOW_STORE, () => {
      value();
      this.#put(put === 'f64' ? put : 8, SLOW_VALUE);
    });
    c.end();
    if (shared !== undefined) c.end();
  }
  store(bytes: Width): void {
    this.#storeValue(bytes, () => this.rs2());
  }
  storeFp(bytes: 4 | 8): void {
    if (bytes === 4) this.#storeValue(4, () => this.fbits(2));
    else this.#storeValue(8, () => void this.c.local_get(this.fp.register(2)), 'f64');
  }

  /** The slow cases of atomics are left to the interpreter. */
  atomic(what: Atomic, fast: (host: number) => void): void {
    const { c } = this;
    const address = this.#effective();
    const host = this.#probe(address, what.kind === 'lr' ? TLB_READ : TLB_WRITE, what.bytes);
    fast(host);
    c.else_();
    this.leave();
    c.end();
  }
  physical(host: number): void {
    this.c.local_get(host).i64_extend_i32_u().i64_const(this.#port.physicalOffset).i64_add();
  }

  // Floating point: jit-fp.ts.

  fpEnabled(_writes: boolean): void {
    this.fp.enabled();
  }
  fbits(n: 1 | 2 | 3): void {
    this.c.local_get(this.fp.register(n)).i64_reinterpret_f64();
  }
  fs(n: 1 | 2 | 3, format: Format): void {
    this.fp.push(n, format);
  }
  fdBits(value: () => void): void {
    value();
    this.c.f64_reinterpret_i64().local_set(this.f[this.insn.rd]!);
  }
  fd(format: Format, value: () => void): void {
    this.fp.write(format, value);
  }
  get fuses(): boolean {
    return hostFuses();
  }
  get hasSameSources(): boolean {
    return this.insn.rs1 === this.insn.rs2;
  }
  resultLimit(check: ResultCheck): void {
    this.fp.resultLimit(check);
  }
  roundsToNearestEven(): void {
    this.fp.rounds(0);
  }
  roundsTowardsZero(): void {
    this.fp.rounds(1);
  }
  inexactIsSet(): void {
    this.c.i32_const(0).i32_load(FFLAGS).i32_const(1).i32_and();
  }
  soft(): void {
    this.fp.soft();
  }

  /** Only CSR instructions with a fast path are inside a region (jit-region.ts); what that declines leaves. */
  system(): void {
    const { c, insn } = this;
    const kind = csrClass(insn.imm);
    if (kind === undefined) throw new RangeError(`${insn.name} cannot be part of a region`);
    const op = csrOp(insn.name);
    const operand = (): void => {
      if (insn.name.endsWith('i')) c.i64_const(insn.rs1);
      else this.rs1();
    };
    const done = c.block();
    const slow = c.block();
    if (kind === 'plain') {
      const { slot, even } = plainCsr(insn.imm)!;
      const access: PlainAccess = {
        op,
        operand,
        slot: () => void c.i32_const(slot),
        mask: () => void c.i64_const(even ? -2 : -1),
        privilege: () => void c.i32_const((insn.imm >> 8) & 3),
      };
      emitPlainCsr(this, access, slow);
    } else emitStatusCsr(this, kind, op, operand, slow);
    c.br(done).end();
    this.leave();
    c.end();
  }

  // Between locals and the window.

  spill(mask: Mask): void {
    const { c } = this;
    for (let i = 1; i < 32; i++)
      if ((mask.x >>> i) & 1)
        c.i32_const(0)
          .local_get(this.x[i]!)
          .i64_store(i * 8);
    for (let i = 0; i < 32; i++)
      if ((mask.f >>> i) & 1)
        c.i32_const(0)
          .local_get(this.f[i]!)
          .f64_store(F + i * 8);
  }
  reload(mask: Mask): void {
    const { c } = this;
    for (let i = 1; i < 32; i++)
      if ((mask.x >>> i) & 1)
        c.i32_const(0)
          .i64_load(i * 8)
          .local_set(this.x[i]!);
    for (let i = 0; i < 32; i++)
      if ((mask.f >>> i) & 1)
        c.i32_const(0)
          .f64_load(F + i * 8)
          .local_set(this.f[i]!);
  }
}
