// Trap causes (Priv §3.1.15, table of mcause). Only this module has their numbers.

export const INSN_MISALIGNED = 0;
export const INSN_ACCESS = 1;
export const ILLEGAL = 2;
export const BREAKPOINT = 3;
export const LOAD_MISALIGNED = 4;
export const LOAD_ACCESS = 5;
/** Stores and AMOs. */
export const STORE_MISALIGNED = 6;
export const STORE_ACCESS = 7;
export const ECALL_U = 8;
export const ECALL_S = 9;
export const ECALL_M = 11;
export const INSN_PAGE = 12;
export const LOAD_PAGE = 13;
export const STORE_PAGE = 15;

/** Bit 31 of TRAP_CAUSE. */
export const INTERRUPT = 0x8000_0000 | 0;

export {
  ALL_INTERRUPTS,
  MEIP,
  MSIP,
  MTIP,
  S_INTERRUPTS,
  SEIP,
  SSIP,
  STIP,
} from '../isa/csr-fields.ts';

export const U = 0;
export const S = 1;
export const M = 3;

const NAMES: Readonly<Record<number, string>> = {
  [INSN_MISALIGNED]: 'instruction address misaligned',
  [INSN_ACCESS]: 'instruction access fault',
  [ILLEGAL]: 'illegal instruction',
  [BREAKPOINT]: 'breakpoint',
  [LOAD_MISALIGNED]: 'load address misaligned',
  [LOAD_ACCESS]: 'load access fault',
  [STORE_MISALIGNED]: 'store address misaligned',
  [STORE_ACCESS]: 'store access fault',
  [ECALL_U]: 'environment call from u-mode',
  [ECALL_S]: 'environment call from s-mode',
  [ECALL_M]: 'environment call from m-mode',
  [INSN_PAGE]: 'instruction page fault',
  [LOAD_PAGE]: 'load page fault',
  [STORE_PAGE]: 'store page fault',
};

/** For messages; bit 31 = interrupt. */
export const causeName = (cause: number): string =>
  cause < 0 ? `interrupt ${cause & 0x7fff_ffff}` : (NAMES[cause] ?? `cause ${cause}`);
