// Range-check groups: accesses of one block off the same value of the same base register, close
// together, share one translation probe (docs/jit.md). Accesses to stack frames and structs form
// such groups. The probe only reads the TLB: it never faults, fills an entry or accesses a device.
// If it fails (the range crosses a page, is not in the TLB, or is a device), each access does its
// own full check, so a group can only save work. Its host address is valid to the end of the block,
// because a change of translations ends the region.

import type { Insn } from '../../../isa/index.ts';
import { rowOf } from '../../../isa/index.ts';

export interface Group {
  /** Displacement of the first byte from the base register. */
  low: number;
  /** Displacement after the last byte. */
  high: number;
  /** Needs write permission. */
  writes: boolean;
  /** Index in the block of its first access, where the probe is made. */
  readonly first: number;
  /** Index of its last access. */
  last: number;
  members: number;
  /** Number of the page cache for its probe; see `assignCaches`. */
  cache?: number;
}

/** Widest group in bytes. */
const SPAN = 512;

/**
 * The group of each instruction of a block, or undefined if it makes its own probe. `storesOnly`: a
 * load's own TLB probe costs no more than reading the group's cached result.
 */
export function findGroups(
  insns: readonly { readonly insn: Insn }[],
  storesOnly: boolean,
): (Group | undefined)[] {
  const groups: (Group | undefined)[] = insns.map(() => undefined);
  /** Open group by base register. */
  const open = new Map<number, Group>();
  for (const [i, { insn }] of insns.entries()) {
    const row = rowOf(insn.op);
    const { kind, bytes } = row.mem;
    if (kind === 'store' || (kind === 'load' && !storesOnly)) {
      const group = open.get(insn.rs1);
      const low = Math.min(group?.low ?? insn.imm, insn.imm);
      const high = Math.max(group?.high ?? insn.imm + bytes, insn.imm + bytes);
      if (group && high - low <= SPAN) {
        group.low = low;
        group.high = high;
        group.writes ||= kind === 'store';
        group.last = i;
        group.members++;
        groups[i] = group;
      } else {
        const fresh = {
          low: insn.imm,
          high: insn.imm + bytes,
          writes: kind === 'store',
          first: i,
          last: i,
          members: 1,
        };
        open.set(insn.rs1, fresh);
        groups[i] = fresh;
      }
    }
    if (writesX(insn)) open.delete(insn.rd);
  }
  return groups;
}

/** Page caches of a region: more would cost registers. */
const CACHES = 8;

/** A block, reduced to its accesses. */
export interface AccessBlock {
  readonly insns: readonly { readonly insn: Insn }[];
  readonly inLoop: boolean;
  readonly groups: (Group | undefined)[];
}

/**
 * The x registers that loops load from memory: an address computed from one depends on the previous
 * access.
 */
export function loadedInLoops(blocks: readonly AccessBlock[]): ReadonlySet<number> {
  const loaded = new Set<number>();
  for (const { insns, inLoop } of blocks)
    if (inLoop)
      for (const { insn } of insns)
        if (rowOf(insn.op).mem.kind === 'load' && writesX(insn)) loaded.add(insn.rd);
  return loaded;
}

/**
 * Gives the groups inside loops a *page cache*: two locals with the page of the last probe and its
 * host address, so that a loop over an array probes the TLB once per page. A base register in
 * `loaded` (a linked list) gets none. The cache is valid as long as the region runs: translations
 * change, and pages become code, only outside regions. Single accesses without a cache make their
 * own probe: their group becomes undefined.
 */
export function assignCaches(blocks: readonly AccessBlock[], loaded: ReadonlySet<number>): void {
  let count = 0;
  for (const { insns, inLoop, groups } of blocks)
    for (const [i, group] of groups.entries()) {
      if (!group) continue;
      if (group.first === i && inLoop && count < CACHES && !loaded.has(insns[i]!.insn.rs1))
        group.cache = count++;
      if (group.members === 1 && group.cache === undefined) groups[i] = undefined;
    }
}

const writesX = (insn: Insn): boolean =>
  insn.rd !== 0 && rowOf(insn.op).format.operands[0]?.startsWith('f') !== true;
