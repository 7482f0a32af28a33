// The two formats of IEEE 754-2019 as RISC-V uses them (Unpriv "F", "D"): fields, exact values, and
// rounding of an exact value to a format with all flags. BigInt throughout: this is the reference
// arithmetic; softfloat-fast.ts takes the common cases. Tininess is detected after rounding (Unpriv
// "F" §Floating-Point Control and Status Register).

/** fflags. */
export const NX = 1;
export const UF = 2;
export const OF = 4;
export const DZ = 8;
export const NV = 16;

/** Rounding modes as encoded in frm. */
export const RNE = 0;
export const RTZ = 1;
export const RDN = 2;
export const RUP = 3;
export const RMM = 4;

/** The rounding mode of an operation, and the flags that it raised. */
export interface Env {
  rm: number;
  flags: number;
}

export interface Format {
  readonly bits: number;
  /** Explicit significand bits. */
  readonly fraction: number;
  readonly bias: number;
  readonly signBit: bigint;
  readonly infinity: bigint;
  readonly quietBit: bigint;
  /** The canonical NaN, the only NaN that arithmetic produces. */
  readonly nan: bigint;
}

function format(bits: number, fraction: number): Format {
  const exponentBits = bits - 1 - fraction;
  const infinity = ((1n << BigInt(exponentBits)) - 1n) << BigInt(fraction);
  const quietBit = 1n << BigInt(fraction - 1);
  const bias = 2 ** (exponentBits - 1) - 1;
  return {
    bits,
    fraction,
    bias,
    signBit: 1n << BigInt(bits - 1),
    infinity,
    quietBit,
    nan: infinity | quietBit,
  };
}

export const HALF = format(16, 10);
export const SINGLE = format(32, 23);
export const DOUBLE = format(64, 52);

export const isNegative = (f: Format, x: bigint): boolean => (x & f.signBit) !== 0n;
export const magnitude = (f: Format, x: bigint): bigint => x & (f.signBit - 1n);
export const isNan = (f: Format, x: bigint): boolean => magnitude(f, x) > f.infinity;
export const isSignaling = (f: Format, x: bigint): boolean => isNan(f, x) && (x & f.quietBit) === 0n;
export const isInfinite = (f: Format, x: bigint): boolean => magnitude(f, x) === f.infinity;
export const isZero = (f: Format, x: bigint): boolean => magnitude(f, x) === 0n;
export const zero = (f: Format, negative: boolean): bigint => (negative ? f.signBit : 0n);
export const infinity = (f: Format, negative: boolean): bigint => f.infinity | zero(f, negative);

/** significand * 2^exponent; the sign is kept apart by the callers. */
export interface Exact {
  readonly significand: bigint;
  readonly exponent: number;
}

/** Value of a finite number, without its sign. */
export function exactOf(f: Format, x: bigint): Exact {
  const fraction = magnitude(f, x) & ((1n << BigInt(f.fraction)) - 1n);
  const biased = Number(magnitude(f, x) >> BigInt(f.fraction));
  const significand = biased === 0 ? fraction : fraction | (1n << BigInt(f.fraction));
  return { significand, exponent: Math.max(biased, 1) - f.bias - f.fraction };
}

/** Number of bits of a positive integer below 2^1000. */
export function bitLength(x: bigint): number {
  const length = Math.floor(Math.log2(Number(x))) + 1;
  // The conversion to a double may have rounded up to the next power of two, and the logarithm may
  // be off in either direction.
  if (x >> BigInt(length)) return length + 1;
  return x >> BigInt(length - 1) ? length : length - 1;
}

/** True if the quotient must be incremented. `rest` is below 2 * half; half = the tie. */
export function roundsUp(rm: number, negative: boolean, odd: boolean, rest: bigint, half: bigint): boolean {
  switch (rm) {
    case RTZ:
      return false;
    case RDN:
      return negative && rest > 0n;
    case RUP:
      return !negative && rest > 0n;
    case RMM:
      return rest >= half;
    default:
      return rest > half || (rest === half && odd);
  }
}

/** The significand shifted right by `shift` bits (left when negative), rounded. */
export function shiftRound(rm: number, negative: boolean, significand: bigint, shift: number): bigint {
  if (shift <= 0) return significand << BigInt(-shift);
  const quotient = significand >> BigInt(shift);
  const rest = significand - (quotient << BigInt(shift));
  const up = roundsUp(rm, negative, (quotient & 1n) === 1n, rest, 1n << BigInt(shift - 1));
  return up ? quotient + 1n : quotient;
}

/** Rounds a nonzero exact value to a format; raises NX, OF and UF. */
export function round(env: Env, f: Format, negative: boolean, { significand, exponent }: Exact): bigint {
  const precision = f.fraction + 1;
  const least = 1 - f.bias - f.fraction;
  const normal = exponent + bitLength(significand) - precision;
  let unit = Math.max(normal, least);
  let q = shiftRound(env.rm, negative, significand, unit - exponent);
  const inexact = unit > exponent && q << BigInt(unit - exponent) !== significand;
  if (q >> BigInt(precision)) {
    q >>= 1n;
    unit++;
  }
  if (inexact) {
    env.flags |= NX;
    if (normal < least && isTiny(env.rm, f, negative, significand, exponent, normal)) env.flags |= UF;
  }
  const biased = q >> BigInt(f.fraction) ? unit + f.bias + f.fraction : 0;
  if (biased > 2 * f.bias) return overflow(env, f, negative);
  const fraction = biased === 0 ? q : q - (1n << BigInt(f.fraction));
  return zero(f, negative) | (BigInt(biased) << BigInt(f.fraction)) | fraction;
}

/**
 * True if the value, rounded with an unbounded exponent, is still below the smallest normal number.
 */
function isTiny(
  rm: number,
  f: Format,
  negative: boolean,
  significand: bigint,
  exponent: number,
  normal: number,
): boolean {
  if (normal + 1 < 1 - f.bias - f.fraction) return true;
  const q = shiftRound(rm, negative, significand, normal - exponent);
  return q >> BigInt(f.fraction + 1) === 0n;
}

function overflow(env: Env, f: Format, negative: boolean): bigint {
  env.flags |= OF | NX;
  const toInfinity = env.rm === RNE || env.rm === RMM || env.rm === (negative ? RDN : RUP);
  return zero(f, negative) | (toInfinity ? f.infinity : f.infinity - 1n);
}

/** NaN result of an invalid operation. */
export function invalid(env: Env, f: Format): bigint {
  env.flags |= NV;
  return f.nan;
}

/** The NaN result for a NaN operand; a signaling one is invalid. */
export function propagate(env: Env, f: Format, ...operands: bigint[]): bigint {
  if (operands.some(x => isSignaling(f, x))) env.flags |= NV;
  return f.nan;
}
