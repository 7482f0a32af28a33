// The semantics of RV64I and M (Unpriv ch. 2, the RV64I and "M" chapters), over abstract operands.
// Loads, stores and system instructions of the base are here too; they are one Ops call each.

import { I64, type Local } from '../../wasm/module.ts';
import type { Ops, Rule } from './ops.ts';

type I64Binary =
  | 'i64_add'
  | 'i64_sub'
  | 'i64_and'
  | 'i64_or'
  | 'i64_xor'
  | 'i64_shl'
  | 'i64_shr_s'
  | 'i64_shr_u'
  | 'i64_mul';
type I32Binary = 'i32_add' | 'i32_sub' | 'i32_shl' | 'i32_shr_s' | 'i32_shr_u' | 'i32_mul';
type I64Compare = 'i64_eq' | 'i64_ne' | 'i64_lt_s' | 'i64_lt_u' | 'i64_ge_s' | 'i64_ge_u';

// Common forms. wasm shifts take their amount modulo the width, exactly as RISC-V does.

const register =
  (op: I64Binary): Rule =>
  o =>
    o.rd(() => {
      o.rs1();
      o.rs2();
      o.c[op]();
    });

const immediate =
  (op: I64Binary): Rule =>
  o =>
    o.rd(() => {
      o.rs1();
      o.imm();
      o.c[op]();
    });

const registerW =
  (op: I32Binary): Rule =>
  o =>
    o.rdw(() => {
      o.rs1w();
      o.rs2w();
      o.c[op]();
    });

const immediateW =
  (op: I32Binary): Rule =>
  o =>
    o.rdw(() => {
      o.rs1w();
      o.immw();
      o.c[op]();
    });

const compare =
  (op: I64Compare, second: 'rs2' | 'imm'): Rule =>
  o =>
    o.rd(() => {
      o.rs1();
      o[second]();
      o.c[op]().i64_extend_i32_u();
    });

const branch =
  (op: I64Compare): Rule =>
  o =>
    o.branch(() => {
      o.rs1();
      o.rs2();
      o.c[op]();
    });

const system: Rule = o => o.system();

/**
 * Nothing to do for one instruction stream: memory is sequentially consistent, stores reach code at
 * once.
 */
const nothing: Rule = () => {};

export const INTEGER = {
  lui: o => o.rd(() => o.imm()),
  auipc: o =>
    o.rd(() => {
      o.pc();
      o.imm();
      o.c.i64_add();
    }),
  jal: o => o.jump(),
  jalr: o =>
    o.jumpIndirect(() => {
      o.rs1();
      o.imm();
      o.c.i64_add();
    }),

  beq: branch('i64_eq'),
  bne: branch('i64_ne'),
  blt: branch('i64_lt_s'),
  bge: branch('i64_ge_s'),
  bltu: branch('i64_lt_u'),
  bgeu: branch('i64_ge_u'),

  lb: o => o.load(1, true),
  lh: o => o.load(2, true),
  lw: o => o.load(4, true),
  ld: o => o.load(8, true),
  lbu: o => o.load(1, false),
  lhu: o => o.load(2, false),
  lwu: o => o.load(4, false),
  sb: o => o.store(1),
  sh: o => o.store(2),
  sw: o => o.store(4),
  sd: o => o.store(8),

  addi: immediate('i64_add'),
  slti: compare('i64_lt_s', 'imm'),
  sltiu: compare('i64_lt_u', 'imm'),
  xori: immediate('i64_xor'),
  ori: immediate('i64_or'),
  andi: immediate('i64_and'),
  slli: immediate('i64_shl'),
  srli: immediate('i64_shr_u'),
  srai: immediate('i64_shr_s'),
  addiw: immediateW('i32_add'),
  slliw: immediateW('i32_shl'),
  srliw: immediateW('i32_shr_u'),
  sraiw: immediateW('i32_shr_s'),

  add: register('i64_add'),
  sub: register('i64_sub'),
  sll: register('i64_shl'),
  slt: compare('i64_lt_s', 'rs2'),
  sltu: compare('i64_lt_u', 'rs2'),
  xor: register('i64_xor'),
  srl: register('i64_shr_u'),
  sra: register('i64_shr_s'),
  or: register('i64_or'),
  and: register('i64_and'),
  addw: registerW('i32_add'),
  subw: registerW('i32_sub'),
  sllw: registerW('i32_shl'),
  srlw: registerW('i32_shr_u'),
  sraw: registerW('i32_shr_s'),

  fence: nothing,
  ecall: system,
  ebreak: system,
  csrrw: system,
  csrrs: system,
  csrrc: system,
  csrrwi: system,
  csrrsi: system,
  csrrci: system,
  'fence.i': nothing,
  sret: system,
  mret: system,
  wfi: system,
  'sfence.vma': system,
  'sinval.vma': system,
  'sfence.w.inval': system,
  'sfence.inval.ir': system,
} as const satisfies Record<string, Rule>;

// M. WebAssembly division traps on zero and on overflow, so both are decided first (Unpriv table
// "Semantics for division by zero and division overflow").

/**
 * Quotient or remainder. `byZero` and `overflow` push the results of the two special cases;
 * unsigned forms cannot overflow. Operands are in locals a and b so that 32- and 64-bit forms share
 * this code.
 */
function divide(
  o: Ops,
  op: I64Division,
  a: Local<I64>,
  b: Local<I64>,
  byZero: () => void,
  overflow?: () => void,
): void {
  const { c } = o;
  c.local_get(b).i64_eqz().if_(I64, 'unlikely');
  byZero();
  c.else_();
  if (overflow) {
    c.local_get(b).i64_const(-1).i64_eq().if_(I64, 'unlikely');
    overflow();
    c.else_();
  }
  c.local_get(a).local_get(b)[op]();
  if (overflow) c.end();
  c.end();
}

type I64Division = 'i64_div_s' | 'i64_div_u' | 'i64_rem_s' | 'i64_rem_u';

function quotient(o: Ops, op: I64Division, a: Local<I64>, b: Local<I64>): void {
  const { c } = o;
  const isDiv = op === 'i64_div_s' || op === 'i64_div_u';
  const isSigned = op === 'i64_div_s' || op === 'i64_rem_s';
  const byZero = () => void (isDiv ? c.i64_const(-1) : c.local_get(a));
  // x / -1 = -x, which is also the required result of overflow (-2^63 again); x rem -1 = 0.
  const byMinusOne = () => void (isDiv ? c.i64_const(0).local_get(a).i64_sub() : c.i64_const(0));
  divide(o, op, a, b, byZero, isSigned ? byMinusOne : undefined);
}

const division =
  (op: I64Division): Rule =>
  o => {
    const a = o.temp(I64);
    const b = o.temp(I64);
    o.rs1();
    o.c.local_set(a);
    o.rs2();
    o.c.local_set(b);
    o.rd(() => quotient(o, op, a, b));
  };

/**
 * 32-bit division in 64 bits: no 32-bit quotient can overflow there, and the result is cut and
 * sign-extended.
 */
const divisionW =
  (op: I64Division): Rule =>
  o => {
    const isSigned = op === 'i64_div_s' || op === 'i64_rem_s';
    const widen = () => void (isSigned ? o.c.i64_extend_i32_s() : o.c.i64_extend_i32_u());
    const a = o.temp(I64);
    const b = o.temp(I64);
    o.rs1w();
    widen();
    o.c.local_set(a);
    o.rs2w();
    widen();
    o.c.local_set(b);
    o.rd(() => {
      quotient(o, op, a, b);
      o.c.i64_extend32_s();
    });
  };

/**
 * High 64 bits of the unsigned product of locals a and b, from four 32-bit products. With a =
 * ah:al, b = bh:bl: t = ah*bl + (al*bl >> 32); high = ah*bh + (t >> 32) + ((al*bh + low32(t)) >>
 * 32). No sum exceeds 64 bits.
 */
function highProduct(o: Ops, a: Local<I64>, b: Local<I64>, t: Local<I64>): void {
  const { c } = o;
  const low = (x: Local<I64>) => c.local_get(x).i64_const(0xffff_ffff).i64_and();
  const high = (x: Local<I64>) => c.local_get(x).i64_const(32).i64_shr_u();
  high(a);
  low(b).i64_mul();
  low(a);
  low(b).i64_mul().i64_const(32).i64_shr_u().i64_add().local_set(t);
  high(a);
  high(b).i64_mul();
  high(t).i64_add();
  low(a);
  high(b).i64_mul();
  low(t).i64_add().i64_const(32).i64_shr_u().i64_add();
}

/** Signed operands: subtract the other operand once for each negative one. */
const multiplyHigh =
  (signedA: boolean, signedB: boolean): Rule =>
  o => {
    const [a, b, t] = [o.temp(I64), o.temp(I64), o.temp(I64)];
    const { c } = o;
    o.rs1();
    c.local_set(a);
    o.rs2();
    c.local_set(b);
    o.rd(() => {
      highProduct(o, a, b, t);
      if (signedA) c.local_get(a).i64_const(63).i64_shr_s().local_get(b).i64_and().i64_sub();
      if (signedB) c.local_get(b).i64_const(63).i64_shr_s().local_get(a).i64_and().i64_sub();
    });
  };

export const MULTIPLY = {
  mul: register('i64_mul'),
  mulh: multiplyHigh(true, true),
  mulhsu: multiplyHigh(true, false),
  mulhu: multiplyHigh(false, false),
  div: division('i64_div_s'),
  divu: division('i64_div_u'),
  rem: division('i64_rem_s'),
  remu: division('i64_rem_u'),
  mulw: registerW('i32_mul'),
  divw: divisionW('i64_div_s'),
  divuw: divisionW('i64_div_u'),
  remw: divisionW('i64_rem_s'),
  remuw: divisionW('i64_rem_u'),
} as const satisfies Record<string, Rule>;
