// Calls from one module into another. Each module has a table of its own with the functions of the
// entry points that it calls outside; a link of an entry point that is not compiled, or was
// dropped, holds the interpreter's `jump`, which looks the target up in the jump cache.
//
// The problem: a call through `dispatch` costs a second jump between instances, 4 to 6 % of a
// program that calls small functions of other modules. The trick is a table for each caller, which
// is filled from outside. Why it is right: V8 keeps an instance alive while a table refers to its
// functions, and every such link is set back to `jump` when the module of the callee goes.

import type { CompiledModule, EntryPoint } from './entry-points.ts';
import type { CompiledEntry, SlotTable } from './slots.ts';

export class Links {
  readonly #jump: CompiledEntry;
  readonly #slots: SlotTable;

  /** `jump`: see RegionSlow. */
  constructor(jump: CompiledEntry, slots: SlotTable) {
    this.#jump = jump;
    this.#slots = slots;
  }

  /** A module was compiled: fills its table, whose links all hold `jump`. */
  add(module: CompiledModule): void {
    for (const [index, callee] of module.callees.entries()) {
      callee.callers.set(module, index);
      const isLinked = callee.module && !callee.module.parked;
      if (isLinked) set(module, index, this.#slots.get(callee.slot));
    }
  }

  /** A module was dropped. Code of it that still runs calls through `jump` from now on. */
  remove(module: CompiledModule): void {
    for (const [index, callee] of module.callees.entries()) {
      callee.callers.delete(module);
      set(module, index, this.#jump);
    }
  }

  /** The entry point was compiled, or linked again: its callers reach it directly. */
  connect({ callers }: EntryPoint, region: CompiledEntry): void {
    for (const [module, index] of callers) set(module, index, region);
  }

  /** Its code was dropped or unlinked. */
  disconnect(entry: EntryPoint): void {
    this.connect(entry, this.#jump);
  }
}

const set = ({ links }: CompiledModule, index: number, region: CompiledEntry): void =>
  links!.set(index, region as never);
