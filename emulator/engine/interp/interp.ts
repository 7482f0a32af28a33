// The interpreter: one emitted WebAssembly function that runs decoded records until the quantum is
// spent or the machine has to act. docs/adr/0002 gives the reasons for this design.
//
//   redirect   reload everything from the window; check interrupts and the end of the quantum
//   lookup     find the decoded page of `target` through the exec TLB, or have the host do it
//   arrive     with a JIT: count arrivals at targets of calls and backward branches; run regions
//   next       count, and branch on the record's handler
//
// So this function is also the dispatcher of compiled code: a region (jit/) is (depth: i32) -> next
// pc: i64 with all state in the window; an odd pc means that the interpreter must execute the
// instruction at pc - 1 before it enters any region again.
//
// Invariant: in handlers `ic` is the number of instructions left after the running one. RECHECK is
// non-zero here only together with ic = 0, and then IC in the window is the true count
// (interp/slow.ts).

import {
  DATA_VIEW,
  EXEC_BYTES,
  EXEC_MASK,
  FETCH_VIEW,
  IC,
  PC,
  RECHECK,
  SLOW_ARG,
  TLB_BYTES,
  TLB_EXEC,
} from '../../hart/layout.ts';
import {
  type CodeWriter,
  I32,
  I64,
  type Label,
  type Local,
  type LocalScope,
  ModuleBuilder,
} from '../../wasm/module.ts';
import { addRefill, addRegionSlow } from '../access/refill.ts';
import type { DirtyPlace } from '../dirty-pages.ts';
import { type JumpCache, REGION_PARAMS, REGION_RESULTS, secondWay } from '../jit/emit/entry.ts';
import type { RetiredPlace } from '../retired.ts';
import { SEMANTICS } from '../semantics/index.ts';
import { HANDLERS } from './handlers.ts';
import { type InterpLabels, type InterpLocals, InterpOps } from './ops.ts';
import { addOutlined, isOutlined } from './outlined.ts';
import {
  ENTRY_COMPILED,
  H_END,
  H_FIRST_INSN,
  H_ILLEGAL,
  H_STRADDLE,
  H_UNDECODED,
  R_ENTRY,
  R_HANDLER,
  R_IMM,
  RECORD,
  SLOT_STRADDLE,
  STRADDLE_SHIFT,
} from './records.ts';
import { SlowCalls } from './slow.ts';

export interface InterpOptions {
  /** The place of RAM: offset in linear memory, physical address, size. */
  readonly ram: { readonly hostBase: number; readonly base: number; readonly bytes: number };
  /** See DecodedPages. */
  readonly codeMap: number;
  readonly dirty: DirtyPlace;
  /** Pages of the imported memory. */
  readonly memoryPages: number;
  /** Name section, for profiles. */
  readonly names?: boolean;
  /** Compiled regions, absent without a JIT. */
  readonly regions?: Regions;
  /** Counters of retired instructions, absent unless requested. */
  readonly retired?: RetiredPlace;
}

/** The lookup of compiled regions. With it, the module imports env.table. */
export interface Regions extends JumpCache {
  /** Byte address of an i64 that counts the units spent in regions; absent unless requested. */
  readonly unitsAt?: number | undefined;
}

/**
 * The module's bytes. Imports: env.memory and host.*; exports: run() -> exit reason and regionSlow
 * (refill.ts).
 */
export function buildInterpreter(options: InterpOptions): Uint8Array<ArrayBuffer> {
  const m = new ModuleBuilder();
  m.importMemory('env', 'memory', { min: options.memoryPages });
  if (options.regions) m.importTable('env', 'table', { min: 1 });
  const imports = SlowCalls.declare(m);
  const refill = addRefill(m, options);
  const slow = new SlowCalls(m, imports, refill.index);
  const indices = {
    regionType: m.type(REGION_PARAMS, REGION_RESULTS),
    outlined: addOutlined(m, slow, options.ram),
    enter: options.regions ? addEnter(m, options.regions, imports.enter) : imports.enter,
  };
  const run = m.func([], [I32], 'interpret');
  new Interpreter(run.code, slow, options, indices).write();
  m.export('run', 'func', run.index);
  if (options.regions) addDispatch(m, options.regions);
  const regionSlow = addRegionSlow(m, refill.index, imports.regionSlow).index;
  m.export('regionSlow', 'func', regionSlow);
  return m.finish({ names: options.names ?? false });
}

/**
 * Exports dispatch(depth, count, slot) and jump(depth, count), through which regions call other
 * modules; see jit/cache/slots.ts.
 */
function addDispatch(m: ModuleBuilder, { jumpCache, jumpCacheMask }: Regions): void {
  const region = m.type(REGION_PARAMS, REGION_RESULTS);
  const dispatch = m.func([...REGION_PARAMS, I32], REGION_RESULTS, 'dispatch');
  for (const param of dispatch.params) dispatch.code.local_get(param);
  dispatch.code.return_call_indirect(region);
  m.export('dispatch', 'func', dispatch.index);

  const { code: c, params, index } = m.func(REGION_PARAMS, REGION_RESULTS, 'jump');
  const [depth, count] = params;
  const at = c.local(I32);
  const target = c.local(I64);
  c.i32_const(0).i64_load(PC).local_tee(target).i32_wrap_i64().i32_const(3).i32_shl();
  c.i32_const(jumpCacheMask << 4).i32_and();
  c.local_tee(at).i64_load(jumpCache).local_get(target).i64_ne().if_(undefined, 'unlikely');
  c.local_get(target).local_get(count).return_().end();
  c.local_get(depth).local_get(count).local_get(at);
  c.i32_load(jumpCache + 8).return_call_indirect(region);
  c.release(at);
  c.release(target);
  m.export('jump', 'func', index);
}

/**
 * The function enter(rec): the same as the import, but it looks in the second way of the jump cache
 * first. An entry that it finds there changes places with the one in the first way, because an
 * entry check that fails clears that place (jit/emit/entry.ts).
 */
function addEnter(m: ModuleBuilder, regions: Regions, host: number): number {
  const { code: c, params, index } = m.func([I32], [I32], 'enter');
  const [rec] = params;
  const [at, slot, pc] = [c.local(I32), c.local(I32), c.local(I64)];
  const first = regions.jumpCache;
  const second = first + secondWay(regions);
  c.i32_const(0).i64_load(PC).local_tee(pc).i32_wrap_i64().i32_const(3).i32_shl();
  c.i32_const(regions.jumpCacheMask << 4)
    .i32_and()
    .local_tee(at);
  c.i64_load(second).local_get(pc).i64_ne().if_();
  c.local_get(rec).return_call(host).end();
  c.local_get(at).local_get(at).i64_load(first).i64_store(second);
  c.local_get(at).local_get(pc).i64_store(first);
  c.local_get(at)
    .i32_load(second + 8)
    .local_set(slot);
  c.local_get(at)
    .local_get(at)
    .i32_load(first + 8)
    .i32_store(second + 8);
  c.local_get(at)
    .local_get(slot)
    .i32_store(first + 8);
  c.local_get(slot);
  c.release(at, slot, pc);
  return index;
}

/** Of the module's type of regions and functions. */
interface Indices {
  readonly regionType: number;
  /** Of outlined.ts. */
  readonly outlined: number;
  /** As the import of that name. */
  readonly enter: number;
}

class Interpreter {
  readonly #c: CodeWriter;
  readonly #l: InterpLocals;
  readonly #slow: SlowCalls;
  readonly #options: InterpOptions;
  readonly #own: LocalScope;
  readonly #entry: Local<I32>;
  /** i32: the instruction at PC must be interpreted, even if a region exists for it. */
  readonly #mustInterpret: Local<I32>;
  readonly #indices: Indices;

  constructor(c: CodeWriter, slow: SlowCalls, options: InterpOptions, indices: Indices) {
    this.#c = c;
    this.#slow = slow;
    this.#options = options;
    this.#indices = indices;
    const own = c.scope();
    this.#own = own;
    this.#entry = own.local(I32);
    this.#mustInterpret = own.zeroed(I32);
    this.#l = {
      rec: own.local(I32),
      ic: own.local(I32),
      base: own.local(I32),
      dataView: own.local(I32),
      fetchView: own.local(I32),
      isReturn: own.zeroed(I32),
      page: own.local(I64),
      target: own.local(I64),
    };
  }

  write(): void {
    const c = this.#c;
    const redirect = c.loop();
    this.#reload(redirect);
    const lookup = c.loop();
    this.#lookup(lookup, redirect);
    const arrive = c.loop();
    if (this.#options.regions) this.#arrive(this.#options.regions, redirect);
    const next = c.loop();
    this.#dispatch({ redirect, lookup, arrive, next });
    c.end().end().end().end().unreachable();
    this.#own.release();
  }

  /**
   * Reloads everything from the window; the end of the quantum and interrupts come first, even
   * before a fetch fault.
   */
  #reload(redirect: Label): void {
    const c = this.#c;
    const { ic, target, dataView, fetchView } = this.#l;
    c.i32_const(0).i32_load(IC).local_tee(ic).i32_const(1).i32_lt_s();
    c.i32_const(0).i32_load(RECHECK).i32_or().if_(undefined, 'unlikely');
    c.call(this.#slow.imports.boundary).local_tee(ic).i32_eqz().br_if(redirect);
    c.local_get(ic).return_();
    c.end();
    c.i32_const(0).i64_load(PC).local_set(target);
    c.i32_const(0).i32_load(DATA_VIEW).i32_const(TLB_BYTES).i32_mul().local_set(dataView);
    c.i32_const(0).i32_load(FETCH_VIEW).i32_const(EXEC_BYTES).i32_mul().local_set(fetchView);
  }

  /** Pushes the exec entry's address of the i64 in local `va`, also into `entry`, then its tag. */
  #execTag(va: Local<I64>): void {
    const c = this.#c;
    c.local_get(va).i32_wrap_i64().i32_const(8).i32_shr_u().i32_const(EXEC_MASK).i32_and();
    c.local_get(this.#l.fetchView).i32_add().local_tee(this.#entry).i64_load(TLB_EXEC);
  }

  #lookup(lookup: Label, redirect: Label): void {
    const c = this.#c;
    const { target, page, base, rec, ic } = this.#l;
    const found = c.block();
    const miss = c.block();
    c.local_get(target).i64_const(-4096).i64_and().local_set(page);
    this.#execTag(target);
    c.local_get(page).i64_ne().br_if(miss, 'unlikely');
    c.local_get(this.#entry)
      .i32_load(TLB_EXEC + 8)
      .local_tee(base)
      .br_if(found, 'likely');
    c.end();
    c.i32_const(0).local_get(target).i64_store(PC);
    c.local_get(ic).i32_eqz().if_();
    this.#spent(redirect);
    c.end();
    c.i32_const(0).local_get(ic).i32_store(IC);
    c.i32_const(0).local_get(target).i64_store(SLOW_ARG);
    c.call(this.#slow.imports.fetch).local_tee(base).i32_const(0).i32_lt_s().br_if(redirect);
    c.local_get(base).i32_eqz().br_if(lookup);
    c.end();
    c.local_get(target).i32_wrap_i64().i32_const(0xffe).i32_and().i32_const(3).i32_shl();
    c.local_get(base).i32_add().local_set(rec);
  }

  /** PC is stored; the count is spent, unless RECHECK forced the zero. */
  #spent(redirect: Label): void {
    const c = this.#c;
    c.i32_const(0).i32_load(RECHECK).i32_eqz().if_();
    c.i32_const(0).i32_const(0).i32_store(IC);
    c.end();
    c.br(redirect);
  }

  /**
   * Falls through to `next` unless a region runs. A forced `ic` of 0 must reach `next` (RECHECK).
   */
  #arrive(regions: Regions, redirect: Label): void {
    const c = this.#c;
    const { rec, ic, target } = this.#l;
    const state = this.#entry;
    const interpret = c.block();
    c.local_get(rec).i32_load8_u(R_ENTRY).local_tee(state).i32_eqz().br_if(interpret);
    c.local_get(ic).i32_eqz().br_if(interpret);
    c.local_get(this.#mustInterpret).if_(undefined, 'unlikely');
    c.i32_const(0).local_set(this.#mustInterpret).br(interpret);
    c.end();
    this.#pcOf(rec);
    c.local_set(target);
    c.i32_const(0).local_get(target).i64_store(PC);
    c.local_get(state).i32_const(ENTRY_COMPILED).i32_ne().if_();
    this.#skipReturns(interpret);
    c.local_get(rec).local_get(state).i32_const(1).i32_sub().local_tee(state).i32_store8(R_ENTRY);
    c.local_get(state).br_if(interpret);
    c.local_get(rec).call(this.#slow.imports.hot).local_set(state);
    c.local_get(rec).local_get(state).i32_store8(R_ENTRY);
    c.local_get(state).i32_const(ENTRY_COMPILED).i32_ne().br_if(interpret);
    c.end();
    this.#enterRegion(regions, interpret);
    c.br(redirect);
    c.end();
  }

  /**
   * Only every 16th arrival by a return counts: hot code after a call mostly belongs to a hot loop
   * or function, whose region comes back there by itself.
   */
  #skipReturns(interpret: Label): void {
    const c = this.#c;
    c.local_get(this.#l.isReturn).if_();
    c.i32_const(0).local_set(this.#l.isReturn);
    c.local_get(this.#l.ic).i32_const(15).i32_and().br_if(interpret);
    c.end();
  }

  /**
   * Runs the region at PC = `target` and stores the pc where it ended; branches to `interpret` if
   * there is none.
   */
  #enterRegion(regions: Regions, interpret: Label): void {
    const c = this.#c;
    const { rec, ic, target } = this.#l;
    const slot = this.#entry;
    c.local_get(target).i32_wrap_i64().i32_const(3).i32_shl();
    c.i32_const(regions.jumpCacheMask << 4)
      .i32_and()
      .local_tee(slot);
    c.i64_load(regions.jumpCache).local_get(target).i64_eq().if_(I32, 'likely');
    c.local_get(slot).i32_load(regions.jumpCache + 8);
    c.else_();
    c.local_get(rec).call(this.#indices.enter);
    c.end();
    c.local_tee(slot).i32_const(0).i32_lt_s().br_if(interpret, 'unlikely');
    c.i32_const(0).local_get(ic).local_get(slot).call_indirect(this.#indices.regionType);
    if (regions.unitsAt === undefined) c.local_set(ic);
    else {
      c.local_set(slot);
      c.i32_const(regions.unitsAt).i32_const(regions.unitsAt).i64_load(0);
      c.local_get(ic).local_get(slot).local_tee(ic).i32_sub().i64_extend_i32_s().i64_add().i64_store(0);
    }
    c.local_set(target);
    c.i32_const(0).local_get(ic).i32_store(IC);
    c.local_get(target).i32_wrap_i64().i32_const(1).i32_and().local_set(this.#mustInterpret);
    c.i32_const(0).local_get(target).i64_const(-2).i64_and().i64_store(PC);
  }

  #pcOf(rec: Local<I32>): void {
    const { page, base } = this.#l;
    this.#c.local_get(page).local_get(rec).local_get(base).i32_sub().i32_const(3).i32_shr_u();
    this.#c.i64_extend_i32_u().i64_add();
  }

  #dispatch(labels: InterpLabels): void {
    const c = this.#c;
    const { rec, ic } = this.#l;
    const o = new InterpOps(c, this.#l, labels, this.#slow, this.#options.ram);
    const spent = c.block();
    const inline = HANDLERS.filter(handler => !isOutlined(handler));
    const outside = c.block();
    const blocks: Label[] = Array.from({ length: H_FIRST_INSN + HANDLERS.length }, () => outside);
    for (const { id } of inline.toReversed()) blocks[id] = c.block();
    for (let id = H_FIRST_INSN - 1; id >= 0; id--) blocks[id] = c.block();
    c.local_get(ic).i32_eqz().br_if(spent, 'unlikely');
    c.local_get(ic).i32_const(1).i32_sub().local_set(ic);
    if (this.#options.retired) this.#count(this.#options.retired);
    c.local_get(rec).i32_load16_u(R_HANDLER).br_table(blocks, blocks[H_UNDECODED]!);
    for (let id = 0; id < H_FIRST_INSN; id++) {
      c.end();
      this.#pseudo(id, o, labels);
    }
    for (const handler of inline) {
      c.end();
      o.begin(handler);
      const { name, csr } = handler;
      if (csr) o.csr(csr);
      else if (name === 'ecall' || name === 'sret' || name === 'mret') o.trapOrReturn(name);
      else SEMANTICS[name](o);
      o.advance();
      o.endRule();
    }
    c.end();
    this.#callOutlined(o);
    c.end();
    c.i32_const(0);
    o.pc();
    c.i64_store(PC);
    this.#spent(labels.redirect);
  }

  /** All of its instructions are of four bytes. */
  #callOutlined(o: InterpOps): void {
    const { rec, ic, base, dataView, page } = this.#l;
    o.begin(HANDLERS.find(isOutlined)!);
    this.#c.local_get(rec).local_get(ic).local_get(base).local_get(dataView).local_get(page);
    this.#c.call(this.#indices.outlined);
    o.takeIc();
    o.advance();
  }

  /**
   * Adds one to the counter of the instruction that is about to run (retired.ts); `target` is free
   * here.
   */
  #count({ low, bytes, base, gate }: RetiredPlace): void {
    const c = this.#c;
    const { rec, target } = this.#l;
    c.local_get(rec).i32_load16_u(R_HANDLER).i32_const(H_FIRST_INSN).i32_ge_u();
    if (gate) {
      // At address 0 lies x0, so a pointer to nothing shuts the gate.
      c.i32_const(0).i32_load(gate.pointer).i32_load(0).i32_const(gate.bits).i32_and();
      c.i32_const(0).i32_ne().i32_and();
    }
    c.if_();
    this.#pcOf(rec);
    c.i64_const(BigInt.asIntN(64, low)).i64_sub().local_tee(target);
    c.i64_const(BigInt(bytes)).i64_lt_u().if_();
    c.local_get(target).i32_wrap_i64().i32_const(2).i32_shl().local_tee(this.#entry);
    c.local_get(this.#entry).i64_load(base).i64_const(1n).i64_add().i64_store(base);
    c.end().end();
  }

  /** Records that are not instructions undo the count of `next`. */
  #pseudo(id: number, o: InterpOps, labels: InterpLabels): void {
    const c = this.#c;
    const { ic, rec, target } = this.#l;
    if (id !== H_ILLEGAL) c.local_get(ic).i32_const(1).i32_add().local_set(ic);
    switch (id) {
      case H_UNDECODED:
        c.local_get(rec).call(this.#slow.imports.decode).br(labels.next);
        break;
      case H_END:
        o.pc();
        c.local_set(target).br(labels.lookup);
        break;
      case H_STRADDLE:
        this.#straddle(o, labels);
        break;
      case H_ILLEGAL:
        this.#slow.system(o, 'illegal');
        c.br(labels.redirect);
        break;
    }
  }

  /**
   * The first half of the instruction is in this page, the second in the RAM page to which the next
   * page is mapped. The decoded record is valid as long as memory there holds the half-word from
   * which it was decoded.
   */
  #straddle(o: InterpOps, labels: InterpLabels): void {
    const c = this.#c;
    const { ic, rec, base, page, target } = this.#l;
    const { ram } = this.#options;
    c.local_get(page).i64_const(4096).i64_add().local_set(target);
    const good = c.block();
    const stale = c.block();
    this.#execTag(target);
    c.local_get(target).i64_ne().br_if(stale);
    c.local_get(this.#entry)
      .i32_load(TLB_EXEC + 12)
      .i32_const(12)
      .i32_shl();
    c.i32_const((ram.hostBase - ram.base) | 0)
      .i32_add()
      .i32_load16_u();
    c.local_get(rec).i32_load(R_IMM).i32_eq().br_if(good);
    c.end();
    // The count already excludes the instruction.
    c.local_get(ic).i32_const(1).i32_sub().local_set(ic);
    this.#slow.sync(o);
    c.local_get(ic).i32_const(1).i32_add().local_set(ic);
    c.i32_const(0).local_get(target).i64_store(SLOW_ARG);
    c.local_get(rec).call(this.#slow.imports.straddle).i32_const(0).i32_lt_s().br_if(labels.redirect);
    c.end();
    c.local_get(base).i32_const(STRADDLE_SHIFT).i32_add().local_set(base);
    c.local_get(base)
      .i32_const((SLOT_STRADDLE - 2) * RECORD)
      .i32_add()
      .local_set(rec);
    c.br(labels.next);
  }
}
