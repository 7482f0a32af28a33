// The WebAssembly writer: every kind of section and encoding, proven by instantiating and running
// the result.

import { describe, expect, test } from 'vitest';
import { F64, I32, I64, ModuleBuilder } from '../../emulator/wasm/module.ts';

type Exports = Record<string, (...args: never[]) => unknown>;

function instantiate(m: ModuleBuilder, imports: WebAssembly.Imports = {}): Exports {
  const bytes = m.finish({ names: true });
  return new WebAssembly.Instance(new WebAssembly.Module(bytes), imports).exports as Exports;
}

describe('ModuleBuilder', () => {
  test('a function with locals, a loop and a hint computes a sum', () => {
    const m = new ModuleBuilder();
    const { code: c, index, params } = m.func([I32], [I32], 'sum');
    const [left] = params;
    const total = c.local(I32);
    const done = c.block();
    const again = c.loop();
    c.local_get(left).i32_eqz().br_if(done, 'unlikely');
    c.local_get(total).local_get(left).i32_add().local_set(total);
    c.local_get(left).i32_const(1).i32_sub().local_set(left).br(again);
    c.end().end().local_get(total).release(total);
    m.export('sum', 'func', index);
    const { sum } = instantiate(m) as { sum: (n: number) => number };
    expect(sum(100)).toBe(5050);
  });

  test('constants of every size keep their value', () => {
    const values = [
      0n,
      -1n,
      63n,
      64n,
      -64n,
      -65n,
      0x7fffffffn,
      -0x80000000n,
      0x80000000n,
      2n ** 63n - 1n,
      -(2n ** 63n),
    ];
    const m = new ModuleBuilder();
    for (const [i, value] of values.entries()) {
      const f = m.func([], [I64]);
      f.code.i64_const(value);
      m.export(`f${i}`, 'func', f.index);
    }
    const double = m.func([], [F64]);
    double.code.f64_const(0.1);
    m.export('double', 'func', double.index);
    const exports = instantiate(m);
    for (const [i, value] of values.entries()) expect(exports[`f${i}`]!()).toBe(value);
    expect(exports['double']!()).toBe(0.1);
  });

  test('memory operations honour offsets, widths and sign', () => {
    const memory = new WebAssembly.Memory({ initial: 1 });
    const m = new ModuleBuilder();
    m.importMemory('env', 'memory', { min: 1 });
    const f = m.func([], [I64]);
    f.code.i32_const(100).i32_const(-1).i32_store();
    f.code.i32_const(0).i64_load32_s(100).i32_const(0).i64_load8_u(103).i64_add();
    m.export('f', 'func', f.index);
    const { f: run } = instantiate(m, { env: { memory } }) as { f: () => bigint };
    expect(run()).toBe(254n);
  });

  test('br_table, imports, tables and tail calls reach their targets', () => {
    const m = new ModuleBuilder();
    const seen: number[] = [];
    const log = m.importFunction('env', 'log', [I32]);
    const table = m.table({ min: 2, max: 2 });
    const type = m.type([I32], [I32]);
    const funcs = [10, 20].map(add => {
      const f = m.func([I32], [I32], `add${add}`);
      const [value] = f.params;
      f.code.local_get(value).call(log).local_get(value).i32_const(add).i32_add();
      return f.index;
    });
    m.element(table, 0, funcs);
    const tail = m.func([I32, I32], [I32]);
    const [argument, slot] = tail.params;
    tail.code.local_get(argument).local_get(slot).return_call_indirect(type, table);
    m.export('tail', 'func', tail.index);
    const pick = m.func([I32], [I32]);
    const c = pick.code;
    const other = c.block();
    const one = c.block();
    const zero = c.block();
    c.local_get(pick.params[0]).br_table([zero, one], other);
    c.end().i32_const(100).return_();
    c.end().i32_const(101).return_();
    c.end().i32_const(-1);
    m.export('pick', 'func', pick.index);
    const exports = instantiate(m, { env: { log: (v: number) => seen.push(v) } });
    const call = (name: string, ...args: number[]) => exports[name]!(...(args as never[]));
    expect([call('tail', 1, 0), call('tail', 1, 1)]).toEqual([11, 21]);
    expect([call('pick', 0), call('pick', 1), call('pick', 7)]).toEqual([100, 101, -1]);
    expect(seen).toEqual([1, 1]);
  });

  test('an unbalanced body and a branch to a closed block are refused', () => {
    const m = new ModuleBuilder();
    const { code } = m.func([]);
    const label = code.block();
    expect(() => m.finish()).toThrow(/still open/);
    code.end();
    expect(() => code.br(label)).toThrow(/already closed/);
  });

  test('a local belongs to one owner of one function at a time, and all are given back', () => {
    const m = new ModuleBuilder();
    const { code } = m.func([I32]);
    const first = code.local(I64);
    const other = code.local(I64);
    expect(first.index).not.toBe(other.index);
    code.release(first);
    expect(() => code.local_get(first)).toThrow(/released/);
    expect(() => code.release(first)).toThrow(/released/);
    const again = code.local(I64);
    expect(again.index).toBe(first.index);
    // A zeroed local is never recycled, and another type is another local.
    code.release(other);
    expect([code.zeroed(I64), code.local(I32)].map(local => local.index)).toEqual([3, 4]);
    const elsewhere = m.func([I32]).code;
    expect(() => elsewhere.local_get(again)).toThrow(/another function/);
    expect(() => m.finish()).toThrow(/3 locals still held/);
  });

  test('a scope gives its locals back together', () => {
    const m = new ModuleBuilder();
    const { code } = m.func([]);
    const scope = code.scope();
    const [a, b] = [scope.local(I32), scope.zeroed(F64)];
    scope.release();
    for (const local of [a, b]) expect(() => code.local_set(local)).toThrow(/released/);
    m.finish();
  });
});
