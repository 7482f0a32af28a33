// The search for programs whose compiled form differs from the interpreted one.

import type { Tier } from '../../../emulator/engine/jit/region/region.ts';
import { Random } from '../random.ts';
import type { Piece } from './pieces.ts';
import {
  type Comparison,
  compareEngines,
  drawProgram,
  type Mapping,
  type ShapeProgram,
  shrinkProgram,
} from './program.ts';

const MAPPINGS: readonly Mapping[] = ['sv39', 'identity', 'bare'];
const TIERS: readonly Tier[] = ['hot', 'warm'];
/** Longest piece between two comparisons of a program that is cut, and how many cuts. */
const PIECE = 60_000;
const CUTS = 6;

export interface SearchResult {
  readonly programs: number;
  /** Instructions whose results were compared. */
  readonly instructions: number;
  /** Records of coverage hooks that compiled code made itself. */
  readonly inlined: number;
  /** The first program that differs, shrunk, and how. */
  readonly found:
    | { readonly program: ShapeProgram; readonly mapping: Mapping; readonly tier: Tier; readonly how: string }
    | undefined;
}

/**
 * Where to compare before the end: nowhere in most programs; in some, where the count must be
 * exact.
 */
function drawCuts(random: Random): number[] {
  if (!random.oneIn(3)) return [];
  const first = 1 + random.below(PIECE);
  const others = new Random(first);
  return [first, ...Array.from({ length: CUTS - 1 }, () => 1 + others.below(others.oneIn(2) ? 100 : PIECE))];
}

/**
 * Runs up to so many programs, each in one mapping and tier, until one differs; of pieces of all
 * kinds, or of some. `onCompared` gets the comparison of each program.
 */
export function search(
  seed: number,
  programs: number,
  kinds?: readonly Piece['kind'][],
  onCompared?: (comparison: Comparison) => void,
  tiers: readonly Tier[] = TIERS,
): SearchResult {
  const random = new Random(seed);
  let instructions = 0;
  let inlined = 0;
  for (let done = 0; done < programs; done++) {
    const program = drawProgram(random, kinds);
    const mapping = MAPPINGS[done % MAPPINGS.length]!;
    const tier = tiers[done % tiers.length]!;
    const cuts = drawCuts(random);
    const result = compareEngines(program, mapping, tier, cuts);
    instructions += result.instructions;
    inlined += result.inlined;
    onCompared?.(result);
    if (result.how === undefined) continue;
    const howOf = (candidate: ShapeProgram): string | undefined =>
      compareEngines(candidate, mapping, tier, cuts).how;
    const small = shrinkProgram(program, candidate => howOf(candidate) !== undefined);
    const found = { program: small, mapping, tier, how: howOf(small)! };
    return { programs: done + 1, instructions, inlined, found };
  }
  return { programs, instructions, inlined, found: undefined };
}
