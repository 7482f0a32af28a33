// Bits and digits of numbers.

/** Number of set bits of a 32-bit value. */
export function popcount(value: number): number {
  let count = 0;
  for (let rest = value >>> 0; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/** `0x` and lower-case digits; negative numbers keep their sign in front. */
export const hex = (value: number | bigint): string =>
  value < 0 ? `-0x${(-value).toString(16)}` : `0x${value.toString(16)}`;

/** Bit `i` of a bitmap; false if there is none. */
export const hasBit = (bits: Uint8Array | undefined, i: number): boolean =>
  bits !== undefined && ((bits[i >> 3]! >> (i & 7)) & 1) === 1;
