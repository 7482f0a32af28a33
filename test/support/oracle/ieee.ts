// Binary floating point from IEEE 754-2019 alone: a finite number is sign * magnitude * 2^exponent
// with a BigInt for the magnitude, and every result is rounded from its exact value (clause 4.3).
// It shares nothing with the emulator's soft-float, which it judges, and it is not fast. Choices
// that the standard leaves are RISC-V's: one quiet NaN, tininess after rounding (Unpriv "F").

export interface Form {
  /** Bits of the significand, the hidden one included. */
  readonly precision: number;
  readonly bits: number;
}
export const BINARY16: Form = { precision: 11, bits: 16 };
export const BINARY32: Form = { precision: 24, bits: 32 };
export const BINARY64: Form = { precision: 53, bits: 64 };

/** Flags as in fflags. */
export const INEXACT = 1;
export const UNDERFLOW = 2;
export const OVERFLOW = 4;
export const INVALID = 16;

/** Rounding modes as in frm. */
type Mode = number;
const [NEAREST_EVEN, TO_ZERO, DOWN, UP, NEAREST_AWAY] = [0, 1, 2, 3, 4];

export type Datum =
  | { readonly kind: 'nan'; readonly signals: boolean }
  | { readonly kind: 'infinity'; readonly minus: boolean }
  | {
      readonly kind: 'number';
      readonly minus: boolean;
      readonly magnitude: bigint;
      readonly exponent: number;
    };
type Finite = Extract<Datum, { kind: 'number' }>;

export interface Outcome {
  readonly bits: bigint;
  readonly flags: number;
}

const biasOf = ({ bits, precision }: Form): number => 2 ** (bits - precision - 1) - 1;
const topExponent = ({ bits, precision }: Form): bigint => (1n << BigInt(bits - precision)) - 1n;

export function read(form: Form, bits: bigint): Datum {
  const stored = BigInt(form.precision - 1);
  const minus = ((bits >> BigInt(form.bits - 1)) & 1n) === 1n;
  const fraction = bits & ((1n << stored) - 1n);
  const exponent = (bits >> stored) & topExponent(form);
  if (exponent === topExponent(form)) {
    if (fraction === 0n) return { kind: 'infinity', minus };
    return { kind: 'nan', signals: fraction >> (stored - 1n) === 0n };
  }
  const isNormal = exponent !== 0n;
  return {
    kind: 'number',
    minus,
    magnitude: isNormal ? fraction + (1n << stored) : fraction,
    exponent: (isNormal ? Number(exponent) : 1) - biasOf(form) - form.precision + 1,
  };
}

const signOf = (form: Form, minus: boolean): bigint => (minus ? 1n << BigInt(form.bits - 1) : 0n);
export const infinityOf = (form: Form, minus: boolean): bigint =>
  signOf(form, minus) | (topExponent(form) << BigInt(form.precision - 1));
export const nanOf = (form: Form): bigint => infinityOf(form, false) | (1n << BigInt(form.precision - 2));

function length(n: bigint): number {
  const digits = n.toString(16);
  return 4 * digits.length - Math.clz32(Number.parseInt(digits[0]!, 16)) + 28;
}

/**
 * The multiple of 2^quantum that the mode chooses for the number: how many quanta, and whether that
 * is not exact.
 */
function quanta(x: Finite, quantum: number, mode: Mode): { count: bigint; isInexact: boolean } {
  const shift = quantum - x.exponent;
  if (shift <= 0) return { count: x.magnitude << BigInt(-shift), isInexact: false };
  const unit = 1n << BigInt(shift);
  const [below, rest] = [x.magnitude / unit, x.magnitude % unit];
  if (rest === 0n) return { count: below, isInexact: false };
  const isTie = 2n * rest === unit;
  const isAbove = 2n * rest > unit;
  const goesUp = {
    [NEAREST_EVEN!]: isAbove || (isTie && below % 2n === 1n),
    [TO_ZERO!]: false,
    [DOWN!]: x.minus,
    [UP!]: !x.minus,
    [NEAREST_AWAY!]: isAbove || isTie,
  }[mode];
  return { count: goesUp ? below + 1n : below, isInexact: true };
}

/** A finite number in a format. */
export function write(form: Form, x: Finite, mode: Mode): Outcome {
  if (x.magnitude === 0n) return { bits: signOf(form, x.minus), flags: 0 };
  const least = 1 - biasOf(form);
  const digits = form.precision - 1;
  const unbounded = length(x.magnitude) + x.exponent - 1 - digits;
  const quantum = Math.max(unbounded, least - digits);
  const { count, isInexact } = quanta(x, quantum, mode);
  const isTiny = length(quanta(x, unbounded, mode).count) + unbounded - 1 < least;
  let flags = isInexact ? INEXACT : 0;
  if (isTiny && isInexact) flags |= UNDERFLOW;
  if (length(count) + quantum - 1 > biasOf(form)) {
    const grows =
      mode === NEAREST_EVEN || mode === NEAREST_AWAY || (mode === DOWN ? x.minus : mode === UP && !x.minus);
    const infinity = infinityOf(form, x.minus);
    return { bits: grows ? infinity : infinity - 1n, flags: OVERFLOW | INEXACT };
  }
  // A count with fewer digits is subnormal; a carry out of the digits is one in the exponent.
  const isNormal = length(count) > digits;
  const biased = isNormal ? BigInt(quantum + digits + biasOf(form) - 1) : 0n;
  return { bits: signOf(form, x.minus) | ((biased << BigInt(digits)) + count), flags };
}

const invalidIf = (condition: boolean): number => (condition ? INVALID : 0);

export function convert(from: Form, to: Form, bits: bigint, mode: Mode): Outcome {
  const x = read(from, bits);
  if (x.kind === 'nan') return { bits: nanOf(to), flags: invalidIf(x.signals) };
  if (x.kind === 'infinity') return { bits: infinityOf(to, x.minus), flags: 0 };
  return write(to, x, mode);
}

/** Clause 5.9: to an integer in the same format; `signalsInexact` is roundToIntegralExact. */
export function toIntegral(form: Form, bits: bigint, mode: Mode, signalsInexact: boolean): Outcome {
  const x = read(form, bits);
  if (x.kind === 'nan') return { bits: nanOf(form), flags: invalidIf(x.signals) };
  if (x.kind === 'infinity') return { bits, flags: 0 };
  const { count, isInexact } = quanta(x, 0, mode);
  const whole: Finite = { kind: 'number', minus: x.minus, magnitude: count, exponent: 0 };
  return {
    bits: write(form, whole, mode).bits,
    flags: isInexact && signalsInexact ? INEXACT : 0,
  };
}

/** Three-way comparison of two that are no NaNs; zeros are equal. */
function compare(a: Exclude<Datum, { kind: 'nan' }>, b: Exclude<Datum, { kind: 'nan' }>): number {
  const rank = (x: typeof a, exponent: number): bigint => {
    const magnitude = x.kind === 'infinity' ? 1n << 5000n : x.magnitude << BigInt(x.exponent - exponent);
    return x.minus ? -magnitude : magnitude;
  };
  const exponents = [a, b].map(x => (x.kind === 'number' ? x.exponent : 0));
  const [p, q] = [rank(a, Math.min(...exponents)), rank(b, Math.min(...exponents))];
  return p < q ? -1 : p > q ? 1 : 0;
}

const signals = (...all: Datum[]): boolean => all.some(x => x.kind === 'nan' && x.signals);

/** Clause 9.6, minimum and maximum: a NaN wins, and -0 is less than +0. */
export function extreme(form: Form, a: bigint, b: bigint, larger: boolean): Outcome {
  const [x, y] = [read(form, a), read(form, b)];
  if (x.kind === 'nan' || y.kind === 'nan') return { bits: nanOf(form), flags: invalidIf(signals(x, y)) };
  const order = compare(x, y) || (x.minus === y.minus ? 0 : x.minus ? -1 : 1);
  return { bits: order > 0 === larger ? a : b, flags: 0 };
}

/** Clause 5.11, the quiet predicates. */
export function isLess(form: Form, a: bigint, b: bigint, orEqual: boolean): Outcome {
  const [x, y] = [read(form, a), read(form, b)];
  if (x.kind === 'nan' || y.kind === 'nan') return { bits: 0n, flags: invalidIf(signals(x, y)) };
  const order = compare(x, y);
  return { bits: order < 0 || (orEqual && order === 0) ? 1n : 0n, flags: 0 };
}

/** Unpriv "Zfa": towards zero, modulo 2^32; flags as if to a signed word. */
export function toWordModulo(bits: bigint): Outcome {
  const x = read(BINARY64, bits);
  if (x.kind !== 'number') return { bits: 0n, flags: INVALID };
  const { count, isInexact } = quanta(x, 0, TO_ZERO!);
  const whole = x.minus ? -count : count;
  const isFar = whole < -(2n ** 31n) || whole >= 2n ** 31n;
  return {
    bits: BigInt.asUintN(64, BigInt.asIntN(32, whole)),
    flags: isFar ? INVALID : isInexact ? INEXACT : 0,
  };
}

/** Unpriv "F": which of the ten classes, as a bit. */
export function classOf(form: Form, bits: bigint): bigint {
  const x = read(form, bits);
  if (x.kind === 'nan') return x.signals ? 1n << 8n : 1n << 9n;
  const fromZero =
    x.kind === 'infinity' ? 3 : x.magnitude === 0n ? 0 : length(x.magnitude) < form.precision ? 1 : 2;
  return 1n << BigInt(x.minus ? 3 - fromZero : 4 + fromZero);
}
