// Functions in WebAssembly that do what the stub of a coverage hook and the device do, one for each
// kind of hook and view of loads and stores. Unlike a hook in compiled code they rely on nothing
// that was found before: compiled code calls them where the facts of its entry do not hold, for
// example because the thread's context became live in the same region, and in short code always.

import { CTX, HOOK, RECORD } from '../../../devices/kcov-layout.ts';
import type { HelperPlace, InlineHelper } from '../../engine/jit/inline-call.ts';
import { X } from '../../hart/layout.ts';
import { I32, I64, type Local, ModuleBuilder, type ValType } from '../../wasm/module.ts';
import { DISABLED, KnownContext } from './context.ts';
import { localPc, RecordWriter } from './records.ts';
import { A0, A1, BEHIND_OFF, BEHIND_OTHER, deviceVa, type HookTable, retOf, T0, T1 } from './table.ts';

/**
 * (pc: i64), for comparisons also the operands, -> the number of instructions that the stub retires
 * behind the call; 0 = nothing was done, make the real call. t0 and t1 are in the window then, t1
 * not if there is no live context.
 */
const paramsOf = (kind: number): ValType[] => (kind === HOOK.PC ? [I64] : [I64, I64, I64]);

export class HookHelpers {
  readonly #table: HookTable;
  /** By view, then by kind. */
  readonly #known = new Map<number, readonly InlineHelper[]>();

  constructor(table: HookTable) {
    this.#table = table;
  }

  /** All places are of one machine. */
  of(kind: number, place: HelperPlace): InlineHelper {
    let helpers = this.#known.get(place.dataView);
    if (!helpers) {
      helpers = compile(this.#table, place);
      this.#known.set(place.dataView, helpers);
    }
    return helpers[kind]!;
  }
}

/** The helpers of one view. */
function compile(table: HookTable, place: HelperPlace): InlineHelper[] {
  const m = new ModuleBuilder();
  const { report } = table;
  const host = report && m.importFunction('env', 'report', [I32, I32, I32]);
  const { memory } = place;
  m.importMemory('env', 'memory', { min: 1 });
  const kinds = table.addresses.map((_, kind) => kind);
  for (const kind of kinds) m.export(String(kind), 'func', addHelper(m, table, place, kind, host));
  const module = new WebAssembly.Module(m.finish());
  const { exports } = new WebAssembly.Instance(module, { env: { memory, ...(report && { report }) } });
  return kinds.map(kind => ({ params: paramsOf(kind), results: [I32], call: exports[String(kind)] }));
}

function addHelper(
  m: ModuleBuilder,
  table: HookTable,
  { ram, dataView, scratch }: HelperPlace,
  kind: number,
  host: number | undefined,
): number {
  const isPc = kind === HOOK.PC;
  const helper = m.func(paramsOf(kind), [I32], `kcov${kind}`);
  const { code: c } = helper;
  const [pc, a0, a1] = helper.params as readonly Local<I64>[];
  const x = Array.from({ length: 32 }, (_, i) => (i === A0 ? a0 : i === A1 ? a1 : undefined));
  const isVerified = c.local(I32);
  c.i32_const(1).local_set(isVerified);
  const known = new KnownContext({ c, ram, dataView, isVerified }, table);
  const records = new RecordWriter({ c, x, ram, host }, table, known);
  const set = (register: number, value: () => void): void => {
    c.i32_const(0);
    value();
    c.i64_store(X + 8 * register);
  };
  /** The stub jumped, or came, to its `ret` from displacement `end`. */
  const done = (end: number): void => void c.i32_const(end / 4 + 1).return_();
  known.recall(scratch);
  const real = c.block();
  c.local_get(known.liveAt).i32_eqz().br_if(real);
  c.local_get(known.state).i32_const(DISABLED).i32_eq().if_();
  set(T0, () => void c.i64_const(0));
  done(BEHIND_OFF);
  c.end();
  c.local_get(known.state)
    .i32_const(isPc ? RECORD.PC : RECORD.CMP)
    .i32_eq()
    .if_();
  if (isPc) records.pc(real, localPc(c, pc!));
  else if (kind !== HOOK.SWITCH) records.cmp(real, kind, localPc(c, pc!));
  else records.switch(real, localPc(c, pc!));
  records.leave();
  set(T0, () => void c.local_get(known.live));
  set(T1, () => void c.i64_const(deviceVa(table)));
  done(retOf(kind));
  c.end();
  c.local_get(known.context).i32_load(CTX.MODE);
  c.i32_const(isPc ? RECORD.ANY_PC : RECORD.ANY_CMP)
    .i32_and()
    .br_if(real);
  set(T0, () => void c.local_get(known.live));
  set(T1, () => void c.i64_const(0));
  done(BEHIND_OTHER);
  c.end();
  c.i32_const(0);
  records.release();
  known.release();
  c.release(isVerified);
  return helper.index;
}
