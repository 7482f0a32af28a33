// Ops for the region JIT: operands are known, registers live in wasm locals, TLB probes are inline,
// and every special case leaves the region *before* the instruction, which the interpreter then
// executes. So there is one kind of side exit, and traps, devices, atomics on special pages and
// soft-float share the interpreter's exact paths. A side exit sets `leavePc`, restores `ic` to the
// count before this instruction, and branches to the epilogue that stores the registers that may be
// dirty here. Epilogues are shared by all points with the same dirty set (jit/emit/emit.ts opens
// them). Hot path: no call, no store but the guest's own.

import { F, IC } from '../../../hart/layout.ts';
import type { Insn } from '../../../isa/index.ts';
import { hostFuses } from '../../../wasm/host-fma.ts';
import {
  type CodeWriter,
  F64,
  I32,
  I64,
  type Label,
  type Local,
  type LocalScope,
  type ValType,
} from '../../../wasm/module.ts';
import { emitRegionDeviceLoad, type RegionDeviceImports } from '../../access/device.ts';
import type { RetiredPlace } from '../../retired.ts';
import {
  type Atomic,
  boxOf,
  type Format,
  type FpWidth,
  type Ops,
  type ResultCheck,
  type Width,
} from '../../semantics/ops.ts';
import {
  csrClass,
  csrOp,
  emitPlainCsr,
  emitStatusCsr,
  emitTime,
  type PlainAccess,
  plainCsr,
} from '../../semantics/system.ts';
import type { InlineCall, InlineFamily } from '../inline-call.ts';
import type { Group } from '../region/groups.ts';
import type { Mask } from '../region/registers.ts';
import type { RegionFunction } from './entry.ts';
import { isFloatStore, JitFloat } from './fp.ts';
import type { FpHelpers } from './fp-helpers.ts';
import { JitMemory, type MemoryPlace } from './memory.ts';
import type { RunCounts } from './run-counts.ts';

/** Indexes of the functions that a region may call, and constants of this machine. */
export interface JitPort {
  /** See `MemoryPlace.slow`. */
  readonly slow: number;
  readonly device: RegionDeviceImports & { readonly ramBase: number };
  /** True if the load at this address has read a device. */
  readonly isDeviceLoad: (pc: bigint) => boolean;
  /** Functions of this module around soft-float. */
  readonly fp: FpHelpers;
  /** Physical address = host address + this (i64). */
  readonly physicalOffset: bigint;
  /** Functions of the host that inlined calls use. */
  readonly hosts: ReadonlyMap<InlineFamily, number>;
  /** Index of the helper of an inlined call, for a view of loads and stores. */
  helperOf(call: InlineCall, dataView: number): number | undefined;
  /** Counters of retired instructions, absent unless somebody asked. */
  readonly retired?: RetiredPlace | undefined;
}

/** How a region is left before an instruction, as its emitter arranges it. */
export interface RegionExits {
  /**
   * Leaves for `pc`; bit 0 tells callers that the interpreter executes the instruction there first.
   * `before`: instructions that are not yet subtracted from `ic`; `dirty`: registers to store.
   */
  leave(pc: bigint, before: number, dirty: Mask): void;
  /** The same with the pc in `leavePc`, as a label. */
  epilogue(dirty: Mask): Label;
}

/** A region, as its instructions see it. */
export interface RegionContext {
  readonly entry: bigint;
  readonly isWarm: boolean;
  readonly memory: Omit<MemoryPlace, 'slow'>;
}

export class JitOps implements Ops {
  readonly c: CodeWriter;
  readonly #port: JitPort;
  /** Locals of x1..x31 and f0..f31 that this region uses. */
  readonly x: readonly (Local<I64> | undefined)[];
  readonly f: readonly (Local<F64> | undefined)[];
  readonly fp: JitFloat;
  /** Instructions left. */
  readonly ic: Local<I32>;
  readonly leavePc: Local<I64>;
  /** Target of an indirect jump, bit 0 clear. */
  readonly target: Local<I64>;
  readonly #own: LocalScope;
  /** Scratch locals of the rule that is being written. */
  readonly #temps: LocalScope;
  readonly #entry: bigint;
  /** View of loads and stores. */
  readonly #view: number;
  readonly #exits: RegionExits;
  /** Written registers are stored to the window at once: see `planRegisters`. */
  readonly #isWarm: boolean;
  readonly #memory: JitMemory;
  readonly #runs: RunCounts;

  // The instruction being emitted.
  insn!: Insn;
  /** Its displacement from the entry. */
  at = 0;
  /** Instructions of the block before it; not yet subtracted from `ic`. */
  before = 0;
  /** Registers that may differ from the window before it. */
  dirty: Mask = { x: 0, f: 0 };
  /** The range-check group of this instruction's access. */
  group: Group | undefined;
  isChase = false;
  /** Its index in the block. */
  index = 0;

  constructor(
    body: RegionFunction,
    port: JitPort,
    used: Mask,
    region: RegionContext,
    exits: RegionExits,
    runs: RunCounts,
  ) {
    const { code: c } = body;
    this.c = c;
    this.#port = port;
    this.#entry = region.entry;
    this.#view = region.memory.view;
    this.#exits = exits;
    this.#isWarm = region.isWarm;
    this.#runs = runs;
    this.#temps = c.scope();
    const own = c.scope();
    this.#own = own;
    const locals = <T extends ValType>(mask: number, type: T) =>
      Array.from({ length: 32 }, (_, i) => ((mask >>> i) & 1 ? own.local(type) : undefined));
    this.x = locals(used.x, I64);
    this.f = locals(used.f, F64);
    this.ic = body.params[1];
    this.leavePc = own.local(I64);
    this.target = own.local(I64);
    this.#memory = new JitMemory(this, { ...region.memory, slow: port.slow });
    this.fp = new JitFloat(this, port.fp);
  }

  /** Index of the function of the host that a family's calls use. */
  hostOf(family: InlineFamily): number | undefined {
    return this.#port.hosts.get(family);
  }

  /** Index of the helper of an inlined call. */
  helperOf(call: InlineCall, dataView: number): number | undefined {
    return this.#port.helperOf(call, dataView);
  }

  /** The rule has returned: its scratch locals are free. */
  endRule(): void {
    this.#temps.release();
  }

  /** The region is written. */
  release(): void {
    this.#memory.release();
    this.fp.release();
    this.#own.release();
  }

  /** Guest address of a displacement. */
  addressOf(at: number): bigint {
    return BigInt.asUintN(64, this.#entry + BigInt(at));
  }

  /**
   * Leaves before this instruction; the interpreter continues there. Bit 0 of the pc tells callers.
   */
  leave(): void {
    this.#runs.end(this.at);
    this.#exits.leave(this.addressOf(this.at) | 1n, this.before, this.dirty);
  }

  /** Leaves if the i32 on the stack is not 0. */
  leaveIf(): void {
    this.c.if_(undefined, 'unlikely');
    this.leave();
    this.c.end();
  }

  // Integer operands.

  #readX(register: number): void {
    if (register === 0) this.c.i64_const(0);
    else this.c.local_get(this.x[register]!);
  }
  rs1(): void {
    this.#readX(this.insn.rs1);
  }
  rs2(): void {
    this.#readX(this.insn.rs2);
  }
  rs1w(): void {
    if (this.insn.rs1 === 0) this.c.i32_const(0);
    else this.c.local_get(this.x[this.insn.rs1]!).i32_wrap_i64();
  }
  rs2w(): void {
    if (this.insn.rs2 === 0) this.c.i32_const(0);
    else this.c.local_get(this.x[this.insn.rs2]!).i32_wrap_i64();
  }
  imm(): void {
    this.c.i64_const(this.insn.imm);
  }
  immw(): void {
    this.c.i32_const(this.insn.imm);
  }
  constant(values: readonly bigint[]): void {
    this.c.i64_const(BigInt.asIntN(64, values[this.insn.imm]!));
  }
  pc(): void {
    this.c.i64_const(BigInt.asIntN(64, this.addressOf(this.at)));
  }
  nextPc(): void {
    this.c.i64_const(BigInt.asIntN(64, this.addressOf(this.at + this.insn.bytes)));
  }
  rd(value: () => void): void {
    const { c } = this;
    const { rd } = this.insn;
    if (rd !== 0 && this.#isWarm) c.i32_const(0);
    value();
    if (rd === 0) c.drop();
    else if (this.#isWarm) c.local_tee(this.x[rd]!).i64_store(rd * 8);
    else c.local_set(this.x[rd]!);
  }
  rdw(value: () => void): void {
    this.rd(() => {
      value();
      this.c.i64_extend_i32_s();
    });
  }
  temp<T extends ValType>(type: T): Local<T> {
    return this.#temps.local(type);
  }

  left(): void {
    this.c.local_get(this.ic);
    if (this.before > 0) this.c.i32_const(this.before).i32_sub();
  }

  // Control: the emitter of the region does the rest after the rule has returned.

  branch(condition: () => void): void {
    condition();
  }
  jump(): void {
    if (this.insn.rd !== 0) this.rd(() => this.nextPc());
  }
  jumpIndirect(target: () => void): void {
    target();
    this.c.i64_const(-2).i64_and().local_set(this.target);
    if (this.insn.rd !== 0) this.rd(() => this.nextPc());
  }

  // Memory.

  load(bytes: Width, signed: boolean): void {
    // A warm region leaves: it is small, and one that polls a device becomes hot.
    if (!this.#isWarm && this.insn.rd !== 0 && this.#port.isDeviceLoad(this.addressOf(this.at))) {
      this.#loadDevice(bytes, signed);
      return;
    }
    const value = this.#memory.load(bytes, signed);
    if (this.insn.rd !== 0) this.rd(() => void this.c.local_get(value));
  }
  /**
   * A load that has read a device before: the slow path calls the device, and the region continues
   * if the call had no side effects on it.
   */
  #loadDevice(bytes: Width, signed: boolean): void {
    const { c, insn } = this;
    const rd = this.x[insn.rd]!;
    const isLast = this.temp(I32);
    this.#memory.loadAlone(rd, bytes, signed, (va, otherwise) => {
      emitRegionDeviceLoad(c, {
        ...this.#port.device,
        va,
        bytes,
        view: this.#view,
        isLast,
        ic: () => this.left(),
        leaveIf: () => this.leaveIf(),
        otherwise,
      });
      this.#memory.takeSlow(bytes, signed);
      c.local_set(rd).local_get(isLast).if_(undefined, 'unlikely');
      this.#leaveBehind();
      c.end();
    });
  }

  /**
   * Leaves after this load with the IC in the window. The epilogue may not store its rd yet, so rd
   * is stored here.
   */
  #leaveBehind(): void {
    const { c, insn } = this;
    this.#runs.end(this.at + insn.bytes);
    c.i32_const(0)
      .local_get(this.x[insn.rd]!)
      .i64_store(insn.rd * 8);
    c.i32_const(0).i32_load(IC).local_set(this.ic);
    // An odd pc: every caller returns to the dispatcher, which checks interrupts and the end of the
    // quantum.
    c.i64_const(BigInt.asIntN(64, this.addressOf(this.at + insn.bytes) | 1n)).local_set(this.leavePc);
    c.br(this.#exits.epilogue(this.dirty));
  }

  loadFp(bytes: FpWidth): void {
    const { c } = this;
    if (bytes === 8) {
      c.local_get(this.#memory.loadDouble()).local_set(this.f[this.insn.rd]!);
      this.fp.written();
      return;
    }
    const value = this.#memory.load(bytes, false);
    this.fdBits(() => void c.local_get(value).i64_const(boxOf(bytes)).i64_or());
  }
  store(bytes: Width): void {
    this.#memory.store(bytes, () => this.rs2());
  }
  storeFp(bytes: FpWidth): void {
    if (bytes < 8) this.#memory.store(bytes, () => this.fbits(2));
    else this.#memory.store(8, () => void this.c.local_get(this.fp.register(2)), 'f64');
  }

  /** The interpreter handles the slow cases of atomics. */
  atomic(what: Atomic, fast: (host: Local<I32>) => void): void {
    this.#memory.atomic(what.bytes, what.kind !== 'lr', fast, () => this.leave());
  }
  cacheBlock(writes: boolean, permitted: () => void, fast: (host: Local<I32>) => void): void {
    permitted();
    this.c.i32_eqz();
    this.leaveIf();
    this.#memory.block(writes, fast, () => this.leave());
  }
  physical(host: Local<I32>): void {
    this.c.local_get(host).i64_extend_i32_u().i64_const(this.#port.physicalOffset).i64_add();
  }

  // Floating point: jit/emit/fp.ts.

  fpEnabled(_writes: boolean): void {
    if (isFloatStore(this.insn)) this.fp.stored();
    else this.fp.enabled();
  }
  /** FS is Dirty where a region executes floating point. */
  fpDirty(): void {}
  fbits(n: 1 | 2 | 3): void {
    this.c.local_get(this.fp.register(n)).i64_reinterpret_f64();
  }
  fs(n: 1 | 2 | 3, format: Format): void {
    this.fp.push(n, format);
  }
  fdBits(value: () => void): void {
    value();
    this.c.f64_reinterpret_i64().local_set(this.f[this.insn.rd]!);
    this.fp.written();
  }
  fd(format: Format, value: () => void): void {
    this.fp.write(format, value);
  }
  get fuses(): boolean {
    return hostFuses();
  }
  get hasSameSources(): boolean {
    return this.insn.rs1 === this.insn.rs2;
  }
  resultLimit(check: ResultCheck): void {
    this.fp.resultLimit(check);
  }
  rounds(mode: number): void {
    this.fp.rounds(mode);
  }
  inexactIsSet(): void {
    this.fp.isInexactSet();
  }
  soft(): void {
    this.fp.soft();
  }

  /**
   * Only CSR instructions with a fast path are inside a region (jit/region/region.ts); it leaves if
   * the fast path declines.
   */
  system(): void {
    const { c, insn } = this;
    const kind = csrClass(insn);
    if (kind === undefined) throw new RangeError(`${insn.name} cannot be part of a region`);
    const op = csrOp(insn.name);
    const operand = (): void => {
      if (insn.name.endsWith('i')) c.i64_const(insn.rs1);
      else this.rs1();
    };
    const done = c.block();
    const slow = c.block();
    if (kind === 'plain') {
      const { slot, even } = plainCsr(insn.imm)!;
      const access: PlainAccess = {
        op,
        operand,
        slot: () => void c.i32_const(slot),
        mask: () => void c.i64_const(even ? -2 : -1),
        privilege: () => void c.i32_const((insn.imm >> 8) & 3),
      };
      emitPlainCsr(this, access, slow);
    } else if (kind === 'time') emitTime(this, slow);
    else emitStatusCsr(this, kind, op, operand, slow);
    c.br(done).end();
    this.leave();
    c.end();
  }

  // Between locals and the window.

  spill(mask: Mask): void {
    const { c } = this;
    for (let i = 1; i < 32; i++)
      if ((mask.x >>> i) & 1)
        c.i32_const(0)
          .local_get(this.x[i]!)
          .i64_store(i * 8);
    for (let i = 0; i < 32; i++)
      if ((mask.f >>> i) & 1)
        c.i32_const(0)
          .local_get(this.f[i]!)
          .f64_store(F + i * 8);
  }
  reload(mask: Mask): void {
    const { c } = this;
    for (let i = 1; i < 32; i++)
      if ((mask.x >>> i) & 1)
        c.i32_const(0)
          .i64_load(i * 8)
          .local_set(this.x[i]!);
    for (let i = 0; i < 32; i++)
      if ((mask.f >>> i) & 1)
        c.i32_const(0)
          .f64_load(F + i * 8)
          .local_set(this.f[i]!);
  }
}
