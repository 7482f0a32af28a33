// The interface through which the semantics of every instruction is written, once, for all engines.
//
// A Rule is an emitter: called at code-generation time, it appends WebAssembly through `o.c` and
// names the instruction's operands only through the Ops given to it. Two implementations of Ops
// exist:
//   interpreter  operands are fetched at run time: `rs1()` emits "load the rs1 offset from the
//                decoded record, load the register there"; a rule is instantiated once per handler;
//   JIT          operands are known: `rs1()` emits `local.get` of a register or a constant; a rule
//                is instantiated once per guest instruction in a region.
// Hence a rule must not inspect an operand; it may only push it. Optimisations that need to know
// operands (range-checked groups of accesses, dropped writes to x0, constant folding) are hidden
// behind these methods.
//
// Contract of a rule
//   * The wasm operand stack is empty before and after it.
//   * Operands may be pushed any number of times, until `rd`/`fd` writes: rd may be the same
//     register as rs1. `rd(value)` evaluates `value` first, so `o.rd(() => { o.rs1(); ... })` is
//     always correct.
//   * Methods that can leave (load, store, atomic, fpEnabled, soft, system) come before every write
//     to guest state: a trap must find registers, flags and memory as they were before the
//     instruction.
//   * `branch`, `jump`, `jumpIndirect`, `system` come last. Without one of them control goes to the
//     next instruction.
//   * Values of 32-bit instructions are i32 on the wasm stack and sign-extended by `rdw`.
//   * The rule does not count retired instructions.

import type { Mnemonic } from '../../isa/index.ts';
import type { CodeWriter, I32, Local, ValType } from '../../wasm/module.ts';

/** Bytes of a memory access. */
export type Width = 1 | 2 | 4 | 8;
/** Bytes of a floating-point access. */
export type FpWidth = 2 | 4 | 8;

/** The bits above a NaN-boxed half or single (Unpriv "D" §NaN Boxing). */
export const boxOf = (bytes: FpWidth): bigint => BigInt.asIntN(64, -1n << BigInt(8 * bytes));

/**
 * An instruction of the "A" extension: the kind of access and, for AMOs, the operation (bits 31:27
 * of its encoding).
 */
export interface Atomic {
  readonly kind: 'lr' | 'sc' | 'amo';
  readonly bytes: 4 | 8;
  readonly funct5: number;
}

/** Floating-point format: single (NaN-boxed in its register) or double. */
export type Format = 's' | 'd';

/**
 * The condition for accepting a result: `finite` = any finite number; `normal` = a finite number
 * that is certainly not tiny, and not zero. Exponent 1 may be the rounded form of a tiny result, so
 * it does not count as normal.
 */
export type ResultCheck = 'finite' | 'normal';

/** Bits of the least double whose exponent is 2, shifted left by one, which removes the sign. */
export const LEAST_NORMAL = 0x0040_0000_0000_0000n;
const INFINITE = 0xffe0_0000_0000_0000n;

/**
 * A result passes if its shifted bits are below this; for `normal`, LEAST_NORMAL is subtracted from
 * them first.
 */
export const RESULT_LIMIT: Readonly<Record<ResultCheck, bigint>> = {
  finite: INFINITE,
  normal: INFINITE - LEAST_NORMAL,
};

export interface Ops {
  /** The body being written. Rules may use every instruction, but guest state only through Ops. */
  readonly c: CodeWriter;

  // Integer operands. Each pushes one value.

  /** i64: register rs1. */
  rs1(): void;
  /** i64: register rs2. */
  rs2(): void;
  /** i32: low half of rs1. */
  rs1w(): void;
  /** i32: low half of rs2. */
  rs2w(): void;
  /**
   * i64: the immediate, sign-extended; shift amounts and `lui`/`auipc` values (already shifted)
   * too.
   */
  imm(): void;
  /** i32: low half of the immediate. */
  immw(): void;
  /** i64: the element of `values` that the immediate numbers. */
  constant(values: readonly bigint[]): void;
  /** i64: address of this instruction. */
  pc(): void;
  /** i64: address of the instruction after this one (pc + 2 or pc + 4). */
  nextPc(): void;

  /** Writes rd; `value` pushes i64. `value` is emitted even if rd is x0. */
  rd(value: () => void): void;
  /** Writes rd; `value` pushes i32, which is sign-extended. */
  rdw(value: () => void): void;

  /**
   * A scratch local of this rule, which must be set before it is read; it is released when the rule
   * has returned.
   */
  temp<T extends ValType>(type: T): Local<T>;

  /** i32: units left in this quantum before this instruction. */
  left(): void;

  // Control. `imm` is the displacement of branch and jump.

  /** `condition` pushes i32: when non-zero, continue at pc + imm. */
  branch(condition: () => void): void;
  /** rd = next pc; continue at pc + imm. */
  jump(): void;
  /**
   * `target` pushes i64 (bit 0 is cleared here); rd = next pc afterwards; continue at the target.
   */
  jumpIndirect(target: () => void): void;

  // Memory. Address: rs1 + imm. Any alignment; the slow path handles MMIO, page faults and page
  // crossings.

  /** rd = `bytes` at rs1 + imm, sign- or zero-extended. */
  load(bytes: Width, signed: boolean): void;
  /** Low `bytes` of rs2 to rs1 + imm. */
  store(bytes: Width): void;
  /** Floating register fd = memory; NaN-boxed when less than 8 bytes. */
  loadFp(bytes: FpWidth): void;
  /** Low bytes of floating register fs2 to memory. */
  storeFp(bytes: FpWidth): void;
  /**
   * Address: rs1 alone, naturally aligned. `fast` runs with the i32 local `host`, the host address
   * of RAM that may be accessed that way; it writes rd. Everything else (translation misses,
   * devices, pages with code, faults) is done by the hart's own lr, sc or amo, which `what`
   * describes.
   */
  atomic(what: Atomic, fast: (host: Local<I32>) => void): void;
  /**
   * The cache block that rs1 points into, after `permitted` has pushed i32 and it was not zero.
   * `fast` runs with the i32 local `host`, the host address of the block in RAM that may be read
   * or, when it `writes`, written. Everything else is done by the hart. Comes last and alone.
   */
  cacheBlock(writes: boolean, permitted: () => void, fast: (host: Local<I32>) => void): void;
  /**
   * i64: the physical address that belongs to a host address of RAM held in the i32 local `host`.
   */
  physical(host: Local<I32>): void;

  // Floating point. Registers are 64-bit patterns; see semantics/fp.ts for the fast paths.

  /**
   * The first call of every FP rule. Leaves (illegal instruction) when FS = Off; sets FS = Dirty
   * when `writes`. A rule that may leave later calls `fpDirty` at its end instead.
   */
  fpEnabled(writes: boolean): void;
  /** Sets FS = Dirty. */
  fpDirty(): void;
  /** i64: raw bits of fs1, fs2 or fs3. */
  fbits(n: 1 | 2 | 3): void;
  /**
   * f32 or f64: value of fs1, fs2 or fs3; a single that is not NaN-boxed reads as the canonical
   * NaN.
   */
  fs(n: 1 | 2 | 3, format: Format): void;
  /** Writes fd; `value` pushes raw i64 bits. */
  fdBits(value: () => void): void;
  /** Writes fd; `value` pushes f32 (boxed here) or f64. */
  fd(format: Format, value: () => void): void;
  /** i32: non-zero when this is the effective rounding mode, as frm encodes it. */
  rounds(mode: number): void;
  /**
   * i64: RESULT_LIMIT[check] when the effective rounding mode is round-to-nearest-even and NX is
   * set, else 0. It may conservatively be 0. If a result of the host's arithmetic passes the check
   * with this limit, it is the result of this instruction, including flags.
   */
  resultLimit(check: ResultCheck): void;
  /** The host's relaxed_madd is a fused multiply-add. */
  readonly fuses: boolean;
  /** fs1 and fs2 are known to be the same register. */
  readonly hasSameSources: boolean;
  /** i32: non-zero only when NX is set in fflags, so that raising it again changes nothing. */
  inexactIsSet(): void;
  /**
   * The exact soft-float operation of this very instruction: reads its operands, writes its rd or
   * fd, ORs fflags. Leaves with illegal instruction when the rounding mode is reserved.
   */
  soft(): void;

  /**
   * The hart executes the instruction (CSRs, traps, xret, wfi, fences): registers and pc are stored
   * to the window, and execution continues at the hart's PC. Comes last and alone.
   */
  system(): void;
}

/** The semantics of an instruction. */
export type Rule = (o: Ops) => void;

/** One rule for every row of the ISA table; a missing row is a type error. */
export type Semantics = Readonly<Record<Mnemonic, Rule>>;
