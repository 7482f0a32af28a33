// The search for programs whose compiled form does something else than the interpreted one.

import { Random } from '../random.ts';
import type { Piece } from './pieces.ts';
import {
  difference,
  drawProgram,
  ENOUGH,
  finalState,
  type Mapping,
  type ShapeProgram,
  shrinkProgram,
} from './program.ts';

const MAPPINGS: readonly Mapping[] = ['sv39', 'identity', 'bare'];

export interface SearchResult {
  readonly programs: number;
  /** The first program that differs, shrunk, and how. */
  readonly found:
    | { readonly program: ShapeProgram; readonly mapping: Mapping; readonly how: string }
    | undefined;
}

/** Does the program differ? At its end, or after some number of instructions before. */
export function differs(program: ShapeProgram, mapping: Mapping, insns = ENOUGH): string | undefined {
  return difference(finalState(program, mapping, false, insns), finalState(program, mapping, true, insns));
}

/** Runs up to so many programs, each in one mapping, until one differs; of pieces of all kinds, or of some. */
export function search(seed: number, programs: number, kinds?: readonly Piece['kind'][]): SearchResult {
  const random = new Random(seed);
  for (let done = 0; done < programs; done++) {
    const program = drawProgram(random, kinds);
    const mapping = MAPPINGS[done % MAPPINGS.length]!;
    // Most programs to the end, some to the middle, where the count must be exact.
    const insns = random.oneIn(3) ? 1 + random.below(60_000) : ENOUGH;
    if (differs(program, mapping, insns) === undefined) continue;
    const small = shrinkProgram(program, candidate => differs(candidate, mapping, insns) !== undefined);
    return { programs: done + 1, found: { program: small, mapping, how: differs(small, mapping, insns)! } };
  }
  return { programs, found: undefined };
}
