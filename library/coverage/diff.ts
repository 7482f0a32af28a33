// Two coverages of one image.
import { diffCoverage as diffInner } from '../../coverage/index.ts';
import { check } from './checks.ts';
import { A_COVERAGE, type Coverage, innerCoverage } from './coverage.ts';

export interface FunctionDiff {
  readonly name: string;
  readonly file: string;
  readonly line: number;
  /** Instrumented places that only one of the two reached, that both did, and that there are. */
  readonly onlyA: number;
  readonly onlyB: number;
  readonly both: number;
  readonly total: number;
}

export interface CoverageDiff {
  /** The trace is filtered: records that were left out may cover more. */
  readonly filteredA: boolean;
  readonly filteredB: boolean;
  readonly points: {
    readonly onlyA: number;
    readonly onlyB: number;
    readonly both: number;
    readonly neither: number;
  };
  /** Functions in which the two differ. */
  readonly functions: readonly FunctionDiff[];
  /** Lines that surely ran in one of the two and surely not in the other. */
  readonly linesOnlyA: readonly { readonly file: string; readonly line: number }[];
  readonly linesOnlyB: readonly { readonly file: string; readonly line: number }[];
}

/**
 * The points that only one of two coverages reached.
 *
 * @throws KcovboxError of kind `coverage` unless both are of one `Image` object, with equal
 *   selections.
 */
export function diffCoverage(a: Coverage, b: Coverage): CoverageDiff {
  check('diffCoverage', ['a', a, A_COVERAGE], ['b', b, A_COVERAGE]);
  return diffInner(innerCoverage(a), innerCoverage(b));
}
