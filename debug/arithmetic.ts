// The numbers of expressions, with the types and conversions of C on a 64-bit machine (ISO C11,
// 6.3.1 and 6.5); pointers move by elements.
import { isSigned, LONG, pointerTo, type Type, UNSIGNED_LONG } from '../coverage/index.ts';
import { DebugError } from './error.ts';
import { addressOf, bytesOf, floatOf, INTEGER_MAX, integerOf, type Value, vaOf } from './values.ts';

type Base = Type & { readonly kind: 'base' };

const base = (name: string, bytes: number, encoding: Base['encoding']): Base => ({
  ...{ kind: 'base', name, bytes, encoding },
});

const INT = base('int', 4, 'signed');
const UNSIGNED = base('unsigned int', 4, 'unsigned');
const FLOAT = base('float', 4, 'float');
const DOUBLE = base('double', 8, 'float');
const INT128 = base('__int128', 16, 'signed');
const UNSIGNED_INT128 = base('unsigned __int128', 16, 'unsigned');

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
  const [, digits = '', suffix = ''] = /^(0x[0-9a-f]+|\d+)(u?l{0,2}|l{1,2}u)$/i.exec(text) ?? [];
  if (digits === '') return floatLiteral(text);
  if (/^0\d*[89]/.test(digits)) throw new DebugError(`${shortened(text)} is not an octal number`);
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
  const [, digits = '', suffix] = /^([\d.]*[.e][-+\de]*)(f?)$/i.exec(text) ?? [];
  if (digits === '') throw new DebugError(`numbers such as ${shortened(text)} are not supported`);
  return float(Number(digits), suffix ? FLOAT : DOUBLE);
}

const shortened = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}...` : text);

const isFloat = (type: Type): boolean => type.kind === 'base' && type.encoding === 'float';

/** Errors: DebugError for types whose values are no numbers here. */
function checkNumber(type: Type): void {
  if (type.kind === 'struct' || type.kind === 'void' || type.kind === 'function')
    throw new DebugError(`${type.name} is not a number`);
  const { kind, bytes } = type;
  const isKnown =
    kind !== 'base' ||
    (isFloat(type) ? bytes === 4 || bytes === 8 : type.encoding !== 'complex' && bytes <= INTEGER_MAX);
  if (!isKnown) throw new DebugError(`numbers of type ${type.name} are not supported here: print them alone`);
}

/** A bigint of an integer, a number of a float. Errors: DebugError for values that are neither. */
function numberOf(value: Value): bigint | number {
  const { type } = value;
  checkNumber(type);
  if (type.kind === 'array') return vaOf(value);
  return isFloat(type) ? floatOf(value)! : integerOf(value);
}

/** As a cast does, and each operator with its operands. */
export function converted(type: Type, value: Value): Value {
  if (type.kind === 'struct' || type.kind === 'array') throw new DebugError(`cannot cast to ${type.name}`);
  const from = numberOf(value.type.kind === 'array' ? addressOf(value) : value);
  if (type.kind === 'void') return { type, place: undefined, bytes: new Uint8Array(0) };
  checkNumber(type);
  if (type.kind === 'base' && type.encoding === 'bool')
    return { type, place: undefined, bytes: bytesOf(Number(from) !== 0 ? 1n : 0n, type.bytes) };
  if (!isFloat(type)) return integer(typeof from === 'bigint' ? from : whole(from, type), type);
  return float(typeof from === 'bigint' && type.bytes === 4 ? rounded(from) : Number(from), type);
}

/** Towards zero. Where the type has no such integer, C defines none either (6.3.1.4). */
function whole(number: number, type: Type): bigint {
  if (type.kind === 'pointer') throw new DebugError(`cannot cast a float to ${type.name}`);
  if (!Number.isFinite(number)) throw new DebugError(`${number} has no integer`);
  const is = BigInt(Math.trunc(number));
  const bits = 8 * type.bytes;
  if (is !== (isSigned(type) ? BigInt.asIntN(bits, is) : BigInt.asUintN(bits, is)))
    throw new DebugError(`${number} does not fit into ${type.name}`);
  return is;
}

/**
 * A long on its way to a float must be rounded once. The low bits of a large one become one bit
 * that says whether there were any, so the rest fits into a double as it is: 24 bits decide.
 */
function rounded(number: bigint): number {
  if (BigInt.asIntN(53, number) === number) return Number(number);
  const low = BigInt(number.toString(2).length - 50);
  return Number(((number >> low) | (BigInt.asUintN(Number(low), number) ? 1n : 0n)) << low);
}

/**
 * Of an operand behind its promotion (6.3.1.1), one of RANKS whatever its own name; a pointer
 * counts as its address. Bit fields are as clang has them: of up to 32 bits, they are int.
 */
function promoted({ type, bits }: Value): Type {
  checkNumber(type);
  if (type.kind === 'pointer' || type.kind === 'array') return UNSIGNED_LONG;
  if (isFloat(type)) return type.bytes === 4 ? FLOAT : DOUBLE;
  const width = bits ? bits.count : 8 * type.bytes;
  if (width < 32) return INT;
  if (width === 32) return isSigned(type) ? INT : UNSIGNED;
  if (type.bytes <= 8) return isSigned(type) ? LONG : UNSIGNED_LONG;
  return isSigned(type) ? INT128 : UNSIGNED_INT128;
}

/** The value of `+x`. */
export const promote = (value: Value): Value =>
  isPointer(value) ? value : converted(promoted(value), value);

/** The type in which two operands meet (6.3.1.8): the first of these that one of them has. */
const RANKS: readonly Type[] = [
  ...[DOUBLE, FLOAT, UNSIGNED_INT128, INT128, UNSIGNED_LONG, LONG, UNSIGNED, INT],
];

function common(a: Value, b: Value): Type {
  const both = [promoted(a), promoted(b)];
  return RANKS.find(type => both.includes(type))!;
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

/** Undefined: none of the operands is a pointer. */
function movedPointer(sign: '+' | '-', a: Value, b: Value): Value | undefined {
  const [pointer, other] = isPointer(a) ? [a, b] : [b, a];
  const { type } = pointer;
  if (type.kind !== 'pointer' && type.kind !== 'array') return undefined;
  if (isPointer(other) ? sign === '+' : pointer !== a && sign === '-')
    throw new DebugError(`${a.type.name} ${sign} ${b.type.name} is not possible`);
  const of = type.kind === 'array' ? type.of : type.to();
  if (of.kind === 'struct' && of.bytes === 0) throw new DebugError(`the size of ${of.name} is not known`);
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
