// Bit fields of 32-bit values and the two halves of 64-bit ones. All functions are pure and allocate nothing
// unless a bigint is in their signature.

/** Bits `msb:lsb` of a 32-bit value, unsigned. */
export const bits = (value: number, msb: number, lsb: number): number =>
  (value >>> lsb) & (msb - lsb === 31 ? -1 : (1 << (msb - lsb + 1)) - 1);

/** The low `width` bits of `value` (1 <= width <= 32) as a signed number. */
export const signExtend = (value: number, width: number): number => (value << (32 - width)) >> (32 - width);

/** Number of set bits of a 32-bit value. */
export function popcount(value: number): number {
  let count = 0;
  for (let rest = value >>> 0; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/** `0x` and lower-case digits; negative numbers keep their sign in front. */
export const hex = (value: number | bigint): string =>
  value < 0 ? `-0x${(-value).toString(16)}` : `0x${value.toString(16)}`;

export const lo32 = (value: bigint): number => Number(BigInt.asIntN(32, value));
export const hi32 = (value: bigint): number => Number(BigInt.asIntN(32, value >> 32n));
/** The unsigned 64-bit value with these halves. */
export const join64 = (lo: number, hi: number): bigint => (BigInt(hi >>> 0) << 32n) | BigInt(lo >>> 0);
