// Jump tables: the possible targets of a computed jump of a `switch`, predicted from the
// instructions before it. Compilers load the target, or its distance, from a table at a constant
// address, indexed by a scaled number that was compared with the table's size.
//
// A prediction only selects blocks for the region: the jump compares its target with them, so a
// wrong prediction is harmless.

import type { Insn } from '../../../isa/index.ts';

/** Reads tables; displacements are from the region's entry. */
export interface TableReader {
  /** 32 bits, signed; undefined if they cannot be read without side effects. */
  word(at: number): number | undefined;
  /** An address of 64 bits as a displacement; undefined likewise, or when it is far away. */
  pointer(at: number): number | undefined;
}

/** The number of instructions before the jump that are examined. */
const LOOK_BACK = 16;
/** Maximum number of entries of a table. */
const ENTRIES = 64;

/**
 * The possible targets of the `jalr x0` that ends `insns`, in order and without repetitions; empty
 * when it is not recognised. `insns` are the instructions before it in the order of the text,
 * itself last; `isNear` bounds the function.
 */
export function jumpTargets(
  insns: readonly { readonly at: number; readonly insn: Insn }[],
  read: TableReader,
  isNear: (at: number) => boolean,
): number[] {
  const text = insns.slice(-LOOK_BACK);
  const jump = text.length - 1;
  const definition = (register: number, before: number): number => {
    for (let i = before - 1; i >= 0; i--)
      if (text[i]!.insn.rd === register && !isBranch(text[i]!.insn)) return i;
    return -1;
  };
  /** The displacement that `auipc` and `addi` put into a register. */
  const constant = (register: number, before: number): number | undefined => {
    const low = definition(register, before);
    if (low < 0 || text[low]!.insn.name !== 'addi') return undefined;
    const high = definition(text[low]!.insn.rs1, low);
    if (high < 0 || text[high]!.insn.name !== 'auipc') return undefined;
    return text[high]!.at + text[high]!.insn.imm + text[low]!.insn.imm;
  };
  let at = definition(text[jump]!.insn.rs1, jump);
  if (at < 0) return [];
  // The distance form adds the table's address to the loaded word.
  const isDistance = text[at]!.insn.name === 'add';
  if (isDistance) {
    const { rs1, rs2 } = text[at]!.insn;
    const [a, b] = [definition(rs1, at), definition(rs2, at)];
    at = a >= 0 && text[a]!.insn.name === 'lw' ? a : b;
    if (at < 0) return [];
  }
  const load = text[at]!.insn;
  if (load.name !== (isDistance ? 'lw' : 'ld')) return [];
  const sum = definition(load.rs1, at);
  if (sum < 0 || !SUMS.has(text[sum]!.insn.name)) return [];
  const { rs1, rs2 } = text[sum]!.insn;
  const table = constant(rs2, sum) ?? constant(rs1, sum);
  if (table === undefined) return [];
  const targets = new Set<number>();
  const limit = entriesOf(text);
  for (let i = 0; i < limit; i++) {
    const entry = isDistance ? read.word(table + load.imm + 4 * i) : read.pointer(table + load.imm + 8 * i);
    if (entry === undefined) break;
    const target = isDistance ? table + entry : entry;
    if ((target & 1) !== 0 || !isNear(target)) break;
    targets.add(target);
  }
  return [...targets].sort((a, b) => a - b);
}

const SUMS = new Set(['add', 'sh2add', 'sh3add']);
const isBranch = (insn: Insn): boolean => insn.name.startsWith('b') && insn.rd === 0;

/** Entries of the table, from the comparison with a small constant before the jump. */
function entriesOf(text: readonly { readonly insn: Insn }[]): number {
  for (let i = text.length - 1; i >= 0; i--) {
    const { insn } = text[i]!;
    if (insn.name !== 'bltu' && insn.name !== 'bgeu') continue;
    for (let j = i - 1; j >= 0; j--) {
      const { name, rd, rs1, imm } = text[j]!.insn;
      if (name === 'addi' && rs1 === 0 && (rd === insn.rs1 || rd === insn.rs2) && imm > 0 && imm < ENTRIES)
        return imm + 1;
    }
    break;
  }
  return ENTRIES;
}
