// A program of system calls: the input that the fuzzer makes, executes, keeps and changes.
// Arguments hold values and no types; a call and its description are read side by side.
import type { Fault } from '../../emulator/index.ts';
import { type CallType, type Direction, fits, type Resource, type Type } from '../language/types.ts';

export type Arg =
  /**
   * A number: int, const, flags, len, a resource that no call has made, or a pointer that leads
   * nowhere useful. Masked to its width.
   */
  | { kind: 'int'; value: bigint }
  /** A resource that an earlier call has made: what it returned (0), or the n-th that it stored. */
  | { kind: 'ref'; call: number; out: number; value: bigint }
  /** Absent: NULL. */
  | { kind: 'pointer'; to: Arg | undefined }
  | { kind: 'bytes'; data: Uint8Array }
  | { kind: 'group'; items: Arg[] }
  /** A page of the zone for mappings. */
  | { kind: 'vma'; page: number };

export interface Call {
  readonly type: CallType;
  args: Arg[];
  /** The n-th allocation of the call fails; 0: none does. */
  failNth: number;
  /** The one that makes it. The second begins when the first comes to a call with 1 or 2. */
  thread: 0 | 1 | 2;
}

/** The order of the two threads. */
export interface CallOrder {
  /** As the configuration of a campaign has it. */
  readonly order: string;
  readonly seed: bigint;
}

export interface Program {
  readonly calls: Call[];
  /** Of a program with calls of the second thread. */
  schedule?: CallOrder | undefined;
  /** Of devices; events count from the start of the program. Absent: there are none. */
  faults?: readonly Fault[] | undefined;
}

export const isRace = ({ calls }: Program): boolean => calls.some(({ thread }) => thread === 2);

/** Most calls of a program. */
export const CALLS_MAX = 24;
/** Pages of the zone for mappings. */
export const VMA_PAGES = 64;

export const mask = (value: bigint, width: number): bigint => BigInt.asUintN(8 * width, value);

/** A place of a call that holds an argument. */
export interface Place {
  readonly type: Type;
  readonly arg: Arg;
  /** Of the memory that holds it; registers are `in`. */
  readonly direction: Direction;
  /** Of the call's arguments. */
  readonly index: number;
  replace(arg: Arg): void;
}

/** Visits every argument of a call, containers before what they contain. */
export function visit(call: Call, see: (place: Place) => void): void {
  const go = (type: Type, arg: Arg, direction: Direction, index: number, replace: (a: Arg) => void): void => {
    see({ type, arg, direction, index, replace });
    if (arg.kind === 'pointer' && type.kind === 'pointer' && arg.to)
      go(type.to, arg.to, type.direction, index, to => {
        arg.to = to;
      });
    else if (arg.kind === 'group')
      for (const [i, item] of arg.items.entries())
        go(itemType(type, i), item, direction, index, a => {
          arg.items[i] = a;
        });
  };
  for (const [i, field] of call.type.args.entries())
    go(field.type, call.args[i]!, 'in', i, a => {
      call.args[i] = a;
    });
}

/** Of the i-th item of a struct or an array. */
export function itemType(type: Type, i: number): Type {
  if (type.kind === 'array') return type.of;
  if (type.kind === 'struct') return type.struct.fields[i]!.type;
  throw new Error(`${type.kind} has no items`);
}

/** The resources that a call makes: what it returns, if anything, then those that it stores. */
export function made(call: Call): { out: number; resource: Resource }[] {
  const all = call.type.returns ? [{ out: 0, resource: call.type.returns }] : [];
  let out = 0;
  visit(call, ({ type, direction }) => {
    if (type.kind === 'resource' && direction !== 'in') all.push({ out: ++out, resource: type.resource });
  });
  return all;
}

/** The resources that fit, of calls before `before`. */
export function madeBefore(
  { calls }: Program,
  before: number,
  wanted: Resource,
): { call: number; out: number }[] {
  const found: { call: number; out: number }[] = [];
  for (let call = 0; call < before; call++)
    for (const { out, resource } of made(calls[call]!)) if (fits(resource, wanted)) found.push({ call, out });
  return found;
}

export function copyArg(arg: Arg): Arg {
  switch (arg.kind) {
    case 'pointer':
      return { kind: 'pointer', to: arg.to && copyArg(arg.to) };
    case 'bytes':
      return { kind: 'bytes', data: arg.data.slice() };
    case 'group':
      return { kind: 'group', items: arg.items.map(copyArg) };
    default:
      return { ...arg };
  }
}

export const copyCall = ({ args, ...call }: Call): Call => ({ ...call, args: args.map(copyArg) });
export const copyProgram = ({ calls, ...rest }: Program): Program => ({
  ...rest,
  calls: calls.map(copyCall),
});

/**
 * References of calls from `from` on to call n become references to call `at(n)`; undefined: they
 * become the usual value.
 */
export function redirect(
  calls: readonly Call[],
  from: number,
  at: (call: number) => number | undefined,
): void {
  for (const call of calls.slice(from))
    visit(call, ({ arg, replace }) => {
      if (arg.kind !== 'ref') return;
      const to = at(arg.call);
      if (to === undefined) replace({ kind: 'int', value: arg.value });
      else arg.call = to;
    });
}

/** Takes a call out; what it made is replaced by the usual value. */
export function removeCall(program: Program, index: number): void {
  program.calls.splice(index, 1);
  redirect(program.calls, index, call => (call === index ? undefined : call > index ? call - 1 : call));
}

/** A reference to what no call makes any more becomes the usual value. */
export function dropDangling(program: Program): void {
  const counts = program.calls.map(call => {
    let outs = 0;
    visit(call, ({ type, direction }) => {
      if (type.kind === 'resource' && direction !== 'in') outs++;
    });
    return outs;
  });
  for (const call of program.calls)
    visit(call, ({ arg, replace }) => {
      if (arg.kind === 'ref' && arg.out > counts[arg.call]!) replace({ kind: 'int', value: arg.value });
    });
}

/** Makes room for calls in front of call `index`. */
export function insertCalls(program: Program, index: number, calls: readonly Call[]): void {
  redirect(program.calls, index, call => (call >= index ? call + calls.length : call));
  program.calls.splice(index, 0, ...calls);
}

/** Bytes of an argument in memory. */
export function sizeOf(type: Type, arg: Arg): number {
  if (arg.kind === 'bytes') return arg.data.length;
  if (arg.kind === 'group')
    return arg.items.reduce((sum, item, i) => sum + sizeOf(itemType(type, i), item), 0);
  switch (type.kind) {
    case 'int':
    case 'const':
    case 'flags':
    case 'len':
      return type.width;
    case 'resource':
      return type.resource.width;
    default:
      return 8;
  }
}

/** Sets every len and count to what is true. */
export function setLengths(call: Call): void {
  const among = (fields: readonly { name: string; type: Type }[], args: readonly Arg[]): void => {
    for (const [i, { type }] of fields.entries()) {
      const arg = args[i]!;
      if (type.kind === 'len' && arg.kind === 'int') {
        const at = fields.findIndex(({ name }) => name === type.of);
        const value = lengthOf(fields[at]!.type, args[at]!, type.unit);
        arg.value = mask(BigInt(value), type.width);
      }
      inside(type, arg);
    }
  };
  const inside = (type: Type, arg: Arg): void => {
    if (type.kind === 'pointer' && arg.kind === 'pointer' && arg.to) inside(type.to, arg.to);
    else if (type.kind === 'struct' && arg.kind === 'group') among(type.struct.fields, arg.items);
    else if (type.kind === 'array' && arg.kind === 'group')
      for (const item of arg.items) inside(type.of, item);
  };
  among(call.type.args, call.args);
}

/**
 * Sets the lengths of exact calls to what is true. False: a pointer of such a call leads nowhere,
 * so the program must not be executed.
 */
export function keepExact({ calls }: Program): boolean {
  for (const { type, args } of calls) {
    if (!type.isExact) continue;
    for (const [i, { type: own }] of type.args.entries()) {
      const arg = args[i]!;
      if (own.kind === 'pointer' && !(arg.kind === 'pointer' && arg.to)) return false;
      if (own.kind !== 'len' || arg.kind !== 'int') continue;
      const at = type.args.findIndex(({ name }) => name === own.of);
      arg.value = mask(BigInt(lengthOf(type.args[at]!.type, args[at]!, own.unit)), own.width);
    }
  }
  return true;
}

function lengthOf(type: Type, arg: Arg, unit: 'bytes' | 'items'): number {
  if (type.kind === 'pointer' && arg.kind === 'pointer') return arg.to ? lengthOf(type.to, arg.to, unit) : 0;
  return unit === 'items' && arg.kind === 'group' ? arg.items.length : sizeOf(type, arg);
}
