/**
 * The control flow of single RISC-V instructions (Unpriv §2.5, §27.4; Priv "Trap-Return
 * Instructions").
 */
import type { Addr } from '../base/bytes.ts';
import type { CodeScan } from './code.ts';
import { bImm, cbImm, cjImm, jImm, OP_AUIPC, OP_BRANCH, OP_JAL, OP_JALR, RA } from './riscv.ts';

export type Jump =
  /** Goes to `to` or falls through. */
  | { kind: 'branch'; to: Addr }
  | { kind: 'jump'; to: Addr }
  /** Returns, unless the callee never returns; `to` is unknown for a call through a register. */
  | { kind: 'call'; to: Addr | undefined }
  | { kind: 'return' }
  /** Through a register that is not a link register. */
  | { kind: 'indirect' }
  /** sret, mret */
  | { kind: 'xret' }
  /** Never continues: ebreak, illegal. */
  | { kind: 'stop' }
  /** Falls through; the instruction computes an address of code. */
  | { kind: 'address'; to: Addr };

const OP_IMM = 0x13;
const T0 = 5;

const isLink = (register: number) => register === RA || register === T0;

/** The value of the auipc directly before `at`, if it wrote `register`. */
function upper(code: CodeScan, at: number, register: number): Addr | undefined {
  if (at < 4 || !code.isInsn(at - 4)) return undefined;
  const word = code.view.getInt32(at - 4, true);
  if ((word & 0x7f) !== OP_AUIPC || ((word >> 7) & 31) !== register) return undefined;
  return code.base + at - 4 + (word & ~0xfff);
}

/** Undefined for an instruction that always falls through. `at` is an offset in the section. */
export function jumpOf(code: CodeScan, at: number): Jump | undefined {
  const half = code.view.getUint16(at, true);
  return (half & 3) === 3 ? wide(code, at, code.view.getInt32(at, true)) : compressed(code.base + at, half);
}

function wide(code: CodeScan, at: number, word: number): Jump | undefined {
  const here = code.base + at;
  const rd = (word >> 7) & 31;
  const rs1 = (word >> 15) & 31;
  switch (word & 0x7f) {
    case OP_BRANCH:
      return { kind: 'branch', to: here + bImm(word) };
    case OP_JAL:
      return { kind: rd === 0 ? 'jump' : 'call', to: here + jImm(word) };
    case OP_JALR: {
      const base = upper(code, at, rs1);
      const to = base === undefined ? undefined : base + (word >> 20);
      if (rd !== 0) return { kind: 'call', to };
      if (to !== undefined) return { kind: 'jump', to };
      return { kind: isLink(rs1) ? 'return' : 'indirect' };
    }
    case OP_IMM: {
      const base = (word & 0x7000) === 0 ? upper(code, at, rs1) : undefined;
      return base === undefined ? undefined : { kind: 'address', to: base + (word >> 20) };
    }
    default:
      if (word === 0x0010_0073) return { kind: 'stop' };
      return word === 0x3020_0073 || word === 0x1020_0073 ? { kind: 'xret' } : undefined;
  }
}

function compressed(here: Addr, half: number): Jump | undefined {
  const kind = half & 0xe003;
  if (kind === 0xa001) return { kind: 'jump', to: here + cjImm(half) };
  if (kind === 0xc001 || kind === 0xe001) return { kind: 'branch', to: here + cbImm(half) };
  if (half === 0 || half === 0x9002) return { kind: 'stop' };
  const register = (half >> 7) & 31;
  if ((half & 0xf07f) === 0x8002 && register !== 0) return { kind: isLink(register) ? 'return' : 'indirect' };
  if ((half & 0xf07f) === 0x9002) return { kind: 'call', to: undefined };
  return undefined;
}

/**
 * True if the jump at offset `at` goes to an address that the block from `low` loaded from an
 * indexed table: `add x, base, index; ld y, (x); jr y`.
 */
export function loadsIndexed(code: CodeScan, low: number, at: number): boolean {
  let from = 0;
  let isLoaded = false;
  const wanted = registerOf(code, at);
  const sums = new Set<number>();
  for (let i = low; i < at; i += code.length(i)) {
    const half = code.view.getUint16(i, true);
    if ((half & 3) !== 3) {
      const rd = (half >> 7) & 31;
      const small = 8 + ((half >> 2) & 7);
      if ((half & 0xf003) === 0x9002 && ((half >> 2) & 31) !== 0)
        sums.add(rd); // c.add
      else if ((half & 0xe003) === 0x6000 || (half & 0xe003) === 0x4000) {
        from = 8 + ((half >> 7) & 7); // c.ld, c.lw
        if (small === wanted) isLoaded = sums.has(from);
      }
      continue;
    }
    const word = code.view.getInt32(i, true);
    const rd = (word >> 7) & 31;
    const opcode = word & 0x7f;
    if (opcode === 0x33 && (word & 0xfe00_7000) === 0)
      sums.add(rd); // add
    else if (opcode === 0x33 && word >>> 25 === 0x10)
      sums.add(rd); // sh1add, sh2add, sh3add
    else if (opcode === 0x03 && rd === wanted) isLoaded = sums.has((word >> 15) & 31);
  }
  return isLoaded;
}

function registerOf(code: CodeScan, at: number): number {
  const half = code.view.getUint16(at, true);
  return (half & 3) === 3 ? (code.view.getInt32(at, true) >> 15) & 31 : (half >> 7) & 31;
}
