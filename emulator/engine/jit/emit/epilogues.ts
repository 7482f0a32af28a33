// The ends of a region. Exits with the same set of dirty registers share two pieces of code, which
// store these registers. One returns to the caller; the other goes on in the region at the new pc,
// if there is one, by a tail call. The latter is for a region that ends because it is long enough,
// and for a return without a caller in WebAssembly. The problem: the dispatcher would find the same
// region, but each caller would have returned to it, and would be entered again through it, in the
// middle of its function. Why it is right: the pc is even, so nothing comes before its instruction,
// and the next region checks its code and the countdown like after any call.

import { PC } from '../../../hart/layout.ts';
import type { CodeWriter, I32, I64, Label, Local } from '../../../wasm/module.ts';
import type { Mask } from '../region/registers.ts';

interface Epilogue {
  readonly mask: Mask;
  readonly back: Label;
  readonly onward: Label;
  goesOnward: boolean;
}

/** The parts of a region that the code of its exits uses. */
export interface Exit {
  /** Set by those who branch here. */
  readonly pc: Local<I64>;
  readonly count: Local<I32>;
  readonly depth: Local<I32>;
  /** Function index: see Linker. */
  readonly jump: number;
  /** Stores registers to the window. */
  spill(mask: Mask): void;
}

export class Epilogues {
  readonly #c: CodeWriter;
  readonly #all = new Map<string, Epilogue>();

  /** Opens the blocks, around all of the body. */
  constructor(c: CodeWriter, masks: Iterable<Mask>) {
    this.#c = c;
    for (const mask of masks) {
      const key = keyOf(mask);
      if (this.#all.has(key)) continue;
      const onward = c.block();
      this.#all.set(key, { mask, onward, back: c.block(), goesOnward: false });
    }
  }

  /** Returns pc and count. */
  back(mask: Mask): Label {
    return this.#all.get(keyOf(mask))!.back;
  }

  /** Goes on at pc, which is even. */
  onward(mask: Mask): Label {
    const epilogue = this.#all.get(keyOf(mask))!;
    epilogue.goesOnward = true;
    return epilogue.onward;
  }

  /** Closes the blocks, from the innermost; every path through the body has branched. */
  write({ pc, count, depth, jump, spill }: Exit): void {
    const c = this.#c;
    for (const { mask, goesOnward } of [...this.#all.values()].reverse()) {
      c.end();
      spill(mask);
      c.local_get(pc).local_get(count).return_().end();
      if (!goesOnward) continue;
      spill(mask);
      c.i32_const(0).local_get(pc).i64_store(PC);
      c.local_get(depth).local_get(count).return_call(jump);
    }
    c.unreachable();
  }
}

const keyOf = ({ x, f }: Mask): string => `${x},${f}`;
