// The common cases of soft-float in the host's double arithmetic, exact to the last bit and flag.
// Every function stores a double in `Fast.sum` and in `Fast.error` a number with the sign of (exact
// result - sum), zero if the sum is exact; or it declines (false). Error-free transformations:
// Knuth's two-sum, Dekker's two-product (host has no fused multiply-add). They need exponents away
// from both limits, which the guards ensure. From sum and error the result follows for every
// rounding mode, also in single precision: `odd` folds the error into the last bit of the double
// (round to odd), after which one rounding to 24 bits is right (Boldo and Melquiond, 2008). Hot: no
// allocation, no BigInt.

import { type Env, NX, OF, RDN, RMM, RNE, RTZ, RUP, UF } from './softfloat-format.ts';

const f64 = new Float64Array(1);
const i32 = new Int32Array(f64.buffer);
const f32 = new Float32Array(1);
const f32Bits = new Int32Array(f32.buffer);

/** Splits a double in two halves of 26 bits. */
const SPLITTER = 2 ** 27 + 1;
/**
 * Operands of products and quotients: 2^-400 .. 2^400; addends of fused operations 2^-800 .. 2^800.
 */
const PRODUCT_LOW = 2 ** -400;
const PRODUCT_HIGH = 2 ** 400;
const ADDEND_LOW = 2 ** -800;
const ADDEND_HIGH = 2 ** 800;
/** Sums of anything below this cannot overflow. */
const SUM_HIGH = 2 ** 1022;

/** The results of the functions below. */
export const fast = { sum: 0, error: 0 };

const inProduct = (x: number): boolean => {
  const m = Math.abs(x);
  return m >= PRODUCT_LOW && m <= PRODUCT_HIGH;
};

export function fastAdd(a: number, b: number): boolean {
  if (!(Math.abs(a) < SUM_HIGH && Math.abs(b) < SUM_HIGH)) return false;
  const sum = a + b;
  const rest = sum - a;
  fast.sum = sum;
  fast.error = a - (sum - rest) + (b - rest);
  // The sign of an exact zero depends on the rounding mode.
  return sum !== 0;
}

function exact(value: number): true {
  fast.sum = value;
  fast.error = 0;
  return true;
}

export function fastMultiply(a: number, b: number): boolean {
  if (isExactZero(a, b)) return exact(a * b);
  if (!inProduct(a) || !inProduct(b)) return false;
  const product = a * b;
  fast.sum = product;
  fast.error = productError(a, b, product);
  return true;
}

/** a * b - product, exactly. */
function productError(a: number, b: number, product: number): number {
  const ca = SPLITTER * a;
  const ah = ca - (ca - a);
  const al = a - ah;
  const cb = SPLITTER * b;
  const bh = cb - (cb - b);
  const bl = b - bh;
  return al * bl - (product - ah * bh - al * bh - ah * bl);
}

export function fastDivide(a: number, b: number): boolean {
  if (a === 0 && !Number.isNaN(b) && b !== 0) return exact(a / b);
  if (!inProduct(a) || !inProduct(b)) return false;
  const quotient = a / b;
  const back = quotient * b;
  const rest = a - back - productError(quotient, b, back);
  fast.sum = quotient;
  fast.error = b < 0 ? -rest : rest;
  return true;
}

export function fastSquareRoot(a: number): boolean {
  if (!(a >= PRODUCT_LOW && a <= PRODUCT_HIGH)) return false;
  const root = Math.sqrt(a);
  const back = root * root;
  fast.sum = root;
  fast.error = a - back - productError(root, root, back);
  return true;
}

/** Zero times a finite number; the sign of the result is that of a product. */
const isExactZero = (a: number, b: number): boolean => (a === 0 || b === 0) && a * b === 0;

export function fastFused(a: number, b: number, c: number): boolean {
  if (isExactZero(a, b)) return fastAdd(0, c);
  if (!inProduct(a) || !inProduct(b)) return false;
  const mc = Math.abs(c);
  if (!(c === 0 || (mc >= ADDEND_LOW && mc <= ADDEND_HIGH))) return false;
  const uh = a * b;
  const ul = productError(a, b, uh);
  // c + ul, then + uh, every step with its error.
  const th = c + ul;
  const tr = th - c;
  const tl = c - (th - tr) + (ul - tr);
  const vh = uh + th;
  const vr = vh - uh;
  const vl = uh - (vh - vr) + (th - vr);
  const z = sumToOdd(tl, vl);
  const sum = vh + z;
  const rest = sum - vh;
  fast.sum = sum;
  fast.error = vh - (sum - rest) + (z - rest);
  return sum !== 0;
}

function sumToOdd(a: number, b: number): number {
  const sum = a + b;
  const rest = sum - a;
  return odd(sum, a - (sum - rest) + (b - rest));
}

/**
 * Rounds sum + error to odd: exact sums are unchanged, others become the neighbour with an odd last
 * bit.
 */
function odd(sum: number, error: number): number {
  if (error === 0) return sum;
  f64[0] = sum;
  if (i32[0]! & 1) return sum;
  return error > 0 === sum > 0 ? away(sum) : towardsZero(sum);
}

/** The next double with a larger magnitude. */
function away(x: number): number {
  f64[0] = x;
  if (i32[0] === -1) i32[1]!++;
  i32[0]!++;
  return f64[0]!;
}

function towardsZero(x: number): number {
  f64[0] = x;
  if (i32[0] === 0) i32[1]!--;
  i32[0]!--;
  return f64[0]!;
}

/**
 * The double-precision result in the rounding mode, from `fast`. Precondition: underflow and
 * overflow are impossible, and rm is not RMM unless the error is zero (a tie looks like any other
 * error).
 */
export function toDouble(env: Env): number {
  const { sum, error } = fast;
  if (error === 0) return sum;
  env.flags |= NX;
  const positive = sum > 0;
  switch (env.rm) {
    case RDN:
      return error > 0 ? sum : positive ? towardsZero(sum) : away(sum);
    case RUP:
      return error < 0 ? sum : positive ? away(sum) : towardsZero(sum);
    case RTZ:
      return error > 0 === positive ? sum : towardsZero(sum);
    default:
      return sum;
  }
}

/** True if a double result of this magnitude, and its neighbours, are normal. */
export function isPlainDouble(x: number): boolean {
  const m = Math.abs(x);
  return m > 2 ** -1000 && m < 2 ** 1000;
}

const SINGLE_MIN_NORMAL = 2 ** -126;
const SINGLE_END = 2 ** 128;
const SCALE = 2 ** 64;

/** Rounds a double below 2^52 in magnitude to an integer. */
export function toIntegral(x: number, rm: number): number {
  if (rm === RTZ) return Math.trunc(x);
  if (rm === RDN) return Math.floor(x);
  if (rm === RUP) return Math.ceil(x);
  // By magnitude: its fraction is exact, while x - floor(x) of a small negative x is not.
  const magnitude = Math.abs(x);
  const low = Math.floor(magnitude);
  const rest = magnitude - low;
  const isUp = rest > 0.5 || (rest === 0.5 && (rm === RMM || low % 2 !== 0));
  const rounded = isUp ? low + 1 : low;
  return x < 0 ? -rounded : rounded;
}

/** The bits of the single-precision result from `fast`, with all flags, for any rounding mode. */
export function toSingle(env: Env): number {
  const exact = odd(fast.sum, fast.error);
  const bits = singleBits(exact, env.rm);
  f32Bits[0] = bits;
  const rounded = f32[0]!;
  if (rounded === exact) return bits;
  env.flags |= NX;
  const m = Math.abs(exact);
  if (Math.abs(rounded) === Number.POSITIVE_INFINITY || m >= SINGLE_END) env.flags |= OF;
  if (m < SINGLE_MIN_NORMAL) {
    // After rounding with an unbounded exponent: scale away from the subnormals and round again.
    f32Bits[0] = singleBits(exact * SCALE, env.rm);
    if (Math.abs(f32[0]!) < SINGLE_MIN_NORMAL * SCALE) env.flags |= UF;
  }
  return bits;
}

/** A nonzero double rounded to single. */
function singleBits(exact: number, rm: number): number {
  const nearest = Math.fround(exact);
  f32[0] = nearest;
  const bits = f32Bits[0]!;
  if (rm === RNE || nearest === exact) return bits;
  // The neighbour towards zero, or nearest itself when it is nearer to zero than the exact value.
  const low = Math.abs(nearest) > Math.abs(exact) ? bits - 1 : bits;
  const up = rm === RUP ? exact > 0 : rm === RDN ? exact < 0 : rm === RMM && isUpperHalf(exact, low);
  return up ? low + 1 : low;
}

/** True if the exact value is at least half way from the single with bits `low` to the next one. */
function isUpperHalf(exact: number, low: number): boolean {
  f32Bits[0] = low;
  const below = Math.abs(f32[0]!);
  f32Bits[0] = low + 1;
  const above = Math.min(Math.abs(f32[0]!), SINGLE_END);
  // Both differences are exact: all three numbers have the same exponent or lie in adjacent ones.
  return Math.abs(exact) - below >= above - Math.abs(exact);
}
