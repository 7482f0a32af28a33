// The registers that a region keeps in locals, and the points where they must be loaded and stored.
//
// Two bit masks per point of the program, one bit per register (x in one 32-bit mask, f in
// another):
//   live   backward: the register may be read before it is written on some path inside the region,
//          so its local must hold the value. At the region's entry these are loaded; exits need
//          none of them.
//   dirty  forward: the local may differ from the window. At an exit these are stored.
// A call of another region is an exit and an entry at once: dirty registers are stored, live ones
// reloaded.

import { OPERANDS } from '../../../isa/fields.ts';
import { type Insn, ROWS } from '../../../isa/index.ts';
import type { Block } from './region.ts';
import type { Structure } from './structure.ts';

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

/** By op: the operand slots that name a register, and its file. */
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

/**
 * A call of another region ends the block: everything dirty is stored before it, everything live
 * loaded after it.
 */
export const isCall = (block: Block): boolean =>
  block.end.kind === 'call' || block.end.kind === 'callIndirect';

interface Facts {
  /** Registers that the block reads before it writes them. */
  readonly reads: Mask;
  readonly writes: Mask;
}

function factsOf(block: Block): Facts {
  const reads = { x: 0, f: 0 };
  const writes = { x: 0, f: 0 };
  for (const { insn } of block.insns) {
    const use = usage(insn);
    reads.x |= use.reads.x & ~writes.x;
    reads.f |= use.reads.f & ~writes.f;
    writes.x |= use.writes.x;
    writes.f |= use.writes.f;
  }
  if (block.end.kind === 'inline') {
    const { call } = block.end;
    reads.x |= call.reads & ~writes.x;
    writes.x |= call.writes;
  }
  return { reads, writes };
}

/** Forward: registers that may differ from the window at the start of each block. */
function dirtyAtStart({ order, next }: Structure, written: readonly Mask[]): Mask[] {
  const dirty = order.map(() => ({ x: 0, f: 0 }));
  for (let changed = true; changed; ) {
    changed = false;
    for (const [i, block] of order.entries()) {
      if (isCall(block)) continue; // stored before the call
      for (const to of next[i]!) {
        const target = dirty[to]!;
        const x = target.x | dirty[i]!.x | written[i]!.x;
        const f = target.f | dirty[i]!.f | written[i]!.f;
        if (x === target.x && f === target.f) continue;
        target.x = x;
        target.f = f;
        changed = true;
      }
    }
  }
  return dirty;
}

/**
 * Backward: registers that must be valid at the start of each block. Any block may leave and then
 * stores all registers that may be dirty. So a register that is dirty on one path into a block
 * counts as read by it: on the other paths it must have been loaded.
 */
function liveAtStart({ order, next }: Structure, facts: readonly Facts[], dirty: readonly Mask[]): Mask[] {
  const live = order.map(() => ({ x: 0, f: 0 }));
  for (let changed = true; changed; ) {
    changed = false;
    for (let i = order.length - 1; i >= 0; i--) {
      const { reads, writes } = facts[i]!;
      let { x, f } = { x: 0, f: 0 };
      if (!isCall(order[i]!)) {
        for (const to of next[i]!) {
          x |= live[to]!.x;
          f |= live[to]!.f;
        }
      }
      x = reads.x | dirty[i]!.x | (x & ~writes.x);
      f = reads.f | dirty[i]!.f | (f & ~writes.f);
      if (x === live[i]!.x && f === live[i]!.f) continue;
      live[i]!.x = x;
      live[i]!.f = f;
      changed = true;
    }
  }
  return live;
}

/**
 * Solves both problems for a region. After an exit, the next code reads registers from the window.
 * `writesThrough`: every x register is also stored to the window when it is written, so none is
 * ever dirty.
 */
export function planRegisters(shape: Structure, writesThrough = false): RegisterPlan {
  const facts = shape.order.map(factsOf);
  const written = facts.map(({ writes: { x, f } }) => ({ x: writesThrough ? 0 : x, f }));
  const dirtyIn = dirtyAtStart(shape, written);
  const liveIn = liveAtStart(shape, facts, dirtyIn);
  const used = { x: 0, f: 0 };
  for (const { reads, writes } of facts) {
    used.x |= reads.x | writes.x;
    used.f |= reads.f | writes.f;
  }
  return { liveIn, dirtyIn, used };
}
