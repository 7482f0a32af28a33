// The registers at a function's return, from its epilogue. Compilers describe frames in epilogues
// for unwinders only since LLVM 20: behind the loads of ra and s0 the call frame information is
// that of the body. Where nothing but register work lies between an instruction and the return,
// that work says what ra, sp and s0 will be. A call in tail position is a jump to a function that
// returns in this one's place.

import { decode, type Insn, newInsn } from '../emulator/index.ts';

export interface ReturnRegisters {
  readonly ra: bigint;
  readonly sp: bigint;
  readonly s0: bigint;
}

/** Numbers of the registers that lead to the caller. */
export const [RA, SP, S0] = [1, 2, 8];
const ZERO = 0;
const INSNS_MAX = 48;
type ReadInsn = (at: bigint) => number | undefined;
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
  insn: ReadInsn,
  word: (at: bigint) => bigint | undefined,
): ReturnRegisters | undefined {
  const one = newInsn();
  /** The instruction of so many bytes in front of `pc`. */
  const before = (bytes: number): Insn | undefined => {
    const bits = insn(pc - BigInt(bytes)) ?? 0;
    if (bytes !== ((bits & 3) === 3 ? 4 : 2)) return undefined;
    return decode(bytes === 4 ? bits >>> 0 : bits & 0xffff, one);
  };
  // Behind that, a jump is no switch of this function.
  let isGivenBack = [2, 4].some(bytes => givesBack(before(bytes)));
  // A jump through a register that `auipc` has just set leaves the function.
  let far = farOf(before(4));
  for (let n = 0; n < INSNS_MAX; n++) {
    const bits = insn(pc);
    if (bits === undefined) return undefined;
    const is32 = (bits & 3) === 3;
    const found = decode(is32 ? bits >>> 0 : bits & 0xffff, one);
    if (!found) return undefined;
    const { name, rd, rs1, imm } = found;
    const isReturn = name === 'jalr' && rd === ZERO && (rs1 === RA || rs1 === far || isGivenBack);
    if (isReturn || (name === 'jal' && rd === ZERO && isGivenBack)) return { ra, sp, s0 };
    if (OTHER.test(name)) return undefined;
    isGivenBack ||= givesBack(found);
    far = farOf(found);
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

/** True if the frame goes back to the stack. */
const givesBack = (insn: Insn | undefined): boolean =>
  insn?.name === 'addi' && insn.rd === SP && insn.rs1 === SP && insn.imm > 0;

const farOf = (insn: Insn | undefined): number => (insn?.name === 'auipc' ? insn.rd : -1);
