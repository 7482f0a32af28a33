// Calls from one module into another. Each module has a table of its own with the functions of the
// entry points that it calls outside; a link of an entry point that is not compiled, or was
// dropped, holds the interpreter's `jump`, which looks the target up in the jump cache.
//
// The problem: a call through `dispatch` costs a second jump between instances, 4 to 6 % of a
// program that calls small functions of other modules. The trick is a table for each caller, which
// is filled from outside. Why it is right: V8 keeps an instance alive while a table refers to its
// functions, and every such link is set back to `jump` when the module of the callee goes.

import type { EntryPoint } from './entry-points.ts';
import type { CompiledEntry } from './slots.ts';

export class Links {
  readonly #jump: CompiledEntry;

  /** `jump`: see RegionSlow. */
  constructor(jump: CompiledEntry) {
    this.#jump = jump;
  }

  /** The entry point was compiled, or linked again: its callers reach it directly. */
  connect({ callers }: EntryPoint, region: CompiledEntry): void {
    for (const [module, index] of callers) module.links!.set(index, region as never);
  }

  /** Its code was dropped or unlinked. */
  disconnect(entry: EntryPoint): void {
    this.connect(entry, this.#jump);
  }
}
