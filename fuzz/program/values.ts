// Values for arguments: usual ones, and ones at which code often errs.
import type { FlagSet, Type } from '../language/types.ts';
import { mask } from './program.ts';
import type { Random } from './random.ts';

/** Operands of comparisons of the kernel, which mutations try. */
export type Dictionary = readonly bigint[];

const INTERESTING: readonly bigint[] = [
  0n,
  1n,
  2n,
  3n,
  4n,
  7n,
  8n,
  16n,
  31n,
  32n,
  63n,
  64n,
  100n,
  127n,
  128n,
  255n,
  256n,
  511n,
  512n,
  1000n,
  1024n,
  4095n,
  4096n,
  4097n,
  8192n,
  32767n,
  32768n,
  65535n,
  65536n,
  1n << 20n,
  (1n << 31n) - 1n,
  1n << 31n,
  (1n << 32n) - 1n,
  1n << 32n,
  (1n << 63n) - 1n,
  1n << 63n,
  (1n << 64n) - 1n,
  (1n << 64n) - 2n,
  (1n << 64n) - 100n,
];

/** Pointers that lead nowhere: no address at all, the first page, the kernel's RAM, and its end. */
export const BAD_POINTERS: readonly bigint[] = [1n << 63n, 8n, 0xffff_ffff_8010_0000n, (1n << 64n) - 8n];

/** The limits of numbers with and without sign. */
export function extremes(width: number): bigint[] {
  const top = 1n << BigInt(8 * width - 1);
  return [0n, 1n, top - 1n, top, 2n * top - 1n, ...(width === 8 ? [1n << 32n, 1n << 31n] : [])];
}

export function newFlags(random: Random, { kind, values }: FlagSet, width: number): bigint {
  if (random.oneIn(50)) return mask(random.word(), width);
  if (kind === 'values' || random.oneIn(3)) return mask(random.of(values), width);
  let bits = 0n;
  for (let n = random.below(4); n > 0; n--) bits |= random.of(values);
  return mask(bits, width);
}

/** A number without a range, of so many bytes. */
export const wholeInt = (width: number): { width: number; low: bigint; high: bigint } => ({
  width,
  low: 0n,
  high: (1n << BigInt(8 * width)) - 1n,
});

/** Every third one near an end of the range: small numbers and limits are where code decides. */
function inRange(random: Random, low: bigint, high: bigint): bigint {
  const near = BigInt(random.below(4));
  if (near > high - low || !random.oneIn(3)) return random.between(low, high);
  return random.oneIn(3) ? high - near : low + near;
}

export function newInt(
  random: Random,
  { width, low, high }: { width: number; low: bigint; high: bigint },
  dictionary: Dictionary,
): bigint {
  const isWhole = low === 0n && high === (1n << BigInt(8 * width)) - 1n;
  if (!isWhole && !random.oneIn(20)) return inRange(random, low, high);
  if (dictionary.length > 0 && random.oneIn(4)) return mask(random.of(dictionary), width);
  switch (random.below(4)) {
    case 0:
      return mask(random.word(), width);
    case 1:
      return mask(BigInt(random.below(16)), width);
    default:
      return random.oneIn(3) ? random.of(extremes(width)) : mask(random.of(INTERESTING), width);
  }
}

/** Another value for a number. */
export function changeInt(random: Random, value: bigint, width: number, dictionary: Dictionary): bigint {
  switch (random.below(5)) {
    case 0:
      return mask(value ^ (1n << BigInt(random.below(8 * width))), width);
    case 1:
      return mask(value + BigInt(1 + random.below(16)), width);
    case 2:
      return mask(value - BigInt(1 + random.below(16)), width);
    case 3:
      return mask(dictionary.length > 0 ? random.of(dictionary) : random.word(), width);
    default:
      return mask(random.of(INTERESTING), width);
  }
}

/** Another content for memory of `type`. */
export function changeBytes(
  random: Random,
  type: Type,
  data: Uint8Array,
  dictionary: Dictionary,
): Uint8Array {
  const [low, high] = type.kind === 'bytes' ? [type.low, type.high] : [1, 128];
  const out = [...data];
  for (let n = 1 + random.below(3); n > 0; n--) {
    const at = random.below(out.length + 1);
    switch (random.below(5)) {
      case 0:
        if (out.length < high) out.splice(at, 0, random.below(256));
        break;
      case 1:
        if (out.length > low && at < out.length) out.splice(at, 1);
        break;
      case 2: {
        const width = random.of([1, 2, 4, 8] as const);
        let value = dictionary.length > 0 && random.oneIn(2) ? random.of(dictionary) : random.of(INTERESTING);
        for (let i = at; i < Math.min(at + width, out.length); i++, value >>= 8n)
          out[i] = Number(value & 255n);
        break;
      }
      case 3:
        if (at < out.length) out[at] = random.below(256);
        break;
      default:
        if (at < out.length) out[at]! ^= 1 << random.below(8);
    }
  }
  return Uint8Array.from(out);
}

export function newBytes(random: Random, low: number, high: number): Uint8Array {
  // Mostly short, sometimes as long as allowed.
  const most = random.oneIn(8) ? high : Math.min(high, low + 64);
  const data = new Uint8Array(low + random.below(most - low + 1));
  const kind = random.below(3);
  for (let i = 0; i < data.length; i++)
    data[i] = kind === 0 ? 0 : kind === 1 ? 97 + (i % 26) : random.below(256);
  return data;
}
