// Functions around soft-float that the slow paths of a module's regions share. Each is created at
// its first use.
//
// The check of results (semantics/fp.ts) rejects some exact results, and all results until NX is
// set; programs that calculate with whole numbers never set it. A call of soft-float costs a
// hundred nanoseconds. So the helper first tries to prove that the result is exact: then it is the
// same in every rounding mode and raises no flag.

import { FFLAGS, FP_A, FP_B, FP_C, FP_RESULT, FP_RM, FRM, MSTATUS } from '../../../hart/layout.ts';
import type { Mnemonic } from '../../../isa/index.ts';
import {
  type CodeWriter,
  F64,
  I32,
  I64,
  type Label,
  type Local,
  type LocalScope,
  type LocalsOf,
  type ModuleBuilder,
} from '../../../wasm/module.ts';
import { twoProduct, twoSum } from '../../semantics/error-free.ts';
import { boxOf, type Format, RESULT_LIMIT } from '../../semantics/ops.ts';

const FS_DIRTY = 0x6000;
const RM_DYNAMIC = 7;
const RM_DOWN = 2;
/** FFLAGS and FRM lie side by side: NX, and all of frm. */
const NX_AND_FRM = 0x7_0000_0001n;
/** The position above the op number in the helper's argument. */
export const RM_SHIFT = 16;
export const BOX = boxOf(4);
/**
 * Products of at least this have an error that is not too small for a double, and so have all their
 * parts.
 */
const SAFE = 2 ** -900;

/** Pushes the limit (Ops.resultLimit) as the window has it now. */
export function readLimit(c: CodeWriter): void {
  c.i64_const(BigInt.asIntN(64, RESULT_LIMIT.finite)).i64_const(0);
  c.i32_const(0).i64_load(FFLAGS).i64_const(NX_AND_FRM).i64_and().i64_const(1).i64_eq();
  isDirty(c);
  c.i32_and().select();
}

/** i32: FS is Dirty. */
export function isDirty(c: CodeWriter): void {
  c.i32_const(0).i32_load(MSTATUS).i32_const(FS_DIRTY).i32_and().i32_const(FS_DIRTY).i32_eq();
}

/** i32: FS is Off. */
export function isOff(c: CodeWriter): void {
  c.i32_const(0).i32_load(MSTATUS).i32_const(FS_DIRTY).i32_and().i32_eqz();
}

/** Of the helpers: (op | rm << RM_SHIFT: i32, three operands: f64). */
const HELPER_PARAMS = [I32, F64, F64, F64] as const;

export class FpHelpers {
  readonly #module: ModuleBuilder;
  readonly #softImport: number;
  #soft = -1;
  #limit = -1;
  readonly #exact = new Map<Mnemonic, number>();

  /** `softImport`: (op), with operands, rounding mode and result in the window. */
  constructor(module: ModuleBuilder, softImport: number) {
    this.#module = module;
    this.#softImport = softImport;
  }

  /**
   * (op | rm << RM_SHIFT: i32, three operands as f64) -> result as f64: soft-float. Preserves the
   * bits of NaNs.
   */
  get soft(): number {
    if (this.#soft >= 0) return this.#soft;
    const { code: c, params, index } = this.#module.func(HELPER_PARAMS, [F64], 'soft');
    const [order, ...operands] = params;
    for (const [i, slot] of [FP_A, FP_B, FP_C].entries())
      c.i32_const(0).local_get(operands[i]!).f64_store(slot);
    c.i32_const(0);
    roundingMode(c, order);
    c.i32_store(FP_RM);
    c.local_get(order)
      .i32_const((1 << RM_SHIFT) - 1)
      .i32_and()
      .call(this.#softImport);
    c.i32_const(0).f64_load(FP_RESULT);
    this.#soft = index;
    return index;
  }

  /** As `soft`, for this instruction, without the call if the result is exact. */
  softFor(name: Mnemonic): number {
    const prove = PROOFS[name];
    if (!prove) return this.soft;
    const known = this.#exact.get(name);
    if (known !== undefined) return known;
    const { soft } = this;
    const { code: c, params, index } = this.#module.func(HELPER_PARAMS, [F64], `${name} or soft`);
    const giveUp = c.block();
    new Proof(c, params, name.endsWith('.s') ? 's' : 'd', giveUp).write(prove);
    c.end();
    for (const param of params) c.local_get(param);
    c.call(soft);
    this.#exact.set(name, index);
    return index;
  }

  /** () -> the limit. */
  get limit(): number {
    if (this.#limit >= 0) return this.#limit;
    const { code, index } = this.#module.func([], [I64], 'result limit');
    readLimit(code);
    this.#limit = index;
    return index;
  }
}

/** Pushes the effective rounding mode of the helper's first argument. */
function roundingMode(c: CodeWriter, order: Local<I32>): void {
  const rm = c.local(I32);
  c.i32_const(0).i32_load(FRM).local_get(order).i32_const(RM_SHIFT).i32_shr_u().local_tee(rm);
  c.local_get(rm).i32_const(RM_DYNAMIC).i32_eq().select();
  c.release(rm);
}

/** Computes `result` in f64 from `a` and `b`, and branches to `giveUp` if it may be inexact. */
class Proof {
  readonly c: CodeWriter;
  readonly a: Local<F64>;
  readonly b: Local<F64>;
  readonly result: Local<F64>;
  readonly #params: LocalsOf<typeof HELPER_PARAMS>;
  readonly #own: LocalScope;
  readonly #product: Local<F64>;
  readonly #error: Local<F64>;
  readonly #format: Format;
  readonly #giveUp: Label;

  constructor(c: CodeWriter, params: LocalsOf<typeof HELPER_PARAMS>, format: Format, giveUp: Label) {
    this.c = c;
    this.#params = params;
    this.#format = format;
    this.#giveUp = giveUp;
    this.#own = c.scope();
    this.a = this.#own.local(F64);
    this.b = this.#own.local(F64);
    this.result = this.#own.local(F64);
    this.#product = this.#own.local(F64);
    this.#error = this.#own.local(F64);
  }

  /** Operands, the proof, and the return of the result in its format. */
  write(prove: (p: Proof) => void): void {
    const { c, result } = this;
    this.#operand(this.#params[1], this.a);
    this.#operand(this.#params[2], this.b);
    prove(this);
    c.local_get(result);
    if (this.#format === 's') {
      c.f32_demote_f64().f64_promote_f32().local_get(result).f64_eq().i32_eqz().br_if(this.#giveUp);
      c.local_get(result).f32_demote_f64().i32_reinterpret_f32().i64_extend_i32_u().i64_const(BOX).i64_or();
      c.f64_reinterpret_i64();
    }
    c.return_();
    this.#own.release();
  }

  #operand(from: Local<F64>, to: Local<F64>): void {
    const { c } = this;
    c.local_get(from);
    if (this.#format === 's') {
      c.i64_reinterpret_f64().i64_const(BOX).i64_lt_u().br_if(this.#giveUp);
      c.local_get(from).i64_reinterpret_f64().i32_wrap_i64().f32_reinterpret_i32().f64_promote_f32();
    }
    c.local_set(to);
  }

  /** Branches to `giveUp` if the i32 on the stack is 0. */
  need(): void {
    this.c.i32_eqz().br_if(this.#giveUp);
  }

  /** Branches to `giveUp` if the magnitude of local `x` is below SAFE, or it is a NaN. */
  needSafe(x: Local<F64>): void {
    this.c.local_get(x).f64_abs().f64_const(SAFE).f64_ge();
    this.need();
  }

  sum(): void {
    const { c, a, b, result } = this;
    twoSum(c, a, b, result, this.#error);
    this.#needExact();
    // The sign of a zero depends on the rounding mode.
    c.local_get(result).f64_const(0).f64_ne();
    roundingMode(c, this.#params[0]);
    c.i32_const(RM_DOWN).i32_ne().i32_or();
    this.need();
  }

  /**
   * Branches to `giveUp` unless x * y is exactly local `product`, which is computed here or given.
   */
  product(x: Local<F64>, y: Local<F64>, given?: Local<F64>): void {
    twoProduct(this.c, x, y, this.#product, this.#error);
    this.#needExact();
    if (given === undefined) this.c.local_get(this.#product).local_set(this.result);
    else {
      this.c.local_get(this.#product).local_get(given).f64_eq();
      this.need();
    }
  }

  #needExact(): void {
    this.c.local_get(this.#error).f64_const(0).f64_eq();
    this.need();
  }

  /**
   * Runs `rest` unless `result` is zero; for zero, branches to `giveUp` unless `isExact` pushes
   * non-zero.
   */
  unlessZero(isExact: () => void, rest: () => void): void {
    this.c.local_get(this.result).f64_const(0).f64_eq().if_();
    isExact();
    this.need();
    this.c.else_();
    rest();
    this.c.end();
  }

  isZero(x: Local<F64>): void {
    this.c.local_get(x).f64_const(0).f64_eq();
  }
}

const add = (p: Proof): void => p.sum();

const subtract = (p: Proof): void => {
  p.c.local_get(p.b).f64_neg().local_set(p.b);
  p.sum();
};

/** A zero without a zero factor is the rounded form of a tiny product. */
const multiply = (p: Proof): void => {
  p.c.local_get(p.a).local_get(p.b).f64_mul().local_set(p.result);
  p.unlessZero(
    () => {
      p.isZero(p.a);
      p.isZero(p.b);
      p.c.i32_or();
    },
    () => {
      p.needSafe(p.result);
      p.product(p.a, p.b);
    },
  );
};

/** 0 / b, a / infinity; else quotient times divisor must be the dividend. */
const divide = (p: Proof): void => {
  p.c.local_get(p.a).local_get(p.b).f64_div().local_set(p.result);
  p.unlessZero(
    () => {
      p.isZero(p.a);
      p.c.local_get(p.b).f64_abs().f64_const(Number.POSITIVE_INFINITY).f64_eq().i32_or();
    },
    () => {
      p.needSafe(p.result);
      p.needSafe(p.a);
      p.product(p.result, p.b, p.a);
    },
  );
};

const squareRoot = (p: Proof): void => {
  p.c.local_get(p.a).f64_sqrt().local_set(p.result);
  p.unlessZero(
    () => p.isZero(p.a),
    () => {
      p.needSafe(p.a);
      p.product(p.result, p.result, p.a);
    },
  );
};

const PROOFS: Partial<Record<Mnemonic, (p: Proof) => void>> = {
  'fadd.s': add,
  'fadd.d': add,
  'fsub.s': subtract,
  'fsub.d': subtract,
  'fmul.s': multiply,
  'fmul.d': multiply,
  'fdiv.s': divide,
  'fdiv.d': divide,
  'fsqrt.s': squareRoot,
  'fsqrt.d': squareRoot,
};
