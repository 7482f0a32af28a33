// The jumps of a function, as its machine code shows them: loops, and code that all calls come to.
import { addrOf, type Elf } from '../coverage/index.ts';
import { decode, type Insn, newInsn } from '../emulator/index.ts';
import type { Interval } from './lines.ts';

/** Code of one function that is looked at. */
const CODE_MAX = 1 << 20;
const JUMPS = new Set(['jal', 'beq', 'bne', 'blt', 'bge', 'bltu', 'bgeu']);
/** Those that may be calls. */
const LINKING = new Set(['jal', 'jalr']);

/** A jump back, from the end of a loop to its beginning. */
interface Loop {
  readonly first: bigint;
  readonly last: bigint;
}

/** The loops of the code in `intervals`; jumps by a register are not followed. */
export function loopsIn(elf: Elf, intervals: readonly Interval[]): Loop[] {
  const loops: Loop[] = [];
  for (const [last, insn] of instructionsIn(elf, intervals)) {
    const back = jumpBack(insn);
    if (back !== undefined) loops.push({ first: last - back, last });
  }
  return loops;
}

/** Does control that comes to `low` go on to `high`? A call in between returns. */
export function isStraight(elf: Elf, interval: Interval): boolean {
  for (const [, { name, rd }] of instructionsIn(elf, [interval]))
    if ((JUMPS.has(name) || name === 'jalr') && (!LINKING.has(name) || rd === 0)) return false;
  return true;
}

/** Each instruction with its address; one object for all of them. */
function* instructionsIn(elf: Elf, intervals: readonly Interval[]): Generator<[pc: bigint, Insn]> {
  const insn = newInsn();
  let left = CODE_MAX;
  for (const { low, high } of intervals) {
    const size = high > low ? Number(high - low) : 0; // damaged debug information may have any
    const code = elf.read(addrOf(low), Math.min(left, size));
    if (!code) continue;
    left -= code.length;
    for (let at = 0; at + 2 <= code.length; at += insn.bytes)
      if (decode(wordAt(code, at), insn)) yield [low + BigInt(at), insn];
  }
}

export const isInLoop = (loops: readonly Loop[], pc: bigint): boolean =>
  loops.some(({ first, last }) => first <= pc && pc <= last);

/** How far it may jump back; undefined: it does not. */
const jumpBack = ({ name, rd, imm }: Insn): bigint | undefined =>
  JUMPS.has(name) && (name !== 'jal' || rd === 0) && imm <= 0 ? BigInt(-imm) : undefined;

/** Of a compressed instruction, its 16 bits. */
export function wordAt(code: Uint8Array, at: number): number {
  const low = code[at]! | (code[at + 1]! << 8);
  if ((low & 3) !== 3 || at + 4 > code.length) return low;
  return (low | (code[at + 2]! << 16) | (code[at + 3]! << 24)) >>> 0;
}
