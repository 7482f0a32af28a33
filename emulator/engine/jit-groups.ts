// Range-check groups: accesses of one block off the same value of the same base register, close together, share one
// translation probe (docs/jit.md). Stack frames and structs are made of these.
//
// The probe only looks at the TLB: it never faults, fills an entry or touches a device. When it fails (the range crosses a
// page, is not in the TLB, is a device) each access does its own full check, so a group can only save work. Its host address stays
// right to the end of the block: whatever changes translations ends the region.

import type { Insn } from '../isa/index.ts';
import { rowOf } from '../isa/index.ts';

export interface Group {
  /** Position within the block; names the local. */
  readonly number: number;
  /** Displacement of the first byte from the base register. */
  low: number;
  /** Displacement behind the last byte. */
  high: number;
  /** Needs write permission. */
  writes: boolean;
  /** Index in the block of its first access, where the probe is made. */
  readonly first: number;
  members: number;
}

/** Widest group in bytes. */
const SPAN = 512;

/** The group of each instruction of a block, or undefined where it makes its own probe. */
export function findGroups(insns: readonly { readonly insn: Insn }[]): (Group | undefined)[] {
  const groups: (Group | undefined)[] = insns.map(() => undefined);
  /** Open group by base register. */
  const open = new Map<number, Group>();
  let count = 0;
  for (const [i, { insn }] of insns.entries()) {
    const row = rowOf(insn.op);
    const { kind, bytes } = row.mem;
    if (kind === 'load' || kind === 'store') {
      const group = open.get(insn.rs1);
      const low = Math.min(group?.low ?? insn.imm, insn.imm);
      const high = Math.max(group?.high ?? insn.imm + bytes, insn.imm + bytes);
      if (group && high - low <= SPAN) {
        group.low = low;
        group.high = high;
        group.writes ||= kind === 'store';
        group.members++;
        groups[i] = group;
      } else {
        const fresh = {
          number: count++,
          low: insn.imm,
          high: insn.imm + bytes,
          writes: kind === 'store',
          first: i,
          members: 1,
        };
        open.set(insn.rs1, fresh);
        groups[i] = fresh;
      }
    }
    if (writesX(insn)) open.delete(insn.rd);
  }
  return groups.map(group => (group && group.members > 1 ? group : undefined));
}

const writesX = (insn: Insn): boolean =>
  insn.rd !== 0 && rowOf(insn.op).format.operands[0]?.startsWith('f') !== true;
