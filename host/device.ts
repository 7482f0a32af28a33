// Loads a device of the user's own: one TypeScript file, outside of the product. esbuild strips the
// types; the code runs in a realm of its own that has no clock, no randomness and no modules, so
// that a device can only do what its context offers (emulator/bus/define.ts).
import { createHash } from 'node:crypto';
import { SourceMap } from 'node:module';
import { basename } from 'node:path';
import vm from 'node:vm';
import { checkDefinition, type DeviceDefinition, defineDevice, KcovboxError } from '../emulator/index.ts';
import { readInput } from './input.ts';

export interface LoadedDevice {
  readonly path: string;
  readonly definition: DeviceDefinition;
  readonly params: Readonly<Record<string, string>>;
  /** SHA-256 of the file: part of the run's description. */
  readonly sha256: string;
}

/** Milliseconds that the file itself may take to run. */
const LOAD_MS = 2_000;
/** Module names for `import { defineDevice } from`. */
const MODULES = ['kcovbox', 'kcovbox/device'];

const refused = (why: string): KcovboxError => new KcovboxError('input', why);

/** `./mydev.ts,depth=8,name=x` as a path and parameters. */
export function splitDevice(text: string): { path: string; params: Record<string, string> } {
  const [path = '', ...rest] = text.split(',');
  const params: Record<string, string> = {};
  for (const part of rest) {
    const at = part.indexOf('=');
    if (at <= 0) throw refused(`device ${path}: "${part}" is not NAME=VALUE`);
    params[part.slice(0, at)] = part.slice(at + 1);
  }
  return { path, params };
}

/** The file as a script that fills in `module.exports`. */
async function translate(path: string, source: string): Promise<{ code: string; map: SourceMap }> {
  const esbuild = await import('esbuild').catch(() => {
    throw refused(
      `device ${path}: it needs esbuild, which is not installed; run npm install esbuild@0.28.2 once`,
    );
  });
  const common = { loader: 'ts', sourcefile: path, target: 'es2022', logLevel: 'silent' } as const;
  try {
    const { code } = await esbuild.transform(source, { ...common, format: 'esm' });
    // esbuild prints statements of the module at the first column; the default export is one.
    const [, exported] = /^ {2}(\w+) as default/m.exec(code) ?? [];
    const variables = [...code.matchAll(/^(?:let|var) (\w+)/gm)].map(([, name]) => name);
    const variable = variables.find(name => name !== exported);
    if (variable !== undefined)
      throw refused(`device ${path}: variable ${variable} is outside of "state", where no snapshot finds it`);
    const script = await esbuild.transform(source, { ...common, format: 'cjs', sourcemap: 'external' });
    return { code: script.code, map: new SourceMap(JSON.parse(script.map)) };
  } catch (error) {
    const [first] = (error as { errors?: { text: string; location?: { line: number } }[] }).errors ?? [];
    if (first) throw refused(`device ${path}:${first.location?.line ?? 0}: ${first.text}`);
    throw error;
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

/** The first line of an error inside the device's code, with the line of its file. */
function describeError(path: string, map: SourceMap, error: unknown): KcovboxError {
  const { message = String(error), stack = '' } = (error ?? {}) as { message?: string; stack?: string };
  const place = new RegExp(`${basename(path).replace(/\W/g, '\\$&')}:(\\d+)(?::(\\d+))?`).exec(stack);
  const found = place ? map.findEntry(Number(place[1]) - 1, Number(place[2] ?? 1) - 1) : undefined;
  const line = found && 'originalLine' in found ? Number(found.originalLine) + 1 : undefined;
  return refused(`device ${path}${line === undefined ? '' : `:${line}`}: ${message.split('\n')[0]}`);
}

/**
 * Loads `PATH[,NAME=VALUE...]`. Errors: KcovboxError with the file, and the line where there is
 * one.
 */
export async function loadDevice(text: string): Promise<LoadedDevice> {
  const { path, params } = splitDevice(text);
  const bytes = readInput(path, 'device');
  const { code, map } = await translate(path, new TextDecoder().decode(bytes));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const module = { exports: {} as { default?: unknown } };
  const require = (name: string): unknown => {
    if (MODULES.includes(name)) return { defineDevice };
    throw refused(`device ${path}: it imports ${name}; a device can import nothing but kcovbox`);
  };
  try {
    const script = new vm.Script(`"use strict";${code}`, { filename: path });
    const context = realm();
    Object.assign(context, { module, exports: module.exports, require });
    script.runInContext(context, { timeout: LOAD_MS });
    return { path, params, sha256, definition: checkDefinition(module.exports.default) };
  } catch (error) {
    if (error instanceof KcovboxError) throw error;
    throw describeError(path, map, error);
  }
}
