// The instructions of a privileged program's snippets and functions, drawn at random.

import { encode as e } from '../../../emulator/isa/index.ts';
import type { Random } from '../random.ts';
import { FUNCTION_AT, POINTERS, SNIPPET_AT, STATUS_BITS, VALUES } from './layout.ts';

const ALU = [
  'add',
  'sub',
  'xor',
  'or',
  'and',
  'sll',
  'srl',
  'sltu',
  'addw',
  'subw',
  'mul',
  'mulh',
  'divu',
] as const;
const ALU_IMM = ['addi', 'xori', 'andi', 'slti', 'addiw'] as const;
const LOADS = [
  ['lb', 1],
  ['lbu', 1],
  ['lh', 2],
  ['lw', 4],
  ['lwu', 4],
  ['ld', 8],
] as const;
const STORES = [
  ['sb', 1],
  ['sh', 2],
  ['sw', 4],
  ['sd', 8],
] as const;

/** One instruction that neither jumps nor needs a place. */
export function plain(r: Random, isPortable: boolean): number {
  const [rd, rs1, rs2] = [r.pick(VALUES), r.pick(VALUES), r.pick(VALUES)];
  switch (r.below(10)) {
    case 0:
    case 1:
      return e(r.pick(ALU), { rd, rs1, rs2 });
    case 2:
    case 3:
      return e(r.pick(ALU_IMM), { rd, rs1, imm: r.below(4096) - 2048 });
    case 4:
    case 5: {
      const [name, bytes] = r.pick(LOADS);
      return e(name, { rd, rs1: r.pick(POINTERS), imm: offset(r, bytes, isPortable) });
    }
    case 6:
    case 7: {
      const [name, bytes] = r.pick(STORES);
      return e(name, { rs1: r.pick(POINTERS), rs2, imm: offset(r, bytes, isPortable) });
    }
    case 8:
      // Walks through memory, page by page or line by line.
      // QEMU says of an atomic outside of RAM that it is a load.
      if (isPortable || r.oneIn(2)) {
        const p = r.pick(POINTERS);
        const step = r.pick([8, 64, -8, -64, r.oneIn(4) ? 2040 : 16]);
        // A portable pointer stays in its half of a page, so that it never reaches code.
        return isPortable
          ? e('xori', { rd: p, rs1: p, imm: Math.abs(step) })
          : e('addi', { rd: p, rs1: p, imm: step });
      }
      return e(r.pick(['amoadd.w', 'amoswap.d', 'amoor.d'] as const), { rd, rs1: r.pick(POINTERS), rs2 });
    default:
      return r.oneIn(12)
        ? r.pick([e('fence.i', {}), 0x0ff0_000f, e('csrrs', { rd, rs1: 0, imm: 0x100 }), 0x1200_0073])
        : e(r.pick(ALU), { rd, rs1, rs2 });
  }
}

/** Aligned mostly. */
function offset(r: Random, bytes: number, isPortable: boolean): number {
  const at = r.pick([0, 8, 16, 64, 512, -8]) + (r.oneIn(4) ? bytes * r.below(8) : 0);
  return !isPortable && r.oneIn(20) ? at + 1 : at;
}

const SSTATUS = 0x100;
const SIP = 0x144;
/** cycle, time, instret; only time has a fast path. */
const COUNTERS = [0xc00, 0xc01, 0xc01, 0xc01, 0xc02];
/** sscratch, sepc, scause, stval, mepc, mcause. Handlers keep nothing in them. */
const TRAP_CSRS = [0x140, 0x140, 0x141, 0x142, 0x143, 0x341, 0x342];
/** sip, sie, fflags, frm, fcsr: none has a fast path. */
const SLOW_CSRS = [SIP, 0x104, 0x001, 0x002, 0x003];
/** SIE and SSIP. */
const SUPERVISOR = 2;
const FLOATS = [0, 1, 2, 3];
/** Iterations left, in x8, when all of a snippet's loop is compiled. */
const LATE = 9;

/** An instruction that changes sstatus. */
function status(r: Random, change: 'csrrs' | 'csrrc'): number {
  const { register: rs1 } = STATUS_BITS[r.oneIn(2) ? r.below(2) : r.below(STATUS_BITS.length)]!;
  return e(change, { rd: r.oneIn(4) ? r.pick(VALUES) : 0, rs1, imm: SSTATUS });
}

/** An instruction for a CSR. */
function csr(r: Random): number {
  const rd = r.oneIn(2) ? 0 : r.pick(VALUES);
  const rs1 = r.pick(VALUES);
  switch (r.below(8)) {
    case 0:
    case 1:
      return e(r.pick(['csrrsi', 'csrrci', 'csrrci'] as const), { rd, rs1: SUPERVISOR, imm: SSTATUS });
    case 2:
    case 3:
      return status(r, 'csrrs');
    case 4:
    case 5: {
      // Sometimes a swap with itself, as kernels enter with.
      const name = r.pick(['csrrs', 'csrrc', 'csrrw', 'csrrw'] as const);
      return e(name, { rd: r.oneIn(3) ? rs1 : rd, rs1, imm: r.pick(TRAP_CSRS) });
    }
    case 6:
      return e('csrrs', { rd: r.pick(VALUES), rs1: 0, imm: r.pick(COUNTERS) });
    default:
      return e(r.pick(['csrrwi', 'csrrsi', 'csrrci'] as const), {
        rd,
        rs1: r.below(8),
        imm: r.pick(SLOW_CSRS),
      });
  }
}

/** Late in the loop, when all of it is compiled, the instruction is executed once. */
const late = (word: number): number[] => [
  e('addi', { rd: 6, rs1: 8, imm: -LATE }),
  e('bne', { rs1: 6, rs2: 0, imm: 8 }),
  word,
];

/**
 * Fills a snippet, mostly with a change late in its loop: of sstatus, or an interrupt that becomes
 * pending while interrupts are off, so that the next iteration lets it in.
 */
function fillWithChange(r: Random, words: number[], fill: (length: number) => void, length: number): void {
  const interrupts = (name: 'csrrsi' | 'csrrci', imm = SSTATUS): number =>
    e(name, { rd: 0, rs1: SUPERVISOR, imm });
  const place = r.below(2 * length);
  if (place < length) {
    fill(place);
    words.push(...late(status(r, 'csrrc')));
    fill(length);
  } else if (r.oneIn(2)) {
    words.push(interrupts('csrrsi'));
    fill(length);
    words.push(interrupts('csrrci'), ...late(interrupts('csrrsi', SIP)));
  } else fill(length);
}

/** Floating point, whose results depend on FS and frm. */
function float(r: Random): number {
  const [rd, rs1, rs2] = [r.pick(FLOATS), r.pick(FLOATS), r.pick(FLOATS)];
  const rm = r.oneIn(3) ? 0 : 7;
  switch (r.below(6)) {
    case 0:
      return e('fld', { rd, rs1: r.pick(POINTERS), imm: offset(r, 8, false) });
    case 1:
      return e('fsd', { rs1: r.pick(POINTERS), rs2, imm: offset(r, 8, false) });
    case 2:
      return e('fmv.x.d', { rd: r.pick(VALUES), rs1 });
    case 3:
      return e('fcvt.d.l', { rd, rs1: r.pick(VALUES), rm });
    default:
      return e(r.pick(['fadd.d', 'fmul.d', 'fdiv.d', 'fadd.s', 'fcvt.s.d'] as const), { rd, rs1, rs2, rm });
  }
}

/** An instruction like `plain`; with `hasCsrs` every third one is about CSRs or floating point. */
export function some(r: Random, isPortable: boolean, hasCsrs: boolean): number {
  if (!hasCsrs || !r.oneIn(3)) return plain(r, isPortable);
  return r.oneIn(3) ? float(r) : csr(r);
}

export function snippet(r: Random, index: number, isPortable: boolean, hasCsrs: boolean): number[] {
  const words: number[] = [];
  const fill = (length: number): void => {
    while (words.length < length) {
      const here = SNIPPET_AT[index]! + 4 * words.length;
      if (r.oneIn(8))
        words.push(e('beq', { rs1: r.pick(VALUES), rs2: r.pick(VALUES), imm: 8 }), plain(r, isPortable));
      else if (r.oneIn(6)) words.push(e('jal', { rd: 1, imm: r.pick(FUNCTION_AT) - here }));
      else if (r.oneIn(10)) words.push(e('jalr', { rd: 1, rs1: 9, imm: 0 }));
      else words.push(some(r, isPortable, hasCsrs));
    }
  };
  const length = 3 + r.below(16);
  if (hasCsrs) fillWithChange(r, words, fill, length);
  else fill(length);
  // QEMU does not see that its walker changes code (docs/oracles.md).
  if (!isPortable && index >= SNIPPET_AT.length - 4) throughEntry(words);
  return words;
}

export const ENTRY_INSN = 0x2002_8067;

/**
 * Appends a page table entry that is run as code: `jalr x0, 512(x5)` is a leaf with V, R, W, G and
 * A, and D makes it write x1. It stands on 8 bytes, x5 leads behind it, and its page number is that
 * of a data page.
 */
function throughEntry(words: number[]): void {
  if (words.length % 2 === 1) words.push(e('addi', { rd: 0, rs1: 0, imm: 0 }));
  // Late in the loop, when all of it is compiled, a store may set D: x20 leads to the page of some
  // such entry.
  words.push(...late(e('sd', { rs1: 20, rs2: 10, imm: 0 })), e('addi', { rd: 0, rs1: 0, imm: 0 }));
  words.push(e('auipc', { rd: 5, imm: 0 }), e('addi', { rd: 5, rs1: 5, imm: 24 - 512 }));
  words.push(e('addi', { rd: 1, rs1: 0, imm: 7 }), e('addi', { rd: 0, rs1: 0, imm: 0 }));
  words.push(ENTRY_INSN, 0, e('sub', { rd: 10, rs1: 10, rs2: 1 }), e('xor', { rd: 11, rs1: 11, rs2: 1 }));
}
