// Fused multiply-add (Unpriv "F" §Single-Precision Floating-Point Computational Instructions), by
// the host's own instruction if it has one. Otherwise doubles try the rounded product first, whose
// error seldom matters (`fuseQuickly`). Otherwise exact products and sums are split into a rounded
// value and its error; the low parts are added with rounding to odd, so that the last addition
// rounds once, as if there had been no other (Boldo and Melquiond, 2008).
//
// The last method is used only if no operation can overflow, underflow or lose bits: factors within
// 2^±250, addend zero or within 2^±500, rounding to nearest even, NX already set. Soft-float does
// everything else.

import { F64, I64, type Label, type Local } from '../../wasm/module.ts';
import { twoProduct, twoSum } from './error-free.ts';
import type { Format, Ops, Rule } from './ops.ts';

const BIAS = 1023;
/** The least product for `fuseQuickly`. */
const QUICK_PRODUCT = 2 ** -900;

/** i32: 1 when the exponent of f64 local `x` lies within 2^±reach. */
function isWithin(o: Ops, x: Local<F64>, reach: number): void {
  o.c.local_get(x).i64_reinterpret_f64().i64_const(52).i64_shr_u().i32_wrap_i64().i32_const(0x7ff).i32_and();
  o.c
    .i32_const(BIAS - reach)
    .i32_sub()
    .i32_const(2 * reach)
    .i32_le_u();
}

/**
 * Local `sum` becomes a + b rounded to odd: the neighbour with an odd last bit when the sum is
 * inexact.
 */
function oddSum(o: Ops, a: Local<F64>, b: Local<F64>, sum: Local<F64>): void {
  const { c } = o;
  const [error, bits] = [o.temp(F64), o.temp(I64)];
  twoSum(c, a, b, sum, error);
  c.local_get(sum).i64_reinterpret_f64().local_set(bits);
  c.local_get(error).f64_const(0).f64_ne();
  c.local_get(bits).i32_wrap_i64().i32_const(1).i32_and().i32_eqz().i32_and().if_();
  // One step away from zero when the error has the sign of the sum, else towards it.
  c.local_get(bits).i64_const(1).i64_const(-1);
  c.local_get(error).i64_reinterpret_f64().local_get(bits).i64_xor().i64_const(0).i64_ge_s().select();
  c.i64_add().f64_reinterpret_i64().local_set(sum);
  c.end();
}

interface Signs {
  /** The product is negated. */
  readonly product: boolean;
  /** The addend is negated. */
  readonly addend: boolean;
}

/** Pushes operand n as f64, its sign flipped when `negate`. */
function operand(o: Ops, n: 1 | 2 | 3, format: Format, negate: boolean): void {
  o.fs(n, format);
  if (format === 's') o.c.f64_promote_f32();
  if (negate) o.c.f64_neg();
}

/** Pushes the host's own fused result; NaN operands give results that `finish` refuses. */
function hostFused(o: Ops, format: Format, signs: Signs): void {
  const { c } = o;
  for (const n of [1, 2, 3] as const) {
    o.fs(n, format);
    if (format === 'd') {
      if (n === 3 && signs.addend) c.f64_neg();
      c.f64x2_splat();
    } else {
      if (n === 3 && signs.addend) c.f32_neg();
      c.f32x4_splat();
    }
  }
  if (format === 'd') {
    if (signs.product) c.f64x2_relaxed_nmadd();
    else c.f64x2_relaxed_madd();
    c.f64x2_extract_lane(0);
  } else {
    if (signs.product) c.f32x4_relaxed_nmadd();
    else c.f32x4_relaxed_madd();
    c.f32x4_extract_lane(0);
  }
}

/** The rule of one of the four forms; `orSoft` and `finish` are those of semantics/fp.ts. */
export function fusedRule(
  format: Format,
  signs: Signs,
  orSoft: (o: Ops, fast: (giveUp: Label) => void) => void,
  finish: (o: Ops, giveUp: Label, value: () => void) => void,
): Rule {
  return o => {
    const { c } = o;
    o.fpEnabled(true);
    orSoft(o, giveUp => {
      if (o.fuses) {
        finish(o, giveUp, () => hostFused(o, format, signs));
        return;
      }
      const [a, b, addend] = [o.temp(F64), o.temp(F64), o.temp(F64)];
      operand(o, 1, format, signs.product);
      c.local_set(a);
      operand(o, 2, format, false);
      c.local_set(b);
      operand(o, 3, format, signs.addend);
      c.local_set(addend);
      const result = o.temp(F64);
      const done = c.block();
      if (format === 'd') fuseQuickly(o, a, b, addend, result, done);
      isWithin(o, a, 250);
      isWithin(o, b, 250);
      c.i32_and();
      isWithin(o, addend, 500);
      c.local_get(addend).f64_const(0).f64_eq().i32_or().i32_and();
      c.i32_eqz().br_if(giveUp, 'unlikely');
      if (format === 'd') fuseDouble(o, a, b, addend, result);
      else fuseSingle(o, a, b, addend, result);
      c.end();
      finish(o, giveUp, () => {
        c.local_get(result);
        if (format === 's') c.f32_demote_f64();
      });
    });
  };
}

/**
 * Sets f64 local `result` to RN(a * b + c) and goes to `done` when the rounded product p is good
 * enough. Let s = RN(p + c) and t its rounding error, computed as if c were the larger: t is wrong
 * by less than 2^-51 |p|, p itself by 2^-53 |p|. So the exact value lies between s + t - 2^-50 |p|
 * and s + t + 2^-50 |p|, including the rounding of those sums; if both round to the same double, so
 * does the exact value. They do unless the product is of the order of the addend or larger, or the
 * sum is near the middle of two doubles.
 */
function fuseQuickly(
  o: Ops,
  a: Local<F64>,
  b: Local<F64>,
  addend: Local<F64>,
  result: Local<F64>,
  done: Label,
): void {
  const { c } = o;
  const [product, sum, lost, room] = [o.temp(F64), o.temp(F64), o.temp(F64), o.temp(F64)];
  const unknown = c.block();
  c.local_get(a).local_get(b).f64_mul().local_tee(product);
  // Far above the range where the product and the bound lose bits.
  c.f64_abs().f64_const(QUICK_PRODUCT).f64_ge().i32_eqz().br_if(unknown, 'unlikely');
  c.local_get(product).local_get(addend).f64_add().local_set(sum);
  c.local_get(product).local_get(sum).local_get(addend).f64_sub().f64_sub().local_set(lost);
  c.local_get(product)
    .f64_const(2 ** -50)
    .f64_mul()
    .local_set(room);
  c.local_get(sum).local_get(lost).local_get(room).f64_add().f64_add().local_tee(result);
  c.local_get(sum).local_get(lost).local_get(room).f64_sub().f64_add().f64_eq().br_if(done, 'likely');
  c.end();
}

/** Sets `result` to RN(a * b + c). */
function fuseDouble(o: Ops, a: Local<F64>, b: Local<F64>, addend: Local<F64>, result: Local<F64>): void {
  const { c } = o;
  const [uh, ul, th, tl] = [o.temp(F64), o.temp(F64), o.temp(F64), o.temp(F64)];
  const [vh, vl] = [o.temp(F64), o.temp(F64)];
  twoProduct(c, a, b, uh, ul);
  twoSum(c, addend, ul, th, tl);
  twoSum(c, uh, th, vh, vl);
  oddSum(o, tl, vl, result);
  c.local_get(vh).local_get(result).f64_add().local_set(result);
}

/**
 * Sets `result`, whose rounding to single is RN(a * b + c): the product of singles is exact in a
 * double.
 */
function fuseSingle(o: Ops, a: Local<F64>, b: Local<F64>, addend: Local<F64>, result: Local<F64>): void {
  const { c } = o;
  const product = o.temp(F64);
  c.local_get(a).local_get(b).f64_mul().local_set(product);
  oddSum(o, product, addend, result);
}
