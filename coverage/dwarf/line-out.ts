/**
 * Line programs that are written again, for images of which only files and lines are of interest:
 * as DWARF 4 (§6.2), without columns and discriminators, which are a quarter of them.
 */
import { CoverageError } from '../base/bytes.ts';
import { Bytes } from './bytes-out.ts';
import type { Sections } from './forms.ts';
import {
  allLineTables,
  type LineRow,
  type LineTable,
  ROW_BASIC_BLOCK,
  ROW_END_SEQUENCE,
  ROW_EPILOGUE_BEGIN,
  ROW_IS_STMT,
  ROW_PROLOGUE_END,
} from './line.ts';

const VERSION = 4;
/** Special opcodes (§6.2.5.1): lines from LINE_BASE on, LINE_RANGE of them. */
const LINE_BASE = -5;
const LINE_RANGE = 13;
/** Operands of the standard opcodes, from DW_LNS_copy on. */
const OPERANDS = [0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1];
const OPCODE_BASE = OPERANDS.length + 1;
const DW_LNS = {
  copy: 1,
  advance_pc: 2,
  advance_line: 3,
  set_file: 4,
  negate_stmt: 6,
  set_basic_block: 7,
  set_prologue_end: 10,
  set_epilogue_begin: 11,
  set_isa: 12,
} as const;
const DW_LNE_END_SEQUENCE = 1;
const DW_LNE_SET_ADDRESS = 2;

/** The registers at the beginning of a sequence (§6.2.2). */
const START = { address: 0, line: 1, file: 1, isa: 0, flags: ROW_IS_STMT };
type Registers = Pick<LineRow, 'address' | 'line' | 'file' | 'isa' | 'flags'>;

/** In the place of names that nobody asks for, so that the numbers of the others stay. */
const UNUSED = '?';

/**
 * `named`: by the place of a program in the section, the numbers of the files that entries of
 * .debug_info name; rows name others. `offsets`: of each program, the place in the old section and
 * in the new one.
 */
export function writeLinePrograms(
  sections: Sections,
  named: ReadonlyMap<number, ReadonlySet<number>>,
): {
  readonly line: Uint8Array;
  readonly offsets: ReadonlyMap<number, number>;
} {
  const out = new Bytes();
  const offsets = new Map<number, number>();
  for (const { offset, table } of allLineTables(sections)) {
    if (table.version > VERSION)
      throw new CoverageError(`.debug_line: version ${table.version} is not written again`);
    offsets.set(offset, out.length);
    writeProgram(out, table, named.get(offset) ?? new Set());
  }
  return { line: out.take(), offsets };
}

function writeProgram(out: Bytes, table: LineTable, named: ReadonlySet<number>): void {
  const start = out.length;
  const rows = Array.from({ length: table.rows.count }, (_, i) => table.row(i));
  // Instructions of RISC-V have an even address.
  const unit = rows.every(({ address }) => address % 2 === 0) ? 2 : 1;
  out.u32(0); // unit_length
  out.u16(VERSION);
  out.u32(0); // header_length
  out.u8(unit);
  for (const field of [1, 1, LINE_BASE & 0xff, LINE_RANGE, OPCODE_BASE, ...OPERANDS]) out.u8(field);
  writeNames(out, table, new Set([...named, ...rows.map(({ file }) => file)]));
  out.set32(start + 6, out.length - start - 10);
  let state: Registers = START;
  for (const row of rows) state = writeRow(out, row, state, unit);
  out.set32(start, out.length - start - 4);
}

/** Directories and files, both counted from 1. `used`: files. */
function writeNames(out: Bytes, { header }: LineTable, used: ReadonlySet<number>): void {
  const files = header.files.slice(0, Math.max(0, ...used));
  const usedDirs = new Set(files.flatMap(({ dir }, i) => (used.has(i + 1) ? [dir] : [])));
  const dirs = header.dirs.slice(0, Math.max(0, ...usedDirs));
  for (const [i, dir] of dirs.entries()) out.text(usedDirs.has(i + 1) ? dir : UNUSED);
  out.u8(0);
  for (const [i, { name, dir }] of files.entries()) {
    const isUsed = used.has(i + 1);
    out.text(isUsed ? name : UNUSED);
    // Its time and size are not known.
    for (const field of [isUsed ? dir : 0, 0, 0]) out.uleb(field);
  }
  out.u8(0);
}

/** From the registers of the row before to this one; the registers behind it. */
function writeRow(out: Bytes, row: LineRow, before: Registers, unit: number): Registers {
  const { flags } = row;
  if (before === START || row.address < before.address) {
    out.u8(0);
    out.uleb(9);
    out.u8(DW_LNE_SET_ADDRESS);
    out.u64(BigInt(row.address));
    before = { ...before, address: row.address };
  }
  if (row.file !== before.file) {
    out.u8(DW_LNS.set_file);
    out.uleb(row.file);
  }
  if (row.isa !== before.isa) {
    out.u8(DW_LNS.set_isa);
    out.uleb(row.isa);
  }
  if ((flags ^ before.flags) & ROW_IS_STMT) out.u8(DW_LNS.negate_stmt);
  if (flags & ROW_BASIC_BLOCK) out.u8(DW_LNS.set_basic_block);
  if (flags & ROW_PROLOGUE_END) out.u8(DW_LNS.set_prologue_end);
  if (flags & ROW_EPILOGUE_BEGIN) out.u8(DW_LNS.set_epilogue_begin);
  const lines = row.line - before.line;
  const units = (row.address - before.address) / unit;
  if (flags & ROW_END_SEQUENCE) {
    advance(out, lines, units);
    for (const byte of [0, 1, DW_LNE_END_SEQUENCE]) out.u8(byte);
    return START;
  }
  const special = OPCODE_BASE + lines - LINE_BASE + LINE_RANGE * units;
  if (lines >= LINE_BASE && lines < LINE_BASE + LINE_RANGE && special <= 0xff) out.u8(special);
  else {
    advance(out, lines, units);
    out.u8(DW_LNS.copy);
  }
  return row;
}

function advance(out: Bytes, lines: number, units: number): void {
  if (lines !== 0) {
    out.u8(DW_LNS.advance_line);
    out.sleb(lines);
  }
  if (units !== 0) {
    out.u8(DW_LNS.advance_pc);
    out.uleb(units);
  }
}
