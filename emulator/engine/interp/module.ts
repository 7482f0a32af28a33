// The compiled interpreter. Its code depends on where things lie in memory alone, so machines of
// one shape share it: emitting it takes 50 ms, and code that V8 has optimised for one machine
// serves the next one from its first instruction on.

import { buildInterpreter, type InterpOptions } from './interp.ts';

/**
 * Shapes that are kept: with and without counters, with few and many harts, two sizes of RAM. They
 * come in turn where a class is judged; one that does not fit would drop each before its next use.
 */
const KEPT = 8;

/** By what `buildInterpreter` gets; the last one was used last. */
const modules = new Map<string, WebAssembly.Module>();

/**
 * A copy with nothing but what the code depends on: `buildInterpreter` sees what the key covers.
 */
function shapeOf(options: InterpOptions): InterpOptions {
  const { ram, dirty, regions, retired } = options;
  return {
    ...options,
    ram: { hostBase: ram.hostBase, base: ram.base, bytes: ram.bytes },
    dirty: { dirtyCount: dirty.dirtyCount, dirtyList: dirty.dirtyList },
    ...(regions && {
      regions: {
        jumpCache: regions.jumpCache,
        jumpCacheMask: regions.jumpCacheMask,
        unitsAt: regions.unitsAt,
      },
    }),
    ...(retired && { retired: { ...retired } }),
  };
}

const keyOf = (shape: InterpOptions): string =>
  JSON.stringify(shape, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value));

export function interpreterModule(options: InterpOptions): WebAssembly.Module {
  const shape = shapeOf(options);
  const key = keyOf(shape);
  const module = modules.get(key) ?? new WebAssembly.Module(buildInterpreter(shape));
  modules.delete(key);
  modules.set(key, module);
  for (const oldest of modules.keys()) {
    if (modules.size <= KEPT) break;
    modules.delete(oldest);
  }
  return module;
}
