// Coverage hooks inline: a call of `__sanitizer_cov_trace_*` from compiled code does what the stub
// in kernel/kcov/hooks.S and the kcov device would do, without calling either: same registers (t0,
// t1, ra), same bytes in context and buffer, same number of retired instructions. It makes the real
// call if it cannot prove equality: a translation is missing, the context is elsewhere, UNIQ modes,
// FreeBSD's switch records, a buffer that holds code, a listener on the device. A passive listener
// gets its records from the device, which compiled code calls without leaving.
//
// The stub's paths, by retired instructions after the call itself (hooks.S is drawn there):
//   ld beqz ret                                     3   no live context: t0 = 0
//   ld beqz lw andi beqz ret                        6   its mode is another: t0 = context, t1 = 0
//   ... auipc ld beqz [sd sd] sd ret           10, 12   recorded, or lost: t1 = device

import { CTX, HOOK, RECORD } from '../../../devices/kcov-layout.ts';
import type {
  HelperPlace,
  InlineCall,
  InlineContext,
  InlineEmitter,
  InlineFamily,
  InlineHelper,
  InlineSite,
} from '../../engine/jit/inline-call.ts';
import { type Insn, rowOf } from '../../isa/index.ts';
import { type CodeWriter, I64, type Label, type Local } from '../../wasm/module.ts';
import { DISABLED, KnownContext } from './context.ts';
import { HookHelpers } from './helpers.ts';
import { constantPc, RecordWriter } from './records.ts';
import { callHelper, callInWindow, countStub, ShortHooks } from './short.ts';
import {
  A0,
  A1,
  BEHIND_OFF,
  BEHIND_OTHER,
  deviceVa,
  type HookTable,
  retiredRecording,
  retOf,
  stubWords,
  T0,
  T1,
  TP,
} from './table.ts';

/** Not every path writes t1, so its old value must be loaded. */
const READS = (1 << A0) | (1 << A1) | (1 << T1);
const WRITES = (1 << T0) | (1 << T1);

/** The calls that compiled code may execute itself, for hooks that the kernel announced. */
export function kcovInlineCalls(table: HookTable): InlineCall[] {
  const kinds = new Map<InlineCall, number>();
  const family: InlineFamily = {
    accepts: keepsThreadPointer,
    host: table.report,
    begin: context =>
      context.isWarm ? new ShortHooks(context, kinds) : new HookEmitter(context, table, kinds),
  };
  const helpers = new HookHelpers(table);
  for (const [kind, address] of table.addresses.entries()) {
    const words = stubWords(kind, table);
    const pa = Number(BigInt.asUintN(64, address - table.kvaOffset));
    if (!words) continue;
    const helper = (place: HelperPlace): InlineHelper => helpers.of(kind, place);
    const callHelper = (c: CodeWriter, index: number): void => callInWindow(c, kind, index);
    const records = kind === HOOK.PC ? RECORD.ANY_PC : RECORD.ANY_CMP;
    const asksHost = (): boolean => (table.mode() & records) !== 0;
    const call = {
      ...{ address, pa, words, reads: READS, writes: WRITES, cost: retiredRecording(kind) },
      ...{ asksHost, family, helper, callHelper },
    };
    kinds.set(call, kind);
  }
  return [...kinds.keys()];
}

/**
 * True when no instruction of the region moves tp, so that the live pointer can be looked up once.
 */
function keepsThreadPointer(insns: Iterable<Insn>): boolean {
  for (const insn of insns) if (insn.rd === TP && writesX(insn)) return false;
  return true;
}
const writesX = (insn: Insn): boolean => rowOf(insn.op).regs.rd === 'x';

class HookEmitter implements InlineEmitter {
  readonly #context: InlineContext;
  readonly #c: CodeWriter;
  readonly #x: InlineContext['x'];
  readonly #ic: InlineContext['ic'];
  readonly #table: HookTable;
  readonly #kinds: ReadonlyMap<InlineCall, number>;
  readonly #known: KnownContext;
  readonly #records: RecordWriter;

  constructor(context: InlineContext, table: HookTable, kinds: ReadonlyMap<InlineCall, number>) {
    this.#context = context;
    this.#c = context.c;
    this.#x = context.x;
    this.#ic = context.ic;
    this.#table = table;
    this.#kinds = kinds;
    this.#known = new KnownContext(context, table);
    this.#records = new RecordWriter(context, table, this.#known);
  }

  enter(): void {
    this.#known.enter();
  }

  leave(): void {
    this.#records.leave();
  }

  release(): void {
    this.#records.release();
    this.#known.release();
  }

  site(call: InlineCall, { behind, isClean, generic }: InlineSite): void {
    const known = this.#known;
    const kind = this.#kinds.get(call)!;
    const c = this.#c;
    const t0 = this.#x[T0]!;
    const t1 = this.#x[T1]!;
    const live = c.local(I64);
    const isPc = kind === HOOK.PC;
    const pc = constantPc(c, behind);
    const done = c.block();
    const real = c.block();
    if (!isClean) {
      c.local_get(known.liveAt).i32_eqz().br_if(real, 'unlikely');
      known.isSameThread();
      c.if_(undefined, 'likely');
      c.local_get(known.liveAt).i64_load(0).local_tee(live).i64_eqz().if_();
      c.i32_const(DISABLED).local_set(known.state);
      c.else_();
      known.look(live);
      c.end();
      c.else_();
      c.i32_const(0).local_set(known.state);
      c.end();
    }
    c.local_get(known.state)
      .i32_const(isPc ? RECORD.PC : RECORD.CMP)
      .i32_eq()
      .if_();
    if (isPc) this.#records.pc(real, pc);
    else if (kind === HOOK.SWITCH) this.#records.switch(real, pc);
    else this.#records.cmp(real, kind, pc);
    c.local_get(known.live).local_set(t0).i64_const(deviceVa(this.#table)).local_set(t1);
    this.#retire(call, retOf(kind));
    c.br(done).end();
    // Without the hint V8 spills all registers on the main path for the calls of the rare cases.
    c.local_get(known.state).i32_const(DISABLED).i32_eq().if_(undefined, 'likely');
    c.i64_const(0).local_set(t0);
    this.#retire(call, BEHIND_OFF);
    c.br(done).end();
    this.#rare(call, kind, real, done, live, behind);
    c.end();
    generic();
    c.i32_const(0).local_set(known.state);
    c.end();
    c.release(live);
  }

  /**
   * The facts of the region's entry do not hold, or the mode is another: the helper looks again,
   * and decides. Without one, only another mode in the same context is decided here.
   */
  #rare(call: InlineCall, kind: number, real: Label, done: Label, live: Local<I64>, behind: bigint): void {
    const c = this.#c;
    const known = this.#known;
    const isPc = kind === HOOK.PC;
    const [t0, t1] = [this.#x[T0]!, this.#x[T1]!];
    const helper = this.#context.helperOf(call);
    if (helper !== undefined) {
      callHelper(this.#context, call, kind, helper, real, behind);
      c.br(done);
      return;
    }
    c.local_get(known.liveAt).i32_eqz().br_if(real, 'unlikely');
    known.isSameThread();
    c.i32_eqz().br_if(real, 'unlikely');
    c.local_get(known.liveAt).i64_load(0).local_tee(live).i64_eqz().br_if(real, 'unlikely');
    c.local_get(live).local_get(known.live).i64_xor();
    c.local_get(known.currentAt).i64_load(0).local_get(known.current).i64_xor().i64_or();
    c.i64_const(0).i64_ne().br_if(real, 'unlikely');
    c.local_get(known.context).i32_load(CTX.MODE);
    c.i32_const(isPc ? RECORD.ANY_PC : RECORD.ANY_CMP)
      .i32_and()
      .br_if(real);
    c.local_get(live).local_set(t0).i64_const(0).local_set(t1);
    this.#retire(call, BEHIND_OTHER);
    c.br(done);
  }

  /** The stub ran up to displacement `end` and, from wherever that is, its `ret`. */
  #retire(call: InlineCall, end: number): void {
    countStub(this.#context.ran, call, this.#kinds.get(call)!, end);
    this.#c
      .local_get(this.#ic)
      .i32_const(end / 4 + 1)
      .i32_sub()
      .local_set(this.#ic);
  }
}
