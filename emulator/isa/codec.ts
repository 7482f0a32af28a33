// Decoder and encoder between words and instructions, derived from the rows.
//
// 32-bit words: bits 6:2, 14:12 and 31:25 index a table of first candidates; the few rows that
// share all fifteen bits (the fcvt family, system instructions) form a chain. 16-bit half-words:
// each is expanded to its base word once and the expansion is cached, so both lengths take the same
// path. Contents of `Insn` slots: `imm` = immediate with its sign and already scaled (lui: shifted
// left by 12), shift amount, CSR number, or fm:pred:succ of a fence; `rs1` of csrrwi/csrrsi/csrrci
// = the five-bit operand itself, not a register. Slots an instruction lacks are 0. Encodings longer
// than 32 bits do not decode.

import { extract, insert, OPERANDS, type Slot } from './fields.ts';
import { fixedBits, type Mnemonic, ROWS, rowNamed, type TableRow } from './table.ts';
import { type CompressedRow, TABLE_C } from './table-c.ts';

export interface Insn {
  /** `OP[name]`. */
  op: number;
  name: Mnemonic;
  rd: number;
  rs1: number;
  rs2: number;
  rs3: number;
  /** int32. */
  imm: number;
  /** Rounding mode, 7 = dynamic; 0 for instructions without one. */
  rm: number;
  aq: 0 | 1;
  rl: 0 | 1;
  /** Length; if it is 2, all other fields are those of the expansion. */
  bytes: 2 | 4;
  /** The encoding as fetched: 16 bits when `bytes` is 2. */
  word: number;
}

export const newInsn = (): Insn => ({
  op: 0,
  name: 'addi',
  rd: 0,
  rs1: 0,
  rs2: 0,
  rs3: 0,
  imm: 0,
  rm: 0,
  aq: 0,
  rl: 0,
  bytes: 4,
  word: 0,
});

/** 4 when the low half-word begins a 32-bit instruction (Unpriv §1.5), else 2. */
export const lengthOf = (word: number): 2 | 4 => ((word & 3) === 3 ? 4 : 2);

// The slots that a row fills, as bits, so that `decodeInto` needs no strings.
const HAS_RD = 1;
const HAS_RS1 = 2;
const HAS_RS2 = 4;
const HAS_RS3 = 8;
const HAS_RM = 16;
const HAS_AQ_RL = 32;
const IMM_SHIFT = 6;
const IMM_KINDS = [
  '',
  'immI',
  'immS',
  'immB',
  'immU',
  'immJ',
  'shamt5',
  'shamt6',
  'csr',
  'fence',
  'fli',
  'immP',
];
const SLOT_BITS: Readonly<Record<string, number>> = {
  rd: HAS_RD,
  rs1: HAS_RS1,
  rs2: HAS_RS2,
  rs3: HAS_RS3,
  rm: HAS_RM,
  aq: HAS_AQ_RL,
  rl: HAS_AQ_RL,
};

function shapeOf(row: TableRow): number {
  let shape = 0;
  for (const name of row.format.operands) {
    const kind = IMM_KINDS.indexOf(name);
    if (kind > 0) shape |= kind << IMM_SHIFT;
    else for (const slot of OPERANDS[name]!.slots) shape |= SLOT_BITS[slot]!;
  }
  return shape;
}

const MASK = Uint32Array.from([0, ...ROWS.map(row => row.mask)]);
const MATCH = Uint32Array.from([0, ...ROWS.map(row => row.match)]);
const SHAPE = Uint32Array.from([0, ...ROWS.map(shapeOf)]);
const NAME: readonly Mnemonic[] = ['addi', ...ROWS.map(row => row.name)];

/** The fifteen index bits of a word: funct7, funct3, opcode without its constant low bits. */
const indexOf = (word: number): number =>
  ((word >>> 25) << 8) | (((word >>> 12) & 7) << 5) | ((word >>> 2) & 31);
const wordOfIndex = (index: number): number =>
  (((index >>> 8) << 25) | (((index >>> 5) & 7) << 12) | ((index & 31) << 2)) >>> 0;
const INDEX_MASK = wordOfIndex(0x7fff);

/**
 * FIRST[index] = position in CHAINS; a chain is ops ended by 0. Filled at the first use of an
 * index: few are ever used.
 */
const FIRST = new Uint16Array(1 << 15);
const UNKNOWN = 0;
const CHAINS: number[] = [UNKNOWN];
const POSITIONS = new Map<string, number>();

/** Ops by the five bits of the opcode, which every row fixes. */
const BY_OPCODE: readonly number[][] = Array.from({ length: 32 }, () => []);
for (const { op, match } of ROWS) BY_OPCODE[(match >>> 2) & 31]!.push(op);
// A row that fixes more bits is a special case of another, and comes before it.
const bitsOf = (mask: number): number => mask.toString(2).replaceAll('0', '').length;
for (const ops of BY_OPCODE) ops.sort((a, b) => bitsOf(MASK[b]!) - bitsOf(MASK[a]!));

function chainOf(index: number): number {
  const word = wordOfIndex(index);
  const ops: number[] = [];
  for (const op of BY_OPCODE[index & 31]!)
    if (((word ^ MATCH[op]!) & MASK[op]! & INDEX_MASK) === 0) ops.push(op);
  const key = ops.join();
  let position = POSITIONS.get(key);
  if (position === undefined) {
    position = CHAINS.length;
    POSITIONS.set(key, position);
    CHAINS.push(...ops, 0);
  }
  FIRST[index] = position;
  return position;
}

/** The op of a 32-bit word, 0 when it is illegal. */
function opOf(word: number): number {
  const index = indexOf(word);
  for (let position = FIRST[index]! || chainOf(index); ; position++) {
    const op = CHAINS[position]!;
    if (op === 0 || (word & MASK[op]!) >>> 0 === MATCH[op]!) return op;
  }
}

function immediate(kind: number, word: number): number {
  switch (kind) {
    case 1:
      return word >> 20;
    case 2:
      return ((word >> 25) << 5) | ((word >>> 7) & 31);
    case 3:
      return ((word >> 31) << 12) | ((word << 4) & 0x800) | ((word >>> 20) & 0x7e0) | ((word >>> 7) & 0x1e);
    case 4:
      return word & ~0xfff;
    case 5:
      return ((word >> 31) << 20) | (word & 0xff000) | ((word >>> 9) & 0x800) | ((word >>> 20) & 0x7fe);
    case 6:
      return (word >>> 20) & 31;
    case 7:
      return (word >>> 20) & 63;
    case 8:
    case 9:
      return word >>> 20;
    case 10:
      return (word >>> 15) & 31;
    case 11:
      return (word >> 25) << 5;
    default:
      return 0;
  }
}

function fill(word: number, out: Insn): boolean {
  const op = opOf(word);
  if (op === 0) return false;
  const shape = SHAPE[op]!;
  const rm = (shape & HAS_RM) !== 0 ? (word >>> 12) & 7 : 0;
  if (rm === 5 || rm === 6) return false;
  out.op = op;
  out.name = NAME[op]!;
  out.rd = (shape & HAS_RD) !== 0 ? (word >>> 7) & 31 : 0;
  out.rs1 = (shape & HAS_RS1) !== 0 ? (word >>> 15) & 31 : 0;
  out.rs2 = (shape & HAS_RS2) !== 0 ? (word >>> 20) & 31 : 0;
  out.rs3 = (shape & HAS_RS3) !== 0 ? word >>> 27 : 0;
  out.imm = immediate(shape >>> IMM_SHIFT, word);
  out.rm = rm;
  const hasOrdering = (shape & HAS_AQ_RL) !== 0;
  out.aq = hasOrdering && (word & 0x400_0000) !== 0 ? 1 : 0;
  out.rl = hasOrdering && (word & 0x200_0000) !== 0 ? 1 : 0;
  return true;
}

/**
 * Decodes without allocating. `word` holds at least the low half-word; the high one is ignored when
 * the instruction is compressed. False = illegal; then only `op` (0), `bytes` and `word` of `out`
 * are valid.
 */
export function decodeInto(word: number, out: Insn): boolean {
  let base = word;
  if ((word & 3) === 3) {
    out.bytes = 4;
    out.word = word >>> 0;
  } else {
    out.bytes = 2;
    out.word = word & 0xffff;
    base = expand(out.word);
  }
  if (base !== 0 && fill(base, out)) return true;
  out.op = 0;
  return false;
}

/** The signature of `decodeInto`. */
export type Decode = (word: number, out: Insn) => boolean;

/** The instruction at `word`, or undefined when it is illegal. */
export function decode(word: number, out: Insn = newInsn()): Insn | undefined {
  return decodeInto(word, out) ? out : undefined;
}

// ---- compressed ----

const EXPANSIONS = new Uint32Array(1 << 16);
/** In EXPANSIONS: known to be illegal. No base word has this value; 0 means "not computed yet". */
const ILLEGAL = 1;

/** The base instruction's word for a compressed half-word, 0 when it is illegal. */
export function expand(half: number): number {
  let word = EXPANSIONS[half]!;
  if (word === 0) {
    const pattern = patternOf(half);
    word = pattern === undefined ? ILLEGAL : expandBy(pattern, half);
    EXPANSIONS[half] = word;
  }
  return word === ILLEGAL ? 0 : word;
}

interface CompressedPattern {
  readonly row: CompressedRow;
  readonly mask: number;
  readonly match: number;
  /** See `affine`; absent until its first use. */
  moves?: Uint32Array;
}

/** By quadrant and funct3, which every pattern fixes. */
const C_PATTERNS: readonly CompressedPattern[][] = Array.from({ length: 32 }, () => []);
const bucketOf = (half: number): number => ((half >>> 13) << 2) | (half & 3);
for (const row of TABLE_C) {
  const bits = fixedBits(row.pattern);
  C_PATTERNS[bucketOf(bits.match)]!.push({ row, ...bits });
}

function matches({ row, mask, match }: CompressedPattern, half: number): boolean {
  if ((half & mask) !== match) return false;
  for (const name in row.not) if (row.not[name]!.includes(extract(OPERANDS[name]!, half))) return false;
  return true;
}

/**
 * All rows that match a half-word: at most one, which the table's test proves for every half-word.
 */
export const compressedRows = (half: number): CompressedRow[] =>
  C_PATTERNS[bucketOf(half)]!.filter(pattern => matches(pattern, half)).map(pattern => pattern.row);

const patternOf = (half: number): CompressedPattern | undefined =>
  C_PATTERNS[bucketOf(half)]!.find(pattern => matches(pattern, half));

/** The row of a compressed half-word, undefined when it is illegal. */
export const compressedRow = (half: number): CompressedRow | undefined => patternOf(half)?.row;

const QUADRANT_1 = 1;
const FUNCT3_ZCB = 4;

/**
 * The extension of a half-word that decodes. Zcb shares funct3 = 100 of quadrants 0 and 1 with
 * others, so most half-words need no search.
 */
export function compressedExtension(half: number): CompressedRow['ext'] {
  if (half >>> 13 !== FUNCT3_ZCB || (half & 3) > QUADRANT_1) return 'c';
  return patternOf(half)!.row.ext;
}

/** The expansion by the table, operand by operand. */
function expansion(row: CompressedRow, half: number): number {
  const slots: Operands = { ...row.fixed };
  for (const name of row.format.operands) {
    const field = OPERANDS[name]!;
    for (const slot of field.slots) slots[slot] = extract(field, half);
  }
  return encode(row.base, slots);
}

/**
 * Each bit of a half-word maps to fixed bits of the base word, independently of the others:
 * immediates are scattered, their signs copied, and the 8 of x8..x15 is a constant. So a row needs
 * one expansion of its fixed bits, in [0], and in [1 + i] the bits that bit i toggles. Decoding
 * dominates the start of a program, and this function dominates decoding.
 */
function affine({ row, mask, match }: CompressedPattern): Uint32Array {
  const moves = new Uint32Array(17);
  moves[0] = expansion(row, match);
  const targets = rowNamed(row.base).format.operands.map(name => OPERANDS[name]!);
  for (const name of row.format.operands) {
    const field = OPERANDS[name]!;
    const none = extract(field, 0);
    const into = targets.filter(target => field.slots.includes(target.slots[0]!));
    for (let bit = 2; bit < 16; bit++) {
      const value = extract(field, 1 << bit);
      if ((mask & (1 << bit)) !== 0 || value === none) continue;
      for (const target of into) moves[1 + bit]! ^= insert(target, value)! ^ insert(target, none)!;
    }
  }
  return moves;
}

function expandBy(pattern: CompressedPattern, half: number): number {
  pattern.moves ??= affine(pattern);
  let word = pattern.moves[0]!;
  const free = half & ~pattern.mask;
  for (let bit = 2; free >>> bit !== 0; bit++) if (free & (1 << bit)) word ^= pattern.moves[1 + bit]!;
  return word >>> 0;
}

// ---- encoding ----

export type Operands = Partial<Record<Slot, number>>;

/**
 * Inserts operands into a word of fixed bits; throws a RangeError that names the operand that does
 * not fit.
 */
function assemble(name: string, names: readonly string[], match: number, operands: Operands): number {
  let word = match;
  for (const operandName of names) {
    const field = OPERANDS[operandName]!;
    const value = operands[field.slots[0]!] ?? 0;
    const fits = field.slots.every(slot => (operands[slot] ?? 0) === value);
    const part = fits ? insert(field, value) : undefined;
    if (part === undefined) throw new RangeError(`${name}: operand ${operandName} cannot hold ${value}`);
    word = (word | part) >>> 0;
  }
  return word;
}

/**
 * The word of an instruction. Missing operands are 0; an operand that does not fit is a RangeError.
 */
export function encode(name: Mnemonic, operands: Operands = {}): number {
  const row = rowNamed(name);
  return assemble(name, row.format.operands, row.match, operands);
}

/**
 * The half-word of a compressed instruction, or undefined when the row cannot express these
 * operands.
 */
export function encodeCompressed(row: CompressedRow, operands: Operands): number | undefined {
  const { match } = fixedBits(row.pattern);
  for (const slot in row.fixed) {
    if ((operands[slot as Slot] ?? 0) !== row.fixed[slot as Slot]) return undefined;
  }
  try {
    const half = assemble(row.name, row.format.operands, match, operands);
    return compressedRow(half) === row ? half : undefined;
  } catch {
    return undefined; // out of range, or rd and rs1 differ where one field holds both
  }
}
