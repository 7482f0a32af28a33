// The semantics of Zba, Zbb, Zbs and Zicond (Unpriv, bit-manipulation and Zicond chapters), over
// abstract operands.

import { I64 } from '../../wasm/module.ts';
import type { Ops, Rule } from './ops.ts';

type Operand = 'rs2' | 'imm';

/** i64: rs1 with its upper half cleared. */
function lowWord(o: Ops): void {
  o.rs1w();
  o.c.i64_extend_i32_u();
}

const shiftAdd =
  (shift: number, unsignedWord = false): Rule =>
  o =>
    o.rd(() => {
      if (unsignedWord) lowWord(o);
      else o.rs1();
      if (shift > 0) o.c.i64_const(shift).i64_shl();
      o.rs2();
      o.c.i64_add();
    });

/** rs1 op ~rs2. */
const withComplement =
  (op: 'i64_and' | 'i64_or' | 'i64_xor'): Rule =>
  o =>
    o.rd(() => {
      o.rs1();
      o.rs2();
      o.c.i64_const(-1).i64_xor()[op]();
    });

const unary =
  (op: 'i64_clz' | 'i64_ctz' | 'i64_popcnt' | 'i64_extend8_s' | 'i64_extend16_s'): Rule =>
  o =>
    o.rd(() => {
      o.rs1();
      o.c[op]();
    });

const unaryW =
  (op: 'i32_clz' | 'i32_ctz' | 'i32_popcnt'): Rule =>
  o =>
    o.rdw(() => {
      o.rs1w();
      o.c[op]();
    });

const choose =
  (op: 'i64_lt_s' | 'i64_gt_s' | 'i64_lt_u' | 'i64_gt_u'): Rule =>
  o =>
    o.rd(() => {
      o.rs1();
      o.rs2();
      o.rs1();
      o.rs2();
      o.c[op]().select();
    });

const rotate =
  (op: 'i64_rotl' | 'i64_rotr', by: Operand): Rule =>
  o =>
    o.rd(() => {
      o.rs1();
      o[by]();
      o.c[op]();
    });

const rotateW =
  (op: 'i32_rotl' | 'i32_rotr', by: 'rs2w' | 'immw'): Rule =>
  o =>
    o.rdw(() => {
      o.rs1w();
      o[by]();
      o.c[op]();
    });

/** i64: the bit that the operand selects. */
function mask(o: Ops, by: Operand): void {
  o.c.i64_const(1);
  o[by]();
  o.c.i64_shl();
}

const bitOp =
  (op: 'i64_or' | 'i64_xor', by: Operand): Rule =>
  o =>
    o.rd(() => {
      o.rs1();
      mask(o, by);
      o.c[op]();
    });

const clearBit =
  (by: Operand): Rule =>
  o =>
    o.rd(() => {
      o.rs1();
      mask(o, by);
      o.c.i64_const(-1).i64_xor().i64_and();
    });

const extractBit =
  (by: Operand): Rule =>
  o =>
    o.rd(() => {
      o.rs1();
      o[by]();
      o.c.i64_shr_u().i64_const(1).i64_and();
    });

const LOW_SEVEN = 0x7f7f_7f7f_7f7f_7f7fn;

/**
 * orc.b: every non-zero byte becomes 0xff. `(x & 0x7f..) + 0x7f..` carries into bit 7 of each byte
 * whose low seven bits are not zero; ORed with x, bit 7 says "non-zero"; times 255 spreads it.
 */
const orCombine: Rule = o => {
  const x = o.temp(I64);
  const { c } = o;
  o.rs1();
  c.local_set(x);
  o.rd(() => {
    c.local_get(x).i64_const(LOW_SEVEN).i64_and().i64_const(LOW_SEVEN).i64_add();
    c.local_get(x).i64_or().i64_const(7).i64_shr_u().i64_const(0x0101_0101_0101_0101n).i64_and();
    c.i64_const(255).i64_mul();
  });
};

/** rev8: swap bytes, then half-words, then words (the last is a rotation). */
const reverseBytes: Rule = o => {
  const x = o.temp(I64);
  const { c } = o;
  const swap = (bits: number, lowMask: bigint) => {
    c.local_get(x).i64_const(bits).i64_shr_u().i64_const(lowMask).i64_and();
    c.local_get(x).i64_const(lowMask).i64_and().i64_const(bits).i64_shl().i64_or();
  };
  o.rs1();
  c.local_set(x);
  swap(8, 0x00ff_00ff_00ff_00ffn);
  c.local_set(x);
  o.rd(() => {
    swap(16, 0x0000_ffff_0000_ffffn);
    c.i64_const(32).i64_rotl();
  });
};

/** czero: rd = rs1, or zero when rs2 is (`eqz`) or is not (`nez`) zero. */
const conditionalZero =
  (zeroIf: 'eqz' | 'nez'): Rule =>
  o =>
    o.rd(() => {
      if (zeroIf === 'nez') o.c.i64_const(0);
      o.rs1();
      if (zeroIf === 'eqz') o.c.i64_const(0);
      o.rs2();
      o.c.i64_const(0).i64_ne().select();
    });

export const BITS = {
  'add.uw': shiftAdd(0, true),
  sh1add: shiftAdd(1),
  sh2add: shiftAdd(2),
  sh3add: shiftAdd(3),
  'sh1add.uw': shiftAdd(1, true),
  'sh2add.uw': shiftAdd(2, true),
  'sh3add.uw': shiftAdd(3, true),
  'slli.uw': o =>
    o.rd(() => {
      lowWord(o);
      o.imm();
      o.c.i64_shl();
    }),

  andn: withComplement('i64_and'),
  orn: withComplement('i64_or'),
  xnor: withComplement('i64_xor'),
  clz: unary('i64_clz'),
  ctz: unary('i64_ctz'),
  cpop: unary('i64_popcnt'),
  clzw: unaryW('i32_clz'),
  ctzw: unaryW('i32_ctz'),
  cpopw: unaryW('i32_popcnt'),
  max: choose('i64_gt_s'),
  maxu: choose('i64_gt_u'),
  min: choose('i64_lt_s'),
  minu: choose('i64_lt_u'),
  'sext.b': unary('i64_extend8_s'),
  'sext.h': unary('i64_extend16_s'),
  'zext.h': o =>
    o.rd(() => {
      o.rs1();
      o.c.i64_const(0xffff).i64_and();
    }),
  rol: rotate('i64_rotl', 'rs2'),
  rolw: rotateW('i32_rotl', 'rs2w'),
  ror: rotate('i64_rotr', 'rs2'),
  rorw: rotateW('i32_rotr', 'rs2w'),
  rori: rotate('i64_rotr', 'imm'),
  roriw: rotateW('i32_rotr', 'immw'),
  'orc.b': orCombine,
  rev8: reverseBytes,

  bclr: clearBit('rs2'),
  bclri: clearBit('imm'),
  bext: extractBit('rs2'),
  bexti: extractBit('imm'),
  binv: bitOp('i64_xor', 'rs2'),
  binvi: bitOp('i64_xor', 'imm'),
  bset: bitOp('i64_or', 'rs2'),
  bseti: bitOp('i64_or', 'imm'),

  'czero.eqz': conditionalZero('eqz'),
  'czero.nez': conditionalZero('nez'),
} as const satisfies Record<string, Rule>;
