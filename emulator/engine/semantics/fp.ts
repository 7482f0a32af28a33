// The semantics of F and D instructions (Unpriv, "F" and "D" chapters), over abstract operands.
//
// The exact operation of every instruction is soft-float in the hart (`o.soft()`). Around it are
// fast paths with the IEEE 754 operations of WebAssembly, taken only where they cannot differ,
// flags included:
//   * wasm rounds to nearest even, so the effective rounding mode must be that one;
//   * wasm has no flags, but when NX is already set an inexact result changes nothing;
//   * the result is inspected: no NaN (NV, payloads), no infinity (DZ, OF), nothing that may be
//     tiny (UF). In ordinary programs NX stays set once it was raised, so after warm-up nearly
//     every operation is fast.

import { RNE, RTZ } from '../../hart/softfloat-format.ts';
import { F32, F64, type Label, type Local } from '../../wasm/module.ts';
import { fusedRule } from './fma.ts';
import {
  boxOf,
  type Format,
  type FpWidth,
  LEAST_NORMAL,
  type Ops,
  type ResultCheck,
  type Rule,
} from './ops.ts';

/**
 * Runs `fast` inside a block; it branches to its label if it cannot compute the result, and
 * soft-float takes over.
 */
export function orSoft(o: Ops, fast: (giveUp: Label) => void): void {
  const { c } = o;
  const done = c.block();
  const giveUp = c.block();
  fast(giveUp);
  c.br(done).end();
  o.soft();
  c.end();
}

/** Pushes operand n as f64, whatever its format. */
export function asDouble(o: Ops, n: 1 | 2 | 3, format: Format): void {
  o.fs(n, format);
  if (format === 's') o.c.f64_promote_f32();
}

/** i32: 1 when f64 local `x` is not NaN. */
export const isNumber = (o: Ops, x: Local<F64>): void => void o.c.local_get(x).local_get(x).f64_eq();

/** For singles: bits of the least number whose exponent is 2, and of infinity, doubled. */
const LEAST_SINGLE = 0x0200_0000;
const INFINITE_SINGLE = 0xff00_0000;

/**
 * Branches to `giveUp` unless the f32 or f64 in local `result` passes, NX is set and the rounding
 * mode is RNE.
 */
function checkResult(
  o: Ops,
  format: Format,
  check: ResultCheck,
  result: Local<F32> | Local<F64>,
  giveUp: Label,
): void {
  const { c } = o;
  c.local_get(result);
  if (format === 's') {
    c.i32_reinterpret_f32().i32_const(1).i32_shl();
    if (check === 'normal') c.i32_const(LEAST_SINGLE).i32_sub();
    // The limit of doubles is either 0 or a superset of the bits of the limit of singles, so one
    // test covers both.
    o.resultLimit('finite');
    c.i64_const(32).i64_shr_u().i32_wrap_i64();
    c.i32_const((check === 'normal' ? INFINITE_SINGLE - LEAST_SINGLE : INFINITE_SINGLE) | 0).i32_and();
    c.i32_ge_u();
  } else {
    c.i64_reinterpret_f64().i64_const(1).i64_shl();
    if (check === 'normal') c.i64_const(LEAST_NORMAL).i64_sub();
    o.resultLimit(check);
    c.i64_ge_u();
  }
  c.br_if(giveUp, 'unlikely');
}

/** Writes fd from a wasm operation after checking its result. */
function checkedResult(o: Ops, format: Format, check: ResultCheck, giveUp: Label, value: () => void): void {
  const { c } = o;
  const result = o.temp(format === 's' ? F32 : F64);
  value();
  c.local_set(result);
  checkResult(o, format, check, result, giveUp);
  o.fd(format, () => void c.local_get(result));
}

type Arithmetic = 'add' | 'sub' | 'mul' | 'div';

/** Sums and differences that are tiny are exact, so only overflow and NaN matter for them. */
const arithmetic =
  (op: Arithmetic, format: Format): Rule =>
  o => {
    const check = op === 'add' || op === 'sub' ? 'finite' : 'normal';
    o.fpEnabled(true);
    orSoft(o, giveUp => {
      checkedResult(o, format, check, giveUp, () => {
        o.fs(1, format);
        o.fs(2, format);
        o.c[format === 's' ? (`f32_${op}` as const) : (`f64_${op}` as const)]();
      });
    });
  };

/** The square root of a positive number is never tiny. */
const squareRoot =
  (format: Format): Rule =>
  o => {
    o.fpEnabled(true);
    orSoft(o, giveUp => {
      checkedResult(o, format, 'finite', giveUp, () => {
        o.fs(1, format);
        if (format === 's') o.c.f32_sqrt();
        else o.c.f64_sqrt();
      });
    });
  };

/** Rare, so always soft-float. */
const soft =
  (writesFd: boolean): Rule =>
  o => {
    o.fpEnabled(writesFd);
    o.soft();
  };

const fused = (format: Format, product: boolean, addend: boolean): Rule =>
  fusedRule(format, { product, addend }, orSoft, (o, giveUp, value) =>
    checkedResult(o, format, 'normal', giveUp, value),
  );

type Sign = 'copy' | 'negate' | 'xor';

/** Bit operations on whole registers: no flags, NaNs like all others. */
const signInjectDouble =
  (sign: Sign): Rule =>
  o => {
    const { c } = o;
    o.fpEnabled(true);
    o.fd('d', () => {
      o.fs(1, 'd');
      if (o.hasSameSources) {
        if (sign === 'negate') c.f64_neg();
        if (sign === 'xor') c.f64_abs();
        return;
      }
      if (sign === 'xor') {
        c.i64_reinterpret_f64();
        o.fbits(2);
        c.i64_const(BigInt.asIntN(64, 1n << 63n))
          .i64_and()
          .i64_xor()
          .f64_reinterpret_i64();
        return;
      }
      o.fs(2, 'd');
      if (sign === 'negate') c.f64_neg();
      c.f64_copysign();
    });
  };

const signInjectSingle =
  (sign: Sign): Rule =>
  o => {
    const { c } = o;
    o.fpEnabled(true);
    o.fd('s', () => {
      o.fs(1, 's');
      if (sign === 'xor') c.i32_reinterpret_f32();
      o.fs(2, 's');
      if (sign === 'negate') c.f32_neg();
      if (sign !== 'xor') c.f32_copysign();
      else c.i32_reinterpret_f32().i32_const(-0x8000_0000).i32_and().i32_xor().f32_reinterpret_i32();
    });
  };

/** Loads the operands as doubles into `a` and `b`; branches to `giveUp` if one of them is a NaN. */
function twoNumbers(o: Ops, format: Format, a: Local<F64>, b: Local<F64>, giveUp: Label): void {
  const { c } = o;
  asDouble(o, 1, format);
  c.local_set(a);
  asDouble(o, 2, format);
  c.local_set(b);
  isNumber(o, a);
  isNumber(o, b);
  c.i32_and().i32_eqz().br_if(giveUp, 'unlikely');
}

/**
 * min and max of numbers: wasm orders -0 below +0 as RISC-V does; soft-float handles NaN operands.
 */
export const choose =
  (op: 'min' | 'max', format: Format): Rule =>
  o => {
    const { c } = o;
    const [a, b] = [o.temp(F64), o.temp(F64)];
    o.fpEnabled(true);
    orSoft(o, giveUp => {
      twoNumbers(o, format, a, b, giveUp);
      o.fd(format, () => {
        c.local_get(a).local_get(b)[`f64_${op}`]();
        if (format === 's') c.f32_demote_f64();
      });
    });
  };

export const compare =
  (op: 'f64_eq' | 'f64_lt' | 'f64_le', format: Format): Rule =>
  o => {
    const { c } = o;
    const [a, b] = [o.temp(F64), o.temp(F64)];
    o.fpEnabled(false);
    orSoft(o, giveUp => {
      twoNumbers(o, format, a, b, giveUp);
      o.rd(() => void c.local_get(a).local_get(b)[op]().i64_extend_i32_u());
    });
  };

type IntType = 'w' | 'wu' | 'l' | 'lu';

/**
 * Exclusive bounds: strictly between them truncation fits (for `l` the lower bound itself fits,
 * -2^63 is a double).
 */
const RANGE: Readonly<Record<IntType, readonly [number, number]>> = {
  w: [-(2 ** 31) - 1, 2 ** 31],
  wu: [-1, 2 ** 32],
  l: [-(2 ** 63) - 2048, 2 ** 63],
  lu: [-1, 2 ** 64],
};

/**
 * C casts: towards zero, which is the mode if `truncates`; in range; a whole number or NX already
 * set.
 */
export const toInteger =
  (type: IntType, format: Format, truncates = false): Rule =>
  o => {
    const { c } = o;
    const x = o.temp(F64);
    const isUnsigned = type === 'wu' || type === 'lu';
    o.fpEnabled(false);
    orSoft(o, giveUp => {
      o.inexactIsSet();
      asDouble(o, 1, format);
      c.local_tee(x).f64_trunc().local_get(x).f64_eq().i32_or();
      if (!truncates) {
        o.rounds(RTZ);
        c.i32_and();
      }
      c.i32_eqz().br_if(giveUp, 'unlikely');
      c.local_get(x).f64_const(RANGE[type][0]).f64_gt();
      c.local_get(x).f64_const(RANGE[type][1]).f64_lt();
      c.i32_and().i32_eqz().br_if(giveUp, 'unlikely');
      o.rd(() => {
        c.local_get(x);
        if (isUnsigned) c.i64_trunc_sat_f64_u();
        else c.i64_trunc_sat_f64_s();
        if (type === 'wu') c.i64_extend32_s();
      });
    });
  };

/** i32: 1 when the integer has no more bits than the significand. */
function fitsExactly(o: Ops, type: IntType, format: Format): void {
  const { c } = o;
  const limit = 1n << (format === 's' ? 24n : 53n);
  const isUnsigned = type === 'wu' || type === 'lu';
  if (type === 'w') {
    o.rs1w();
    c.i64_extend_i32_s();
  } else if (type === 'wu') {
    o.rs1w();
    c.i64_extend_i32_u();
  } else o.rs1();
  if (!isUnsigned) c.i64_const(limit).i64_add();
  c.i64_const(isUnsigned ? limit : 2n * limit).i64_le_u();
}

/**
 * From an integer register. Doubles hold every 32-bit integer exactly, so those need no sticky NX.
 */
const fromInteger =
  (type: IntType, format: Format): Rule =>
  o => {
    const { c } = o;
    const isExact = format === 'd' && (type === 'w' || type === 'wu');
    o.fpEnabled(true);
    orSoft(o, giveUp => {
      // The result is the same in every mode, but the mode must be valid.
      o.rounds(RNE);
      if (!isExact) {
        fitsExactly(o, type, format);
        c.i32_and();
        o.resultLimit('finite');
        c.i64_eqz().i32_eqz().i32_or();
      }
      c.i32_eqz().br_if(giveUp, 'unlikely');
      o.fd(format, () => {
        if (type === 'w' || type === 'wu') {
          o.rs1w();
          if (type === 'w') c.i64_extend_i32_s();
          else c.i64_extend_i32_u();
        } else o.rs1();
        const isUnsigned = type === 'wu' || type === 'lu';
        c[
          format === 's'
            ? isUnsigned
              ? 'f32_convert_i64_u'
              : 'f32_convert_i64_s'
            : isUnsigned
              ? 'f64_convert_i64_u'
              : 'f64_convert_i64_s'
        ]();
      });
    });
  };

const narrow: Rule = o => {
  o.fpEnabled(true);
  orSoft(o, giveUp => {
    checkedResult(o, 's', 'normal', giveUp, () => {
      o.fs(1, 'd');
      o.c.f32_demote_f64();
    });
  });
};

const widen: Rule = o => {
  const { c } = o;
  const x = o.temp(F64);
  o.fpEnabled(true);
  orSoft(o, giveUp => {
    asDouble(o, 1, 's');
    c.local_set(x);
    isNumber(o, x);
    o.rounds(RNE);
    c.i32_and().i32_eqz().br_if(giveUp, 'unlikely');
    o.fd('d', () => void c.local_get(x));
  });
};

export const loadRule =
  (bytes: FpWidth): Rule =>
  o => {
    o.fpEnabled(false);
    o.loadFp(bytes);
    o.fpDirty();
  };

export const storeRule =
  (bytes: FpWidth): Rule =>
  o => {
    o.fpEnabled(false);
    o.storeFp(bytes);
  };

export const SINGLE = {
  flw: loadRule(4),
  fsw: storeRule(4),
  'fmadd.s': fused('s', false, false),
  'fmsub.s': fused('s', false, true),
  'fnmsub.s': fused('s', true, false),
  'fnmadd.s': fused('s', true, true),
  'fadd.s': arithmetic('add', 's'),
  'fsub.s': arithmetic('sub', 's'),
  'fmul.s': arithmetic('mul', 's'),
  'fdiv.s': arithmetic('div', 's'),
  'fsqrt.s': squareRoot('s'),
  'fsgnj.s': signInjectSingle('copy'),
  'fsgnjn.s': signInjectSingle('negate'),
  'fsgnjx.s': signInjectSingle('xor'),
  'fmin.s': choose('min', 's'),
  'fmax.s': choose('max', 's'),
  'fcvt.w.s': toInteger('w', 's'),
  'fcvt.wu.s': toInteger('wu', 's'),
  'fcvt.l.s': toInteger('l', 's'),
  'fcvt.lu.s': toInteger('lu', 's'),
  // The low word unchanged, boxed or not.
  'fmv.x.w': o => {
    o.fpEnabled(false);
    o.rd(() => {
      o.fbits(1);
      o.c.i64_extend32_s();
    });
  },
  'fclass.s': soft(false),
  'feq.s': compare('f64_eq', 's'),
  'flt.s': compare('f64_lt', 's'),
  'fle.s': compare('f64_le', 's'),
  'fcvt.s.w': fromInteger('w', 's'),
  'fcvt.s.wu': fromInteger('wu', 's'),
  'fcvt.s.l': fromInteger('l', 's'),
  'fcvt.s.lu': fromInteger('lu', 's'),
  'fmv.w.x': o => {
    o.fpEnabled(true);
    o.fdBits(() => {
      o.rs1();
      o.c.i64_const(boxOf(4)).i64_or();
    });
  },
} as const satisfies Record<string, Rule>;

export const DOUBLE = {
  fld: loadRule(8),
  fsd: storeRule(8),
  'fmadd.d': fused('d', false, false),
  'fmsub.d': fused('d', false, true),
  'fnmsub.d': fused('d', true, false),
  'fnmadd.d': fused('d', true, true),
  'fadd.d': arithmetic('add', 'd'),
  'fsub.d': arithmetic('sub', 'd'),
  'fmul.d': arithmetic('mul', 'd'),
  'fdiv.d': arithmetic('div', 'd'),
  'fsqrt.d': squareRoot('d'),
  'fsgnj.d': signInjectDouble('copy'),
  'fsgnjn.d': signInjectDouble('negate'),
  'fsgnjx.d': signInjectDouble('xor'),
  'fmin.d': choose('min', 'd'),
  'fmax.d': choose('max', 'd'),
  'fcvt.s.d': narrow,
  'fcvt.d.s': widen,
  'feq.d': compare('f64_eq', 'd'),
  'flt.d': compare('f64_lt', 'd'),
  'fle.d': compare('f64_le', 'd'),
  'fclass.d': soft(false),
  'fcvt.w.d': toInteger('w', 'd'),
  'fcvt.wu.d': toInteger('wu', 'd'),
  'fcvt.l.d': toInteger('l', 'd'),
  'fcvt.lu.d': toInteger('lu', 'd'),
  'fmv.x.d': o => {
    o.fpEnabled(false);
    o.rd(() => o.fbits(1));
  },
  'fcvt.d.w': fromInteger('w', 'd'),
  'fcvt.d.wu': fromInteger('wu', 'd'),
  'fcvt.d.l': fromInteger('l', 'd'),
  'fcvt.d.lu': fromInteger('lu', 'd'),
  'fmv.d.x': o => {
    o.fpEnabled(true);
    o.fdBits(() => o.rs1());
  },
} as const satisfies Record<string, Rule>;
