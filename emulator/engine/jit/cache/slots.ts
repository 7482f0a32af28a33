// The table of compiled entry points: one slot for each, taken when it is compiled. A region that
// has read a slot from the jump cache may use it after it was emptied, so it then holds a stub.
//
// Only the interpreter's instance imports the table; computed calls reach it through the functions
// `dispatch` and `jump`, and other calls have links (links.ts). The problem: V8 keeps every
// instance that imports a table alive as long as the table, copies the table for each, and updates
// all copies when a slot changes. The trick is one more jump between modules. Why it is right: an
// instance without the table is referred to by its slots and by links alone, so emptying them
// frees it (test/engine/code-cache.test.ts), and filling a slot costs the same however many there
// are.

import { PC } from '../../../hart/layout.ts';
import { ModuleBuilder } from '../../../wasm/module.ts';
import { REGION_PARAMS, REGION_RESULTS } from '../emit/entry.ts';

/** No slot: slots count from 1. */
export const NO_SLOT = 0;

/** A compiled entry point as JavaScript sees it; it is only stored in the table. */
export type CompiledEntry = NonNullable<unknown>;

export class SlotTable {
  readonly table: WebAssembly.Table;
  readonly #stub: CompiledEntry;
  readonly #capacity: number;
  readonly #free: number[] = [];
  /** Slots from here on were never used. */
  #next = 1;

  /** `capacity`: the largest number of slots in use. */
  constructor(memory: WebAssembly.Memory, capacity: number) {
    this.#stub = makeStub(memory);
    this.#capacity = capacity;
    const size = capacity + 1;
    this.table = new WebAssembly.Table({ element: 'anyfunc', initial: size, maximum: size }, this.#stub);
  }

  get taken(): number {
    return this.#next - 1 - this.#free.length;
  }

  get available(): number {
    return this.#capacity - this.taken;
  }

  /** A free slot, which holds the stub, or NO_SLOT. */
  take(): number {
    if (this.#free.length > 0) return this.#free.pop()!;
    return this.#next <= this.#capacity ? this.#next++ : NO_SLOT;
  }

  /** Frees a slot that is no longer referenced. */
  give(slot: number): void {
    this.clear(slot);
    this.#free.push(slot);
  }

  get(slot: number): CompiledEntry {
    return this.table.get(slot) as CompiledEntry;
  }

  set(slot: number, region: CompiledEntry): void {
    this.table.set(slot, region as never);
  }

  clear(slot: number): void {
    this.set(slot, this.#stub);
  }
}

/**
 * Returns PC, which the caller has set to its target: execution continues there in the interpreter.
 */
function makeStub(memory: WebAssembly.Memory): CompiledEntry {
  const m = new ModuleBuilder();
  m.importMemory('env', 'memory', { min: 1 });
  const stub = m.func(REGION_PARAMS, REGION_RESULTS, 'stub');
  stub.code.i32_const(0).i64_load(PC).local_get(stub.params[1]);
  m.export('stub', 'func', stub.index);
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(m.finish()), { env: { memory } });
  return exports['stub'] as CompiledEntry;
}
