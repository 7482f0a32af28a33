// Conversions, comparisons, minimum, maximum and classification (Unpriv "F" §Conversion and Move,
// §Compare, §Classify). Reference implementation on bit patterns.

import {
  DOUBLE,
  type Env,
  exactOf,
  type Format,
  infinity,
  isInfinite,
  isNan,
  isNegative,
  isSignaling,
  isZero,
  magnitude,
  NV,
  NX,
  propagate,
  RTZ,
  round,
  SINGLE,
  shiftRound,
  zero,
} from './softfloat-format.ts';

/**
 * Converts to an integer of `bits`; NaN and values out of range saturate and are invalid. The
 * result is the mathematical value.
 */
export function toInteger(env: Env, f: Format, a: bigint, bits: number, isSigned: boolean): bigint {
  const most = (1n << BigInt(isSigned ? bits - 1 : bits)) - 1n;
  const least = isSigned ? -most - 1n : 0n;
  const negative = isNegative(f, a);
  const saturate = (value: bigint): bigint => {
    env.flags |= NV;
    return value;
  };
  if (isNan(f, a)) return saturate(most);
  if (isInfinite(f, a)) return saturate(negative ? least : most);
  const { significand, exponent } = exactOf(f, a);
  // Beyond 2^64 the exact value is irrelevant: it does not fit.
  if (exponent > 64) return significand === 0n ? 0n : saturate(negative ? least : most);
  const rounded = shiftRound(env.rm, negative, significand, -exponent);
  const value = negative ? -rounded : rounded;
  if (value > most) return saturate(most);
  if (value < least) return saturate(least);
  if (exponent < 0 && rounded << BigInt(-exponent) !== significand) env.flags |= NX;
  return value;
}

export function fromInteger(env: Env, f: Format, value: bigint): bigint {
  if (value === 0n) return 0n;
  return round(env, f, value < 0n, { significand: value < 0n ? -value : value, exponent: 0 });
}

export function convert(env: Env, from: Format, to: Format, a: bigint): bigint {
  if (isNan(from, a)) {
    propagate(env, from, a);
    return to.nan;
  }
  const negative = isNegative(from, a);
  if (isInfinite(from, a)) return infinity(to, negative);
  if (isZero(from, a)) return zero(to, negative);
  return round(env, to, negative, exactOf(from, a));
}

export const narrow = (env: Env, a: bigint): bigint => convert(env, DOUBLE, SINGLE, a);

/**
 * fround and froundnx (Unpriv "Zfa"): a whole number of the same format, with NX only if `isExact`.
 */
export function toIntegral(env: Env, f: Format, a: bigint, isExact: boolean): bigint {
  if (isNan(f, a)) return propagate(env, f, a);
  const { significand, exponent } = exactOf(f, a);
  if (isInfinite(f, a) || isZero(f, a) || exponent >= 0) return a;
  const negative = isNegative(f, a);
  const whole = shiftRound(env.rm, negative, significand, -exponent);
  if (isExact && whole << BigInt(-exponent) !== significand) env.flags |= NX;
  // The whole number has no more bits than the significand: rounding it raises nothing.
  return whole === 0n ? zero(f, negative) : round(env, f, negative, { significand: whole, exponent: 0 });
}

/** fcvtmod.w.d (Unpriv "Zfa"): towards zero, modulo 2^32; flags are those of fcvt.w.d. */
export function toIntegerModulo(env: Env, f: Format, a: bigint): bigint {
  env.rm = RTZ;
  toInteger(env, f, a, 32, true);
  if (isNan(f, a) || isInfinite(f, a)) return 0n;
  const { significand, exponent } = exactOf(f, a);
  const whole = exponent < 0 ? significand >> BigInt(-exponent) : significand << BigInt(exponent);
  return BigInt.asIntN(32, isNegative(f, a) ? -whole : whole);
}

/** Orders bit patterns that are not NaN, -0 below +0. */
const order = (f: Format, x: bigint): bigint => (isNegative(f, x) ? -magnitude(f, x) - 1n : magnitude(f, x));

const bothZero = (f: Format, a: bigint, b: bigint): boolean => isZero(f, a) && isZero(f, b);

/** Quiet: only signaling NaNs are invalid. */
export function equal(env: Env, f: Format, a: bigint, b: bigint): bigint {
  if (isNan(f, a) || isNan(f, b)) {
    propagate(env, f, a, b);
    return 0n;
  }
  return a === b || bothZero(f, a, b) ? 1n : 0n;
}

/** a < b, or a <= b; any NaN is invalid, with `isQuiet` (Zfa) only a signaling one. */
export function less(env: Env, f: Format, a: bigint, b: bigint, orEqual: boolean, isQuiet = false): bigint {
  if (isNan(f, a) || isNan(f, b)) {
    if (isQuiet) propagate(env, f, a, b);
    else env.flags |= NV;
    return 0n;
  }
  if (bothZero(f, a, b)) return orEqual ? 1n : 0n;
  const [x, y] = [order(f, a), order(f, b)];
  return x < y || (orEqual && x === y) ? 1n : 0n;
}

/** minimumNumber and maximumNumber of IEEE 754-2019 §9.6. */
export function choose(env: Env, f: Format, a: bigint, b: bigint, larger: boolean): bigint {
  if (isSignaling(f, a) || isSignaling(f, b)) env.flags |= NV;
  if (isNan(f, a)) return isNan(f, b) ? f.nan : b;
  if (isNan(f, b)) return a;
  return order(f, a) < order(f, b) === larger ? b : a;
}

/** minimum and maximum of IEEE 754-2019 §9.6: a NaN wins (Unpriv "Zfa", fminm and fmaxm). */
export function chooseOrNan(env: Env, f: Format, a: bigint, b: bigint, larger: boolean): bigint {
  return isNan(f, a) || isNan(f, b) ? propagate(env, f, a, b) : choose(env, f, a, b, larger);
}

/** One bit of ten, from negative infinity (0) to quiet NaN (9). */
export function classify(f: Format, a: bigint): bigint {
  if (isNan(f, a)) return isSignaling(f, a) ? 1n << 8n : 1n << 9n;
  const negative = isNegative(f, a);
  if (isInfinite(f, a)) return negative ? 1n << 0n : 1n << 7n;
  if (isZero(f, a)) return negative ? 1n << 3n : 1n << 4n;
  const subnormal = magnitude(f, a) < 1n << BigInt(f.fraction);
  if (subnormal) return negative ? 1n << 2n : 1n << 5n;
  return negative ? 1n << 1n : 1n << 6n;
}
