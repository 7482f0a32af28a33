/**
 * Where a variable is: DWARF expressions (DWARF 5 §2.5, §2.6) over the registers and the memory of
 * a stopped machine, and location lists (`.debug_loc`, `.debug_loclists`, §7.7.3).
 */
import { type Addr, addrOf, Cursor } from '../base/bytes.ts';
import { addressAt, type FormContext, type Sections } from './forms.ts';

/** The state of a frame. Unknown parts are undefined. */
export interface FrameView {
  /** x0..x31 by DWARF number (psABI: x registers are 0 to 31). */
  register(n: number): bigint | undefined;
  memory(va: bigint, bytes: number): Uint8Array | undefined;
  /** Value of DW_AT_frame_base. */
  frameBase(): bigint | undefined;
  /** Canonical frame address. */
  cfa(): bigint | undefined;
}

export type Place =
  | { readonly kind: 'memory'; readonly va: bigint }
  | { readonly kind: 'register'; readonly n: number }
  /** The compiler computed it; it is stored nowhere. */
  | { readonly kind: 'value'; readonly value: bigint };

const MASK = (1n << 64n) - 1n;
const STEPS_MAX = 10_000;
const signed = (value: bigint): bigint => BigInt.asIntN(64, value);

/** Undefined: optimised out here, or of a kind that is not known. */
export function locate(
  expression: Uint8Array,
  view: FrameView,
  sections: Sections,
  unit: FormContext,
): Place | undefined {
  if (expression.length === 0) return undefined;
  const stack: bigint[] = [];
  const cursor = new Cursor(expression, 'location');
  let isValue = false;
  for (let steps = 0; cursor.at < cursor.end; steps++) {
    if (steps > STEPS_MAX || isValue) return undefined;
    const op = cursor.u8();
    if (op >= 0x50 && op <= 0x6f && cursor.at === cursor.end) return { kind: 'register', n: op - 0x50 };
    if (op === 0x90 && steps === 0) return { kind: 'register', n: cursor.uleb() };
    if (op === 0x9f) isValue = true;
    else if (op === 0x9e) {
      const at = cursor.take(cursor.uleb());
      return { kind: 'value', value: wordOf(expression.subarray(at, cursor.at)) };
    } else if (!apply(op, cursor, stack, view, sections, unit)) return undefined;
  }
  const top = stack.at(-1);
  if (top === undefined) return undefined;
  return isValue ? { kind: 'value', value: top & MASK } : { kind: 'memory', va: top & MASK };
}

/** False: the operation is not known, or one of its operands is not. */
function apply(
  op: number,
  cursor: Cursor,
  stack: bigint[],
  view: FrameView,
  sections: Sections,
  unit: FormContext,
): boolean {
  const push = (value: bigint | undefined): boolean => {
    if (value === undefined) return false;
    stack.push(value & MASK);
    return true;
  };
  const plus = (base: bigint | undefined, offset: number): boolean =>
    push(base === undefined ? undefined : base + BigInt(offset));
  if (op >= 0x30 && op <= 0x4f) return push(BigInt(op - 0x30));
  if (op >= 0x70 && op <= 0x8f) return plus(view.register(op - 0x70), cursor.sleb());
  switch (op) {
    case 0x03:
      return push(BigInt(cursor.addr()));
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
    case 0x0e:
    case 0x0f:
      return push(cursor.view.getBigInt64(cursor.take(8), true));
    case 0x10:
      return push(BigInt(cursor.uleb()));
    case 0x11:
      return push(BigInt(cursor.sleb()));
    case 0x12:
      return push(stack.at(-1));
    case 0x13:
      return stack.pop() !== undefined;
    case 0x16: {
      const [a, b] = [stack.pop(), stack.pop()];
      return push(a) && push(b);
    }
    case 0x19:
      return unary(stack, a => (signed(a) < 0n ? -a : a));
    case 0x1f:
      return unary(stack, a => -a);
    case 0x20:
      return unary(stack, a => ~a);
    case 0x23:
      return plus(stack.pop(), cursor.uleb());
    case 0x91:
      return plus(view.frameBase(), cursor.sleb());
    case 0x92:
      return plus(view.register(cursor.uleb()), cursor.sleb());
    case 0x9c:
      return push(view.cfa());
    case 0x96:
      return true;
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
  for (;;) {
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
  for (;;) {
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
}

/** The offset of list `index` behind DW_FORM_loclistx. */
export function loclistOffset(sections: Sections, unit: FormContext, base: number, index: number): number {
  const cursor = new Cursor(sections.loclists, '.debug_loclists');
  cursor.seek(base + index * unit.offsetSize);
  return base + (unit.offsetSize === 8 ? cursor.u64() : cursor.u32());
}
