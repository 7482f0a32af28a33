// Exact reference arithmetic: sum, product, quotient, square root and fused multiply-add of both
// formats, in BigInt. Operands and results are bit patterns. IEEE 754-2019 §5.4.1, §6.3 (signs of
// zero), §7 (exceptions).

import {
  DZ,
  type Env,
  type Exact,
  exactOf,
  type Format,
  infinity,
  invalid,
  isInfinite,
  isNan,
  isNegative,
  isZero,
  NV,
  propagate,
  RDN,
  round,
  zero,
} from './softfloat-format.ts';

export function add(env: Env, f: Format, a: bigint, b: bigint): bigint {
  if (isNan(f, a) || isNan(f, b)) return propagate(env, f, a, b);
  const [na, nb] = [isNegative(f, a), isNegative(f, b)];
  if (isInfinite(f, a)) return isInfinite(f, b) && na !== nb ? invalid(env, f) : a;
  if (isInfinite(f, b)) return b;
  return sum(env, f, na, exactOf(f, a), nb, exactOf(f, b));
}

export const subtract = (env: Env, f: Format, a: bigint, b: bigint): bigint =>
  // The sign of a NaN does not matter.
  add(env, f, a, b ^ f.signBit);

export function multiply(env: Env, f: Format, a: bigint, b: bigint): bigint {
  if (isNan(f, a) || isNan(f, b)) return propagate(env, f, a, b);
  const negative = isNegative(f, a) !== isNegative(f, b);
  if (isInfinite(f, a) || isInfinite(f, b)) {
    return isZero(f, a) || isZero(f, b) ? invalid(env, f) : infinity(f, negative);
  }
  if (isZero(f, a) || isZero(f, b)) return zero(f, negative);
  return round(env, f, negative, product(f, a, b));
}

export function divide(env: Env, f: Format, a: bigint, b: bigint): bigint {
  if (isNan(f, a) || isNan(f, b)) return propagate(env, f, a, b);
  const negative = isNegative(f, a) !== isNegative(f, b);
  if (isInfinite(f, a)) return isInfinite(f, b) ? invalid(env, f) : infinity(f, negative);
  if (isInfinite(f, b)) return zero(f, negative);
  if (isZero(f, b)) {
    if (isZero(f, a)) return invalid(env, f);
    env.flags |= DZ;
    return infinity(f, negative);
  }
  if (isZero(f, a)) return zero(f, negative);
  const [n, d] = [exactOf(f, a), exactOf(f, b)];
  // Enough quotient bits for rounding even when n is subnormal and d is not, and one sticky bit
  // below them.
  const extra = 2 * f.fraction + 5;
  const dividend = n.significand << BigInt(extra);
  const quotient = dividend / d.significand;
  const sticky = quotient * d.significand === dividend ? 0n : 1n;
  return round(env, f, negative, {
    significand: (quotient << 1n) | sticky,
    exponent: n.exponent - d.exponent - extra - 1,
  });
}

export function squareRoot(env: Env, f: Format, a: bigint): bigint {
  if (isNan(f, a)) return propagate(env, f, a);
  if (isZero(f, a)) return a;
  if (isNegative(f, a)) return invalid(env, f);
  if (isInfinite(f, a)) return a;
  const { significand, exponent } = exactOf(f, a);
  // Twice the precision, and an even exponent.
  let shift = 2 * f.fraction + 6;
  if ((exponent - shift) % 2 !== 0) shift++;
  const radicand = significand << BigInt(shift);
  const root = integerRoot(radicand);
  const sticky = root * root === radicand ? 0n : 1n;
  return round(env, f, false, { significand: (root << 1n) | sticky, exponent: (exponent - shift) / 2 - 1 });
}

/** a * b + c with one rounding. */
export function fusedMultiplyAdd(env: Env, f: Format, a: bigint, b: bigint, c: bigint): bigint {
  const undefinedProduct = (isInfinite(f, a) && isZero(f, b)) || (isZero(f, a) && isInfinite(f, b));
  // Invalid even when the addend is a quiet NaN (Unpriv "F" §Single-Precision Floating-Point
  // Computational Instructions).
  if (undefinedProduct) env.flags |= NV;
  if (undefinedProduct || isNan(f, a) || isNan(f, b) || isNan(f, c)) return propagate(env, f, a, b, c);
  const negative = isNegative(f, a) !== isNegative(f, b);
  const nc = isNegative(f, c);
  if (isInfinite(f, a) || isInfinite(f, b)) {
    return isInfinite(f, c) && nc !== negative ? invalid(env, f) : infinity(f, negative);
  }
  if (isInfinite(f, c)) return c;
  return sum(env, f, negative, product(f, a, b), nc, exactOf(f, c));
}

function product(f: Format, a: bigint, b: bigint): Exact {
  const [x, y] = [exactOf(f, a), exactOf(f, b)];
  return { significand: x.significand * y.significand, exponent: x.exponent + y.exponent };
}

/** Sum of two exact values, each possibly zero. */
function sum(env: Env, f: Format, na: boolean, a: Exact, nb: boolean, b: Exact): bigint {
  if (a.significand === 0n && b.significand === 0n) return zero(f, na === nb ? na : env.rm === RDN);
  if (a.significand === 0n) return round(env, f, nb, b);
  if (b.significand === 0n) return round(env, f, na, a);
  const low = Math.min(reach(a, b, f), reach(b, a, f));
  const total = signed(na, alignTo(a, low)) + signed(nb, alignTo(b, low));
  if (total === 0n) return zero(f, env.rm === RDN);
  return round(env, f, total < 0n, { significand: total < 0n ? -total : total, exponent: low });
}

/**
 * Exponent down to which `a` must be kept when `b` is the other operand: its own, or far below
 * everything that `b` can influence, so that a large difference of exponents does not create large
 * integers.
 */
function reach(a: Exact, b: Exact, f: Format): number {
  return Math.max(a.exponent, b.exponent - 4 * f.fraction - 16);
}

/** Significand at a given exponent; the bits below become a sticky last bit. */
function alignTo({ significand, exponent }: Exact, low: number): bigint {
  if (exponent >= low) return significand << BigInt(exponent - low);
  const shift = BigInt(low - exponent);
  const kept = significand >> shift;
  return kept << shift === significand ? kept : kept | 1n;
}

const signed = (negative: boolean, x: bigint): bigint => (negative ? -x : x);

/** Floor of the square root, by Newton's iteration from above. */
function integerRoot(n: bigint): bigint {
  let x = BigInt(Math.ceil(Math.sqrt(Number(n)) * (1 + 2 ** -50)));
  for (;;) {
    const y = (x + n / x) >> 1n;
    if (y >= x) return x;
    x = y;
  }
}
