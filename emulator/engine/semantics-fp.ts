// What F and D instructions do (Unpriv, "F" and "D" chapters), over abstract operands.
//
// The exact operation of every instruction is soft-float in the hart (`o.soft()`). Around it are fast paths with the
// IEEE 754 operations of WebAssembly, taken only where they cannot differ, flags included:
//   * wasm rounds to nearest even, so the effective rounding mode must be that one;
//   * wasm has no flags, but when NX is already set an inexact result changes nothing;
//   * the result is inspected: no NaN (NV, payloads), no infinity (DZ, OF), nothing that may be tiny (UF).
// NX stays set in ordinary programs once it was raised, so after warm-up nearly everything is fast.

import { F64, I32, I64 } from '../wasm/module.ts';
import type { Format, Ops, Rule } from './ops.ts';
import { fusedRule } from './semantics-fma.ts';

const EXPONENT = {
  s: { mask: 0x7f80_0000, one: 0x0080_0000 },
  d: { mask: 0x7ff0_0000_0000_0000n, one: 0x0010_0000_0000_0000n },
} as const;

/** Runs `fast` inside a block; it branches to the label it gets when it cannot answer, and then soft-float does. */
function orSoft(o: Ops, fast: (giveUp: number) => void): void {
  const { c } = o;
  const done = c.block();
  const giveUp = c.block();
  fast(giveUp);
  c.br(done).end();
  o.soft();
  c.end();
}

/** Pushes operand n as f64, whatever its format. */
function asDouble(o: Ops, n: 1 | 2 | 3, format: Format): void {
  o.fs(n, format);
  if (format === 's') o.c.f64_promote_f32();
}

/** i32: 1 when f64 local `x` is not NaN. */
const isNumber = (o: Ops, x: number): void => void o.c.local_get(x).local_get(x).f64_eq();

/** Gives up unless the rounding mode is RNE and NX is set. */
function needSticky(o: Ops, giveUp: number): void {
  o.roundsToNearestEven();
  o.inexactIsSet();
  o.c.i32_and().i32_eqz().br_if(giveUp, 'unlikely');
}

/** What a result must be to be believed: any finite number, or one that is certainly not tiny (zero is not either). */
type Check = 'finite' | 'normal';

/** Gives up unless the bits in local `bits` (i32 or i64) pass. Exponent 1 may be the rounded form of a tiny result. */
function checkResult(o: Ops, format: Format, check: Check, bits: number, giveUp: number): void {
  const { c } = o;
  const { mask, one } = EXPONENT[format];
  c.local_get(bits);
  if (format === 's') {
    c.i32_const(mask as number).i32_and();
    if (check === 'finite') c.i32_const(mask as number).i32_eq();
    else
      c.i32_const(2 * (one as number))
        .i32_sub()
        .i32_const(0x7f80_0000 - 2 * 0x0080_0000)
        .i32_ge_u();
  } else {
    c.i64_const(mask as bigint).i64_and();
    if (check === 'finite') c.i64_const(mask as bigint).i64_eq();
    else
      c.i64_const(2n * 0x0010_0000_0000_0000n)
        .i64_sub()
        .i64_const(0x7fd0_0000_0000_0000n)
        .i64_ge_u();
  }
  c.br_if(giveUp, 'unlikely');
}

/** Writes fd from a wasm operation after checking its result. */
function checkedResult(o: Ops, format: Format, check: Check, giveUp: number, value: () => void): void {
  const { c } = o;
  const bits = o.temp(format === 's' ? I32 : I64, 0);
  value();
  if (format === 's') c.i32_reinterpret_f32().local_set(bits);
  else c.i64_reinterpret_f64().local_set(bits);
  checkResult(o, format, check, bits, giveUp);
  o.fd(format, () => {
    if (format === 's') c.local_get(bits).f32_reinterpret_i32();
    else c.local_get(bits).f64_reinterpret_i64();
  });
}

type Arithmetic = 'add' | 'sub' | 'mul' | 'div';

/** Sums and differences that are tiny are exact, so only overflow and NaN matter for them. */
const arithmetic =
  (op: Arithmetic, format: Format): Rule =>
  o => {
    const check = op === 'add' || op === 'sub' ? 'finite' : 'normal';
    o.fpEnabled(true);
    orSoft(o, giveUp => {
      needSticky(o, giveUp);
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
      needSticky(o, giveUp);
      checkedResult(o, format, 'finite', giveUp, () => {
        o.fs(1, format);
        if (format === 's') o.c.f32_sqrt();
        else o.c.f64_sqrt();
      });
    });
  };

/** Always soft-float: rare. */
const soft =
  (writesFd: boolean): Rule =>
  o => {
    o.fpEnabled(writesFd);
    o.soft();
  };

const fused = (format: Format, product: boolean, addend: boolean): Rule =>
  fusedRule(format, { product, addend }, orSoft, needSticky, (o, giveUp, value) =>
    checkedResult(o, format, 'normal', giveUp, value),
  );

type Sign = 'copy' | 'negate' | 'xor';

const signInject =
  (sign: Sign, format: Format): Rule =>
  o => {
    const { c } = o;
    o.fpEnabled(true);
    const [a, b] = [o.temp(I64, 0), o.temp(I64, 1)];
    const signBit = format === 's' ? 0x8000_0000n : 1n << 63n;
    for (const [n, local] of [
      [1, a],
      [2, b],
    ] as const) {
      if (format === 's') {
        o.fs(n, 's');
        c.i32_reinterpret_f32().i64_extend_i32_u().local_set(local);
      } else {
        o.fbits(n);
        c.local_set(local);
      }
    }
    o.fdBits(() => {
      c.local_get(a);
      if (sign !== 'xor') c.i64_const(~signBit).i64_and();
      c.local_get(b);
      if (sign === 'negate') c.i64_const(-1).i64_xor();
      c.i64_const(signBit).i64_and();
      if (sign === 'xor') c.i64_xor();
      else c.i64_or();
      if (format === 's') c.i64_const(0xffff_ffff_0000_0000n).i64_or();
    });
  };

/** min and max of numbers: wasm orders -0 below +0 as RISC-V does; NaN operands are soft-float's business. */
const choose =
  (op: 'min' | 'max', format: Format): Rule =>
  o => {
    const { c } = o;
    const [a, b] = [o.temp(F64, 0), o.temp(F64, 1)];
    o.fpEnabled(true);
    orSoft(o, giveUp => {
      asDouble(o, 1, format);
      c.local_set(a);
      asDouble(o, 2, format);
      c.local_set(b);
      isNumber(o, a);
      isNumber(o, b);
      c.i32_and().i32_eqz().br_if(giveUp, 'unlikely');
      o.fd(format, () => {
        c.local_get(a).local_get(b)[`f64_${op}`]();
        if (format === 's') c.f32_demote_f64();
      });
    });
  };

const compare =
  (op: 'f64_eq' | 'f64_lt' | 'f64_le', format: Format): Rule =>
  o => {
    const { c } = o;
    const [a, b] = [o.temp(F64, 0), o.temp(F64, 1)];
    o.fpEnabled(false);
    orSoft(o, giveUp => {
      asDouble(o, 1, format);
      c.local_set(a);
      asDouble(o, 2, format);
      c.local_set(b);
      isNumber(o, a);
      isNumber(o, b);
      c.i32_and().i32_eqz().br_if(giveUp, 'unlikely');
      o.rd(() => void c.local_get(a).local_get(b)[op]().i64_extend_i32_u());
    });
  };

type IntType = 'w' | 'wu' | 'l' | 'lu';

/** Exclusive bounds: strictly between them truncation fits (for `l` the lower bound itself fits, -2^63 is a double). */
const RANGE: Readonly<Record<IntType, readonly [number, number]>> = {
  w: [-(2 ** 31) - 1, 2 ** 31],
  wu: [-1, 2 ** 32],
  l: [-(2 ** 63) - 2048, 2 ** 63],
  lu: [-1, 2 ** 64],
};

/** C casts: towards zero, in range, exact or NX already set. */
const toInteger =
  (type: IntType, format: Format): Rule =>
  o => {
    const { c } = o;
    const x = o.temp(F64, 0);
    const isUnsigned = type === 'wu' || type === 'lu';
    o.fpEnabled(false);
    orSoft(o, giveUp => {
      o.roundsTowardsZero();
      o.inexactIsSet();
      c.i32_and().i32_eqz().br_if(giveUp, 'unlikely');
      asDouble(o, 1, format);
      c.local_tee(x).f64_const(RANGE[type][0]).f64_gt();
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

/** From an integer register. Doubles hold every 32-bit integer exactly, so those need no sticky NX. */
const fromInteger =
  (type: IntType, format: Format): Rule =>
  o => {
    const { c } = o;
    const isExact = format === 'd' && (type === 'w' || type === 'wu');
    o.fpEnabled(true);
    orSoft(o, giveUp => {
      o.roundsToNearestEven();
      if (!isExact) {
        o.inexactIsSet();
        c.i32_and();
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
    needSticky(o, giveUp);
    checkedResult(o, 's', 'normal', giveUp, () => {
      o.fs(1, 'd');
      o.c.f32_demote_f64();
    });
  });
};

const widen: Rule = o => {
  const { c } = o;
  const x = o.temp(F64, 0);
  o.fpEnabled(true);
  orSoft(o, giveUp => {
    asDouble(o, 1, 's');
    c.local_set(x);
    isNumber(o, x);
    o.roundsToNearestEven();
    c.i32_and().i32_eqz().br_if(giveUp, 'unlikely');
    o.fd('d', () => void c.local_get(x));
  });
};

const loadRule =
  (bytes: 4 | 8): Rule =>
  o => {
    o.fpEnabled(true);
    o.loadFp(bytes);
  };

const storeRule =
  (bytes: 4 | 8): Rule =>
  o => {
    o.fpEnabled(false);
    o.storeFp(bytes);
  };

const BOX = 0xffff_ffff_0000_0000n;

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
  'fsgnj.s': signInject('copy', 's'),
  'fsgnjn.s': signInject('negate', 's'),
  'fsgnjx.s': signInject('xor', 's'),
  'fmin.s': choose('min', 's'),
  'fmax.s': choose('max', 's'),
  'fcvt.w.s': toInteger('w', 's'),
  'fcvt.wu.s': toInteger('wu', 's'),
  'fcvt.l.s': toInteger('l', 's'),
  'fcvt.lu.s': toInteger('lu', 's'),
  // The low word as it is, boxed or not.
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
      o.c.i64_const(BOX).i64_or();
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
  'fsgnj.d': signInject('copy', 'd'),
  'fsgnjn.d': signInject('negate', 'd'),
  'fsgnjx.d': signInject('xor', 'd'),
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
