// Corner values of arithmetic.

import type { Random } from '../random.ts';

const INTEGERS: readonly bigint[] = [
  0n,
  1n,
  2n,
  0xffn,
  0x7fffn,
  0x8000n,
  0x7fff_ffffn,
  0x8000_0000n,
  0xffff_ffffn,
  0x1_0000_0000n,
  0x7fff_ffff_ffff_ffffn,
  0x8000_0000_0000_0000n,
  0xffff_ffff_8000_0000n,
  0xffff_ffff_7fff_ffffn,
  0xffff_ffff_ffff_fffen,
  0xffff_ffff_ffff_ffffn,
];

/**
 * Binary64: zeros, ones, infinities, NaNs of both kinds, subnormals, and the edges of the integer
 * ranges.
 */
const DOUBLES: readonly bigint[] = [
  0x0000_0000_0000_0000n,
  0x3ff0_0000_0000_0000n,
  0x3ff0_0000_0000_0001n,
  0x3fe0_0000_0000_0000n,
  0x3fdf_ffff_ffff_ffffn,
  0x7ff0_0000_0000_0000n,
  0x7ff8_0000_0000_0000n,
  0x7ff0_0000_0000_0001n,
  0x7fff_ffff_ffff_ffffn,
  0x0000_0000_0000_0001n,
  0x000f_ffff_ffff_ffffn,
  0x0010_0000_0000_0000n,
  0x7fef_ffff_ffff_ffffn,
  0x41df_ffff_ffc0_0000n, // 2^31 - 1
  0x41e0_0000_0000_0000n, // 2^31
  0x41ef_ffff_ffe0_0000n, // 2^32 - 1
  0x41f0_0000_0000_0000n, // 2^32
  0x43e0_0000_0000_0000n, // 2^63
  0x43f0_0000_0000_0000n, // 2^64
  0x43df_ffff_ffff_ffffn, // the double below 2^63
  0x4340_0000_0000_0000n, // 2^53
  0x47ef_ffff_e000_0000n, // the largest single
  0x47ef_ffff_f000_0000n, // rounds out of single range
  0x3810_0000_0000_0000n, // the smallest normal single
  0x36a0_0000_0000_0000n, // the smallest subnormal single
  0x4004_0000_0000_0000n, // 2.5
];

const SINGLES: readonly bigint[] = [
  0x0000_0000n,
  0x3f80_0000n,
  0x3f80_0001n,
  0x3f00_0000n,
  0x7f80_0000n,
  0x7fc0_0000n,
  0x7f80_0001n,
  0x7fff_ffffn,
  0x0000_0001n,
  0x007f_ffffn,
  0x0080_0000n,
  0x7f7f_ffffn,
  0x4eff_ffffn,
  0x4f00_0000n,
  0x4f7f_ffffn,
  0x4f80_0000n,
  0x5f00_0000n,
  0x5f80_0000n,
  0x4b80_0000n,
  0x4020_0000n,
];

export const cornerInteger = (random: Random): bigint =>
  random.oneIn(2) ? random.pick(INTEGERS) : random.u64() >> BigInt(random.below(64));

/** A binary64 pattern: a corner, a number near one, or any bits. */
export function cornerDouble(random: Random): bigint {
  const sign = BigInt(random.below(2)) << 63n;
  switch (random.below(4)) {
    case 0:
      return random.u64();
    case 1: {
      // exponents near the middle, so that sums and products stay finite and inexact
      const exponent = BigInt(1023 - 40 + random.below(80)) << 52n;
      return sign | exponent | (random.u64() >> 12n);
    }
    default:
      return sign | random.pick(DOUBLES);
  }
}

/** A NaN-boxed binary32 pattern, sometimes with a broken box. */
export function cornerSingle(random: Random): bigint {
  const sign = BigInt(random.below(2)) << 31n;
  const box = random.oneIn(16) ? random.u64() << 32n : 0xffff_ffff_0000_0000n;
  return BigInt.asUintN(64, box) | singleBits(random, sign);
}

/** A NaN-boxed binary16 pattern, sometimes with a broken box. */
export function cornerHalf(random: Random): bigint {
  const box = random.oneIn(16) ? random.u64() << 16n : -1n << 16n;
  return BigInt.asUintN(64, box) | BigInt(random.u32() >>> 16);
}

function singleBits(random: Random, sign: bigint): bigint {
  switch (random.below(4)) {
    case 0:
      return BigInt(random.u32());
    case 1:
      return sign | (BigInt(127 - 12 + random.below(24)) << 23n) | BigInt(random.u32() >>> 9);
    default:
      return sign | random.pick(SINGLES);
  }
}
