// Values of a stopped program, as text.
import { isSigned, type Place, pointerTo, type Type, wordOf } from '../coverage/index.ts';
import { DebugError } from './error.ts';

/** A typed piece of the program's state. */
export interface Value {
  readonly type: Type;
  /** Where it is; undefined for a computed one. */
  readonly place: Place | undefined;
  readonly bytes: Uint8Array;
  readonly bits?: { readonly first: number; readonly count: number } | undefined;
}

export type Read = (va: bigint, bytes: number) => Uint8Array | undefined;

/** Bytes of an integer: of an __int128. */
export const INTEGER_MAX = 16;
const ITEMS_MAX = 32;
const TEXT_MAX = 200;
const DEPTH_MAX = 4;
/** Members and elements in one text. */
const VALUES_MAX = 4096;

/** Of an integer, a pointer or an enumerator. */
export function integerOf({ type, bytes, bits }: Value): bigint {
  let word = wordOf(bytes);
  if (bytes.length > 8) word |= wordOf(bytes.subarray(8, INTEGER_MAX)) << 64n;
  let size = 8 * Math.min(bytes.length, INTEGER_MAX);
  if (bits) {
    word = (word >> BigInt(bits.first)) & ((1n << BigInt(bits.count)) - 1n);
    size = bits.count;
  }
  return isSigned(type) ? BigInt.asIntN(size, word) : BigInt.asUintN(size, word);
}

export function bytesOf(value: bigint, size: number): Uint8Array {
  const view = new DataView(new ArrayBuffer(INTEGER_MAX));
  view.setBigUint64(0, BigInt.asUintN(64, value), true);
  if (size > 8) view.setBigUint64(8, BigInt.asUintN(64, value >> 64n), true);
  return new Uint8Array(view.buffer, 0, Math.min(size, INTEGER_MAX));
}

/** Of a float, a double, or a long double as a double; undefined for other sizes. */
export function floatOf({ bytes }: Pick<Value, 'bytes'>): number | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length === 4) return view.getFloat32(0, true);
  if (bytes.length === 16) return quadOf(view.getBigUint64(8, true), view.getBigUint64(0, true));
  return bytes.length === 8 ? view.getFloat64(0, true) : undefined;
}

/** IEEE 754 binary128, rounded. */
function quadOf(high: bigint, low: bigint): number {
  const sign = high >> 63n ? -1 : 1;
  const exponent = Number((high >> 48n) & 0x7fffn);
  const fraction = ((high & 0xffff_ffff_ffffn) << 64n) | low;
  if (exponent === 0x7fff) return fraction === 0n ? sign * Infinity : Number.NaN;
  const digits = Number(exponent === 0 ? fraction : fraction | (1n << 112n)); // below 2^113
  const by = Math.max(1, exponent) - 16383 - 112;
  return sign * digits * 2 ** Math.max(-1000, by) * 2 ** Math.min(0, by + 1000);
}

/** Errors: DebugError for a value that is not in memory. */
export function vaOf({ place, type }: Value): bigint {
  if (place?.kind !== 'memory') throw new DebugError(`the ${type.name} is not in memory: it has no address`);
  return place.va;
}

export function addressOf(value: Value): Value {
  if (value.bits) throw new DebugError('a bit field has no address');
  return { type: pointerTo(value.type), place: undefined, bytes: bytesOf(vaOf(value), 8) };
}

interface Sized {
  readonly type: Type;
  readonly bits?: Value['bits'];
}

/** The bytes that a value has in memory; a packed bit field may have nine. */
export const sizeOf = ({ type, bits }: Sized): number =>
  bits ? Math.ceil((bits.first + bits.count) / 8) : type.bytes;

export function show(value: Value, read: Read): string {
  return showIn(value, read, 0, { values: VALUES_MAX });
}

/** `budget`: of the whole text; types may contain each other. */
function showIn(value: Value, read: Read, depth: number, budget: { values: number }): string {
  const { type, bytes } = value;
  if (budget.values-- <= 0) return '...';
  const isCut = type.kind !== 'struct' && type.kind !== 'array' && bytes.length < sizeOf(value);
  if (isCut) return '...'; // behind the part of a long object that was read
  switch (type.kind) {
    case 'base':
      return showBase(value);
    case 'pointer':
      return showPointer(value, read);
    case 'enum':
      return type.names.get(integerOf(value)) ?? String(integerOf(value));
    case 'struct': {
      if (depth >= DEPTH_MAX) return '{...}';
      const members = type.members().slice(0, ITEMS_MAX);
      const inner = members.map(member => {
        const text = showIn(memberOf(value, member), read, depth + 1, budget);
        return member.name === '' ? text : `${member.name} = ${text}`;
      });
      return `{${inner.join(', ')}}`;
    }
    case 'array': {
      // The part of it that is mapped: a program's large ones are made page by page.
      if (bytes.length === 0 && type.bytes > 0) return '<nothing is mapped there>';
      if (isText(type.of)) return quoted(bytes);
      if (depth >= DEPTH_MAX) return '[...]';
      const size = type.of.bytes;
      const count = Math.min(type.count, ITEMS_MAX, size > 0 ? Math.floor(bytes.length / size) : 0);
      const items = Array.from({ length: count }, (_, i) =>
        showIn(
          { type: type.of, place: undefined, bytes: bytes.subarray(i * size, (i + 1) * size) },
          read,
          depth + 1,
          budget,
        ),
      );
      return `{${items.join(', ')}${type.count > count ? ', ...' : ''}}`;
    }
    default:
      return `<${type.name}>`;
  }
}

export function memberOf({ bytes, place }: Value, member: Sized & { readonly offset: number }): Value {
  const { type, offset, bits } = member;
  const size = sizeOf(member);
  const at: Place | undefined =
    place?.kind === 'memory' ? { kind: 'memory', va: place.va + BigInt(offset) } : undefined;
  return { type, place: at, bytes: bytes.subarray(offset, offset + size), ...(bits && { bits }) };
}

function showBase(value: Value): string {
  const { type } = value;
  const encoding = type.kind === 'base' ? type.encoding : 'signed';
  const float = encoding === 'float' ? floatOf(value) : undefined;
  if (float !== undefined) return showFloat(float);
  if (encoding === 'complex') {
    const half = value.bytes.length / 2;
    const parts = [value.bytes.subarray(0, half), value.bytes.subarray(half)].map(bytes =>
      floatOf({ bytes }),
    );
    return parts
      .map(part => (part === undefined ? '?' : showFloat(part)))
      .join(' + ')
      .concat('i');
  }
  const number = integerOf(value);
  if (encoding === 'bool') return number === 0n ? 'false' : 'true';
  if (!isChar(type)) return String(number);
  return `${number} '${escaped(Uint8Array.of(Number(BigInt.asUintN(8, number))), "'")}'`;
}

const showFloat = (number: number): string => (Object.is(number, -0) ? '-0' : String(number));

function showPointer(value: Value, read: Read): string {
  const at = integerOf(value);
  const hex = `0x${BigInt.asUintN(64, at).toString(16)}`;
  if (value.type.kind !== 'pointer' || at === 0n || !isText(value.type.to())) return hex;
  const bytes: number[] = [];
  for (let i = 0n; bytes.length < TEXT_MAX; i++) {
    const [byte] = read(at + i, 1) ?? [];
    if (byte === undefined) return hex;
    if (byte === 0) return `${hex} ${quoted(Uint8Array.from(bytes))}`;
    bytes.push(byte);
  }
  return `${hex} ${quoted(Uint8Array.from(bytes))}...`;
}

const isChar = (type: Type): boolean =>
  type.kind === 'base' && (type.encoding === 'signed char' || type.encoding === 'unsigned char');

const isText = (type: Type): boolean => isChar(type) && type.bytes === 1;

/** Up to the first NUL, in quotes. */
function quoted(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  const text = end < 0 ? bytes : bytes.subarray(0, end);
  return `"${escaped(text.subarray(0, TEXT_MAX), '"')}"${text.length > TEXT_MAX ? '...' : ''}`;
}

function escaped(bytes: Uint8Array, quote: string): string {
  let out = '';
  for (const byte of bytes) {
    const c = String.fromCharCode(byte);
    if (c === quote || c === '\\') out += `\\${c}`;
    else if (c === '\n') out += '\\n';
    else if (byte >= 0x20 && byte < 0x7f) out += c;
    else out += `\\x${byte.toString(16).padStart(2, '0')}`;
  }
  return out;
}
