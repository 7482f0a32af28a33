/** Choosing parts of a program by file glob, function name and address range. */
import { type Addr, addrOf, CoverageError, cleanPath } from '../base/bytes.ts';
import type { KeepPoint } from '../model/keep.ts';
import { globTest } from './glob.ts';

export interface Selection {
  /** Globs (glob.ts); a point stays if any frame's file matches any of them. */
  files?: string[] | undefined;
  /** Regular expression for function names. */
  functions?: string | undefined;
  /** `0xLOW-0xHIGH`, the upper bound exclusive; call or return address. */
  pcs?: string[] | undefined;
}

/**
 * The addresses from `low` to below `high`. Addresses are unsigned and `Addr` is signed, so a range
 * from the lower half of the address space to the upper one has a `high` below `low`.
 */
export function parsePcRange(text: string): { low: Addr; high: Addr } {
  const match = /^(0x[0-9a-f]{1,16})(?:-(0x[0-9a-f]{1,16}))?$/i.exec(text.trim());
  if (!match) throw new CoverageError(`"${text}" is not a range of addresses; write 0xLOW-0xHIGH`);
  const low = BigInt(match[1]!);
  const high = match[2] ? BigInt(match[2]) : low + 1n;
  if (high <= low) throw new CoverageError(`the range ${text} is empty`);
  return { low: addrOf(low), high: addrOf(high) };
}

/** True if the instruction at `call` or the one behind it is in the range. */
function isIn(call: Addr, { low, high }: { low: Addr; high: Addr }): boolean {
  const [isAbove, isBelow] = [call + 4 >= low, call < high];
  return high < low ? isAbove || isBelow : isAbove && isBelow;
}

/** The test for `Program`; undefined if the selection selects everything. */
export function keepPoint(selection: Selection): KeepPoint | undefined {
  const globs = (selection.files ?? []).map(globTest);
  const ranges = (selection.pcs ?? []).map(parsePcRange);
  let functions: RegExp | undefined;
  try {
    functions = selection.functions ? new RegExp(selection.functions) : undefined;
  } catch (error) {
    throw new CoverageError(
      `"${selection.functions}" is not a regular expression: ${(error as Error).message}`,
    );
  }
  if (globs.length === 0 && ranges.length === 0 && !functions) return undefined;
  return ({ call, frames }) => {
    if (ranges.length > 0 && !ranges.some(range => isIn(call, range))) return false;
    if (functions && !frames.some(frame => functions.test(frame.function))) return false;
    return globs.length === 0 || frames.some(frame => globs.some(fits => fits(cleanPath(frame.file))));
  };
}
