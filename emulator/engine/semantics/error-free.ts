// Error-free transformations of doubles: a rounded result and exactly what rounding lost (Knuth TAOCP 4.2.2, Dekker 1971). Right in
// rounding to nearest even, the only mode of WebAssembly, while no intermediate result overflows or underflows; an overflow makes the error
// infinite or NaN.

import { type CodeWriter, F64, type ValType } from '../../wasm/module.ts';

/** What the emitters need of Ops. */
export interface Scratch {
  readonly c: CodeWriter;
  temp(type: ValType, n?: number): number;
}

/** Splits a double into two halves of 26 bits. */
const SPLITTER = 134217729; // 2^27 + 1

/** sum = RN(a + b), error exact (Knuth's TwoSum). */
export function twoSum(o: Scratch, a: number, b: number, sum: number, error: number): void {
  const { c } = o;
  const t = o.temp(F64, 20);
  c.local_get(a).local_get(b).f64_add().local_tee(sum).local_get(a).f64_sub().local_set(t);
  c.local_get(a).local_get(sum).local_get(t).f64_sub().f64_sub();
  c.local_get(b).local_get(t).f64_sub().f64_add().local_set(error);
}

/** high = head of x with 26 bits, low = x - high (Dekker's split). */
function split(o: Scratch, x: number, high: number, low: number): void {
  const { c } = o;
  c.local_get(x).f64_const(SPLITTER).f64_mul().local_tee(high);
  c.local_get(high).local_get(x).f64_sub().f64_sub().local_set(high);
  c.local_get(x).local_get(high).f64_sub().local_set(low);
}

/** product = RN(a * b), error exact. */
export function twoProduct(o: Scratch, a: number, b: number, product: number, error: number): void {
  const { c } = o;
  const [ah, al, bh, bl] = [o.temp(F64, 21), o.temp(F64, 22), o.temp(F64, 23), o.temp(F64, 24)];
  split(o, a, ah, al);
  split(o, b, bh, bl);
  c.local_get(a).local_get(b).f64_mul().local_set(product);
  c.local_get(ah).local_get(bh).f64_mul().local_get(product).f64_sub();
  c.local_get(ah).local_get(bl).f64_mul().f64_add();
  c.local_get(al).local_get(bh).f64_mul().f64_add();
  c.local_get(al).local_get(bl).f64_mul().f64_add().local_set(error);
}
