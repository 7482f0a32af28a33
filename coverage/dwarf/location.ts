/**
 * Where a variable is: DWARF expressions (DWARF 5 §2.5, §2.6) over the registers and the memory of
 * a stopped machine, and location lists (`.debug_loc`, `.debug_loclists`, §7.7.3).
 */
import { type Addr, addrOf, Cursor } from '../base/bytes.ts';
import { addressAt, type FormContext, type Sections } from './forms.ts';

/** The state of a frame. Unknown parts are undefined. */
export interface FrameView {
  /** By DWARF number: x0..x31 are 0 to 31, f0..f31 are 32 to 63 (psABI). */
  register(n: number): bigint | undefined;
  memory(va: bigint, bytes: number): Uint8Array | undefined;
  /** Value of DW_AT_frame_base. */
  frameBase(): bigint | undefined;
  /** Canonical frame address. */
  cfa(): bigint | undefined;
}

export type Place =
  | { readonly kind: 'memory'; readonly va: bigint }
  /** By DWARF number: x registers are 0 to 31, f registers 32 to 63 (psABI). */
  | { readonly kind: 'register'; readonly n: number }
  /** The compiler computed it; it is stored nowhere. */
  | { readonly kind: 'value'; readonly value: bigint }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  /** Parts of it are at different places, one behind the other. */
  | { readonly kind: 'pieces'; readonly pieces: readonly Piece[] };

export interface Piece {
  readonly bytes: number;
  /** Undefined: optimised out. */
  readonly place: Place | undefined;
}

/** The parts of the file that an expression refers to. */
export interface LocationContext {
  readonly sections: Sections;
  readonly unit: FormContext;
  /** The integer type whose entry is at this offset of the unit; undefined for other types. */
  integer(offset: number): { readonly bytes: number; readonly isSigned: boolean } | undefined;
}

const MASK = (1n << 64n) - 1n;
/** Operations of one expression; it may jump back. */
const STEPS_MAX = 10_000;
const PIECES_MAX = 256;
/** Entries of a list that are looked at. */
const LIST_MAX = 10_000;
const signed = (value: bigint): bigint => BigInt.asIntN(64, value);

/** Undefined: optimised out here, or of a kind that is not known. */
export function locate(expression: Uint8Array, view: FrameView, context: LocationContext): Place | undefined {
  const cursor = new Cursor(expression, 'location');
  const budget = { steps: STEPS_MAX };
  const pieces: Piece[] = [];
  while (cursor.at < cursor.end) {
    const simple = locateSimple(cursor, budget, view, context);
    if (simple === 'unknown') return undefined;
    if (cursor.at === cursor.end && pieces.length === 0) return simple;
    if (cursor.at === cursor.end || cursor.u8() !== OP_PIECE || pieces.length >= PIECES_MAX) return undefined;
    pieces.push({ bytes: cursor.uleb(), place: simple });
  }
  return pieces.length > 0 ? joined(pieces) : undefined;
}

const OP_PIECE = 0x93;

/** Clang describes each part of a variable that it once took apart, even where it is whole. */
function joined(pieces: readonly Piece[]): Place {
  const first = pieces[0]!.place;
  let at = first?.kind === 'memory' ? first.va : undefined;
  for (const { place, bytes } of pieces) {
    if (at === undefined || !Number.isSafeInteger(bytes) || place?.kind !== 'memory' || place.va !== at)
      return { kind: 'pieces', pieces };
    at = (at + BigInt(bytes)) & MASK;
  }
  return first!;
}

/** One location, up to the end or to DW_OP_piece; undefined: it is empty. */
function locateSimple(
  cursor: Cursor,
  budget: { steps: number },
  view: FrameView,
  context: LocationContext,
): Place | undefined | 'unknown' {
  const stack: bigint[] = [];
  const start = cursor.at;
  const isOver = (): boolean => cursor.at === cursor.end || cursor.bytes[cursor.at] === OP_PIECE;
  while (!isOver()) {
    if (budget.steps-- <= 0) return 'unknown';
    const isFirst = cursor.at === start;
    const op = cursor.u8();
    if (op >= 0x50 && op <= 0x6f && isFirst && isOver()) return { kind: 'register', n: op - 0x50 };
    if (op === 0x90 && isFirst) return { kind: 'register', n: cursor.uleb() };
    if (op === 0x9f) {
      const value = stack.at(-1);
      return value === undefined || !isOver() ? 'unknown' : { kind: 'value', value };
    }
    if (op === 0x9e) {
      const at = cursor.take(cursor.uleb());
      return { kind: 'bytes', bytes: cursor.bytes.subarray(at, cursor.at) };
    }
    if (!apply(op, cursor, stack, view, context)) return 'unknown';
  }
  if (cursor.at === start) return undefined;
  const va = stack.at(-1);
  return va === undefined ? 'unknown' : { kind: 'memory', va };
}

/** False: the operation is not known, or one of its operands is not. */
function apply(
  op: number,
  cursor: Cursor,
  stack: bigint[],
  view: FrameView,
  { sections, unit, integer }: LocationContext,
): boolean {
  const push = (value: bigint | undefined): boolean => {
    if (value === undefined) return false;
    stack.push(value & MASK);
    return true;
  };
  const plus = (base: bigint | undefined, offset: bigint): boolean =>
    push(base === undefined ? undefined : base + offset);
  if (op >= 0x30 && op <= 0x4f) return push(BigInt(op - 0x30));
  if (op >= 0x70 && op <= 0x8f) return plus(view.register(op - 0x70), cursor.leb64(true));
  switch (op) {
    case 0x03:
    case 0x0e:
    case 0x0f:
      return push(cursor.view.getBigInt64(cursor.take(8), true));
    case 0xa1:
      return push(BigInt(addressAt(sections, unit, cursor.uleb())));
    case 0x06:
      return push(load(view, stack.pop(), 8));
    case 0x94:
      return push(load(view, stack.pop(), cursor.u8()));
    case 0x08:
      return push(BigInt(cursor.u8()));
    case 0x09:
      return push(BigInt(cursor.i8()));
    case 0x0a:
      return push(BigInt(cursor.u16()));
    case 0x0b:
      return push(BigInt((cursor.u16() << 16) >> 16));
    case 0x0c:
      return push(BigInt(cursor.u32()));
    case 0x0d:
      return push(BigInt(cursor.u32() | 0));
    case 0x10:
      return push(cursor.leb64(false));
    case 0x11:
      return push(cursor.leb64(true));
    case 0x12:
      return push(stack.at(-1));
    case 0x13:
      return stack.pop() !== undefined;
    case 0x14:
      return push(stack.at(-2));
    case 0x15:
      return push(stack.at(-1 - cursor.u8()));
    case 0x16: {
      const [a, b] = [stack.pop(), stack.pop()];
      return push(a) && push(b);
    }
    case 0x17: {
      const [a, b, c] = [stack.pop(), stack.pop(), stack.pop()];
      return push(a) && push(c) && push(b);
    }
    case 0x19:
      return unary(stack, a => (signed(a) < 0n ? -a : a));
    case 0x1f:
      return unary(stack, a => -a);
    case 0x20:
      return unary(stack, a => ~a);
    case 0x23:
      return plus(stack.pop(), cursor.leb64(false));
    case 0x28: {
      const condition = stack.pop();
      const by = (cursor.u16() << 16) >> 16;
      if (condition) cursor.seek(cursor.at + by);
      return condition !== undefined;
    }
    case 0x2f: {
      const by = (cursor.u16() << 16) >> 16;
      cursor.seek(cursor.at + by);
      return true;
    }
    case 0x91:
      return plus(view.frameBase(), cursor.leb64(true));
    case 0x92:
      return plus(view.register(cursor.uleb()), cursor.leb64(true));
    case 0x9c:
      return push(view.cfa());
    case 0x96:
      return true;
    case 0xa8: {
      // A value is kept as 64 bits, extended as its type says: another type cuts and extends again.
      const at = cursor.uleb();
      const to = at === 0 ? { bytes: 8, isSigned: false } : integer(at);
      if (!to) return false;
      return unary(stack, a =>
        to.isSigned ? BigInt.asIntN(8 * to.bytes, a) : BigInt.asUintN(8 * to.bytes, a),
      );
    }
    default:
      return binary(op, stack);
  }
}

function unary(stack: bigint[], compute: (a: bigint) => bigint): boolean {
  const a = stack.pop();
  if (a === undefined) return false;
  stack.push(compute(a) & MASK);
  return true;
}

const truth = (is: boolean): bigint => (is ? 1n : 0n);

const BINARY: Readonly<Record<number, (a: bigint, b: bigint) => bigint>> = {
  26: (a, b) => a & b,
  27: (a, b) => (b === 0n ? 0n : signed(a) / signed(b)),
  28: (a, b) => a - b,
  29: (a, b) => (b === 0n ? 0n : a % b),
  30: (a, b) => a * b,
  33: (a, b) => a | b,
  34: (a, b) => a + b,
  36: (a, b) => (b > 63n ? 0n : a << b),
  37: (a, b) => (b > 63n ? 0n : a >> b),
  38: (a, b) => signed(a) >> (b > 63n ? 63n : b),
  39: (a, b) => a ^ b,
  41: (a, b) => truth(a === b),
  42: (a, b) => truth(signed(a) >= signed(b)),
  43: (a, b) => truth(signed(a) > signed(b)),
  44: (a, b) => truth(signed(a) <= signed(b)),
  45: (a, b) => truth(signed(a) < signed(b)),
  46: (a, b) => truth(a !== b),
};

function binary(op: number, stack: bigint[]): boolean {
  const compute = BINARY[op];
  const [b, a] = [stack.pop(), stack.pop()];
  if (!compute || a === undefined || b === undefined) return false;
  stack.push(compute(a, b) & MASK);
  return true;
}

const load = (view: FrameView, va: bigint | undefined, bytes: number): bigint | undefined => {
  const data = va === undefined || bytes > 8 ? undefined : view.memory(va, bytes);
  return data?.length === bytes ? wordOf(data) : undefined;
};

/** Little-endian, at most eight bytes. */
export function wordOf(bytes: Uint8Array): bigint {
  let value = 0n;
  for (let i = Math.min(bytes.length, 8) - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[i]!);
  return value;
}

/** The expression of a list that is valid at `pc`. `base`: low_pc of the unit. */
export function fromList4(
  sections: Sections,
  offset: number,
  pc: bigint,
  base: Addr,
): Uint8Array | undefined {
  const cursor = new Cursor(sections.loc, '.debug_loc');
  cursor.seek(offset);
  const at = addrOf(pc);
  for (let n = 0; n < LIST_MAX; n++) {
    const low = cursor.addr();
    const high = cursor.addr();
    if (low === 0 && high === 0) return undefined;
    if (low === -1) {
      base = high;
      continue;
    }
    const start = cursor.take(cursor.u16());
    if (at >= base + low && at < base + high) return cursor.bytes.subarray(start, cursor.at);
  }
  return undefined;
}

/** The same of DWARF 5. */
export function fromList5(
  sections: Sections,
  unit: FormContext,
  offset: number,
  pc: bigint,
  base: Addr,
): Uint8Array | undefined {
  const cursor = new Cursor(sections.loclists, '.debug_loclists');
  cursor.seek(offset);
  const at = addrOf(pc);
  const indexed = (): Addr => addressAt(sections, unit, cursor.uleb());
  const expression = (): Uint8Array => {
    const start = cursor.take(cursor.uleb());
    return cursor.bytes.subarray(start, cursor.at);
  };
  let fallback: Uint8Array | undefined;
  for (let n = 0; n < LIST_MAX; n++) {
    let [low, high] = [0, 0];
    switch (cursor.u8()) {
      case 0:
        return fallback;
      case 1:
        base = indexed();
        continue;
      case 2:
        low = indexed();
        high = indexed();
        break;
      case 3:
        low = indexed();
        high = low + cursor.uleb();
        break;
      case 4:
        low = base + cursor.uleb();
        high = base + cursor.uleb();
        break;
      case 5:
        fallback = expression();
        continue;
      case 6:
        base = cursor.addr();
        continue;
      case 7:
        low = cursor.addr();
        high = cursor.addr();
        break;
      case 8:
        low = cursor.addr();
        high = low + cursor.uleb();
        break;
      default:
        return undefined;
    }
    const found = expression();
    if (at >= low && at < high) return found;
  }
  return undefined;
}

/** The offset of list `index` behind DW_FORM_loclistx. */
export function loclistOffset(sections: Sections, unit: FormContext, base: number, index: number): number {
  const cursor = new Cursor(sections.loclists, '.debug_loclists');
  cursor.seek(base + index * unit.offsetSize);
  return base + (unit.offsetSize === 8 ? cursor.u64() : cursor.u32());
}
