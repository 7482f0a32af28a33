// Checks of arguments at the edge of the public API. JavaScript can pass any value; without a
// check, a wrong one becomes a TypeError far from its cause, or a run that is not the one asked
// for.
import { type ErrorKind, KcovboxError } from './errors.ts';

/** The fault of a value as a clause that begins with `path`, its name; undefined if it has none. */
export type Check = (value: unknown, path: string) => string | undefined;

/** A check with one condition. `wanted` follows "expected". */
export const is =
  (wanted: string, isRight: (value: unknown) => boolean): Check =>
  (value, path) =>
    isRight(value) ? undefined : `${path} is ${shown(value)}, expected ${wanted}`;

/** A Uint8Array of this realm or another: a test runner may have its own. */
export const isBytes = (value: unknown): value is Uint8Array =>
  ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === '[object Uint8Array]';

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/** Is it an object with all these parts, its own or inherited? */
export const hasParts = (value: unknown, ...names: readonly PropertyKey[]): boolean =>
  isObject(value) && names.every(name => name in value);

export const aString = is('a string', value => typeof value === 'string');
export const aName = is(
  'a name: a string that is not empty',
  value => typeof value === 'string' && value !== '',
);
export const aBoolean = is('true or false', value => typeof value === 'boolean');
export const aBigint = is('a bigint, such as 5n', value => typeof value === 'bigint');
/** A value of 64 bits, such as a seed: a larger or negative one would be another one. */
export const aUint64 = is(
  'a bigint from 0n to 2n ** 64n - 1n, such as 5n',
  value => typeof value === 'bigint' && value === BigInt.asUintN(64, value),
);
export const aFunction = is('a function', value => typeof value === 'function');
export const anObject = is('an object', isObject);

/** The contents of a file. `what` names them: "a trace". */
export const bytesOf = (what: string): Check =>
  is(`the bytes of ${what} in a Uint8Array; readFileSync reads them from a file`, isBytes);

export const aWhole = (least: number, most = Number.MAX_SAFE_INTEGER): Check =>
  is(
    `a whole number from ${least} ${most === Number.MAX_SAFE_INTEGER ? 'on' : `to ${most}`}`,
    value => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
  );

export const oneOf = (...names: readonly (string | number)[]): Check =>
  is(`one of ${names.join(', ')}`, value => names.includes(value as string));

/** Absent is right too. */
export const optional =
  (check: Check): Check =>
  (value, path) =>
    value === undefined ? undefined : check(value, path);

export const listOf =
  (check: Check): Check =>
  (value, path) =>
    Array.isArray(value)
      ? firstOf(value, (part, i) => check(part, `${path}[${i}]`))
      : `${path} is ${shown(value)}, expected an array`;

const aRecord = is(
  'an object with names and values, such as { name: value }',
  value => isObject(value) && !(Symbol.iterator in value),
);

/** An object with any names; the entries of a Map, for example, would not be seen. */
export const recordOf =
  (check: Check): Check =>
  (value, path) =>
    aRecord(value, path) ??
    firstOf(Object.entries(value as object), ([name, part]) => check(part, `${path}.${name}`));

/** The parts of a `T` have these checks; it may have more, as an object of the caller's own has. */
export const shapeOf =
  <T>(checks: { readonly [K in keyof Required<T>]: Check }): Check =>
  (value, path) =>
    anObject(value, path) ??
    firstOf(Object.entries<Check>(checks), ([name, check]) =>
      check((value as Readonly<Record<string, unknown>>)[name], `${path}.${name}`),
    );

/** The same, and a name that `T` does not have is a mistake: options that nothing reads. */
export function optionsOf<T>(checks: { readonly [K in keyof Required<T>]: Check }): Check {
  const shape = shapeOf<T>(checks);
  return (value, path) =>
    anObject(value, path) ??
    firstOf(Object.keys(value as object), name =>
      Object.hasOwn(checks, name)
        ? undefined
        : `${path}.${name} does not exist; there are ${Object.keys(checks).join(', ')}`,
    ) ??
    shape(value, path);
}

/** An argument: its name, its value, its check. */
export type Argument = readonly [name: string, value: unknown, check: Check];

/** Throws a KcovboxError of this kind for the first wrong argument of `where`. */
export function checkArguments(kind: ErrorKind, where: string, args: readonly Argument[]): void {
  const fault = firstOf(args, ([name, value, check]) => check(value, name));
  if (fault !== undefined) throw new KcovboxError(kind, `${where}: ${fault}`);
}

function firstOf<T>(parts: readonly T[], fault: (part: T, i: number) => string | undefined) {
  for (const [i, part] of parts.entries()) {
    const found = fault(part, i);
    if (found !== undefined) return found;
  }
  return undefined;
}

const SHOWN_MAX = 40;

/** A value in a message: short, and on one line. */
function shown(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'string') {
    const text = value.length > SHOWN_MAX ? `${value.slice(0, SHOWN_MAX)}...` : value;
    return JSON.stringify(text.replace(/[\u007f-\u009f]/g, '?'));
  }
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'symbol') return 'a symbol';
  if (!isObject(value)) return String(value);
  // A missing `await` shows as "a Promise".
  const type = Object.prototype.toString.call(value).slice('[object '.length, -1);
  return type === 'Array' ? 'an array' : type === 'Object' ? 'an object' : `a value of type ${type}`;
}
