// Error-free transformations of doubles: a rounded result and its exact rounding error (Knuth TAOCP
// 4.2.2, Dekker 1971). They are correct in rounding to nearest even, the only mode of WebAssembly,
// while no intermediate result overflows or underflows; an overflow makes the error infinite or
// NaN.

import { type CodeWriter, F64, type Local } from '../../wasm/module.ts';

type Double = Local<F64>;

/** Splits a double into two halves of 26 bits. */
const SPLITTER = 134217729; // 2^27 + 1

/** sum = RN(a + b), error exact (Knuth's TwoSum). */
export function twoSum(c: CodeWriter, a: Double, b: Double, sum: Double, error: Double): void {
  const t = c.local(F64);
  c.local_get(a).local_get(b).f64_add().local_tee(sum).local_get(a).f64_sub().local_set(t);
  c.local_get(a).local_get(sum).local_get(t).f64_sub().f64_sub();
  c.local_get(b).local_get(t).f64_sub().f64_add().local_set(error);
  c.release(t);
}

/** high = head of x with 26 bits, low = x - high (Dekker's split). */
function split(c: CodeWriter, x: Double, high: Double, low: Double): void {
  c.local_get(x).f64_const(SPLITTER).f64_mul().local_tee(high);
  c.local_get(high).local_get(x).f64_sub().f64_sub().local_set(high);
  c.local_get(x).local_get(high).f64_sub().local_set(low);
}

/** product = RN(a * b), error exact. */
export function twoProduct(c: CodeWriter, a: Double, b: Double, product: Double, error: Double): void {
  const halves = c.scope();
  const [ah, al, bh, bl] = [halves.local(F64), halves.local(F64), halves.local(F64), halves.local(F64)];
  split(c, a, ah, al);
  split(c, b, bh, bl);
  c.local_get(a).local_get(b).f64_mul().local_set(product);
  c.local_get(ah).local_get(bh).f64_mul().local_get(product).f64_sub();
  c.local_get(ah).local_get(bl).f64_mul().f64_add();
  c.local_get(al).local_get(bh).f64_mul().f64_add();
  c.local_get(al).local_get(bl).f64_mul().f64_add().local_set(error);
  halves.release();
}
