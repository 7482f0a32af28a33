// Ops for the interpreter: operands are fetched from the decoded record that local `rec` points to.
// One instance writes all handlers into one function; `handler` is the one it writes now.

import {
  DATA_VIEW,
  FFLAGS,
  FP_A,
  FP_B,
  FP_C,
  FP_RESULT,
  FRM,
  IC,
  MSTATUS,
  SLOW_VALUE,
  TLB_BYTES,
  TLB_MASK,
  TLB_READ,
  TLB_WRITE,
} from '../../hart/layout.ts';
import { RNE } from '../../hart/softfloat-format.ts';
import { CACHE_BLOCK_BYTES, OP, rowNamed } from '../../isa/index.ts';
import {
  type CodeWriter,
  I32,
  I64,
  type Label,
  type Local,
  type LocalScope,
  type ValType,
} from '../../wasm/module.ts';
import { REFUSED } from '../access/refill.ts';
import {
  type Atomic,
  boxOf,
  type Format,
  type FpWidth,
  type Ops,
  RESULT_LIMIT,
  type ResultCheck,
  type Width,
} from '../semantics/ops.ts';
import {
  type CsrClass,
  csrOp,
  emitEcall,
  emitPlainCsr,
  emitReturn,
  emitStatusCsr,
  emitTime,
  type PlainAccess,
} from '../semantics/system.ts';
import type { Handler } from './handlers.ts';
import { R_IMM, R_RD, R_RM, R_RS1, R_RS2, R_RS3, RECORD } from './records.ts';
import type { SlowCalls } from './slow.ts';

/** Locals of the interpreter function. */
export interface InterpLocals {
  /** i32: address of the current record. */
  readonly rec: Local<I32>;
  /** i32: instructions left after the current one. */
  readonly ic: Local<I32>;
  /** i32: address of slot 0 of the decoded page. */
  readonly base: Local<I32>;
  /** i64: va of that page. */
  readonly page: Local<I64>;
  /** i32: set by a return, cleared when the arrival is counted. */
  readonly isReturn: Local<I32>;
  /** i32: DATA_VIEW and FETCH_VIEW, times the bytes of a TLB table. */
  readonly dataView: Local<I32>;
  readonly fetchView: Local<I32>;
  /** i64: the target, for `lookup`. */
  readonly target: Local<I64>;
}

/** Labels at which handlers continue. */
export interface InterpLabels {
  /** Like `next`, for targets of backward branches and calls: compiled code may take over. */
  readonly arrive: Label;
  /** Runs the record in `rec`. */
  readonly next: Label;
  /** Goes to the address in `target`. */
  readonly lookup: Label;
  /** Goes to PC in the window, reloading everything. */
  readonly redirect: Label;
}

const NX = 1;
const FS = 0x6000;

export class InterpOps implements Ops {
  readonly c: CodeWriter;
  /** A test of the host would cost milliseconds at every start; fused operations are rare here. */
  readonly fuses = false;
  readonly hasSameSources = false;
  readonly locals: InterpLocals;
  readonly #labels: InterpLabels;
  readonly #slow: SlowCalls;
  readonly #ram: { hostBase: number; base: number };
  /** Scratch locals of the rule that is being written. */
  readonly #temps: LocalScope;
  #handler!: Handler;

  constructor(
    c: CodeWriter,
    locals: InterpLocals,
    labels: InterpLabels,
    slow: SlowCalls,
    ram: { hostBase: number; base: number },
  ) {
    this.c = c;
    this.#temps = c.scope();
    this.locals = locals;
    this.#labels = labels;
    this.#slow = slow;
    this.#ram = ram;
  }

  /** Starts the handler; its code ends in a branch if the rule does not. */
  begin(handler: Handler): void {
    this.#handler = handler;
  }

  /** The rule has returned: its scratch locals are free. */
  endRule(): void {
    this.#temps.release();
  }

  /** Goes to the record after this one. */
  advance(): void {
    const { rec } = this.locals;
    this.c
      .local_get(rec)
      .i32_const((this.#handler.bytes / 2) * RECORD)
      .i32_add()
      .local_set(rec);
    this.c.br(this.#labels.next);
  }

  // Operands.

  rs1(): void {
    this.#field16(R_RS1).i64_load();
  }

  rs2(): void {
    this.#field16(R_RS2).i64_load();
  }

  rs1w(): void {
    this.#field16(R_RS1).i32_load();
  }

  rs2w(): void {
    this.#field16(R_RS2).i32_load();
  }

  imm(): void {
    this.c.local_get(this.locals.rec).i64_load32_s(R_IMM);
  }

  immw(): void {
    this.c.local_get(this.locals.rec).i32_load(R_IMM);
  }

  constant(values: readonly bigint[]): void {
    const { c } = this;
    const value = this.temp(I64);
    const done = c.block();
    const cases = values.map(() => c.block()).reverse();
    this.immw();
    c.br_table(cases, cases[0]!);
    for (const bits of values) {
      c.end();
      c.i64_const(BigInt.asIntN(64, bits)).local_set(value).br(done);
    }
    c.end();
    c.local_get(value);
  }

  pc(): void {
    const { page, rec, base } = this.locals;
    this.c.local_get(page).local_get(rec).local_get(base).i32_sub().i32_const(3).i32_shr_u();
    this.c.i64_extend_i32_u().i64_add();
  }

  nextPc(): void {
    this.pc();
    this.c.i64_const(this.#handler.bytes).i64_add();
  }

  rd(value: () => void): void {
    this.#field16(R_RD);
    value();
    this.c.i64_store();
  }

  rdw(value: () => void): void {
    this.rd(() => {
      value();
      this.c.i64_extend_i32_s();
    });
  }

  temp<T extends ValType>(type: T): Local<T> {
    return this.#temps.local(type);
  }
  left(): void {
    this.c.local_get(this.locals.ic).i32_const(1).i32_add();
  }

  // Control.

  branch(condition: () => void): void {
    const { c } = this;
    condition();
    c.if_();
    this.#jumpByImm();
    c.end();
    this.advance();
  }

  jump(): void {
    this.rd(() => this.nextPc());
    this.#jumpByImm();
  }

  jumpIndirect(target: () => void): void {
    const { c, locals } = this;
    target();
    c.i64_const(-2).i64_and().local_set(locals.target);
    if (this.#handler.reach === 'return') c.i32_const(1).local_set(locals.isReturn);
    else {
      this.rd(() => this.nextPc());
      this.#noteTarget();
    }
    c.br(this.#labels.lookup);
  }

  /** See R_RS2. */
  #noteTarget(): void {
    const { rec, target } = this.locals;
    const bits = (from: number): void =>
      void this.c.local_get(target).i64_const(from).i64_shr_u().i32_wrap_i64();
    this.c.local_get(rec);
    bits(1);
    this.c.i32_store16(R_RS2).local_get(rec);
    bits(17);
    this.c.i32_store16(R_RS3);
  }

  #jumpByImm(): void {
    const { c, locals } = this;
    const { reach } = this.#handler;
    if (reach !== 'far') {
      c.local_get(locals.rec);
      this.immw();
      c.i32_add()
        .local_set(locals.rec)
        .br(reach === 'back' ? this.#labels.arrive : this.#labels.next);
    } else {
      this.pc();
      this.imm();
      c.i64_add().local_set(locals.target).br(this.#labels.lookup);
    }
  }

  // Memory.

  load(bytes: Width, signed: boolean): void {
    const { c } = this;
    const { va, host } = this.#address(true);
    this.#probe(TLB_READ, bytes, va, host);
    this.rd(() => this.#loadAt(host, bytes, signed));
    this.#refillOr(va, host, bytes, false);
    this.rd(() => this.#loadAt(host, bytes, signed));
    c.else_();
    this.#slow.load(this, va, Math.log2(bytes) | (signed ? 0 : 4));
    this.rd(() => void c.i32_const(0).i64_load(SLOW_VALUE));
    c.end().end();
  }

  store(bytes: Width): void {
    this.#store(bytes);
  }

  loadFp(bytes: FpWidth): void {
    const { c } = this;
    const { va, host } = this.#address(true);
    const box = () => void (bytes < 8 ? c.i64_const(boxOf(bytes)).i64_or() : undefined);
    this.#probe(TLB_READ, bytes, va, host);
    const fast = () => {
      this.#loadAt(host, bytes, false);
      box();
    };
    this.rd(fast);
    this.#refillOr(va, host, bytes, false);
    this.rd(fast);
    c.else_();
    this.#slow.load(this, va, Math.log2(bytes) | (bytes < 8 ? 4 : 0));
    this.rd(() => {
      c.i32_const(0).i64_load(SLOW_VALUE);
      box();
    });
    c.end().end();
  }

  storeFp(bytes: FpWidth): void {
    this.#store(bytes);
  }

  atomic(what: Atomic, fast: (host: Local<I32>) => void): void {
    const { c } = this;
    const { va, host } = this.#address(false);
    this.#probe(what.kind === 'lr' ? TLB_READ : TLB_WRITE, what.bytes, va, host);
    fast(host);
    c.else_();
    this.#slow.atomic(this, va, what);
    this.rd(() => void c.i32_const(0).i64_load(SLOW_VALUE));
    c.end();
  }

  cacheBlock(writes: boolean, permitted: () => void, fast: (host: Local<I32>) => void): void {
    const { c } = this;
    const [va, host] = [this.temp(I64), this.temp(I32)];
    const slow = c.block();
    permitted();
    c.i32_eqz().br_if(slow, 'unlikely');
    this.rs1();
    c.i64_const(-CACHE_BLOCK_BYTES).i64_and().local_set(va);
    this.#probe(writes ? TLB_WRITE : TLB_READ, 8, va, host);
    fast(host);
    this.advance();
    c.end().end();
    this.system();
  }

  physical(host: Local<I32>): void {
    const { hostBase, base } = this.#ram;
    this.c
      .local_get(host)
      .i64_extend_i32_u()
      .i64_const(base - hostBase)
      .i64_add();
  }

  #store(bytes: Width): void {
    const { c } = this;
    const { va, host } = this.#address(true);
    this.#probe(TLB_WRITE, bytes, va, host);
    this.#storeAt(host, bytes);
    this.#refillOr(va, host, bytes, true);
    this.#storeAt(host, bytes);
    c.else_();
    this.#slow.store(this, va, Math.log2(bytes));
    c.end().end();
  }

  #address(withImm: boolean): { va: Local<I64>; host: Local<I32> } {
    const va = this.temp(I64);
    this.rs1();
    if (withImm) {
      this.imm();
      this.c.i64_add();
    }
    this.c.local_set(va);
    return { va, host: this.temp(I32) };
  }

  /** Opens an `if`: then-arm with the host address in `host`, else-arm for accesses that miss. */
  #probe(table: number, bytes: Width, va: Local<I64>, host: Local<I32>): void {
    const { c } = this;
    c.local_get(va).i32_wrap_i64().i32_const(8).i32_shr_u().i32_const(TLB_MASK).i32_and();
    c.local_get(this.locals.dataView).i32_add().local_tee(host).i64_load(table);
    c.local_get(va)
      .i64_const(-4096 | (bytes - 1))
      .i64_and()
      .i64_eq();
    c.if_(undefined, 'likely');
    c.local_get(va)
      .i32_wrap_i64()
      .local_get(host)
      .i32_load(table + 8)
      .i32_add()
      .local_set(host);
  }

  /**
   * After the then-arm of `#probe`: the else-arm fills the table and opens an `if` like that of
   * `#probe`.
   */
  #refillOr(va: Local<I64>, host: Local<I32>, bytes: Width, isStore: boolean): void {
    const { c } = this;
    c.else_();
    this.#slow.refill(this, va, bytes, isStore);
    c.local_tee(host).i32_const(REFUSED).i32_gt_u().if_(undefined, 'likely');
  }

  #storeAt(host: Local<I32>, bytes: Width): void {
    const { c } = this;
    c.local_get(host);
    this.rs2();
    if (bytes === 1) c.i64_store8();
    else if (bytes === 2) c.i64_store16();
    else if (bytes === 4) c.i64_store32();
    else c.i64_store();
  }

  #loadAt(host: Local<I32>, bytes: Width, signed: boolean): void {
    const c = this.c.local_get(host);
    if (bytes === 8) c.i64_load();
    else if (bytes === 4) signed ? c.i64_load32_s() : c.i64_load32_u();
    else if (bytes === 2) signed ? c.i64_load16_s() : c.i64_load16_u();
    else signed ? c.i64_load8_s() : c.i64_load8_u();
  }

  // Floating point.

  fpEnabled(writes: boolean): void {
    const { c } = this;
    c.i32_const(0).i32_load(MSTATUS).i32_const(FS).i32_and();
    if (writes) c.i32_const(FS).i32_ne();
    else c.i32_eqz();
    c.if_(undefined, 'unlikely');
    this.#slow.fpEnable(this, writes);
    c.end();
  }

  fpDirty(): void {
    const { c } = this;
    c.i32_const(0).i32_const(0).i32_load(MSTATUS).i32_const(FS).i32_or().i32_store(MSTATUS);
  }

  fbits(n: 1 | 2 | 3): void {
    this.#fpField(n).i64_load();
  }

  fs(n: 1 | 2 | 3, format: Format): void {
    const { c } = this;
    if (format === 'd') {
      this.#fpField(n).f64_load();
      return;
    }
    const at = c.local(I32);
    this.#fpField(n).local_tee(at).f32_load();
    c.i32_const(0x7fc0_0000).f32_reinterpret_i32();
    c.local_get(at).i32_load(4).i32_const(-1).i32_eq().select();
    c.release(at);
  }

  fdBits(value: () => void): void {
    this.rd(value);
  }

  fd(format: Format, value: () => void): void {
    const { c } = this;
    this.#field16(R_RD);
    value();
    if (format === 'd') c.f64_store();
    else c.i32_reinterpret_f32().i64_extend_i32_u().i64_const(boxOf(4)).i64_or().i64_store();
  }

  rounds(mode: number): void {
    this.#roundingMode();
    this.c.i32_const(mode).i32_eq();
  }

  resultLimit(check: ResultCheck): void {
    this.c.i64_const(BigInt.asIntN(64, RESULT_LIMIT[check])).i64_const(0);
    this.rounds(RNE);
    this.inexactIsSet();
    this.c.i32_and().select();
  }

  inexactIsSet(): void {
    this.c.i32_const(0).i32_load(FFLAGS).i32_const(NX).i32_and();
  }

  soft(): void {
    const { c } = this;
    const row = rowNamed(this.#handler.name);
    for (const [slot, field, to] of [
      ['rs1', R_RS1, FP_A],
      ['rs2', R_RS2, FP_B],
      ['rs3', R_RS3, FP_C],
    ] as const) {
      if (!row.regs[slot]) continue;
      c.i32_const(0);
      this.#field16(field).i64_load().i64_store(to);
    }
    this.#slow.soft(this, OP[this.#handler.name]);
    this.rd(() => void c.i32_const(0).i64_load(FP_RESULT));
  }

  system(): void {
    this.#slow.system(this);
    this.advance();
  }

  /** A CSR instruction of a class with a fast path. */
  csr(kind: CsrClass): void {
    const { c, locals } = this;
    const { name } = this.#handler;
    const op = csrOp(name);
    const operand = (): void => {
      if (!name.endsWith('i')) {
        this.rs1();
        return;
      }
      this.immw();
      c.i32_const(15).i32_shr_u().i32_const(31).i32_and().i64_extend_i32_u();
    };
    const flags = (): CodeWriter => c.local_get(locals.rec).i32_load8_u(R_RM);
    const slow = c.block();
    if (kind === 'plain') {
      const access: PlainAccess = {
        op,
        operand,
        slot: () => void this.#field16(R_RS3),
        mask: () => void flags().i32_const(7).i32_shr_u().i64_extend_i32_u().i64_const(-1).i64_xor(),
        privilege: () => void flags().i32_const(3).i32_and(),
      };
      emitPlainCsr(this, access, slow);
    } else if (kind === 'time') emitTime(this, slow);
    else emitStatusCsr(this, kind, op, operand, slow, () => this.#viewChanged());
    this.advance();
    c.end();
    this.system();
  }

  /** `ecall`, `sret` or `mret` with its fast path. */
  trapOrReturn(name: 'ecall' | 'sret' | 'mret'): void {
    const { c, locals } = this;
    const leave = () => void c.i32_const(0).local_get(locals.ic).i32_store(IC).br(this.#labels.redirect);
    const slow = c.block();
    if (name === 'ecall') emitEcall(this, slow, leave);
    else emitReturn(this, name, slow, leave);
    c.end();
    this.system();
  }

  #viewChanged(): void {
    const { c, locals } = this;
    c.i32_const(0).i32_load(DATA_VIEW).i32_const(TLB_BYTES).i32_mul().local_set(locals.dataView);
  }

  /** Leaves through `redirect` when the i32 on the stack (a new `ic`) is negative. */
  takeIc(): void {
    const { c, locals } = this;
    c.local_tee(locals.ic).i32_const(0).i32_lt_s().br_if(this.#labels.redirect, 'unlikely');
  }

  #roundingMode(): void {
    const { c, locals } = this;
    const rm = c.local(I32);
    c.i32_const(0).i32_load(FRM);
    c.local_get(locals.rec).i32_load8_u(R_RM).local_tee(rm);
    c.local_get(rm).i32_const(7).i32_eq().select();
    c.release(rm);
  }

  #fpField(n: 1 | 2 | 3): CodeWriter {
    return this.#field16(n === 1 ? R_RS1 : n === 2 ? R_RS2 : R_RS3);
  }

  #field16(field: number): CodeWriter {
    return this.c.local_get(this.locals.rec).i32_load16_u(field);
  }
}
