// Loads a device of the user's own: one TypeScript or JavaScript file, outside of the product.
// Sucrase strips the types; the code runs in a realm of its own that has no clock, no randomness
// and no modules, so that a device can only do what its context offers (emulator/bus/define.ts).
import { basename } from 'node:path';
import vm from 'node:vm';
import { transform } from 'sucrase';
import {
  checkDefinition,
  type DeviceDefinition,
  defineDevice,
  HostError,
  KcovboxError,
  paramsOf,
  repeatedMacro,
} from '../emulator/index.ts';
import { sha256 } from '../toolchain/index.ts';
import { splitDevice } from './device-text.ts';
import { decodeText, readInput } from './input.ts';

export interface LoadedDevice {
  readonly path: string;
  readonly definition: DeviceDefinition;
  readonly params: Readonly<Record<string, string>>;
  /** SHA-256 of the file: part of the run's description. */
  readonly sha256: string;
}

/** Milliseconds that the file itself may take to run. */
const LOAD_MS = 2_000;
/** For `import { defineDevice } from`: library/device.ts, of which nothing else is a value here. */
const MODULE = 'kcovbox/device';

const refused = (why: string): KcovboxError => new KcovboxError('input', why);

/**
 * The file as a script that fills in `module.exports`: types, imports and exports are rewritten,
 * and every line stays where it is. Errors: KcovboxError with the line.
 */
function translate(path: string, source: string): string {
  if (/\.[ch]$/.test(path))
    throw refused(`device ${path} is C: a device is a .ts or .js file, and its driver belongs to --driver`);
  const isPlain = /\.[cm]?js$/.test(path);
  try {
    return transform(source, {
      transforms: isPlain ? ['imports'] : ['typescript', 'imports'],
      disableESTransforms: true,
      preserveDynamicImport: true,
      production: true,
    }).code;
  } catch (error) {
    const { message, loc } = error as { message: string; loc?: { line: number } };
    throw refused(`device ${path}:${loc?.line ?? 1}: ${message.replace(/ \(\d+:\d+\)$/, '')}`);
  }
}

/**
 * A realm with the language and nothing of the host; what would make two runs differ is missing.
 */
function realm(): vm.Context {
  const context = vm.createContext(Object.create(null), {
    codeGeneration: { strings: false, wasm: false },
    microtaskMode: 'afterEvaluate',
  });
  vm.runInContext(
    'delete Math.random; for (const name of ["Date", "WeakRef", "FinalizationRegistry", "Atomics"]) delete globalThis[name];',
    context,
  );
  return context;
}

/** Arrays and objects, with all that they hold. Functions and typed arrays stay as they are. */
function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value))
    return;
  Object.freeze(value);
  for (const inner of Object.values(value)) freeze(inner);
}

/**
 * A variable of the file, or an object that it changes later, would be memory that no snapshot has:
 * the former is refused, constants are frozen. The realm itself tells what the words of the file
 * are: assigning to a constant, and to what only functions know, throws.
 */
function closeModule(path: string, source: string, context: vm.Context, known: ReadonlySet<string>): void {
  for (const name of new Set(source.match(/[A-Za-z_$][\w$]*/g))) {
    if (known.has(name) || name === 'this') continue; // the realm itself
    const evaluate = (text: string): unknown => {
      try {
        return vm.runInContext(`"use strict"; ${text}`, context);
      } catch {
        return undefined; // a reserved word, an unknown name, or a constant
      }
    };
    // A word of a comment, say: the realm's accessor, which can be assigned to.
    if (name === '__proto__' && evaluate('__proto__ === Object.getPrototypeOf(globalThis)') === true)
      continue;
    freeze(evaluate(name));
    // Declared functions can be assigned to as well; nobody does.
    const isVariable = `${name} = ${name}; !/^(async )?(function|class)\\b/.test(String(${name}))`;
    if (evaluate(isVariable) === true)
      throw refused(`device ${path}: variable ${name} is outside of "state", where no snapshot finds it`);
  }
}

/** Without the word that the path follows: "device x: why", "the device is not an object". */
const withoutDevice = (message: string): string =>
  message.replace(/^device:? /, '').replace(/^the device is/, 'it exports no definition: its default is');

/** The first line of an error inside the device's code, with the line of its file. */
function describeError(path: string, error: unknown): KcovboxError {
  const { message = String(error), stack = '' } = (error ?? {}) as { message?: string; stack?: string };
  const place = new RegExp(`${basename(path).replace(/\W/g, '\\$&')}(:\\d+)`).exec(stack);
  return refused(`device ${path}${place?.[1] ?? ''}: ${message.split('\n')[0]}`);
}

/**
 * Loads `PATH[,NAME=VALUE...]`. Errors: KcovboxError with the file, and the line where there is
 * one.
 */
export function loadDevice(text: string): LoadedDevice {
  const { path, params } = splitDevice(text);
  return loadDeviceBytes(path, readInput(path, 'device'), params);
}

/** The same of bytes that the caller has; `path` is for messages. */
export function loadDeviceBytes(
  path: string,
  bytes: Uint8Array,
  params: Readonly<Record<string, string>> = {},
): LoadedDevice {
  const source = decodeText(bytes, path, 'device');
  const code = translate(path, source);
  const hash = sha256(bytes);
  const module = { exports: {} as { default?: unknown } };
  const require = (name: string): unknown => {
    if (name === MODULE) return { defineDevice };
    throw refused(`device ${path}: it imports ${name}; a device can import nothing but ${MODULE}`);
  };
  try {
    const script = new vm.Script(code, { filename: path });
    const context = realm();
    Object.assign(context, { module, exports: module.exports, require });
    const known = new Set(vm.runInContext('Object.getOwnPropertyNames(globalThis)', context) as string[]);
    script.runInContext(context, { timeout: LOAD_MS });
    closeModule(path, source, context, known);
    const definition = checkDefinition(module.exports.default);
    paramsOf(definition, params); // refuses names and values
    const macro = repeatedMacro(definition);
    if (macro !== undefined)
      throw refused(
        `device ${path}: its header would have ${macro} twice: rename a register, field or value`,
      );
    return { path, params, sha256: hash, definition };
  } catch (error) {
    if (error instanceof HostError)
      throw describeError(path, { message: withoutDevice(error.message), stack: error.stack });
    if (error instanceof KcovboxError) throw error;
    throw describeError(path, error);
  }
}
