// The calls of a hart, as plain facts.
import type { Machine } from '../emulator/index.ts';
import { framesOf } from './frames.ts';
import type { Image } from './image.ts';

interface Call {
  readonly function: string;
  /** '' and 0 where unknown. */
  readonly file: string;
  readonly line: number;
  /** Hexadecimal. */
  readonly pc: string;
  readonly isInlined: boolean;
}

/** From the innermost out. */
export const backtraceOf = (machine: Machine, hart: number, images: readonly Image[]): Call[] =>
  framesOf(machine, machine.harts[hart]!, images).map(({ function: name, file, line, pc, isInlined }) => ({
    function: name,
    file,
    line,
    pc: `0x${BigInt.asUintN(64, pc).toString(16)}`,
    isInlined,
  }));
