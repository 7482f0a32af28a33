// Which registers a region keeps in locals, where they must be loaded and where stored back.
//
// Two bit masks per point of the program, one bit per register (x in one 32-bit mask, f in another):
//   live   backward: the register may be read before it is written on some path inside the region, so its local must
//          hold the value. At the region's entry these are loaded; leaving edges need nothing.
//   dirty  forward: the local may differ from the window. At an exit these are stored.
// A call of another region is an exit and an entry at once: dirty registers are stored, live ones reloaded.

import { OPERANDS } from '../isa/fields.ts';
import { type Insn, ROWS } from '../isa/index.ts';
import { type Block, successors } from './jit-region.ts';
import type { Structure } from './jit-structure.ts';

/** Bits of x and f registers. */
export interface Mask {
  readonly x: number;
  readonly f: number;
}

export interface Usage {
  readonly reads: Mask;
  readonly writes: Mask;
}

type RegisterSlot = 'rd' | 'rs1' | 'rs2' | 'rs3';

/** By op: which slots name a register, and of which file. */
const SLOTS: readonly (readonly { slot: RegisterSlot; file: 'x' | 'f' }[])[] = [
  [],
  ...ROWS.map(row =>
    row.format.operands.flatMap(name => {
      const { kind, slots } = OPERANDS[name]!;
      return kind === 'x' || kind === 'f'
        ? slots.map(slot => ({ slot: slot as RegisterSlot, file: kind }))
        : [];
    }),
  ),
];

/** Registers that an instruction reads and writes; x0 is never among them. */
export function usage(insn: Insn): Usage {
  const reads = { x: 0, f: 0 };
  const writes = { x: 0, f: 0 };
  for (const { slot, file } of SLOTS[insn.op]!) {
    const register = insn[slot];
    const into = slot === 'rd' ? writes : reads;
    if (file === 'f' || register !== 0) into[file] |= 1 << register;
  }
  return { reads, writes };
}

export interface RegisterPlan {
  /** By block position: registers whose locals must be valid when the block begins. */
  readonly liveIn: readonly Mask[];
  /** By block position: registers that may be dirty when it begins. */
  readonly dirtyIn: readonly Mask[];
  /** Registers that are read or written anywhere. */
  readonly used: Mask;
}

const isCall = (block: Block): boolean => block.end.kind === 'call' || block.end.kind === 'callIndirect';

/** Solves both data-flow problems. `reads` of leaving edges are empty: what leaves reads the window. */
export function planRegisters(shape: Structure): RegisterPlan {
  const { order } = shape;
  const facts = order.map(block => {
    let readX = 0;
    let readF = 0;
    let writeX = 0;
    let writeF = 0;
    for (const { insn } of block.insns) {
      const { reads, writes } = usage(insn);
      readX |= reads.x & ~writeX;
      readF |= reads.f & ~writeF;
      writeX |= writes.x;
      writeF |= writes.f;
    }
    return { readX, readF, writeX, writeF };
  });
  const liveX = new Int32Array(order.length);
  const liveF = new Int32Array(order.length);
  const dirtyX = new Int32Array(order.length);
  const dirtyF = new Int32Array(order.length);
  for (let changed = true; changed; ) {
    changed = false;
    for (let i = order.length - 1; i >= 0; i--) {
      const { readX, readF, writeX, writeF } = facts[i]!;
      let x = 0;
      let f = 0;
      // After a call everything live is reloaded, so liveness stops there.
      if (!isCall(order[i]!)) {
        for (const to of successors(order[i]!)) {
          x |= liveX[to.order]!;
          f |= liveF[to.order]!;
        }
      }
      x = readX | (x & ~writeX);
      f = readF | (f & ~writeF);
      if (x !== liveX[i] || f !== liveF[i]) {
        liveX[i] = x;
        liveF[i] = f;
        changed = true;
      }
    }
  }
  for (let changed = true; changed; ) {
    changed = false;
    for (let i = 0; i < order.length; i++) {
      const { writeX, writeF } = facts[i]!;
      const clean = isCall(order[i]!);
      const x = clean ? 0 : dirtyX[i]! | writeX;
      const f = clean ? 0 : dirtyF[i]! | writeF;
      for (const to of successors(order[i]!)) {
        if ((dirtyX[to.order]! | x) === dirtyX[to.order] && (dirtyF[to.order]! | f) === dirtyF[to.order])
          continue;
        dirtyX[to.order]! |= x;
        dirtyF[to.order]! |= f;
        changed = true;
      }
    }
  }
  let usedX = 0;
  let usedF = 0;
  for (const { readX, readF, writeX, writeF } of facts) {
    usedX |= readX | writeX;
    usedF |= readF | writeF;
  }
  const masks = (xs: Int32Array, fs: Int32Array): Mask[] => order.map((_, i) => ({ x: xs[i]!, f: fs[i]! }));
  return { liveIn: masks(liveX, liveF), dirtyIn: masks(dirtyX, dirtyF), used: { x: usedX, f: usedF } };
}
