// The encoding of operands in an instruction word: register fields, immediate scatters, and the
// formats that use them. Unpriv ch. 2.2-2.3 (R I S B U J), "M/A/F/D" chapters (R4, rm, aq/rl),
// Zicsr, "C" chapter (16-bit formats).
//
// A format is written as assembly text. Each name in it is an operand of OPERANDS below, which
// defines its bits, its `Insn` slot and its register file. So text, encoding and register classes
// of an instruction cannot disagree.

/** Bits `msb:lsb` of the word hold bits `to + (msb - lsb) : to` of the value. */
export interface Piece {
  readonly msb: number;
  readonly lsb: number;
  readonly to: number;
}

/** Slots of a decoded instruction that an operand can fill. */
export type Slot = 'rd' | 'rs1' | 'rs2' | 'rs3' | 'imm' | 'rm' | 'aq' | 'rl';
export type RegisterClass = 'x' | 'f';
/** The kind of an operand, for printing and checks; `x` and `f` are registers. */
export type OperandKind =
  | RegisterClass
  | 'int'
  | 'upper'
  | 'offset'
  | 'csr'
  | 'zimm'
  | 'fence'
  | 'rm'
  | 'fli'
  | 'bit';

export interface Operand {
  readonly slots: readonly Slot[];
  readonly kind: OperandKind;
  readonly pieces: readonly Piece[];
  /** Bits of the value, including the implied zeros at the bottom. */
  readonly width: number;
  readonly signed: boolean;
  /** Added after extraction: 8 for the three-bit registers x8..x15 of "C". */
  readonly bias: number;
  /** Lowest value bit that the encoding holds: the value is a multiple of `1 << low`. */
  readonly low: number;
}

/** `'31:25>5 11:7>0'` lists pieces as `msb:lsb>to`; a single bit is `7>11`. */
function pieces(text: string): Piece[] {
  return text.split(' ').map(part => {
    const [range = '', to = '0'] = part.split('>');
    const [msb = '', lsb = msb] = range.split(':');
    return { msb: Number(msb), lsb: Number(lsb), to: Number(to) };
  });
}

function operand(kind: OperandKind, slots: Slot[], where: string, signed = false, bias = 0): Operand {
  const list = pieces(where);
  const width = Math.max(...list.map(p => p.to + p.msb - p.lsb + 1));
  const low = Math.min(...list.map(p => p.to));
  return { slots, kind, pieces: list, width, signed, bias, low };
}

const register = (kind: RegisterClass, slot: Slot, where: string): Operand => operand(kind, [slot], where);
const short = (kind: RegisterClass, slots: Slot[], where: string): Operand =>
  operand(kind, slots, where, false, 8);

/** Every operand of every format, in both instruction lengths. */
export const OPERANDS: Readonly<Record<string, Operand>> = {
  rd: register('x', 'rd', '11:7'),
  rs1: register('x', 'rs1', '19:15'),
  rs2: register('x', 'rs2', '24:20'),
  fd: register('f', 'rd', '11:7'),
  fs1: register('f', 'rs1', '19:15'),
  fs2: register('f', 'rs2', '24:20'),
  fs3: register('f', 'rs3', '31:27'),
  immI: operand('int', ['imm'], '31:20', true),
  immS: operand('int', ['imm'], '31:25>5 11:7>0', true),
  immB: operand('offset', ['imm'], '31>12 7>11 30:25>5 11:8>1', true),
  immU: operand('upper', ['imm'], '31:12>12', true),
  immJ: operand('offset', ['imm'], '31>20 19:12>12 20>11 30:21>1', true),
  shamt5: operand('int', ['imm'], '24:20'),
  shamt6: operand('int', ['imm'], '25:20'),
  /** The CSR number, in `imm`. */
  csr: operand('csr', ['imm'], '31:20'),
  /**
   * The five-bit operand of csrrwi, csrrsi and csrrci; it is encoded in the `rs1` field and decoded
   * to `rs1`.
   */
  zimm: operand('zimm', ['rs1'], '19:15'),
  /** fm, pred and succ of a fence as one 12-bit value in `imm`. */
  fence: operand('fence', ['imm'], '31:20'),
  rm: operand('rm', ['rm'], '14:12'),
  /** Number of a constant, in `imm`. */
  fli: operand('fli', ['imm'], '19:15'),
  /** Offset of a prefetch, a multiple of 32. */
  immP: operand('int', ['imm'], '31:25>5', true),
  aq: operand('bit', ['aq'], '26'),
  rl: operand('bit', ['rl'], '25'),

  // "C" extension; the names follow its tables, `p` is the prime of rd'.
  crd: register('x', 'rd', '11:7'),
  crs1: register('x', 'rs1', '11:7'),
  crdrs1: operand('x', ['rd', 'rs1'], '11:7'),
  crs2: register('x', 'rs2', '6:2'),
  cfd: register('f', 'rd', '11:7'),
  cfs2: register('f', 'rs2', '6:2'),
  crdp: short('x', ['rd'], '4:2'),
  crs1p: short('x', ['rs1'], '9:7'),
  crs2p: short('x', ['rs2'], '4:2'),
  crdrs1p: short('x', ['rd', 'rs1'], '9:7'),
  cfdp: short('f', ['rd'], '4:2'),
  cfs2p: short('f', ['rs2'], '4:2'),
  immCI: operand('int', ['imm'], '12>5 6:2>0', true),
  shamtCI: operand('int', ['imm'], '12>5 6:2>0'),
  immLui: operand('upper', ['imm'], '12>17 6:2>12', true),
  imm16sp: operand('int', ['imm'], '12>9 4:3>7 5>6 2>5 6>4', true),
  imm4spn: operand('int', ['imm'], '10:7>6 12:11>4 5>3 6>2'),
  immCLw: operand('int', ['imm'], '5>6 12:10>3 6>2'),
  immCLd: operand('int', ['imm'], '6:5>6 12:10>3'),
  immCLb: operand('int', ['imm'], '6>0 5>1'),
  immCLh: operand('int', ['imm'], '5>1'),
  immLwsp: operand('int', ['imm'], '3:2>6 12>5 6:4>2'),
  immLdsp: operand('int', ['imm'], '4:2>6 12>5 6:5>3'),
  immSwsp: operand('int', ['imm'], '8:7>6 12:9>2'),
  immSdsp: operand('int', ['imm'], '9:7>6 12:10>3'),
  immCJ: operand('offset', ['imm'], '12>11 8>10 10:9>8 6>7 7>6 2>5 11>4 5:3>1', true),
  immCB: operand('offset', ['imm'], '12>8 6:5>6 2>5 11:10>3 4:3>1', true),
};

export interface Format {
  /** Operands of the assembly text in order, for example `rd, immI(rs1)`. */
  readonly text: string;
  /**
   * Names of all operands, those of the text first, then those printed elsewhere (aq, rl as a
   * suffix).
   */
  readonly operands: readonly string[];
}

/** Words of a format's text that are not operands. */
const LITERALS = new Set(['sp', 'rtz']);

export function format(text: string, hidden: readonly string[] = []): Format {
  const shown = (text.match(/[a-z][A-Za-z0-9]*/g) ?? []).filter(word => !LITERALS.has(word));
  const operands = [...shown, ...hidden];
  for (const name of operands) if (!(name in OPERANDS)) throw new Error(`unknown operand ${name}`);
  return { text, operands };
}

const ORDERING = ['aq', 'rl'];

// The base formats. `F` marks those with floating-point registers.
export const R = format('rd, rs1, rs2');
export const R2 = format('rd, rs1');
export const I = format('rd, rs1, immI');
export const SHIFT = format('rd, rs1, shamt6');
export const SHIFTW = format('rd, rs1, shamt5');
export const LOAD = format('rd, immI(rs1)');
export const STORE = format('rs2, immS(rs1)');
export const B = format('rs1, rs2, immB');
export const U = format('rd, immU');
export const J = format('rd, immJ');
export const NONE = format('');
export const FENCE = format('fence');
export const SFENCE = format('rs1, rs2');
export const AMO = format('rd, rs2, (rs1)', ORDERING);
export const LR = format('rd, (rs1)', ORDERING);
export const CSR = format('rd, csr, rs1');
export const CSRI = format('rd, csr, zimm');
export const FLOAD = format('fd, immI(rs1)');
export const FSTORE = format('fs2, immS(rs1)');
export const FR4 = format('fd, fs1, fs2, fs3, rm');
export const FR_RM = format('fd, fs1, fs2, rm');
export const FR = format('fd, fs1, fs2');
export const FR1_RM = format('fd, fs1, rm');
export const FCMP = format('rd, fs1, fs2');
export const F_TO_X = format('rd, fs1');
export const F_TO_X_RM = format('rd, fs1, rm');
export const F_TO_X_RTZ = format('rd, fs1, rtz');
export const FLI = format('fd, fli');
export const CBO = format('(rs1)');
export const PREFETCH = format('immP(rs1)');
export const X_TO_F = format('fd, rs1');
export const X_TO_F_RM = format('fd, rs1, rm');

/** The value of an operand in `word`. */
export function extract(field: Operand, word: number): number {
  let value = 0;
  for (const { msb, lsb, to } of field.pieces) value |= ((word >>> lsb) & (2 ** (msb - lsb + 1) - 1)) << to;
  if (field.signed) value = (value << (32 - field.width)) >> (32 - field.width);
  return value + field.bias;
}

/** The bits of `word` that hold `value`, or undefined when the operand cannot express it. */
export function insert(field: Operand, value: number): number | undefined {
  let word = 0;
  const raw = value - field.bias;
  for (const { msb, lsb, to } of field.pieces) word |= ((raw >>> to) & (2 ** (msb - lsb + 1) - 1)) << lsb;
  return extract(field, word) === value ? word >>> 0 : undefined;
}

/** The bits of a word that an operand covers. */
export function coverage(field: Operand): number {
  let mask = 0;
  for (const { msb, lsb } of field.pieces) mask |= (2 ** (msb - lsb + 1) - 1) << lsb;
  return mask >>> 0;
}
