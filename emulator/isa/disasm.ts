// Text of a decoded instruction, in the spelling of llvm-objdump: ABI register names, hexadecimal
// immediates, branch targets as addresses, and the usual aliases (li, mv, ret, j, beqz, csrr).
//
// Base text comes from the format of the row; aliases are a list of conditions, tried in order.

import { hex } from '../base/bits.ts';
import { compressedRow, type Insn } from './codec.ts';
import { csrNumbered } from './csr.ts';
import { extract, OPERANDS, type Operand } from './fields.ts';
import { FLI_TEXTS } from './fli.ts';
import { type Mnemonic, rowOf } from './table.ts';

export const X_NAMES =
  'zero ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6'.split(
    ' ',
  );
export const F_NAMES = (
  'ft0 ft1 ft2 ft3 ft4 ft5 ft6 ft7 fs0 fs1 fa0 fa1 fa2 fa3 fa4 fa5 fa6 fa7 fs2 fs3 fs4 fs5 fs6 fs7 ' +
  'fs8 fs9 fs10 fs11 ft8 ft9 ft10 ft11'
).split(' ');
export const RM_NAMES = ['rne', 'rtz', 'rdn', 'rup', 'rmm', '', '', 'dyn'];

export interface DisassemblyOptions {
  /** False prints base mnemonics only, and compressed ones as `c.*`. */
  readonly aliases?: boolean;
}

/**
 * One line without address or bytes: mnemonic, a space, operands. `pc` makes branch targets
 * absolute.
 */
export function disassemble(insn: Insn, pc: bigint, options: DisassemblyOptions = {}): string {
  if (options.aliases === false)
    return insn.bytes === 2 ? compressedText(insn.word, pc) : baseText(insn, pc, true);
  if (isCompressedHint(insn)) return compressedText(insn.word, pc);
  return aliasText(insn, pc) ?? baseText(insn, pc, false);
}

const join = (name: string, operands: string): string => (operands === '' ? name : `${name} ${operands}`);

/**
 * Replaces each operand name of a format's text; an empty value also removes the comma before it.
 */
function fillIn(text: string, value: (name: string) => string): string {
  return text.replace(/(, )?([a-z][A-Za-z0-9]*)/g, (_all, comma: string | undefined, name: string) => {
    const word = name in OPERANDS ? value(name) : name;
    return word === '' ? '' : (comma ?? '') + word;
  });
}

/** fm = 8, read-write before read-write. */
const FENCE_TSO = 0x833;

function baseText(insn: Insn, pc: bigint, everyRounding: boolean): string {
  const row = rowOf(insn.op);
  if (insn.name === 'fence' && insn.imm === FENCE_TSO) return 'fence.tso'; // no operands say so
  const suffix = row.format.operands.includes('aq')
    ? ['', '.rl', '.aq', '.aqrl'][insn.aq * 2 + insn.rl]!
    : '';
  const operands = fillIn(row.format.text, name => {
    const field = OPERANDS[name]!;
    if (name === 'rm') return roundingText(insn, everyRounding);
    return operandText(field, insn[field.slots[0]!], pc);
  });
  return join(row.name + suffix, operands);
}

const EXACT: ReadonlySet<Mnemonic> = new Set(['fcvt.d.w', 'fcvt.d.wu', 'fcvt.d.s', 'fcvt.s.h', 'fcvt.d.h']);

/**
 * Conversions that are always exact print no rounding mode when it is rne; the others none when it
 * is dyn.
 */
function roundingText(insn: Insn, every: boolean): string {
  const exact = EXACT.has(insn.name);
  const silent = exact ? insn.rm === 0 : insn.rm === 7 && !every;
  return silent ? '' : RM_NAMES[insn.rm]!;
}

/**
 * A compressed form that does nothing and is not nop: printed in base form, because an alias would
 * hide the hint.
 */
function isCompressedHint(insn: Insn): boolean {
  if (insn.bytes !== 2 || insn.word === 1) return false;
  switch (insn.name) {
    case 'addi':
      return insn.rd === 0 || (insn.rd === insn.rs1 && insn.imm === 0);
    case 'slli':
    case 'srli':
    case 'srai':
      return insn.rd === 0 || insn.imm === 0;
    case 'lui':
    case 'add':
      return insn.rd === 0;
    default:
      return false;
  }
}

function compressedText(half: number, pc: bigint): string {
  const row = compressedRow(half);
  if (row === undefined) throw new Error(`half-word ${hex(half)} is not an instruction`);
  if (half === 1) return row.name; // c.nop without the operand that its hints show
  return join(
    row.name,
    fillIn(row.format.text, name => operandText(OPERANDS[name]!, extract(OPERANDS[name]!, half), pc)),
  );
}

function operandText(field: Operand, value: number, pc: bigint): string {
  switch (field.kind) {
    case 'x':
      return X_NAMES[value]!;
    case 'f':
      return F_NAMES[value]!;
    case 'offset':
      return hex(BigInt.asUintN(64, pc + BigInt(value)));
    case 'upper':
      return hex((value >>> 12) & 0xfffff);
    case 'csr':
      return csrNumbered(value)?.name ?? hex(value);
    case 'fli':
      return FLI_TEXTS[value]!;
    case 'fence':
      return `${fenceSet(value >>> 4)}, ${fenceSet(value)}`;
    default:
      return hex(value);
  }
}

/** The low four bits as letters: input, output, read, write. */
function fenceSet(bits: number): string {
  const set = ['i', 'o', 'r', 'w'].filter((_letter, index) => (bits & (8 >> index)) !== 0).join('');
  return set === '' ? '0' : set;
}

// ---- aliases ----

interface Alias {
  readonly text: string;
  readonly when: (insn: Insn) => boolean;
  readonly operands: string;
}

/** `operands` uses the format notation; an omitted `when` is always true. */
const also = (text: string, operands: string, when: (insn: Insn) => boolean = () => true): Alias => ({
  text,
  operands,
  when,
});

const isNop = (i: Insn): boolean => i.rd === 0 && i.rs1 === 0 && i.imm === 0;

const ALIASES: Partial<Record<Mnemonic, readonly Alias[]>> = {
  addi: [
    also('nop', '', isNop),
    also('li', 'rd, immI', i => i.rs1 === 0),
    also('mv', 'rd, rs1', i => i.imm === 0),
  ],
  add: [also('mv', 'rd, rs2', i => i.bytes === 2 && i.rs1 === 0)],
  xori: [also('not', 'rd, rs1', i => i.imm === -1)],
  sub: [also('neg', 'rd, rs2', i => i.rs1 === 0)],
  subw: [also('negw', 'rd, rs2', i => i.rs1 === 0)],
  addiw: [also('sext.w', 'rd, rs1', i => i.imm === 0)],
  'add.uw': [also('zext.w', 'rd, rs1', i => i.rs2 === 0)],
  sltiu: [also('seqz', 'rd, rs1', i => i.imm === 1)],
  sltu: [also('snez', 'rd, rs2', i => i.rs1 === 0)],
  slt: [also('sltz', 'rd, rs1', i => i.rs2 === 0), also('sgtz', 'rd, rs2', i => i.rs1 === 0)],
  beq: [also('beqz', 'rs1, immB', i => i.rs2 === 0)],
  bne: [also('bnez', 'rs1, immB', i => i.rs2 === 0)],
  bge: [also('blez', 'rs2, immB', i => i.rs1 === 0), also('bgez', 'rs1, immB', i => i.rs2 === 0)],
  blt: [also('bltz', 'rs1, immB', i => i.rs2 === 0), also('bgtz', 'rs2, immB', i => i.rs1 === 0)],
  jal: [also('j', 'immJ', i => i.rd === 0), also('jal', 'immJ', i => i.rd === 1)],
  jalr: [
    also('ret', '', i => i.rd === 0 && i.rs1 === 1 && i.imm === 0),
    also('jr', 'rs1', i => i.rd === 0 && i.imm === 0),
    also('jr', 'immI(rs1)', i => i.rd === 0),
    also('jalr', 'rs1', i => i.rd === 1 && i.imm === 0),
    also('jalr', 'immI(rs1)', i => i.rd === 1),
    also('jalr', 'rd, rs1', i => i.imm === 0),
  ],
  fence: [also('pause', '', i => i.imm === 0x010), also('fence', '', i => i.imm === 0x0ff)],
  'sfence.vma': [
    also('sfence.vma', '', i => i.rs1 === 0 && i.rs2 === 0),
    also('sfence.vma', 'rs1', i => i.rs2 === 0),
  ],
  'fsgnj.s': [also('fmv.s', 'fd, fs1', i => i.rs1 === i.rs2)],
  'fsgnj.d': [also('fmv.d', 'fd, fs1', i => i.rs1 === i.rs2)],
  'fsgnjn.s': [also('fneg.s', 'fd, fs1', i => i.rs1 === i.rs2)],
  'fsgnjn.d': [also('fneg.d', 'fd, fs1', i => i.rs1 === i.rs2)],
  'fsgnjx.s': [also('fabs.s', 'fd, fs1', i => i.rs1 === i.rs2)],
  'fsgnjx.d': [also('fabs.d', 'fd, fs1', i => i.rs1 === i.rs2)],
  csrrw: [
    also('unimp', '', i => i.rd === 0 && i.rs1 === 0 && i.imm === 0xc00),
    also('fscsr', 'rs1', i => i.rd === 0 && i.imm === 3),
    also('fscsr', 'rd, rs1', i => i.imm === 3),
    also('fsrm', 'rs1', i => i.rd === 0 && i.imm === 2),
    also('fsrm', 'rd, rs1', i => i.imm === 2),
    also('fsflags', 'rs1', i => i.rd === 0 && i.imm === 1),
    also('fsflags', 'rd, rs1', i => i.imm === 1),
    also('csrw', 'csr, rs1', i => i.rd === 0),
  ],
  csrrs: [
    also('frcsr', 'rd', i => i.rs1 === 0 && i.imm === 3),
    also('frrm', 'rd', i => i.rs1 === 0 && i.imm === 2),
    also('frflags', 'rd', i => i.rs1 === 0 && i.imm === 1),
    also('rdcycle', 'rd', i => i.rs1 === 0 && i.imm === 0xc00),
    also('rdtime', 'rd', i => i.rs1 === 0 && i.imm === 0xc01),
    also('rdinstret', 'rd', i => i.rs1 === 0 && i.imm === 0xc02),
    also('csrr', 'rd, csr', i => i.rs1 === 0),
    also('csrs', 'csr, rs1', i => i.rd === 0),
  ],
  csrrc: [also('csrc', 'csr, rs1', i => i.rd === 0)],
  csrrwi: [
    also('fsrmi', 'zimm', i => i.rd === 0 && i.imm === 2),
    also('fsrmi', 'rd, zimm', i => i.imm === 2),
    also('fsflagsi', 'zimm', i => i.rd === 0 && i.imm === 1),
    also('fsflagsi', 'rd, zimm', i => i.imm === 1),
    also('csrwi', 'csr, zimm', i => i.rd === 0),
  ],
  csrrsi: [also('csrsi', 'csr, zimm', i => i.rd === 0)],
  csrrci: [also('csrci', 'csr, zimm', i => i.rd === 0)],
};

function aliasText(insn: Insn, pc: bigint): string | undefined {
  const alias = ALIASES[insn.name]?.find(candidate => candidate.when(insn));
  if (alias === undefined) return undefined;
  const operands = fillIn(alias.operands, name => {
    const field = OPERANDS[name]!;
    return operandText(field, insn[field.slots[0]!], pc);
  });
  return join(alias.text, operands);
}
