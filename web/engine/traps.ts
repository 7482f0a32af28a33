// Traps to S-mode, seen at the first instruction of their handler.
import { cause, type Hart, type Machine } from '../../emulator/index.ts';

const STVEC = 0x105;
const SEPC = 0x141;
const SCAUSE = 0x142;
const INTERRUPT_BIT = 63n;

/** Addresses of the handlers, as stvec has them now; our kernels set it once (direct mode). */
export const trapHandlers = ({ harts }: Machine): Set<bigint> =>
  new Set(harts.map(({ csr }) => (csr.peek(STVEC) ?? 0n) & ~3n));

export interface Trap {
  readonly isInterrupt: boolean;
  /** Of a program to the kernel. */
  readonly isCall: boolean;
  /** Cause without the bit of interrupts. */
  readonly code: number;
  /** The instruction that did not run; of a call, the call. */
  readonly from: bigint;
}

export function trapOf({ csr }: Hart): Trap {
  const scause = csr.peek(SCAUSE) ?? 0n;
  const isInterrupt = scause >> INTERRUPT_BIT !== 0n;
  const code = Number(BigInt.asUintN(31, scause));
  return { isInterrupt, isCall: !isInterrupt && code === cause.ECALL_U, code, from: csr.peek(SEPC) ?? 0n };
}
