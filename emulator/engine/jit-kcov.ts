// Coverage hooks inline: a call of `__sanitizer_cov_trace_*` from compiled code does what the stub in kernel/kcov/hooks.S and
// the kcov device would do, without calling either: same registers (t0, t1, ra), same bytes in context and area, same number of
// retired instructions. What it cannot prove equal (no translation at hand, a context elsewhere, UNIQ modes, switch tables, an
// area that holds code, a listener on the device) takes the real call.
//
// The stub's ways, by retired instructions after the call itself (hooks.S is drawn there):
//   ld beqz ret                                     3   no live context: t0 = 0
//   ld beqz lw andi beqz ret                        6   its mode is another: t0 = context, t1 = 0
//   ... auipc ld beqz [sd sd] sd ret           10, 12   recorded, or lost: t1 = device

import { HARTID, TLB_BYTES, TLB_READ, X } from '../hart/layout.ts';
import { type Insn, rowOf } from '../isa/index.ts';
import { type CodeWriter, I32, I64 } from '../wasm/module.ts';
import type { RamPlace } from './jit-memory.ts';
import type { JitOps } from './jit-ops.ts';
import type { Region } from './jit-region.ts';

/** What the kernel announced about its hooks, and where the device's structures have their fields. */
export interface HookTable {
  /** Address of each hook by kind: 0 = pc, then cmp1..8, const_cmp1..8, switch. */
  readonly addresses: readonly bigint[];
  /** Bytes from tp to the pointer to the live context. */
  readonly liveOffset: number;
  /** Address of the variable that holds the device's virtual address. */
  readonly baseVar: bigint;
  /** Kernel virtual = physical + this, for RAM and the device. */
  readonly kvaOffset: bigint;
  /** Physical address of the hart blocks: one for each hart, CURRENT first. */
  readonly harts: number;
  /** Physical address of the device. */
  readonly device: bigint;
}

/** Byte offsets in a context, and mode bits: kernel/abi/kcov-device.h, compared by test/engine/jit-kcov.test.ts. */
export const CONTEXT = { mode: 0, area: 8, words: 16, arg0: 56, arg1: 64, lost: 72 } as const;
export const MODE = { pc: 1, cmp: 2, anyPc: 13, anyCmp: 18 } as const;
const CONTEXT_BYTES = 128;
const CONTEXT_ALIGN = 64;
const AREA_WORDS_MAX = 0x0fff_ffff;
const SWITCH = 9;
const FIRST_CONST = 5;

const TP = 4;
const T0 = 5;
const T1 = 6;
const A0 = 10;
const A1 = 11;
/** Registers that an inline hook reads and writes, besides ra. Not every way writes t1, so its old value must be there. */
export const HOOK_READS = (1 << A0) | (1 << A1) | (1 << T1);
export const HOOK_WRITES = (1 << T0) | (1 << T1);
/** Most instructions that an inline hook retires. */
export const HOOK_COST = 12;

/** True when no instruction of the region moves tp, so that the live pointer can be looked up once. */
export const keepsThreadPointer = (region: Region): boolean =>
  region.blocks.every(block => block.insns.every(({ insn }) => insn.rd !== TP || !writesX(insn)));
const writesX = (insn: Insn): boolean => rowOf(insn.op).regs.rd === 'x';

export class HookEmitter {
  readonly #c: CodeWriter;
  readonly #ops: JitOps;
  readonly #table: HookTable;
  readonly #ram: RamPlace;
  readonly #view: number;
  /** i32: host address of the live-context pointer, 0 = not known. */
  readonly #live: number;

  constructor(ops: JitOps, table: HookTable, ram: RamPlace, view: number) {
    this.#c = ops.c;
    this.#ops = ops;
    this.#table = table;
    this.#ram = ram;
    this.#view = view;
    this.#live = ops.temp(I32, 100);
  }

  /** At the region's entry: looks at the TLB for tp + liveOffset, without effects. */
  enter(): void {
    const c = this.#c;
    const [address, entry] = [this.#ops.temp(I64, 100), this.#ops.temp(I32, 101)];
    const at = TLB_READ + this.#view * TLB_BYTES;
    c.i32_const(0)
      .i64_load(X + 8 * TP)
      .i64_const(this.#table.liveOffset)
      .i64_add()
      .local_tee(address);
    c.i32_wrap_i64().i32_const(8).i32_shr_u().i32_const(0xff0).i32_and().local_tee(entry);
    c.i32_load(at + 8)
      .local_get(address)
      .i32_wrap_i64()
      .i32_add()
      .i32_const(0);
    c.local_get(entry).i64_load(at).local_get(address).i64_const(~0xff8n).i64_and().i64_eq();
    c.select().local_set(this.#live);
  }

  /**
   * One call site: `kind` as in the table, `pc` the return address that is recorded. `generic` makes the real call and leaves
   * all locals as after one.
   */
  site(kind: number, pc: bigint, generic: () => void): void {
    const c = this.#c;
    const t0 = this.#ops.x[T0]!;
    const t1 = this.#ops.x[T1]!;
    const [live, context, mode] = [
      this.#ops.temp(I64, 101),
      this.#ops.temp(I32, 102),
      this.#ops.temp(I32, 103),
    ];
    const isPc = kind === 0;
    const done = c.block();
    const real = c.block();
    c.local_get(this.#live).i32_eqz().br_if(real, 'unlikely');
    c.local_get(this.#live).i64_load(0).local_tee(live).i64_eqz().if_();
    c.i64_const(0).local_set(t0);
    this.#retire(3);
    c.br(done).end();
    // The device's CURRENT, in this hart's block, must be this very context, and lie in RAM.
    const { hostBase, base, bytes } = this.#ram;
    const physical = this.#ops.temp(I64, 105);
    c.i32_const(0).i32_load(HARTID).i32_const(6).i32_shl();
    c.i64_load(hostBase + this.#table.harts - base).local_tee(physical);
    c.i64_const(BigInt.asIntN(64, this.#table.kvaOffset))
      .i64_add()
      .local_get(live)
      .i64_ne()
      .br_if(real, 'unlikely');
    c.local_get(physical).i64_const(base).i64_sub().local_tee(physical);
    c.i64_const(bytes - CONTEXT_BYTES)
      .i64_gt_u()
      .br_if(real, 'unlikely');
    c.local_get(live)
      .i64_const(CONTEXT_ALIGN - 1)
      .i64_and()
      .i64_const(0)
      .i64_ne()
      .br_if(real, 'unlikely');
    c.local_get(physical).i32_wrap_i64().i32_const(hostBase).i32_add().local_set(context);
    c.local_get(context).i32_load(CONTEXT.mode).local_tee(mode);
    c.i32_const(isPc ? MODE.anyPc : MODE.anyCmp)
      .i32_and()
      .i32_eqz()
      .if_();
    c.local_get(live).local_set(t0).i64_const(0).local_set(t1);
    this.#retire(6);
    c.br(done).end();
    if (kind === SWITCH) c.br(real);
    else {
      c.local_get(mode)
        .i32_const(isPc ? MODE.pc : MODE.cmp)
        .i32_ne()
        .br_if(real);
      this.#needDevice(real);
      if (isPc)
        this.#record(context, real, 1, at =>
          this.#word(at, 0, () => void c.i64_const(BigInt.asIntN(64, pc))),
        );
      else this.#recordCmp(context, real, kind, pc);
      c.local_get(live).local_set(t0);
      c.i64_const(this.#deviceVa).local_set(t1);
      this.#retire(isPc ? 10 : 12);
      c.br(done);
    }
    c.end();
    generic();
    c.end();
  }

  get #deviceVa(): bigint {
    return BigInt.asIntN(64, this.#table.device + this.#table.kvaOffset);
  }

  #retire(count: number): void {
    this.#c.local_get(this.#ops.ic).i32_const(count).i32_sub().local_set(this.#ops.ic);
  }

  #word(at: number, index: number, value: () => void): void {
    this.#c.local_get(at);
    value();
    this.#c.i64_store(8 * index);
  }

  /** The kernel's variable must be readable without a walk and hold the device's address. */
  #needDevice(real: number): void {
    const c = this.#c;
    const { baseVar } = this.#table;
    const at = TLB_READ + this.#view * TLB_BYTES + Number((baseVar >> 8n) & 0xff0n);
    c.i32_const(0)
      .i64_load(at)
      .i64_const(BigInt.asIntN(64, baseVar & ~0xfffn))
      .i64_ne()
      .br_if(real, 'unlikely');
    c.i32_const(0)
      .i32_load(at + 8)
      .i32_const(Number(BigInt.asIntN(32, baseVar)))
      .i32_add();
    c.i64_load(0).i64_const(this.#deviceVa).i64_ne().br_if(real, 'unlikely');
  }

  /** Appends a record of `words` words to the area of `context`, or counts it as lost; `write` gets a local with its host address. */
  #record(context: number, real: number, words: number, write: (at: number) => void): void {
    const c = this.#c;
    const { bytes, base, hostBase, codeMap } = this.#ram;
    const [offset, size, count] = [
      this.#ops.temp(I64, 102),
      this.#ops.temp(I64, 103),
      this.#ops.temp(I64, 104),
    ];
    const [area, at] = [this.#ops.temp(I32, 104), this.#ops.temp(I32, 105)];
    c.local_get(context).i64_load(CONTEXT.area).i64_const(base).i64_sub().local_tee(offset);
    c.i64_const(7).i64_and().i64_const(0).i64_ne().br_if(real, 'unlikely');
    c.local_get(context).i64_load(CONTEXT.words).local_tee(size);
    c.i64_const(1).i64_sub().i64_const(AREA_WORDS_MAX).i64_ge_u().br_if(real, 'unlikely');
    c.local_get(offset).i64_const(bytes).i64_ge_u().br_if(real, 'unlikely');
    c.local_get(offset).local_get(size).i64_const(3).i64_shl().i64_add().i64_const(bytes).i64_gt_u();
    c.br_if(real, 'unlikely');
    c.local_get(offset)
      .i32_wrap_i64()
      .i32_const(hostBase)
      .i32_add()
      .local_tee(area)
      .i64_load(0)
      .local_tee(count);
    c.local_get(size).i64_const(1).i64_sub();
    if (words === 4) c.i64_const(2).i64_shr_u();
    c.i64_ge_u().if_(undefined, 'unlikely');
    c.local_get(context);
    c.local_get(context).i64_load(CONTEXT.lost).i64_const(1).i64_add().i64_store(CONTEXT.lost);
    c.else_();
    c.local_get(count)
      .i32_wrap_i64()
      .i32_const(words === 4 ? 5 : 3)
      .i32_shl();
    c.local_get(area).i32_add().i32_const(8).i32_add().local_set(at);
    // Pages of word 0 and of the record's ends must not hold translated code.
    for (const [local, more] of [
      [area, 0],
      [at, 0],
      [at, words * 8 - 1],
    ] as const) {
      if (local === at && more !== 0 && words === 1) continue;
      c.local_get(local)
        .i32_const(more - hostBase)
        .i32_add()
        .i32_const(12)
        .i32_shr_u();
      c.i32_load8_u(codeMap).br_if(real, 'unlikely');
    }
    write(at);
    c.local_get(area).local_get(count).i64_const(1).i64_add().i64_store(0);
    c.end();
  }

  /** type, arg1, arg2, pc; the operands are latched in the context first, as the device's registers do. */
  #recordCmp(context: number, real: number, kind: number, pc: bigint): void {
    const c = this.#c;
    const isConst = kind >= FIRST_CONST;
    const log2 = kind - (isConst ? FIRST_CONST : 1);
    const mask = log2 === 3 ? -1n : (1n << BigInt(8 << log2)) - 1n;
    const operand = (register: number): void => {
      c.local_get(this.#ops.x[register]!);
      if (log2 < 3) c.i64_const(mask).i64_and();
    };
    this.#record(context, real, 4, at => {
      this.#word(at, 0, () => void c.i64_const((log2 << 1) | (isConst ? 1 : 0)));
      this.#word(at, 1, () => operand(A0));
      this.#word(at, 2, () => operand(A1));
      this.#word(at, 3, () => void c.i64_const(BigInt.asIntN(64, pc)));
    });
    c.local_get(context).local_get(this.#ops.x[A0]!).i64_store(CONTEXT.arg0);
    c.local_get(context).local_get(this.#ops.x[A1]!).i64_store(CONTEXT.arg1);
  }
}

/** The stub's instructions; `verify` compares what lies at a hook's address with this before any call is inlined. */
const STUB = ['ld', 'beq', 'lw', 'andi', 'beq', 'auipc', 'ld', 'beq'] as const;

/** Does the code at `address` look like the stub of `kind`? `fetch` decodes at a displacement from it. */
export function verifyHook(kind: number, table: HookTable, fetch: (at: number) => Insn | undefined): boolean {
  const insns: Insn[] = [];
  for (let at = 0; at < 4 * (kind === 0 ? 10 : 12); at += 4) {
    const insn = fetch(at);
    if (insn?.bytes !== 4) return false;
    insns.push(insn);
  }
  if (!STUB.every((name, i) => insns[i]!.name === name)) return false;
  const [live, , mode, kinds] = insns as [Insn, Insn, Insn, Insn];
  if (live.rd !== T0 || live.rs1 !== TP || live.imm !== table.liveOffset) return false;
  if (mode.rd !== T1 || mode.rs1 !== T0 || mode.imm !== CONTEXT.mode) return false;
  if (kinds.imm !== (kind === 0 ? MODE.anyPc : MODE.anyCmp)) return false;
  const [auipc, device] = [insns[5]!, insns[6]!];
  const from = BigInt.asUintN(64, table.addresses[kind]! + 20n + BigInt(auipc.imm) + BigInt(device.imm));
  if (from !== BigInt.asUintN(64, table.baseVar) || device.rd !== T1) return false;
  const stores = insns.slice(8, kind === 0 ? 9 : 11);
  return stores.every(insn => insn.name === 'sd' && insn.rs1 === T1) && insns.at(-1)!.name === 'jalr';
}
