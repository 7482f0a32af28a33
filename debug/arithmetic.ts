// The numbers of expressions, with the types and conversions of C on a 64-bit machine (ISO C11,
// 6.3.1 and 6.5); pointers move by elements.
import { isSigned, LONG, pointerTo, type Type, UNSIGNED_LONG } from '../coverage/index.ts';
import { DebugError } from './error.ts';
import { addressOf, bytesOf, floatOf, integerOf, type Value, vaOf } from './values.ts';

type Base = Type & { readonly kind: 'base' };

const base = (name: string, bytes: number, encoding: Base['encoding']): Base => ({
  ...{ kind: 'base', name, bytes, encoding },
});

const INT = base('int', 4, 'signed');
const UNSIGNED = base('unsigned int', 4, 'unsigned');
const FLOAT = base('float', 4, 'float');
const DOUBLE = base('double', 8, 'float');

/** Types that every program may name. */
export const BASE_TYPES: Readonly<Record<string, Type>> = {
  int: INT,
  unsigned: UNSIGNED,
  'unsigned int': UNSIGNED,
  long: LONG,
  'unsigned long': UNSIGNED_LONG,
  short: base('short', 2, 'signed'),
  'unsigned short': base('unsigned short', 2, 'unsigned'),
  char: base('char', 1, 'unsigned char'),
  'unsigned char': base('unsigned char', 1, 'unsigned char'),
  float: FLOAT,
  double: DOUBLE,
};

/** Of an integer, wrapped into the type. */
const integer = (number: bigint, type: Type): Value => ({
  ...{ type, place: undefined, bytes: bytesOf(number, type.bytes) },
});

function float(number: number, type: Type): Value {
  const view = new DataView(new ArrayBuffer(8));
  if (type.bytes === 4) view.setFloat32(0, number, true);
  else view.setFloat64(0, number, true);
  return { type, place: undefined, bytes: new Uint8Array(view.buffer, 0, type.bytes) };
}

export const truth = (is: boolean): Value => integer(is ? 1n : 0n, INT);

export const isTrue = (value: Value): boolean => Number(numberOf(value)) !== 0;

export const MINUS_ONE = integer(-1n, INT);

/** `text`: as C writes it. Errors: DebugError for a number that has no type. */
export function literal(text: string): Value {
  const [, digits = '', suffix = ''] = /^(0x[0-9a-f]+|\d+)([ul]*)$/i.exec(text) ?? [];
  if (digits === '') return floatLiteral(text);
  const number = BigInt(/^0[0-7]+$/.test(digits) ? `0o${digits}` : digits);
  // 6.4.4.1: the first type that it fits; a decimal one without u has no unsigned type. One that
  // fits no other is taken as unsigned, as compilers do.
  const isDecimal = /^[1-9]/.test(digits);
  const fits = [INT, UNSIGNED, LONG, UNSIGNED_LONG].find(
    type =>
      (isSigned(type) ? !/u/i.test(suffix) : /u/i.test(suffix) || !isDecimal || type.bytes === 8) &&
      (type.bytes === 8 || !/l/i.test(suffix)) &&
      number < 1n << BigInt(8 * type.bytes - (isSigned(type) ? 1 : 0)),
  );
  if (!fits) throw new DebugError(`${shortened(text)} does not fit into 64 bits`);
  return integer(number, fits);
}

function floatLiteral(text: string): Value {
  const isFloat = /f$/i.test(text);
  if (/[ul]$/i.test(text)) throw new DebugError(`numbers such as ${shortened(text)} are not supported`);
  return float(Number(isFloat ? text.slice(0, -1) : text), isFloat ? FLOAT : DOUBLE);
}

const shortened = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}...` : text);

const isFloat = (type: Type): boolean => type.kind === 'base' && type.encoding === 'float';

/** A bigint of an integer, a number of a float. Errors: DebugError for values that are neither. */
function numberOf(value: Value): bigint | number {
  const { kind, name } = value.type;
  if (kind === 'array') return vaOf(value);
  if (kind === 'struct' || kind === 'void' || kind === 'function')
    throw new DebugError(`${name} is not a number`);
  if (value.bytes.length > 8 || (kind === 'base' && value.type.encoding === 'complex'))
    throw new DebugError(`numbers of type ${name} are not supported here: print them alone`);
  if (!isFloat(value.type)) return integerOf(value);
  const number = floatOf(value);
  if (number === undefined) throw new DebugError(`numbers of type ${name} are not supported`);
  return number;
}

/** As a cast does, and each operator with its operands. */
export function converted(type: Type, value: Value): Value {
  if (type.kind === 'struct' || type.kind === 'array') throw new DebugError(`cannot cast to ${type.name}`);
  const from = numberOf(value.type.kind === 'array' ? addressOf(value) : value);
  if (type.kind === 'base' && type.encoding === 'bool')
    return { type, place: undefined, bytes: bytesOf(Number(from) !== 0 ? 1n : 0n, type.bytes) };
  if (!isFloat(type)) return integer(whole(from), type);
  if (type.bytes > 8) throw new DebugError(`cannot cast to ${type.name}`);
  return float(typeof from === 'bigint' && type.bytes === 4 ? rounded(from) : Number(from), type);
}

/** Towards zero. A number that has no integer has none in C either. */
function whole(number: bigint | number): bigint {
  if (typeof number === 'bigint') return number;
  if (!Number.isFinite(number)) throw new DebugError(`${number} has no integer`);
  return BigInt(Math.trunc(number));
}

/**
 * A long on its way to a float must be rounded once. The low 12 bits of a large one become one bit
 * that says whether there were any, so the rest fits into a double as it is: 24 bits decide.
 */
function rounded(number: bigint): number {
  if (BigInt.asIntN(53, number) === number) return Number(number);
  return Number(((number >> 12n) | (number & 0xfffn ? 1n : 0n)) << 12n);
}

/** Of an operand behind its promotion (6.3.1.1); a pointer counts as its address. */
function promoted({ type, bits }: Value): Type {
  if (type.kind === 'pointer' || type.kind === 'array') return UNSIGNED_LONG;
  if (isFloat(type)) return type;
  if (type.bytes < 4 || (bits && bits.count < 32)) return INT;
  const isWide = type.bytes > 4;
  if (isSigned(type)) return isWide ? LONG : INT;
  return isWide ? UNSIGNED_LONG : UNSIGNED;
}

/** The value of `+x`. */
export const promote = (value: Value): Value =>
  isPointer(value) ? value : converted(promoted(value), value);

/** The type in which two operands meet (6.3.1.8): the first of these that one of them has. */
const RANKS: readonly Type[] = [DOUBLE, FLOAT, UNSIGNED_LONG, LONG, UNSIGNED, INT];

function common(a: Value, b: Value): Type {
  const names = [promoted(a).name, promoted(b).name];
  return RANKS.find(({ name }) => names.includes(name)) ?? DOUBLE;
}

/**
 * `sign`: any operator with two operands but && and ||; or ~, whose operand is `a` and `b`. Errors:
 * DebugError with the reason.
 */
export function compute(sign: string, a: Value, b: Value): Value {
  if (sign === '+' || sign === '-') {
    const moved = movedPointer(sign, a, b);
    if (moved) return moved;
  }
  if (sign === '<<' || sign === '>>') return shifted(sign, a, b);
  const type = common(a, b);
  const [x, y] = [numberOf(converted(type, a)), numberOf(converted(type, b))];
  const compared = comparison(sign, x, y);
  if (compared !== undefined) return truth(compared);
  if (typeof x === 'number' || typeof y === 'number')
    return float(ofFloats(sign, Number(x), Number(y)), type);
  return integer(ofIntegers(sign, x, y), type);
}

/** The result has the type of the left operand. */
function shifted(sign: '<<' | '>>', a: Value, b: Value): Value {
  const type = promoted(a);
  const [x, by] = [numberOf(a), numberOf(b)];
  if (typeof x === 'number' || typeof by === 'number') throw new DebugError(`${sign} needs integers`);
  if (by < 0n || by >= 8 * type.bytes) throw new DebugError(`a shift by ${by} bits`);
  return integer(sign === '<<' ? x << by : x >> by, type);
}

const isPointer = ({ type }: Value): boolean => type.kind === 'pointer' || type.kind === 'array';

/** Undefined: no operand that moves a pointer, or a difference of two of them. */
function movedPointer(sign: '+' | '-', a: Value, b: Value): Value | undefined {
  const [pointer, other] = isPointer(a) ? [a, b] : [b, a];
  const { type } = pointer;
  if (type.kind !== 'pointer' && type.kind !== 'array') return undefined;
  if (sign === '-' && pointer !== a) return undefined;
  const of = type.kind === 'array' ? type.of : type.to();
  const size = BigInt(Math.max(1, of.bytes));
  const at = type.kind === 'array' ? vaOf(pointer) : integerOf(pointer);
  const by = numberOf(other);
  if (typeof by === 'number') throw new DebugError('a pointer moves by whole elements');
  if (isPointer(other) && sign === '-') return integer((at - by) / size, LONG);
  const moved = sign === '+' ? at + by * size : at - by * size;
  return { type: pointerTo(of), place: undefined, bytes: bytesOf(moved, 8) };
}

/** Undefined: the sign compares nothing. Both operands have one type. */
function comparison(sign: string, a: bigint | number, b: bigint | number): boolean | undefined {
  switch (sign) {
    case '==':
      return a === b;
    case '!=':
      return a !== b;
    case '<':
      return a < b;
    case '>':
      return a > b;
    case '<=':
      return a <= b;
    case '>=':
      return a >= b;
    default:
      return undefined;
  }
}

/** Of floats, too: the double is exact enough that rounding it again does no harm. */
function ofFloats(sign: string, a: number, b: number): number {
  switch (sign) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return a / b;
    default:
      throw new DebugError(`${sign} needs integers`);
  }
}

function ofIntegers(sign: string, a: bigint, b: bigint): bigint {
  if ((sign === '/' || sign === '%') && b === 0n) throw new DebugError('division by zero');
  switch (sign) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return a / b;
    case '%':
      return a % b;
    case '&':
      return a & b;
    case '|':
      return a | b;
    case '^':
      return a ^ b;
    default:
      return ~a;
  }
}
