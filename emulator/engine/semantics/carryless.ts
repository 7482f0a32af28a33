// The semantics of Zbc (Unpriv, bit-manipulation chapter): products of polynomials over GF(2), that
// is, multiplication without carries.
//
// WebAssembly has no such instruction, and a loop over 64 bits would be slow. The trick (Thomas
// Pornin, BearSSL): split each operand into four parts, part i having only the bits at positions i
// modulo 4. An integer product of two parts has column sums at every fourth position. Sixteen
// products and masks give the low half. The proof is at `lowProduct`.

import { I64, type Local } from '../../wasm/module.ts';
import type { Ops, Rule } from './ops.ts';

/** Every fourth bit, from bit 0. */
const EVERY_FOURTH = 0x1111_1111_1111_1111n;
const maskOf = (part: number): bigint => BigInt.asIntN(64, EVERY_FOURTH << BigInt(part));

/**
 * i64: the low 64 bits of the carry-less product of locals a and b. Right because a column of a
 * product of two parts sums at most 16 single bits, and 16 only in the top column, at bits 60 to
 * 63, where the carry leaves the word. In the other columns the sum is below 16, fits its four bits
 * and disturbs no other column. Its lowest bit is the carry-less sum; the mask drops the three
 * others.
 */
function lowProduct(o: Ops, a: Local<I64>, b: Local<I64>): void {
  const { c } = o;
  const parts = [0, 1, 2, 3];
  for (let column = 0; column < 4; column++) {
    for (const i of parts) {
      const j = (column - i) & 3;
      c.local_get(a).i64_const(maskOf(i)).i64_and();
      c.local_get(b).i64_const(maskOf(j)).i64_and().i64_mul();
      if (i > 0) c.i64_xor();
    }
    c.i64_const(maskOf(column)).i64_and();
    if (column > 0) c.i64_or();
  }
}

const SWAPS = [
  [1, 0x5555_5555_5555_5555n],
  [2, 0x3333_3333_3333_3333n],
  [4, 0x0f0f_0f0f_0f0f_0f0fn],
  [8, 0x00ff_00ff_00ff_00ffn],
  [16, 0x0000_ffff_0000_ffffn],
] as const;

/** Reverses the order of the bits of local x in place. */
function reverse(o: Ops, x: Local<I64>): void {
  const { c } = o;
  for (const [bits, mask] of SWAPS) {
    c.local_get(x).i64_const(bits).i64_shr_u().i64_const(mask).i64_and();
    c.local_get(x).i64_const(mask).i64_and().i64_const(bits).i64_shl().i64_or().local_set(x);
  }
  c.local_get(x).i64_const(32).i64_rotl().local_set(x);
}

type Half = 'low' | 'high' | 'reversed';

/**
 * The product has 127 bits. Reversing both operands reverses it, so the reversed low half of that
 * product is bits 63 to 126 (`clmulr`), and one shift gives bits 64 to 126 (`clmulh`).
 */
const carrylessProduct =
  (half: Half): Rule =>
  o => {
    const { c } = o;
    const [a, b] = [o.temp(I64), o.temp(I64)];
    o.rs1();
    c.local_set(a);
    o.rs2();
    c.local_set(b);
    if (half === 'low') {
      o.rd(() => lowProduct(o, a, b));
      return;
    }
    reverse(o, a);
    reverse(o, b);
    lowProduct(o, a, b);
    c.local_set(a);
    reverse(o, a);
    o.rd(() => {
      c.local_get(a);
      if (half === 'high') c.i64_const(1).i64_shr_u();
    });
  };

export const CARRYLESS = {
  clmul: carrylessProduct('low'),
  clmulh: carrylessProduct('high'),
  clmulr: carrylessProduct('reversed'),
} as const satisfies Record<string, Rule>;
