// Machines of one shape share the interpreter's module; any other shape has a module of its own.
import { expect, test } from 'vitest';
import type { InterpOptions } from '../../emulator/engine/interp/interp.ts';
import { interpreterModule } from '../../emulator/engine/interp/module.ts';

const SHAPE: InterpOptions = {
  ram: { hostBase: 1 << 25, base: 0x8000_0000, bytes: 1 << 27 },
  codeMap: 1 << 20,
  memoryPages: 4096,
  dirty: { dirtyCount: 1 << 21, dirtyList: 1 << 22 },
};
const retired = { low: 0x8020_0000n, bytes: 4096, base: 1 << 23, runs: 1 << 24, gate: undefined };

test('one shape, one module', () => {
  const module = interpreterModule(SHAPE);
  expect(interpreterModule({ ...SHAPE, ram: { ...SHAPE.ram } })).toBe(module);
  const others: Partial<InterpOptions>[] = [
    { ram: { ...SHAPE.ram, hostBase: 1 << 26 } },
    { dirty: { dirtyCount: 1 << 21, dirtyList: 1 << 23 } },
    { names: true },
    { regions: { jumpCache: 1 << 20, jumpCacheMask: 4095 } },
    { retired },
    { retired: { ...retired, low: 0x8020_1000n } },
  ];
  const modules = others.map(other => interpreterModule({ ...SHAPE, ...other }));
  expect(new Set([module, ...modules]).size).toBe(others.length + 1);
});

test('few modules are kept, the ones used last', () => {
  const shape = (bytes: number): InterpOptions => ({ ...SHAPE, ram: { ...SHAPE.ram, bytes } });
  const [first, second] = [interpreterModule(shape(1 << 20)), interpreterModule(shape(1 << 21))];
  interpreterModule(shape(1 << 22));
  expect(interpreterModule(shape(1 << 20))).toBe(first);
  for (let bits = 23; bits < 30; bits++) interpreterModule(shape(2 ** bits));
  expect(interpreterModule(shape(1 << 20))).toBe(first);
  expect(interpreterModule(shape(1 << 21))).not.toBe(second);
});
