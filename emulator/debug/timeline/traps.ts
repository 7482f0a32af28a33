// Traps to S-mode, seen at the first instruction of their handler.

import { ECALL_U } from '../../hart/cause.ts';
import type { Hart } from '../../hart/index.ts';
import type { Machine } from '../../machine/machine.ts';

const STVEC = 0x105;
const SEPC = 0x141;
const SCAUSE = 0x142;
const INTERRUPT_BIT = 63n;
const VECTORS = 16n;

/**
 * Addresses of the handlers, as stvec has them now (Priv, Supervisor Trap Vector Base Address);
 * kernels set it once, at boot.
 */
export function trapHandlers({ harts }: Machine): Set<bigint> {
  const handlers = new Set<bigint>();
  for (const { csr } of harts) {
    const vector = csr.peek(STVEC) ?? 0n;
    const base = vector & ~3n;
    handlers.add(base);
    if ((vector & 1n) === 1n) for (let i = 1n; i < VECTORS; i++) handlers.add(base + 4n * i);
  }
  return handlers;
}

export interface Trap {
  readonly isInterrupt: boolean;
  /** Of a program to the kernel. */
  readonly isCall: boolean;
  /** Cause without the bit of interrupts. */
  readonly code: number;
  /** The instruction that did not run; of a call, the call. */
  readonly from: bigint;
}

/** The trap of a hart that is at its handler's first instruction. */
export function trapOf({ csr }: Hart): Trap {
  const scause = csr.peek(SCAUSE) ?? 0n;
  const isInterrupt = scause >> INTERRUPT_BIT !== 0n;
  const code = Number(BigInt.asUintN(31, scause));
  return { isInterrupt, isCall: !isInterrupt && code === ECALL_U, code, from: csr.peek(SEPC) ?? 0n };
}

/**
 * Did this trap keep the instruction at `pc` from running, which the hart had reached at
 * `unit`? An exception is a unit of its own behind it, an interrupt is none.
 */
export const isKeptBy = (
  { isInterrupt, isCall, from }: Trap,
  trapUnit: number,
  { unit, pc }: { readonly unit: number; readonly pc: bigint },
): boolean => !isCall && from === pc && trapUnit - unit === (isInterrupt ? 0 : 1);
