// A store by kcov's hook, in words: the part of the record that it writes, and the code that is
// recorded. The instruction that stores is in the hook, which says nothing to the reader.
import type { Machine, Range } from '../../emulator/index.ts';
import { type KcovLog, nameOf } from './kcov-log.ts';

const WORD = 8;
const CMP_WORDS = 4;
const CMP_PARTS = ['the type', 'the first operand', 'the second operand', 'the PC'];

/**
 * The store of the instruction at `unit` to `ranges`; `ram`: behind it. `placeOf`: of the call in
 * front of a recorded PC. Undefined: it is not a store of kcov, or its record is not known.
 */
export function kcovStore(
  log: KcovLog,
  unit: number,
  ranges: readonly Range[],
  ram: Machine['ram'],
  placeOf: (pc: bigint) => string,
): string | undefined {
  for (const { area, index, isCmp, origin } of log.madeAt(unit)) {
    const words = isCmp ? CMP_WORDS : 1;
    const record = area + WORD * (1 + index * words);
    if (index < 0 || !ram.has(record, WORD * words)) continue;
    const within = (at: number): boolean => ranges.some(({ pa, bytes }) => pa < at + WORD && at < pa + bytes);
    const parts = Array.from({ length: words }, (_, i) => i).filter(i => within(record + WORD * i));
    const isCount = within(area);
    if (!isCount && parts.length === 0) continue;
    const place = placeOf(BigInt.asUintN(64, ram.read64(record + WORD * (words - 1))) - 1n);
    const of = `record ${index} of ${nameOf(origin)}, from ${place}`;
    if (isCount && parts.length === 0) return `kcov counts ${of}`;
    if (isCount || parts.length > 1 || !isCmp) return `kcov writes ${of}`;
    return `kcov writes ${CMP_PARTS[parts[0]!]} of a comparison: ${of}`;
  }
  return undefined;
}
