// The registers at a function's return, from its epilogue. Compilers describe frames in epilogues
// for unwinders only since LLVM 20: behind the loads of ra and s0 the call frame information is
// that of the body. Where nothing but register work lies between an instruction and the return,
// that work says what ra, sp and s0 will be.

import { decode, newInsn } from '../emulator/index.ts';

export interface ReturnRegisters {
  readonly ra: bigint;
  readonly sp: bigint;
  readonly s0: bigint;
}

/** Numbers of the registers that lead to the caller. */
export const [RA, SP, S0] = [1, 2, 8];
const ZERO = 0;
const INSNS_MAX = 48;
/** They end the walk: control may go elsewhere, or memory changes. */
const OTHER =
  /^(b\w+|jal|jalr|s[bhwd]|fs[hwd]|ecall|ebreak|[sm]ret|wfi|sfence\..*|lr\..*|sc\..*|amo.*|csr.*)$/;

/**
 * The registers at the return of the function at `pc`; undefined if more than its epilogue lies in
 * between. `insn` reads 32 bits of code, `word` 64 bits of memory.
 */
export function atReturn(
  pc: bigint,
  { ra, sp, s0 }: ReturnRegisters,
  insn: (at: bigint) => number | undefined,
  word: (at: bigint) => bigint | undefined,
): ReturnRegisters | undefined {
  const one = newInsn();
  for (let n = 0; n < INSNS_MAX; n++) {
    const bits = insn(pc);
    if (bits === undefined) return undefined;
    const is32 = (bits & 3) === 3;
    const found = decode(is32 ? bits >>> 0 : bits & 0xffff, one);
    if (!found) return undefined;
    const { name, rd, rs1, imm } = found;
    if (name === 'jalr' && rd === ZERO && rs1 === RA) return { ra, sp, s0 };
    if (OTHER.test(name)) return undefined;
    if (rd === RA || rd === SP || rd === S0) {
      const from = rs1 === SP ? sp : rs1 === S0 ? s0 : undefined;
      const at = from === undefined ? undefined : BigInt.asUintN(64, from + BigInt(imm));
      const value = name === 'addi' ? at : name === 'ld' && at !== undefined ? word(at) : undefined;
      if (value === undefined) return undefined;
      if (rd === RA) ra = value;
      else if (rd === SP) sp = value;
      else s0 = value;
    }
    pc += is32 ? 4n : 2n;
  }
  return undefined;
}
