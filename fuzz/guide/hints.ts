// Input-to-state correspondence: where an operand of a comparison in the kernel is the value of an
// argument, the other operand in its place is worth an execution. A switch is one comparison for
// each of its cases.
import type { Execution, Executor } from '../executor/executor.ts';
import { HALVES } from '../executor/records.ts';
import { mask } from '../program/program.ts';

/** A comparison that a call has made. */
export interface Comparison {
  readonly width: 1 | 2 | 4 | 8;
  /** The first operand is a constant of the code. */
  readonly isConst: boolean;
  readonly first: bigint;
  readonly second: bigint;
}

/** The different comparisons of each call, in order. */
export function comparisonsOf(executor: Executor, { mode, calls }: Execution): Comparison[][] {
  if (mode !== 'cmp') return [];
  const { area } = executor;
  const word = (at: number): bigint => (BigInt(area[at + 1]!) << 32n) | BigInt(area[at]!);
  return calls.map(({ begin, end }) => {
    const seen = new Map<string, Comparison>();
    for (let n = begin; n < end; n++) {
      const at = 2 + HALVES.cmp * n;
      const type = area[at]!;
      const width = (1 << ((type >> 1) & 3)) as Comparison['width'];
      const [first, second] = [mask(word(at + 2), width), mask(word(at + 4), width)];
      if (first === second) continue;
      const isConst = (type & 1) !== 0;
      const key = `${width} ${isConst} ${first} ${second}`;
      if (!seen.has(key)) seen.set(key, { width, isConst, first, second });
    }
    return [...seen.values()];
  });
}

/** Operands that are too usual to be worth a place in the dictionary. */
const USUAL = 64n;

/** Constants of the code, for other programs. */
export function constantsOf(comparisons: readonly (readonly Comparison[])[]): bigint[] {
  const found = new Set<bigint>();
  for (const call of comparisons)
    for (const { isConst, first, width } of call)
      if (isConst && first > USUAL && first < (1n << BigInt(8 * width)) - USUAL) found.add(first);
  return [...found];
}

/** The pairs "operand that may come from an argument, what it is compared with". */
function pairs({ isConst, first, second }: Comparison): [bigint, bigint][] {
  return isConst
    ? [[second, first]]
    : [
        [second, first],
        [first, second],
      ];
}

/** Values that may take the place of `value`. */
export function* replacements(
  value: bigint,
  width: number,
  comparisons: readonly Comparison[],
): Generator<bigint> {
  for (const comparison of comparisons) {
    const bytes = Math.min(width, comparison.width);
    for (const [mine, other] of pairs(comparison)) {
      const high = value - mask(value, bytes);
      const isSame = mask(value, bytes) === mask(mine, bytes) && isExtension(mine, bytes);
      const isSwapped = bytes > 1 && swap(mask(value, bytes), bytes) === mask(mine, bytes);
      for (const near of isSame ? [other, other + 1n, other - 1n] : []) {
        const changed = high + mask(near, bytes);
        if (changed !== value) yield changed;
      }
      if (isSwapped && !isSame) yield high + swap(mask(other, bytes), bytes);
    }
  }
}

/** Is all of the operand in its low bytes, as a number with or without sign? */
function isExtension(operand: bigint, bytes: number): boolean {
  return mask(operand, bytes) === operand || BigInt.asIntN(64, operand) === BigInt.asIntN(8 * bytes, operand);
}

/** The same for a part of memory. */
export function* replacementsIn(
  data: Uint8Array,
  comparisons: readonly Comparison[],
): Generator<{ offset: number; width: number; value: bigint }> {
  for (const comparison of comparisons)
    for (const [mine, other] of pairs(comparison))
      for (const width of [8, 4, 2, 1] as const) {
        if (width > comparison.width || !isExtension(mine, width)) continue;
        // Bytes that are zero are everywhere.
        if (mine === 0n && width < comparison.width) continue;
        for (let offset = 0; offset + width <= data.length; offset++) {
          const there = get(data, offset, width);
          if (there === mask(mine, width)) yield { offset, width, value: mask(other, width) };
          else if (width > 1 && swap(there, width) === mask(mine, width))
            yield { offset, width, value: swap(mask(other, width), width) };
        }
      }
}

function get(data: Uint8Array, at: number, width: number): bigint {
  let value = 0n;
  for (let i = width - 1; i >= 0; i--) value = (value << 8n) | BigInt(data[at + i]!);
  return value;
}

export function put(data: Uint8Array, at: number, width: number, value: bigint): void {
  for (let i = 0; i < width; i++) data[at + i] = Number((value >> BigInt(8 * i)) & 255n);
}

function swap(value: bigint, width: number): bigint {
  let out = 0n;
  for (let i = 0; i < width; i++) out = (out << 8n) | ((value >> BigInt(8 * i)) & 255n);
  return out;
}
