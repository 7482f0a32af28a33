// The public API of soft-float: `fpHelper` performs the computation of one F or D instruction, with
// operands and result in the window's FP_* slots as raw register contents, the rounding mode in
// FP_RM, and flags ORed into FFLAGS. NaN boxing happens here (Unpriv "D" §NaN Boxing): a single
// that is not boxed is the canonical NaN. Integer results are sign-extended to 64 bits for rd. Rows
// try the host's doubles first (softfloat-fast.ts) and fall back to exact BigInt arithmetic.

import { type Mnemonic, OP } from '../isa/index.ts';
import { FFLAGS, FP_A, FP_B, FP_C, FP_RESULT, FP_RM } from './layout.ts';
import * as A from './softfloat-arith.ts';
import * as V from './softfloat-convert.ts';
import {
  fast,
  fastAdd,
  fastDivide,
  fastFused,
  fastMultiply,
  fastSquareRoot,
  isPlainDouble,
  toDouble,
  toIntegral,
  toSingle,
} from './softfloat-fast.ts';
import { DOUBLE, type Env, type Format, HALF, NX, RMM, SINGLE } from './softfloat-format.ts';
import type { State } from './state.ts';

interface FpEnv extends Env {
  state: State;
}

type Row = (env: FpEnv) => void;

const BOX_HI = -1;
/** The low word around a half. */
const HALF_BOX = 0xffff_0000 | 0;
const CANONICAL_SINGLE = 0x7fc0_0000;

const f64 = new Float64Array(1);
const words = new Int32Array(f64.buffer);
const f32 = new Float32Array(1);
const f32Bits = new Int32Array(f32.buffer);

/** One reused environment: helpers are not reentrant. */
const env: FpEnv = { rm: 0, flags: 0, state: undefined as unknown as State };

/**
 * Executes the computation of the instruction with this `OP` number. Precondition: FP_RM is 0..4.
 */
export function fpHelper(state: State, op: number): void {
  const row = ROWS[op];
  if (!row) throw new RangeError(`operation ${op} is not done by soft-float`);
  env.state = state;
  env.rm = state.get(FP_RM);
  env.flags = 0;
  row(env);
  if (env.flags !== 0) state.set(FFLAGS, state.get(FFLAGS) | env.flags);
}

/** Operands of a format as bits, and the result back. */
const operand = (f: Format, e: FpEnv, slot: number): bigint => {
  if (f === DOUBLE) return e.state.get64(slot);
  return f === HALF ? halfBits(e, slot) : BigInt(singleWord(e, slot) >>> 0);
};

function result(f: Format, e: FpEnv, bits: bigint): void {
  if (f === DOUBLE) e.state.set64(FP_RESULT, bits);
  else if (f === HALF) e.state.put(FP_RESULT, Number(bits) | HALF_BOX, BOX_HI);
  else e.state.put(FP_RESULT, Number(bits) | 0, BOX_HI);
}

/** A half that is not boxed is the canonical NaN. */
function halfBits(e: FpEnv, slot: number): bigint {
  const lo = e.state.get(slot);
  const isBoxed = e.state.hi(slot) === BOX_HI && lo >>> 16 === 0xffff;
  return isBoxed ? BigInt(lo & 0xffff) : HALF.nan;
}

function singleWord(e: FpEnv, slot: number): number {
  return e.state.hi(slot) === -1 ? e.state.get(slot) : CANONICAL_SINGLE;
}

/** Operand as a host number; singles are exact in it. */
function value(f: Format, e: FpEnv, slot: number): number {
  if (f === DOUBLE) {
    words[0] = e.state.get(slot);
    words[1] = e.state.hi(slot);
    return f64[0]!;
  }
  f32Bits[0] = singleWord(e, slot);
  return f32[0]!;
}

/** Writes the result of the fast arithmetic; false = exact arithmetic is needed. */
function finish(f: Format, e: FpEnv): boolean {
  if (f === SINGLE) {
    e.state.put(FP_RESULT, toSingle(e), BOX_HI);
    return true;
  }
  if (
    !(isPlainDouble(fast.sum) || (fast.sum === 0 && fast.error === 0)) ||
    (e.rm === RMM && fast.error !== 0)
  )
    return false;
  f64[0] = toDouble(e);
  e.state.put(FP_RESULT, words[0]!, words[1]!);
  return true;
}

type Binary = (env: Env, f: Format, a: bigint, b: bigint) => bigint;

const binary =
  (f: Format, quick: (a: number, b: number) => boolean, exact: Binary): Row =>
  e => {
    if (quick(value(f, e, FP_A), value(f, e, FP_B)) && finish(f, e)) return;
    result(f, e, exact(e, f, operand(f, e, FP_A), operand(f, e, FP_B)));
  };

const root =
  (f: Format): Row =>
  e => {
    if (fastSquareRoot(value(f, e, FP_A)) && finish(f, e)) return;
    result(f, e, A.squareRoot(e, f, operand(f, e, FP_A)));
  };

/** `minusProduct` and `minusAddend` name the four variants; NaN signs do not matter. */
const fused =
  (f: Format, minusProduct: boolean, minusAddend: boolean): Row =>
  e => {
    const a = value(f, e, FP_A);
    const c = value(f, e, FP_C);
    if (fastFused(minusProduct ? -a : a, value(f, e, FP_B), minusAddend ? -c : c) && finish(f, e)) return;
    const flip = (bits: bigint, on: boolean): bigint => (on ? bits ^ f.signBit : bits);
    const bits = A.fusedMultiplyAdd(
      e,
      f,
      flip(operand(f, e, FP_A), minusProduct),
      operand(f, e, FP_B),
      flip(operand(f, e, FP_C), minusAddend),
    );
    result(f, e, bits);
  };

const choose =
  (f: Format, larger: boolean): Row =>
  e =>
    result(f, e, V.choose(e, f, operand(f, e, FP_A), operand(f, e, FP_B), larger));

/** The result of the host's operators on two numbers; the exact rows handle NaNs. */
type HostCompare = (a: number, b: number) => boolean;

type Compare = (env: Env, f: Format, a: bigint, b: bigint) => bigint;

const compare =
  (f: Format, host: HostCompare, test: Compare): Row =>
  e => {
    const a = value(f, e, FP_A);
    const b = value(f, e, FP_B);
    const isKnown = !Number.isNaN(a) && !Number.isNaN(b);
    const holds = isKnown ? host(a, b) : test(e, f, operand(f, e, FP_A), operand(f, e, FP_B)) === 1n;
    e.state.put(FP_RESULT, holds ? 1 : 0, 0);
  };

const chooseOrNan =
  (f: Format, larger: boolean): Row =>
  e =>
    result(f, e, V.chooseOrNan(e, f, operand(f, e, FP_A), operand(f, e, FP_B), larger));

const integral =
  (f: Format, isExact: boolean): Row =>
  e =>
    result(f, e, V.toIntegral(e, f, operand(f, e, FP_A), isExact));

const toIntegerModulo: Row = e =>
  e.state.set64(FP_RESULT, BigInt.asUintN(64, V.toIntegerModulo(e, DOUBLE, operand(DOUBLE, e, FP_A))));

const quietlyLess: Compare = (e, f, a, b) => V.less(e, f, a, b, false, true);
const quietlyLessOrEqual: Compare = (e, f, a, b) => V.less(e, f, a, b, true, true);
const lessThan: Compare = (e, f, a, b) => V.less(e, f, a, b, false);
const lessOrEqual: Compare = (e, f, a, b) => V.less(e, f, a, b, true);

const classify =
  (f: Format): Row =>
  e =>
    e.state.set64(FP_RESULT, V.classify(f, operand(f, e, FP_A)));

/** 32-bit results are sign-extended, unsigned ones too (Unpriv "F" §Conversion). */
const toInteger =
  (f: Format, bits: number, isSigned: boolean): Row =>
  e => {
    const x = value(f, e, FP_A);
    const integral = toIntegral(x, e.rm);
    if (integral >= (isSigned ? -(2 ** 31) : 0) && integral < 2 ** 31) {
      if (integral !== x) e.flags |= NX;
      e.state.put(FP_RESULT, integral | 0, integral < 0 ? -1 : 0);
      return;
    }
    const integer = V.toInteger(e, f, operand(f, e, FP_A), bits, isSigned);
    e.state.set64(FP_RESULT, BigInt.asUintN(64, BigInt.asIntN(bits, integer)));
  };

const fromInteger =
  (f: Format, bits: number, isSigned: boolean): Row =>
  e => {
    const raw = e.state.get64(FP_A);
    result(f, e, V.fromInteger(e, f, isSigned ? BigInt.asIntN(bits, raw) : BigInt.asUintN(bits, raw)));
  };

const narrow: Row = e => {
  // A nonzero double in the range of `toSingle` is its own exact result.
  fast.sum = value(DOUBLE, e, FP_A);
  fast.error = 0;
  if (isPlainDouble(fast.sum)) finish(SINGLE, e);
  else result(SINGLE, e, V.narrow(e, operand(DOUBLE, e, FP_A)));
};

const convert =
  (from: Format, to: Format): Row =>
  e =>
    result(to, e, V.convert(e, from, to, operand(from, e, FP_A)));

const fastSubtract = (a: number, b: number): boolean => fastAdd(a, -b);

type Suffix = 's' | 'd';

/** The operations of both formats; the names are the table's. */
function rowsOf(f: Format, s: Suffix): Partial<Record<Mnemonic, Row>> {
  return {
    [`fadd.${s}`]: binary(f, fastAdd, A.add),
    [`fsub.${s}`]: binary(f, fastSubtract, A.subtract),
    [`fmul.${s}`]: binary(f, fastMultiply, A.multiply),
    [`fdiv.${s}`]: binary(f, fastDivide, A.divide),
    [`fsqrt.${s}`]: root(f),
    [`fmadd.${s}`]: fused(f, false, false),
    [`fmsub.${s}`]: fused(f, false, true),
    [`fnmsub.${s}`]: fused(f, true, false),
    [`fnmadd.${s}`]: fused(f, true, true),
    [`fmin.${s}`]: choose(f, false),
    [`fmax.${s}`]: choose(f, true),
    [`feq.${s}`]: compare(f, (a, b) => a === b, V.equal),
    [`flt.${s}`]: compare(f, (a, b) => a < b, lessThan),
    [`fle.${s}`]: compare(f, (a, b) => a <= b, lessOrEqual),
    [`fminm.${s}`]: chooseOrNan(f, false),
    [`fmaxm.${s}`]: chooseOrNan(f, true),
    [`fltq.${s}`]: compare(f, (a, b) => a < b, quietlyLess),
    [`fleq.${s}`]: compare(f, (a, b) => a <= b, quietlyLessOrEqual),
    [`fround.${s}`]: integral(f, false),
    [`froundnx.${s}`]: integral(f, true),
    [`fclass.${s}`]: classify(f),
    [`fcvt.w.${s}`]: toInteger(f, 32, true),
    [`fcvt.wu.${s}`]: toInteger(f, 32, false),
    [`fcvt.l.${s}`]: toInteger(f, 64, true),
    [`fcvt.lu.${s}`]: toInteger(f, 64, false),
    [`fcvt.${s}.w`]: fromInteger(f, 32, true),
    [`fcvt.${s}.wu`]: fromInteger(f, 32, false),
    [`fcvt.${s}.l`]: fromInteger(f, 64, true),
    [`fcvt.${s}.lu`]: fromInteger(f, 64, false),
  };
}

const BY_NAME: Partial<Record<Mnemonic, Row>> = {
  ...rowsOf(SINGLE, 's'),
  ...rowsOf(DOUBLE, 'd'),
  'fcvt.s.d': narrow,
  'fcvt.d.s': convert(SINGLE, DOUBLE),
  'fcvt.s.h': convert(HALF, SINGLE),
  'fcvt.d.h': convert(HALF, DOUBLE),
  'fcvt.h.s': convert(SINGLE, HALF),
  'fcvt.h.d': convert(DOUBLE, HALF),
  'fcvtmod.w.d': toIntegerModulo,
};

const ROWS: (Row | undefined)[] = [];
for (const [name, row] of Object.entries(BY_NAME)) ROWS[OP[name as Mnemonic]] = row;

/** Mnemonics that `fpHelper` implements. */
export const FP_MNEMONICS = Object.keys(BY_NAME) as Mnemonic[];
