// RV64I: Unpriv ch. 2 (RV32I) and the RV64I chapter, in the order of the opcode map's listing.

import { B, FENCE, I, J, LOAD, NONE, R, SHIFT, SHIFTW, STORE, U } from './fields.ts';
import { load, rowsOf, store } from './row.ts';

const insn = rowsOf('i');
const branch = { flow: 'branch' } as const;

// biome-ignore format: the columns are the manual's
export const TABLE_I = [
  insn('lui',    U,      '.................... ..... 0110111'),
  insn('auipc',  U,      '.................... ..... 0010111'),
  insn('jal',    J,      '.................... ..... 1101111', { flow: 'jump' }),
  insn('jalr',   LOAD,   '............ ..... 000 ..... 1100111', { flow: 'indirect' }),

  insn('beq',    B,      '....... ..... ..... 000 ..... 1100011', branch),
  insn('bne',    B,      '....... ..... ..... 001 ..... 1100011', branch),
  insn('blt',    B,      '....... ..... ..... 100 ..... 1100011', branch),
  insn('bge',    B,      '....... ..... ..... 101 ..... 1100011', branch),
  insn('bltu',   B,      '....... ..... ..... 110 ..... 1100011', branch),
  insn('bgeu',   B,      '....... ..... ..... 111 ..... 1100011', branch),

  insn('lb',     LOAD,   '............ ..... 000 ..... 0000011', load(1)),
  insn('lh',     LOAD,   '............ ..... 001 ..... 0000011', load(2)),
  insn('lw',     LOAD,   '............ ..... 010 ..... 0000011', load(4)),
  insn('ld',     LOAD,   '............ ..... 011 ..... 0000011', load(8)),
  insn('lbu',    LOAD,   '............ ..... 100 ..... 0000011', load(1, false)),
  insn('lhu',    LOAD,   '............ ..... 101 ..... 0000011', load(2, false)),
  insn('lwu',    LOAD,   '............ ..... 110 ..... 0000011', load(4, false)),
  insn('sb',     STORE,  '....... ..... ..... 000 ..... 0100011', store(1)),
  insn('sh',     STORE,  '....... ..... ..... 001 ..... 0100011', store(2)),
  insn('sw',     STORE,  '....... ..... ..... 010 ..... 0100011', store(4)),
  insn('sd',     STORE,  '....... ..... ..... 011 ..... 0100011', store(8)),

  insn('addi',   I,      '............ ..... 000 ..... 0010011'),
  insn('slti',   I,      '............ ..... 010 ..... 0010011'),
  insn('sltiu',  I,      '............ ..... 011 ..... 0010011'),
  insn('xori',   I,      '............ ..... 100 ..... 0010011'),
  insn('ori',    I,      '............ ..... 110 ..... 0010011'),
  insn('andi',   I,      '............ ..... 111 ..... 0010011'),
  insn('slli',   SHIFT,  '000000 ...... ..... 001 ..... 0010011'),
  insn('srli',   SHIFT,  '000000 ...... ..... 101 ..... 0010011'),
  insn('srai',   SHIFT,  '010000 ...... ..... 101 ..... 0010011'),
  insn('addiw',  I,      '............ ..... 000 ..... 0011011'),
  insn('slliw',  SHIFTW, '0000000 ..... ..... 001 ..... 0011011'),
  insn('srliw',  SHIFTW, '0000000 ..... ..... 101 ..... 0011011'),
  insn('sraiw',  SHIFTW, '0100000 ..... ..... 101 ..... 0011011'),

  insn('add',    R,      '0000000 ..... ..... 000 ..... 0110011'),
  insn('sub',    R,      '0100000 ..... ..... 000 ..... 0110011'),
  insn('sll',    R,      '0000000 ..... ..... 001 ..... 0110011'),
  insn('slt',    R,      '0000000 ..... ..... 010 ..... 0110011'),
  insn('sltu',   R,      '0000000 ..... ..... 011 ..... 0110011'),
  insn('xor',    R,      '0000000 ..... ..... 100 ..... 0110011'),
  insn('srl',    R,      '0000000 ..... ..... 101 ..... 0110011'),
  insn('sra',    R,      '0100000 ..... ..... 101 ..... 0110011'),
  insn('or',     R,      '0000000 ..... ..... 110 ..... 0110011'),
  insn('and',    R,      '0000000 ..... ..... 111 ..... 0110011'),
  insn('addw',   R,      '0000000 ..... ..... 000 ..... 0111011'),
  insn('subw',   R,      '0100000 ..... ..... 000 ..... 0111011'),
  insn('sllw',   R,      '0000000 ..... ..... 001 ..... 0111011'),
  insn('srlw',   R,      '0000000 ..... ..... 101 ..... 0111011'),
  insn('sraw',   R,      '0100000 ..... ..... 101 ..... 0111011'),

  // rd and rs1 are reserved for finer fences and "shall be ignored" (Unpriv, memory ordering
  // instructions).
  insn('fence',  FENCE,  '............ ----- 000 ----- 0001111'),
  insn('ecall',  NONE,   '000000000000 00000 000 00000 1110011', { flow: 'trap' }),
  insn('ebreak', NONE,   '000000000001 00000 000 00000 1110011', { flow: 'trap' }),
] as const;
