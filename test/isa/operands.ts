// Random operands for a row, from its format alone.

import { encode, type Operands } from '../../emulator/isa/codec.ts';
import { type Format, OPERANDS, type Operand } from '../../emulator/isa/fields.ts';
import type { Random } from '../support/random.ts';

const LEGAL_RM = [0, 1, 2, 3, 4, 7];

/** A value that the operand's bits can hold. */
export function randomValue(operand: Operand, random: Random): number {
  if (operand.kind === 'rm') return random.pick(LEGAL_RM);
  const raw = (random.u32() >>> (32 - (operand.width - operand.low))) << operand.low;
  const value = operand.signed ? (raw << (32 - operand.width)) >> (32 - operand.width) : raw;
  return value + operand.bias;
}

export function randomOperands(format: Format, random: Random): Operands {
  const operands: Operands = {};
  for (const name of format.operands) {
    const operand = OPERANDS[name]!;
    const value = randomValue(operand, random);
    for (const slot of operand.slots) operands[slot] = value;
  }
  return operands;
}

/**
 * One word for every CSR number and every fm, pred, succ: the operands whose text is a table of its
 * own.
 */
export function listedWords(): number[] {
  const words: number[] = [];
  for (let imm = 0; imm < 4096; imm++) {
    words.push(encode('csrrw', { rd: 10, rs1: 11, imm }), encode('fence', { imm }));
  }
  return words;
}
