// The thread that a hart runs: it may go on on another hart, while this one runs others.
import { type Hart, readRegister, registerNumber } from '../emulator/index.ts';

const [TP, PRIVILEGE] = ['tp', 'priv'].map(name => registerNumber(name)!) as [number, number];
const SSCRATCH = 0x140;
const SATP = 0x180;
const USER = 0n;
const SUPERVISOR = 1n;
/** The page of the root table; a kernel may change the number of the space (Priv §10.1.11). */
const ROOT = (1n << 44n) - 1n;

/**
 * A name of the thread. Kernels have a pointer to their thread in tp, and while a program runs in
 * sscratch, from where the first instructions of the trap handler exchange it (as Linux does, and
 * kernel/trap/entry.S). For other kernels, a program is one thread, and the rest that of the hart.
 */
export function threadOf(hart: Hart): string {
  const privilege = readRegister(hart, PRIVILEGE)!;
  const csr = (number: number): bigint => hart.csr.peek(number) ?? 0n;
  const pointers = privilege === USER ? [] : [readRegister(hart, TP)!];
  const pointer = privilege <= SUPERVISOR ? [...pointers, csr(SSCRATCH)].find(isOfKernel) : undefined;
  if (pointer !== undefined) return `thread ${BigInt.asUintN(64, pointer)}`;
  return privilege === USER ? `program ${csr(SATP) & ROOT}` : `hart ${hart.id}`;
}

const isOfKernel = (va: bigint): boolean => BigInt.asIntN(64, va) < 0n;
