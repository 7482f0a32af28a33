// The semantics of Zfa and Zfhmin (Unpriv, chapters of those names). As in fp.ts, soft-float
// defines the exact operation, and the fast paths are taken only if WebAssembly's arithmetic cannot
// differ, flags included.

import { RDN, RMM, RNE, RTZ, RUP } from '../../hart/softfloat-format.ts';
import { FLI_BITS } from '../../isa/index.ts';
import { F64, I32, I64, type Label, type Local } from '../../wasm/module.ts';
import { asDouble, choose, compare, isNumber, loadRule, orSoft, storeRule, toInteger } from './fp.ts';
import { boxOf, type Format, type Ops, type Rule } from './ops.ts';

const loadConstant =
  (format: Format): Rule =>
  o => {
    const box = format === 's' ? boxOf(4) : 0n;
    o.fpEnabled(true);
    o.fdBits(() => o.constant(FLI_BITS[format].map(bits => bits | box)));
  };

const WASM_ROUNDING = [
  [RNE, 'f64_nearest'],
  [RTZ, 'f64_trunc'],
  [RDN, 'f64_floor'],
  [RUP, 'f64_ceil'],
] as const;

/**
 * Sets `whole` to x, a number, rounded to an integer in the effective mode; gives up if that mode
 * is reserved. All five keep the sign of a zero. RMM: truncation loses x - trunc(x), which is
 * exact; from a half on, one step away.
 */
function roundToWhole(o: Ops, x: Local<F64>, whole: Local<F64>, giveUp: Label): void {
  const { c } = o;
  const done = c.block();
  for (const [mode, round] of WASM_ROUNDING) {
    c.local_get(x)[round]().local_set(whole);
    o.rounds(mode);
    c.br_if(done);
  }
  o.rounds(RMM);
  c.i32_eqz().br_if(giveUp, 'unlikely');
  c.local_get(x).f64_trunc().local_set(whole);
  c.local_get(x).local_get(whole).f64_sub().f64_abs().f64_const(0.5).f64_ge().if_();
  c.local_get(whole).f64_const(1).local_get(x).f64_copysign().f64_add().local_set(whole);
  c.end().end();
}

/** fround and froundnx, which differ in NX. */
const roundToIntegral =
  (format: Format, raisesInexact: boolean): Rule =>
  o => {
    const { c } = o;
    const [x, whole] = [o.temp(F64), o.temp(F64)];
    o.fpEnabled(true);
    orSoft(o, giveUp => {
      asDouble(o, 1, format);
      c.local_set(x);
      isNumber(o, x);
      c.i32_eqz().br_if(giveUp, 'unlikely');
      roundToWhole(o, x, whole, giveUp);
      if (raisesInexact) {
        c.local_get(x).local_get(whole).f64_eq();
        o.inexactIsSet();
        c.i32_or().i32_eqz().br_if(giveUp, 'unlikely');
      }
      o.fd(format, () => {
        c.local_get(whole);
        if (format === 's') c.f32_demote_f64();
      });
    });
  };

/** Bits of a half's infinity, and the sign of a half. */
const HALF_INFINITE = 0x7c00;
const HALF_SIGN = 0x8000;

/**
 * Converts from a half that is boxed and finite. Its exponent and fraction, moved to their places
 * in a single, give a number that is too small by 2^112, the difference of the biases; the product
 * with that is exact, also for subnormal halves.
 */
const fromHalf =
  (to: Format): Rule =>
  o => {
    const { c } = o;
    const bits = o.temp(I32);
    o.fpEnabled(true);
    orSoft(o, giveUp => {
      o.fbits(1);
      c.i64_const(boxOf(2)).i64_lt_u().br_if(giveUp, 'unlikely');
      o.fbits(1);
      c.i32_wrap_i64().local_tee(bits).i32_const(HALF_INFINITE).i32_and();
      c.i32_const(HALF_INFINITE).i32_eq().br_if(giveUp, 'unlikely');
      // The result is the same in every mode, but the mode must be valid.
      o.rounds(RNE);
      c.i32_eqz().br_if(giveUp, 'unlikely');
      o.fd(to, () => {
        c.local_get(bits).i32_const(0x7fff).i32_and().i32_const(13).i32_shl().f32_reinterpret_i32();
        c.f32_const(2 ** 112).f32_mul();
        c.local_get(bits).i32_const(HALF_SIGN).i32_and().i32_const(16).i32_shl().f32_reinterpret_i32();
        c.f32_copysign();
        if (to === 'd') c.f64_promote_f32();
      });
    });
  };

/** Least normal half, and where rounding to nearest begins to overflow, as doubles. */
const HALF_LEAST = 0x3f10_0000_0000_0000n;
const HALF_OVERFLOW = 0x40ef_fe00_0000_0000n;
/** Bits of a double's fraction that a half lacks. */
const LOST = 42n;
/** Difference of the biases, in the place of a half's exponent. */
const REBIAS = (1023 - 15) << 10;

/**
 * Converts to a half, for results that are normal or zero, if no bits are lost or NX is already
 * set. Integer arithmetic on the bits of the double: a carry out of the fraction moves into the
 * exponent, as it must.
 */
const toHalf =
  (from: Format): Rule =>
  o => {
    const { c } = o;
    const [bits, magnitude] = [o.temp(I64), o.temp(I64)];
    o.fpEnabled(true);
    orSoft(o, giveUp => {
      asDouble(o, 1, from);
      c.i64_reinterpret_f64().local_tee(bits).i64_const(1).i64_shl().i64_const(1).i64_shr_u();
      c.local_tee(magnitude).i64_const(HALF_LEAST).i64_sub();
      c.i64_const(HALF_OVERFLOW - HALF_LEAST).i64_lt_u();
      c.local_get(magnitude).i64_eqz().i32_or().i32_eqz().br_if(giveUp, 'unlikely');
      c.local_get(magnitude)
        .i64_const((1n << LOST) - 1n)
        .i64_and()
        .i64_eqz();
      o.inexactIsSet();
      c.i32_or();
      o.rounds(RNE);
      c.i32_and().i32_eqz().br_if(giveUp, 'unlikely');
      o.fdBits(() => {
        // To nearest, ties to even: add just under a half, and one more if the last remaining bit
        // is odd.
        c.local_get(magnitude).i64_const(LOST).i64_shr_u().i64_const(1).i64_and();
        c.local_get(magnitude).i64_add();
        c.i64_const((1n << (LOST - 1n)) - 1n).i64_add();
        c.i64_const(LOST).i64_shr_u().i64_const(REBIAS).i64_sub().i64_const(0);
        c.local_get(magnitude).i64_eqz().i32_eqz().select();
        c.local_get(bits).i64_const(48).i64_shr_u().i64_const(HALF_SIGN).i64_and().i64_or();
        c.i64_const(boxOf(2)).i64_or();
      });
    });
  };

export const ZFA = {
  'fli.s': loadConstant('s'),
  'fminm.s': choose('min', 's'),
  'fmaxm.s': choose('max', 's'),
  'fround.s': roundToIntegral('s', false),
  'froundnx.s': roundToIntegral('s', true),
  'fleq.s': compare('f64_le', 's'),
  'fltq.s': compare('f64_lt', 's'),
  'fli.d': loadConstant('d'),
  'fminm.d': choose('min', 'd'),
  'fmaxm.d': choose('max', 'd'),
  'fround.d': roundToIntegral('d', false),
  'froundnx.d': roundToIntegral('d', true),
  'fcvtmod.w.d': toInteger('w', 'd', true),
  'fleq.d': compare('f64_le', 'd'),
  'fltq.d': compare('f64_lt', 'd'),
} as const satisfies Record<string, Rule>;

export const HALF = {
  flh: loadRule(2),
  fsh: storeRule(2),
  // The low half-word unchanged, boxed or not.
  'fmv.x.h': o => {
    o.fpEnabled(false);
    o.rd(() => {
      o.fbits(1);
      o.c.i64_extend16_s();
    });
  },
  'fmv.h.x': o => {
    o.fpEnabled(true);
    o.fdBits(() => {
      o.rs1();
      o.c.i64_const(boxOf(2)).i64_or();
    });
  },
  'fcvt.s.h': fromHalf('s'),
  'fcvt.h.s': toHalf('s'),
  'fcvt.d.h': fromHalf('d'),
  'fcvt.h.d': toHalf('d'),
} as const satisfies Record<string, Rule>;
