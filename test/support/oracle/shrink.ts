// Shrinks a failing program: fewer rounds, then fewer pieces by halves, quarters, ... while it
// still fails.

import { buildImage, compareMemories } from './image.ts';
import { listing, type Piece, type Program } from './program.ts';
import type { ImageRunner } from './runner.ts';

export function shrink(program: Program, fails: (candidate: Program) => boolean): Program {
  let best = program;
  const attempt = (candidate: Program): boolean => {
    if (!fails(candidate)) return false;
    best = candidate;
    return true;
  };
  if (program.rounds > 1) attempt({ ...program, rounds: 1 });
  for (let chunk = best.pieces.length >>> 1; chunk >= 1; chunk >>>= 1) {
    // From the end: what comes after the first wrong instruction goes first.
    for (let start = best.pieces.length - chunk; start > -chunk; start -= chunk) {
      const from = Math.max(start, 0);
      const rest: Piece[] = [...best.pieces.slice(0, from), ...best.pieces.slice(from + chunk)];
      attempt({ ...best, pieces: rest });
    }
  }
  return best;
}

/** Registers that a program's text names, with their first values. */
function initialValues(program: Program, lines: readonly string[]): string[] {
  const used = new Set<string>();
  for (const piece of program.pieces) {
    for (const slot of ['rs1', 'rs2', 'rs3'] as const) {
      const n = piece.operands[slot];
      if (n !== undefined) used.add(`x${n}`).add(`f${n}`);
    }
  }
  const hasFloats = lines.some(line => / f[a-z]/.test(line));
  const values: string[] = [];
  program.x.forEach((value, n) => {
    const pointer = program.pointers.get(n);
    if (!used.has(`x${n}`)) return;
    values.push(pointer === undefined ? `x${n} = 0x${value.toString(16)}` : `x${n} = data + ${pointer}`);
  });
  program.f.forEach((value, n) => {
    if (hasFloats && used.has(`f${n}`)) values.push(`f${n} = 0x${value.toString(16)}`);
  });
  return [...values, `fcsr = 0x${program.fcsr.toString(16)}`, `rounds = ${program.rounds}`];
}

/** Everything a person needs to see why two machines disagree about a program. */
export function explain(program: Program, a: ImageRunner, b: ImageRunner): string {
  const image = buildImage([program]);
  const differences = compareMemories(image, a.run(image), b.run(image)).get(0) ?? ['(no difference)'];
  const lines = listing(program.pieces, image.entries[0]!);
  return [
    initialValues(program, lines).join(', '),
    ...lines,
    `place: ${a.name} ${b.name}`,
    ...differences.slice(0, 20),
  ].join('\n');
}
