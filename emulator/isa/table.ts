// The instruction table: all rows, their dense numbers and the `Mnemonic` union that every engine
// must cover. The order only fixes `op`, which is never stored outside one process.
//
// One row, one behaviour: a new instruction is a row in one of the tables and an entry in the
// engine's semantics.

import { OPERANDS, type RegisterClass } from './fields.ts';
import type { Row } from './row.ts';
import { TABLE_B } from './table-b.ts';
import { TABLE_CBO } from './table-cbo.ts';
import { TABLE_FD } from './table-fd.ts';
import { TABLE_I } from './table-i.ts';
import { TABLE_MA } from './table-ma.ts';
import { TABLE_SYSTEM } from './table-system.ts';
import { TABLE_ZF } from './table-zf.ts';

const ALL = [
  ...TABLE_I,
  ...TABLE_MA,
  ...TABLE_FD,
  ...TABLE_B,
  ...TABLE_ZF,
  ...TABLE_CBO,
  ...TABLE_SYSTEM,
] as const;

export type Mnemonic = (typeof ALL)[number]['name'];

/** The register file of each operand; undefined = the instruction has no such operand. */
export interface Registers {
  readonly rd: RegisterClass | undefined;
  readonly rs1: RegisterClass | undefined;
  readonly rs2: RegisterClass | undefined;
  readonly rs3: RegisterClass | undefined;
}

export interface TableRow extends Row<Mnemonic> {
  /** Dense number, from 1; 0 means "not decoded". */
  readonly op: number;
  /** Fixed bits and their values, both uint32. */
  readonly mask: number;
  readonly match: number;
  readonly regs: Registers;
  /** Names an f register, so FS must not be Off. */
  readonly isFloat: boolean;
}

/** The fixed bits of a drawn pattern. */
export function fixedBits(pattern: string): { mask: number; match: number } {
  let mask = 0;
  let match = 0;
  for (const c of pattern) {
    mask = mask * 2 + (c === '0' || c === '1' ? 1 : 0);
    match = match * 2 + (c === '1' ? 1 : 0);
  }
  return { mask, match };
}

function registersOf(row: Row): Registers {
  const of = (slot: 'rd' | 'rs1' | 'rs2' | 'rs3'): RegisterClass | undefined => {
    const field = row.format.operands.map(name => OPERANDS[name]!).find(f => f.slots.includes(slot));
    return field?.kind === 'x' || field?.kind === 'f' ? field.kind : undefined;
  };
  return { rd: of('rd'), rs1: of('rs1'), rs2: of('rs2'), rs3: of('rs3') };
}

/** All rows; `ROWS[i].op === i + 1`. */
export const ROWS: readonly TableRow[] = ALL.map((row, index) => ({
  ...row,
  ...fixedBits(row.pattern),
  op: index + 1,
  regs: registersOf(row),
  isFloat: Object.values(registersOf(row)).includes('f'),
}));

/** One more than the largest `op`: the length of an array indexed by it. */
export const OP_COUNT = ROWS.length + 1;

/** The number of each mnemonic. */
export const OP = Object.fromEntries(ROWS.map(row => [row.name, row.op])) as Readonly<
  Record<Mnemonic, number>
>;

/** The row of an `op`; undefined for 0. */
export const rowOf = (op: number): TableRow => ROWS[op - 1]!;

export const rowNamed = (name: Mnemonic): TableRow => ROWS[OP[name] - 1]!;
