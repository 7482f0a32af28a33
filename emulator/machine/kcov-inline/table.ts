// The kernel's announcement of its coverage hooks (devices/kcov.ts), and the code of the hooks
// (kernel/kcov/hooks.S).

import { CTX, HOOK, RECORD, REG } from '../../../devices/kcov-layout.ts';
import type { MakeRecord } from '../../../devices/kcov-ring.ts';
import { encode } from '../../isa/index.ts';
import type { RecordTally } from './tally.ts';

export interface HookTable {
  /** Address of each hook by kind: 0 = pc, then cmp1..8, const_cmp1..8, switch. */
  readonly addresses: readonly bigint[];
  /** Bytes from tp to the pointer to the live context. */
  readonly liveOffset: number;
  /** Address of the variable that holds the device's virtual address. */
  readonly baseVar: bigint;
  /** Kernel virtual = physical + this, for RAM and the device. */
  readonly kvaOffset: bigint;
  /** Physical address of the hart blocks: one for each hart, CURRENT first. */
  readonly harts: number;
  /** Physical address of the device. */
  readonly device: bigint;
  /** Mode of the running hart's context (RECORD), 0 = none. */
  mode(): number;
  /** Makes each record, if present, or those that `tally` does not take: `KcovHooks.report`. */
  readonly report?: MakeRecord;
  readonly tally?: RecordTally | undefined;
}

/** The kernel's virtual address of the device, signed. */
export const deviceVa = ({ device, kvaOffset }: HookTable): bigint => BigInt.asIntN(64, device + kvaOffset);

export const RA = 1;
export const TP = 4;
export const T0 = 5;
export const T1 = 6;
export const A0 = 10;
export const A1 = 11;

/**
 * Displacement of the stub's `ret`; the operands are two stores. Behind it lies what to do without
 * a device.
 */
export const retOf = (kind: number): number => 4 * (8 + (kind === HOOK.PC ? 1 : 3));
/** A stub that records retires everything up to its `ret`; the call itself is not counted. */
export const retiredRecording = (kind: number): number => retOf(kind) / 4 + 1;
/**
 * Displacements behind the branch to `ret` without a live context, and with one whose mode is
 * another.
 */
export const BEHIND_OFF = 8;
export const BEHIND_OTHER = 20;

const isImmediate = (value: number): boolean => value >= -2048 && value < 2048;

/**
 * All instructions of the stub of a kind up to its `ret`, as they must lie in memory; undefined
 * when no stub can be like that.
 */
export function stubWords(kind: number, table: HookTable): readonly number[] | undefined {
  const { liveOffset, baseVar } = table;
  const ret = retOf(kind);
  const toBase = Number(BigInt.asIntN(64, baseVar - (table.addresses[kind]! + 20n)));
  if (!isImmediate(liveOffset) || toBase !== (toBase | 0)) return undefined;
  const low = (toBase << 20) >> 20;
  const kinds = kind === HOOK.PC ? RECORD.ANY_PC : RECORD.ANY_CMP;
  const operands = [
    encode('sd', { rs1: T1, rs2: A0, imm: REG.ARG0 }),
    encode('sd', { rs1: T1, rs2: A1, imm: REG.ARG1 }),
  ];
  return [
    encode('ld', { rd: T0, rs1: TP, imm: liveOffset }),
    encode('beq', { rs1: T0, rs2: 0, imm: ret - 4 }),
    encode('lw', { rd: T1, rs1: T0, imm: CTX.MODE }),
    encode('andi', { rd: T1, rs1: T1, imm: kinds }),
    encode('beq', { rs1: T1, rs2: 0, imm: ret - 16 }),
    encode('auipc', { rd: T1, imm: (toBase - low) | 0 }),
    encode('ld', { rd: T1, rs1: T1, imm: low }),
    encode('beq', { rs1: T1, rs2: 0, imm: ret + 4 - 28 }),
    ...(kind === HOOK.PC ? [] : operands),
    encode('sd', { rs1: T1, rs2: RA, imm: REG.TRIGGER + 8 * kind }),
    encode('jalr', { rd: 0, rs1: RA, imm: 0 }),
  ];
}
