// Tables of one instruction each, for every operand of a list: what the image computes and what is
// right. The image runs on our engines and on QEMU; test/support/oracle/ieee.ts says what must be
// there.

import { encode, type Mnemonic } from '../../../emulator/isa/index.ts';
import * as I from './ieee.ts';

export interface Table {
  readonly name: Mnemonic;
  /** rm field; of `fli` the constant. */
  readonly rm: number;
  /** fflags before. */
  readonly before: number;
  /** Registers, as they are. One operand for each instruction, or pairs one after the other. */
  readonly operands: BigUint64Array;
  readonly right: Right;
}

/** The correct results for operands, regardless of the flags before. */
type Right = (a: bigint, b: bigint) => I.Outcome;

const BOX16 = 0xffff_ffff_ffff_0000n;
const BOX32 = 0xffff_ffff_0000_0000n;
const box = { h: BOX16, s: BOX32, d: 0n };
export type Suffix = keyof typeof box;
export const FORMS = { h: I.BINARY16, s: I.BINARY32, d: I.BINARY64 };

/**
 * The value of a register: the bits, or a quiet NaN if it is not boxed (Unpriv "D", NaN Boxing).
 */
export const unbox = (s: Suffix, bits: bigint): bigint =>
  (bits & box[s]) === box[s] ? bits ^ box[s] : I.nanOf(FORMS[s]);
const boxed = (s: Suffix, { bits, flags }: I.Outcome): I.Outcome => ({ bits: bits | box[s], flags });

const isPair = (name: string): boolean => /^f(min|max|le|lt)/.test(name);
const givesX = (name: string): boolean => /^(fle|flt|fcvtmod|fclass|fmv\.x)/.test(name);

/** Words of the loop: x10 operands, x11 results, x12 how many. */
function loop({ name, rm, before }: Table): number[] {
  const pair = isPair(name);
  const isFli = name.startsWith('fli');
  const operands = isFli ? { rd: 4, imm: rm } : { rd: 4, rs1: 1, rs2: pair ? 2 : 0, rm };
  const body = [
    encode(name === 'fmv.h.x' ? 'ld' : 'fld', { rd: 1, rs1: 10 }),
    ...(pair ? [encode('fld', { rd: 2, rs1: 10, imm: 8 })] : []),
    encode('csrrwi', { rd: 0, rs1: before, imm: 1 }),
    encode(name, operands),
    encode('csrrs', { rd: 5, rs1: 0, imm: 1 }),
    encode(givesX(name) ? 'sd' : 'fsd', { rs2: 4, rs1: 11 }),
    encode('sd', { rs2: 5, rs1: 11, imm: 8 }),
    encode('addi', { rd: 10, rs1: 10, imm: pair ? 16 : 8 }),
    encode('addi', { rd: 11, rs1: 11, imm: 16 }),
    encode('addi', { rd: 12, rs1: 12, imm: -1 }),
  ];
  return [...body, encode('bne', { rs1: 12, rs2: 0, imm: -4 * body.length })];
}

const count = (table: Table): number => table.operands.length / (isPair(table.name) ? 2 : 1);
const PAGE = 4096;
const pages = (bytes: number): number => Math.ceil(bytes / PAGE) * PAGE;
/** auipc, then a load relative to it: the three pointers of a table lie behind its loop. */
const HEAD_WORDS = 4;
const FS_DIRTY_LUI = 0x6000;

export interface TableImage {
  readonly bytes: Uint8Array;
  /** Where the results of each table are: 16 bytes an operand, the register and fflags. */
  readonly results: readonly number[];
}

/**
 * Runs from the start of RAM in M-mode and ends through the finisher; equal operand lists lie there
 * once.
 */
export function tableImage(tables: readonly Table[]): TableImage {
  const words: number[] = [
    encode('lui', { rd: 5, imm: FS_DIRTY_LUI }),
    encode('csrrs', { rs1: 5, imm: 0x300 }),
  ];
  const literals: { at: number; table: number }[] = [];
  tables.forEach((table, index) => {
    const body = loop(table);
    const skip = 4 * (HEAD_WORDS + body.length);
    words.push(encode('auipc', { rd: 5, imm: 0 }));
    for (const [n, rd] of [10, 11, 12].entries())
      words.push(encode('ld', { rd, rs1: 5, imm: skip + 8 + 8 * n }));
    words.push(...body, encode('jal', { rd: 0, imm: 32 }), 0);
    literals.push({ at: words.length, table: index });
    words.push(0, 0, 0, 0, 0, 0);
  });
  words.push(encode('lui', { rd: 5, imm: 0x10_0000 }), encode('lui', { rd: 6, imm: 0x5000 }));
  words.push(encode('addi', { rd: 6, rs1: 6, imm: 0x555 }), encode('sw', { rs1: 5, rs2: 6 }));
  words.push(encode('jal', { rd: 0, imm: 0 }));

  let size = pages(words.length * 4);
  const inputs = new Map<BigUint64Array, number>();
  for (const { operands } of tables) {
    if (inputs.has(operands)) continue;
    inputs.set(operands, size);
    size = pages(size + operands.byteLength);
  }
  const results = tables.map(table => {
    const at = size;
    size = pages(size + 16 * count(table));
    return at;
  });
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  words.forEach((word, n) => {
    view.setUint32(4 * n, word, true);
  });
  for (const { at, table } of literals) {
    const pointers = [inputs.get(tables[table]!.operands)!, results[table]!].map(
      p => 0x8000_0000n + BigInt(p),
    );
    [...pointers, BigInt(count(tables[table]!))].forEach((value, n) => {
      view.setBigUint64(4 * at + 8 * n, value, true);
    });
  }
  for (const [list, at] of inputs)
    list.forEach((value, n) => {
      view.setBigUint64(at + 8 * n, value, true);
    });
  return { bytes, results };
}

/** Lines about the first results that are not right; `compared` counts all. */
export function checkTables(
  tables: readonly Table[],
  { results }: TableImage,
  memory: Uint8Array,
): { wrong: string[]; compared: number } {
  const view = new DataView(memory.buffer, memory.byteOffset);
  const wrong: string[] = [];
  let compared = 0;
  const hex = (n: bigint): string => n.toString(16);
  // Tables that differ in the flags before have the same outcomes.
  let known: I.Outcome[] = [];
  tables.forEach((table, index) => {
    const pair = isPair(table.name);
    const last = tables[index - 1];
    if (last?.right !== table.right || last.operands !== table.operands) known = [];
    for (let i = 0; i < count(table); i++) {
      const a = table.operands[pair ? 2 * i : i]!;
      const b = pair ? table.operands[2 * i + 1]! : 0n;
      const at = results[index]! + 16 * i;
      const [bits, flags] = [view.getBigUint64(at, true), Number(view.getBigUint64(at + 8, true))];
      known[i] ??= table.right(a, b);
      const right = known[i]!;
      compared++;
      if (bits === right.bits && flags === (right.flags | table.before)) continue;
      if (wrong.length < 20)
        wrong.push(
          `${table.name} rm ${table.rm} ${hex(a)} ${hex(b)} before ${table.before}: ${hex(bits)} ${flags}, ` +
            `right is ${hex(right.bits)} ${right.flags | table.before}`,
        );
    }
  });
  return { wrong, compared };
}

const MODES = [0, 1, 2, 3, 4];
/** Fast paths of the engines depend on NX. */
const BEFORE = [0, I.INEXACT];

/** Every half, boxed. */
const halves = BigUint64Array.from({ length: 65_536 }, (_, n) => BOX16 | BigInt(n));

/**
 * The corners of a format: all exponents' ends near the interesting ones, NaNs of both kinds, wrong
 * boxes.
 */
export function corners(s: 's' | 'd'): bigint[] {
  const form = FORMS[s];
  const digits = BigInt(form.precision - 1);
  const bias = 2 ** (form.bits - form.precision - 1) - 1;
  const exponents = [
    ...[0, 1, 2, bias - 127, bias - 126, bias - 25, bias - 24, bias - 15, bias - 14, bias - 2, bias - 1],
    ...[
      bias,
      bias + 1,
      bias + 15,
      bias + 16,
      bias + 22,
      bias + 23,
      bias + 24,
      bias + 30,
      bias + 31,
      bias + 32,
    ],
    ...[bias + 51, bias + 52, bias + 53, bias + 62, bias + 63, bias + 84, bias + 127, 2 * bias, 2 * bias + 1],
  ].filter(e => e >= 0 && e <= 2 * bias + 1);
  const top = 1n << (digits - 1n);
  const fractions = [0n, 1n, top - 1n, top, top + 1n, 2n * top - 1n, 0x155555n & (2n * top - 1n)];
  const out = new Set<bigint>();
  for (const exponent of exponents)
    for (const fraction of fractions)
      for (const sign of [0n, 1n])
        out.add((sign << BigInt(form.bits - 1)) | (BigInt(exponent) << digits) | fraction);
  const registers = [...out].map(bits => bits | box[s]);
  return s === 'd' ? registers : [...registers, 0x3f80_0000n, 0xffff_fffe_3f80_0000n, 0x3ff0_0000_0000_0000n];
}

/**
 * Around every 32nd half and every half's midpoint to the next: there, and one step of the format
 * to both sides.
 */
function aroundHalves(s: 's' | 'd'): bigint[] {
  const form = FORMS[s];
  const out: bigint[] = [];
  const step = BigInt(form.precision - I.BINARY16.precision);
  for (let n = 0n; n < 65_536n; n += n % 0x400n < 2n || n % 0x400n > 0x3fdn ? 1n : 32n) {
    const { bits } = I.convert(I.BINARY16, form, n, 0);
    const middle = bits + (1n << (step - 1n));
    for (const x of [bits, bits + 1n, middle - 1n, middle, middle + 1n])
      out.push(BigInt.asUintN(form.bits, x) | box[s]);
  }
  return out;
}

const pairs = (list: readonly bigint[]): BigUint64Array =>
  BigUint64Array.from(list.flatMap(a => list.flatMap(b => [a, b])));

function tablesOf(s: 's' | 'd'): Table[] {
  const form = FORMS[s];
  const list = corners(s);
  const single = BigUint64Array.from(list);
  const narrow = BigUint64Array.from([...list, ...aroundHalves(s)]);
  // Corner n and n + 1 have opposite signs.
  const two = pairs(list.filter((_, n) => n % 9 < 2 || n >= list.length - 3));
  const out: Table[] = [];
  const put = (name: Mnemonic, rm: number, operands: BigUint64Array, right: Right): void => {
    for (const before of BEFORE) out.push({ name, rm, before, operands, right });
  };
  const of = (a: bigint): bigint => unbox(s, a);
  for (const rm of MODES) {
    put(`fcvt.h.${s}`, rm, narrow, a => boxed('h', I.convert(form, I.BINARY16, of(a), rm)));
    put(`fround.${s}`, rm, single, a => boxed(s, I.toIntegral(form, of(a), rm, false)));
    put(`froundnx.${s}`, rm, single, a => boxed(s, I.toIntegral(form, of(a), rm, true)));
  }
  put(`fminm.${s}`, 0, two, (a, b) => boxed(s, I.extreme(form, of(a), of(b), false)));
  put(`fmaxm.${s}`, 0, two, (a, b) => boxed(s, I.extreme(form, of(a), of(b), true)));
  put(`fleq.${s}`, 0, two, (a, b) => I.isLess(form, of(a), of(b), true));
  put(`fltq.${s}`, 0, two, (a, b) => I.isLess(form, of(a), of(b), false));
  put(`fclass.${s}`, 0, single, a => ({ bits: I.classOf(form, of(a)), flags: 0 }));
  if (s === 'd') put('fcvtmod.w.d', 1, single, a => I.toWordModulo(a));
  for (let n = 0; n < 32; n++) put(`fli.${s}`, n, ONE, () => boxed(s, constant(form, n)));
  return out;
}

const ONE = BigUint64Array.of(0n);
/**
 * Numerator and power of two of fli's constants (Unpriv, table "Immediate values loaded by the
 * FLI"), from -1.0 on.
 */
const CONSTANTS = (
  '-1 0,1 m,1 -16,1 -15,1 -8,1 -7,1 -4,1 -3,1 -2,5 -4,3 -3,7 -4,1 -1,5 -3,3 -2,7 -3,1 0,5 -2,3 -1,7 -2,1 1,5 -1,3 0,' +
  '1 2,1 3,1 4,1 7,1 8,1 15,1 16,i,n'
).split(',');

function constant(form: I.Form, n: number): I.Outcome {
  const [digits, power] = CONSTANTS[n]!.split(' ');
  if (digits === 'i') return { bits: I.infinityOf(form, false), flags: 0 };
  if (digits === 'n') return { bits: I.nanOf(form), flags: 0 };
  const exponent = power === 'm' ? 2 - 2 ** (form.bits - form.precision - 1) : Number(power);
  const minus = digits!.startsWith('-');
  const magnitude = BigInt(minus ? digits!.slice(1) : digits!);
  return I.write(form, { kind: 'number', minus, magnitude, exponent }, 0);
}

/** All that the tests compare. */
export function allTables(): Table[] {
  const out: Table[] = [];
  // Halves in boxes that are none: each a quiet NaN, but what fmv.x.h moves.
  const wrongBoxes = BigUint64Array.of(
    ...[
      0x3c00n,
      0xffff_ffff_0000_3c00n,
      0xfffe_ffff_ffff_3c00n,
      0x7fff_ffff_ffff_7c01n,
      0xffff_ffff_fffe_fc00n,
    ],
  );
  const put = (name: Mnemonic, right: Right): void => {
    for (const operands of [halves, wrongBoxes])
      for (const before of BEFORE) out.push({ name, rm: 0, before, operands, right });
  };
  put('fcvt.s.h', a => boxed('s', I.convert(I.BINARY16, I.BINARY32, unbox('h', a), 0)));
  put('fcvt.d.h', a => I.convert(I.BINARY16, I.BINARY64, unbox('h', a), 0));
  put('fmv.x.h', a => ({ bits: BigInt.asUintN(64, BigInt.asIntN(16, a)), flags: 0 }));
  put('fmv.h.x', a => ({ bits: (a & 0xffffn) | BOX16, flags: 0 }));
  return [...out, ...tablesOf('s'), ...tablesOf('d')];
}
