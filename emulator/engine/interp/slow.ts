// Calls to the host for operations that the interpreter cannot do itself. Each helper first stores
// pc and the instruction count to the window, exactly as they were before the instruction (the
// contract of emulator/hart), then calls its import. Every import returns the new `ic`: the
// instructions left after this one; 0 if interrupts must be checked first (the window then holds
// the true count); or a negative number after a transfer of control (trap, xret), with the new PC
// in the window.

import { IC, PC, SLOW_ARG, SLOW_VALUE } from '../../hart/layout.ts';
import {
  type CodeWriter,
  type FunctionHandle,
  I32,
  I64,
  type Local,
  type ModuleBuilder,
} from '../../wasm/module.ts';
import type { Atomic } from '../semantics/ops.ts';
import { R_IMM, R_RM } from './records.ts';

/** Implemented by engine.ts. All take and return i32 only. */
export interface InterpImports {
  load(funct3: number): number;
  store(log2: number): number;
  atomic(code: number): number;
  fpEnable(rec: number, writes: number): number;
  soft(rec: number, op: number, rm: number): number;
  system(word: number): number;
  illegal(word: number): number;
  /**
   * Translates SLOW_ARG = PC and attaches a decoded page. 0 = look up again, negative = trapped,
   * else the base of a decoded page that is valid for this one instruction.
   */
  fetch(): number;
  /**
   * Fills the straddle slots of the page that `rec` is in; SLOW_ARG = the next page. Like `fetch`.
   */
  straddle(rec: number): number;
  /** Decodes the record. */
  decode(rec: number): void;
  /** Accesses of a compiled region that refill.ts cannot serve; see `addRegionSlow`. */
  regionSlow(kind: number): number;
  /** Arrivals at `rec`, which is at PC, have run out. Returns the new R_ENTRY; may compile. */
  hot(rec: number): number;
  /**
   * PC has no entry in the jump cache: the table slot of its region, or negative when there is
   * none. Fills the cache.
   */
  enter(rec: number): number;
  /** IC is spent or RECHECK is set; 0 = go on at PC, else the reason to leave. */
  boundary(): number;
}

/**
 * `atomic`'s argument: funct5, then log2 of the bytes; lr and sc have the funct5 of their
 * encodings.
 */
export const atomicCode = (what: Atomic): number => (what.funct5 << 2) | Math.log2(what.bytes);

type Name = keyof InterpImports;

const SIGNATURES: Record<Name, readonly [params: number, results: number]> = {
  load: [1, 1],
  store: [1, 1],
  atomic: [1, 1],
  fpEnable: [2, 1],
  soft: [3, 1],
  system: [1, 1],
  illegal: [1, 1],
  fetch: [0, 1],
  straddle: [1, 1],
  decode: [1, 0],
  regionSlow: [1, 1],
  hot: [1, 1],
  enter: [1, 1],
  boundary: [0, 1],
};

/** (rec, base, ic: i32, page: i64): the position of the interpreter. */
const PLACE = [I32, I32, I32, I64] as const;

const i32s = (count: number): (typeof I32)[] => Array.from({ length: count }, () => I32);

/** The handler that is being emitted, as far as a call needs it. */
interface Caller {
  readonly c: CodeWriter;
  /** The position of the interpreter. */
  readonly locals: {
    readonly rec: Local<I32>;
    readonly base: Local<I32>;
    readonly ic: Local<I32>;
    readonly page: Local<I64>;
  };
  /** Pushes the instruction's second source. */
  rs2(): void;
  /** Takes over the result of an import, the new `ic`. */
  takeIc(): void;
}

export class SlowCalls {
  readonly imports: Record<Name, number>;
  readonly #refill: number;
  /** (rec, base, ic: i32, page: i64) stores pc and count to the window. */
  readonly #sync: FunctionHandle<typeof PLACE>;
  readonly #access: Record<'load' | 'store' | 'atomic', FunctionHandle>;

  /** `refill`: the function of refill.ts. */
  constructor(m: ModuleBuilder, imports: Record<Name, number>, refill: number) {
    this.imports = imports;
    this.#refill = refill;
    this.#sync = m.func(PLACE, [], 'sync');
    const { code: c, params } = this.#sync;
    const [rec, base, ic, page] = params;
    c.i32_const(0).local_get(page).local_get(rec).local_get(base).i32_sub().i32_const(3).i32_shr_u();
    c.i64_extend_i32_u().i64_add().i64_store(PC);
    c.i32_const(0).local_get(ic).i32_const(1).i32_add().i32_store(IC);
    const access = (name: 'load' | 'store' | 'atomic') => {
      const f = m.func([...PLACE, I64, I32], [I32], `slow ${name}`);
      const [atRec, inPage, left, pageVa, va, code] = f.params;
      f.code.local_get(atRec).local_get(inPage).local_get(left).local_get(pageVa).call(this.#sync.index);
      f.code.i32_const(0).local_get(va).i64_store(SLOW_ARG).local_get(code).call(imports[name]);
      return f;
    };
    this.#access = { load: access('load'), store: access('store'), atomic: access('atomic') };
  }

  /** Declares the imports; before any function of the module. */
  static declare(m: ModuleBuilder): Record<Name, number> {
    const indices = {} as Record<Name, number>;
    for (const name of Object.keys(SIGNATURES) as Name[]) {
      const [params, results] = SIGNATURES[name];
      indices[name] = m.importFunction('host', name, i32s(params), i32s(results));
    }
    return indices;
  }

  /** Pushes the host address of `va`, which missed, or 0 for the slow path. */
  refill(o: Caller, va: Local<I64>, bytes: number, isStore: boolean): void {
    o.c
      .local_get(va)
      .i32_const(bytes - 1)
      .i32_const(isStore ? 1 : 0)
      .call(this.#refill);
  }

  load(o: Caller, va: Local<I64>, funct3: number): void {
    this.#memory(o, 'load', va, funct3);
  }

  store(o: Caller, va: Local<I64>, log2: number): void {
    this.#value(o);
    this.#memory(o, 'store', va, log2);
  }

  atomic(o: Caller, va: Local<I64>, what: Atomic): void {
    if (what.kind !== 'lr') this.#value(o);
    this.#memory(o, 'atomic', va, atomicCode(what));
  }

  fpEnable(o: Caller, writes: boolean): void {
    this.sync(o);
    o.c
      .local_get(o.locals.rec)
      .i32_const(writes ? 1 : 0)
      .call(this.imports.fpEnable);
    o.takeIc();
  }

  soft(o: Caller, op: number): void {
    this.sync(o);
    o.c.local_get(o.locals.rec).i32_const(op).local_get(o.locals.rec).i32_load8_u(R_RM);
    o.c.call(this.imports.soft);
    o.takeIc();
  }

  system(o: Caller, name: 'system' | 'illegal' = 'system'): void {
    this.sync(o);
    o.c.local_get(o.locals.rec).i32_load(R_IMM).call(this.imports[name]);
    o.takeIc();
  }

  sync(o: Caller): void {
    const { rec, base, ic, page } = o.locals;
    o.c.local_get(rec).local_get(base).local_get(ic).local_get(page).call(this.#sync.index);
  }

  #value(o: Caller): void {
    o.c.i32_const(0);
    o.rs2();
    o.c.i64_store(SLOW_VALUE);
  }

  #memory(o: Caller, name: 'load' | 'store' | 'atomic', va: Local<I64>, code: number): void {
    const { rec, base, ic, page } = o.locals;
    o.c.local_get(rec).local_get(base).local_get(ic).local_get(page).local_get(va).i32_const(code);
    o.c.call(this.#access[name].index);
    o.takeIc();
  }
}
