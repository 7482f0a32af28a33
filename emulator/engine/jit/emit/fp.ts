// The floating-point half of JitOps: f registers are f64 locals, and the state of the hart that
// every operation depends on is read once per region and again after calls, not once per operation.
//
// That is the *limit* (Ops.resultLimit), kept in i64 locals: infinity's bits, doubled, when FS is
// Dirty, frm is RNE and NX is set; else 0. Checks of results compare with it anyway, so in ordinary
// programs the three conditions cost nothing. Only the hart changes mstatus.FS and frm, outside of
// regions; only soft-float changes fflags inside, and then the limit is read again.

import { FRM } from '../../../hart/layout.ts';
import { type Insn, rowOf } from '../../../isa/index.ts';
import { type CodeWriter, F32, F64, I64, type Local, type LocalScope } from '../../../wasm/module.ts';
import { type Format, RESULT_LIMIT, type ResultCheck } from '../../semantics/ops.ts';
import type { Block } from '../region/region.ts';
import { isCall } from '../region/registers.ts';
import type { Structure } from '../region/structure.ts';
import { BOX, type FpHelpers, isDirty, isOff, RM_SHIFT, readLimit } from './fp-helpers.ts';

const RM_DYNAMIC = 7;
const RM_LAST = 4;
const CANONICAL_SINGLE = 0x7fc0_0000;

/** Facts about floating point at the start of each block, by position. */
export interface FpPlan {
  /** Floating point may follow before the next call, so the limit must be valid here. */
  readonly wanted: Uint8Array;
  /** On all paths to here FS was found Dirty and frm valid. */
  readonly checked: Uint8Array;
}

/** It needs FS not to be Off, and changes nothing of the floating-point state. */
export const isFloatStore = ({ op }: Insn): boolean => rowOf(op).isFloat && rowOf(op).mem.kind === 'store';

const isFp = (block: Block): boolean =>
  block.insns.some(({ insn }) => rowOf(insn.op).isFloat && !isFloatStore(insn));

export function planFp({ order, next }: Structure): FpPlan {
  const has = Uint8Array.from(order, block => (isFp(block) ? 1 : 0));
  const wanted = has.slice();
  if (!has.includes(1)) return { wanted, checked: has };
  const checked = Uint8Array.from(order, (_, i) => (i === 0 ? 0 : 1));
  for (let changed = true; changed; ) {
    changed = false;
    for (const [i, block] of order.entries()) {
      const isSafe = !isCall(block) && block.end.kind !== 'inline' && (has[i] || checked[i]);
      for (const to of next[i]!) {
        if (!isCall(block) && wanted[to] && !wanted[i]) {
          wanted[i] = 1;
          changed = true;
        }
        if (!isSafe && checked[to]) {
          checked[to] = 0;
          changed = true;
        }
      }
    }
  }
  return { wanted, checked };
}

/**
 * True if its floating operands are singles. For conversions the source counts; moves and stores
 * use the bits unchanged.
 */
const readsSingles = ({ name }: Insn): boolean => name.endsWith('.s');

/** The integer half, as far as this half needs it. */
interface IntegerHalf {
  readonly c: CodeWriter;
  /** The current instruction. */
  readonly insn: Insn;
  /** The f registers that the region uses. */
  readonly f: readonly (Local<F64> | undefined)[];
  /** Pushes the first source, an x register. */
  rs1(): void;
  /** Writes the x register rd. */
  rd(value: () => void): void;
  /** Leaves the region before the current instruction if the i32 on the stack is not 0. */
  leaveIf(): void;
}

/** Emits code for the current instruction of `o`. */
export class JitFloat {
  readonly #o: IntegerHalf;
  readonly #helpers: FpHelpers;
  readonly #own: LocalScope;
  /** The locals with the limits; undefined until the region needs them. */
  #limits: { readonly finite: Local<I64>; readonly normal: Local<I64> } | undefined;
  /** The limit is valid here and FS was found Dirty. */
  #isChecked = false;
  /** FS was found not to be Off in this block. */
  #isOn = false;
  /**
   * f32 locals of f registers as singles, and the set of those that are valid here; the f64 locals
   * always are.
   */
  readonly #singles: Local<F32>[] = [];
  #validSingles = 0;

  constructor(o: IntegerHalf, helpers: FpHelpers) {
    this.#o = o;
    this.#helpers = helpers;
    this.#own = o.c.scope();
  }

  /** The region is written. */
  release(): void {
    this.#own.release();
  }

  /** `isChecked`: all paths to here have passed `enabled`. */
  beginBlock(isChecked: boolean): void {
    this.#isChecked = isChecked;
    this.#isOn = false;
    this.#validSingles = 0;
  }

  /** Called at the entry and after calls, if floating point follows. */
  enter(): void {
    readLimit(this.#o.c);
    this.#setLimits();
  }

  /** Takes the limit from the stack. */
  #setLimits(): void {
    const { finite, normal } = this.#limitLocals;
    // The finite limit has all bits or none, so the other limit is a subset of it.
    this.#o.c.local_tee(finite).i64_const(BigInt.asIntN(64, RESULT_LIMIT.normal)).i64_and().local_set(normal);
  }

  /** Zeroed locals: a region that reads them unset uses soft-float. */
  get #limitLocals(): { readonly finite: Local<I64>; readonly normal: Local<I64> } {
    this.#limits ??= { finite: this.#own.zeroed(I64), normal: this.#own.zeroed(I64) };
    return this.#limits;
  }

  /** Leaves if FS is not Dirty yet or frm is reserved; the test is made only if the limit is 0. */
  enabled(): void {
    const { c } = this.#o;
    if (!this.#isChecked) {
      c.local_get(this.#limitLocals.finite).i64_eqz().if_(undefined, 'unlikely');
      isDirty(c);
      c.i32_const(0).i32_load(FRM).i32_const(RM_LAST).i32_le_u().i32_and().i32_eqz();
      this.#o.leaveIf();
      c.end();
      this.#isChecked = true;
    }
    // Made here, because a rule may push its operands on one of its paths only.
    if (readsSingles(this.#o.insn)) for (const n of [1, 2, 3] as const) this.#unbox(n);
  }

  /**
   * Leaves if FS is Off. A program that only saves its f registers, as setjmp does, never makes FS
   * Dirty.
   */
  stored(): void {
    const { c } = this.#o;
    if (this.#isOn || this.#isChecked) return;
    isOff(c);
    this.#o.leaveIf();
    this.#isOn = true;
  }

  /**
   * Makes the f32 local of operand n, if that is an f register. A value that is not boxed is the
   * canonical NaN.
   */
  #unbox(n: 1 | 2 | 3): void {
    const { c, insn } = this.#o;
    if (rowOf(insn.op).regs[`rs${n}`] !== 'f') return;
    const register = insn[`rs${n}`];
    if ((this.#validSingles >>> register) & 1) return;
    const bits = c.local(I64);
    c.local_get(this.register(n)).i64_reinterpret_f64().local_tee(bits).i32_wrap_i64();
    c.i32_const(CANONICAL_SINGLE).local_get(bits).i64_const(BOX).i64_ge_u().select();
    c.f32_reinterpret_i32();
    c.release(bits);
    this.#setSingle(register);
  }

  /** Takes the f32 from the stack as the value of a register. */
  #setSingle(register: number): void {
    const { c } = this.#o;
    this.#singles[register] ??= this.#own.local(F32);
    c.local_set(this.#singles[register]);
    this.#validSingles |= 1 << register;
  }

  /** Called after register fd was written as 64 bits. */
  written(): void {
    this.#validSingles &= ~(1 << this.#o.insn.rd);
  }

  /** The limit covers only frm; soft-float handles another mode in the instruction itself. */
  resultLimit(check: ResultCheck): void {
    const { c, insn } = this.#o;
    if (insn.rm === RM_DYNAMIC || insn.rm === 0) c.local_get(this.#limitLocals[check]);
    else c.i64_const(0);
  }

  /** i32: not 0 only if NX is set. */
  isInexactSet(): void {
    this.#o.c.local_get(this.#limitLocals.finite).i64_eqz().i32_eqz();
  }

  register(n: 1 | 2 | 3): Local<F64> {
    const { insn, f } = this.#o;
    return f[n === 1 ? insn.rs1 : n === 2 ? insn.rs2 : insn.rs3]!;
  }

  push(n: 1 | 2 | 3, format: Format): void {
    const { c, insn } = this.#o;
    c.local_get(format === 'd' ? this.register(n) : this.#singles[insn[`rs${n}`]]!);
  }

  write(format: Format, value: () => void): void {
    const { c, f, insn } = this.#o;
    value();
    if (format === 's') {
      this.#setSingle(insn.rd);
      c.local_get(this.#singles[insn.rd]!).i32_reinterpret_f32().i64_extend_i32_u().i64_const(BOX).i64_or();
      c.f64_reinterpret_i64();
    } else this.written();
    c.local_set(f[insn.rd]!);
  }

  /** i32: not 0 if this is the effective rounding mode. */
  rounds(mode: number): void {
    const { c, insn } = this.#o;
    if (insn.rm === RM_DYNAMIC) c.i32_const(0).i32_load(FRM).i32_const(mode).i32_eq();
    else c.i32_const(insn.rm === mode ? 1 : 0);
  }

  /** Calls the hart's soft-float, which may change flags. */
  soft(): void {
    const { c, insn, f } = this.#o;
    const { regs } = rowOf(insn.op);
    c.i32_const(insn.op | (insn.rm << RM_SHIFT));
    const first = (): void => {
      if (regs.rs1 === 'f') c.local_get(f[insn.rs1]!);
      else {
        this.#o.rs1();
        c.f64_reinterpret_i64();
      }
    };
    first();
    // Unused operand slots are filled with the first operand: it has the shortest encoding, and the
    // helper ignores it.
    for (const slot of ['rs2', 'rs3'] as const) {
      if (regs[slot] === 'f') c.local_get(f[insn[slot]]!);
      else first();
    }
    c.call(this.#helpers.softFor(insn.name));
    if (regs.rd === 'f') {
      c.local_set(f[insn.rd]!);
      // The other path may have made the f32 local, too.
      if ((this.#validSingles >>> insn.rd) & 1) {
        c.local_get(f[insn.rd]!).i64_reinterpret_f64().i32_wrap_i64().f32_reinterpret_i32();
        this.#setSingle(insn.rd);
      }
    } else {
      const result = c.local(F64);
      c.local_set(result);
      this.#o.rd(() => void c.local_get(result).i64_reinterpret_f64());
      c.release(result);
    }
    c.call(this.#helpers.limit);
    this.#setLimits();
  }
}
