// The access to memory that a hart makes next, where that is its next instruction. Nobody can see
// the look: no register, no cached translation changes.

import type { Ram } from '../bus/ram.ts';
import { type Hart, layout as L } from '../hart/index.ts';
import { expand } from '../isa/index.ts';

/** Plain data. */
export interface Access {
  /** Virtual address of the doubleword, divided by 8, as a signed number. */
  readonly word: number;
  readonly stores: boolean;
}

const FETCH = 2;
/** Bits 6 to 2 of an instruction of 32 bits (Unpriv, "RV32/64G Instruction Set Listings"). */
const LOAD = 0x00;
const LOAD_FP = 0x01;
const STORE = 0x08;
const STORE_FP = 0x09;
const AMO = 0x0b;
const FUNCT5_LR = 0x02;

/** Absent: the next instruction accesses no memory, or there is no code in RAM at PC. */
export function nextAccess({ state, mmu }: Hart, ram: Ram): Access | undefined {
  const halfAt = (lo: number, hi: number): number | undefined => {
    const pa = mmu.peek(lo, hi, FETCH);
    return pa >= 0 && ram.has(pa, 2) ? ram.read16(pa) : undefined;
  };
  const [lo, hi] = [state.get(L.PC), state.hi(L.PC)];
  const half = halfAt(lo, hi);
  if (half === undefined) return undefined;
  let word = expand(half);
  if ((half & 3) === 3) {
    const next = (lo + 2) | 0;
    const upper = halfAt(next, next === 0 ? (hi + 1) | 0 : hi);
    if (upper === undefined) return undefined;
    word = (upper << 16) | half;
  }
  const opcode = (word >>> 2) & 0x1f;
  const stores = opcode === STORE || opcode === STORE_FP;
  const isAmo = opcode === AMO;
  if (!stores && !isAmo && opcode !== LOAD && opcode !== LOAD_FP) return undefined;
  const base = L.X + 8 * ((word >>> 15) & 31);
  const upper = (word >> 25) << 5;
  const offset = isAmo ? 0 : stores ? upper | ((word >>> 7) & 31) : word >> 20;
  const address = state.hi(base) * 2 ** 32 + (state.get(base) >>> 0) + offset;
  return { word: Math.floor(address / 8), stores: stores || (isAmo && word >>> 27 !== FUNCT5_LR) };
}
