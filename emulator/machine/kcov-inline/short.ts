// Coverage hooks as calls of helpers (helpers.ts): everything that code needs which is to be short,
// and what longer code does where the facts of its entry do not hold.

import { HOOK } from '../../../devices/kcov-layout.ts';
import type { InlineCall, InlineContext, InlineEmitter, InlineSite } from '../../engine/jit/inline-call.ts';
import { X } from '../../hart/layout.ts';
import { type CodeWriter, I32, type Label } from '../../wasm/module.ts';
import { A0, A1, BEHIND_OFF, BEHIND_OTHER, RA, retOf, T0, T1 } from './table.ts';

/** Every hook is a call. */
export class ShortHooks implements InlineEmitter {
  readonly #context: InlineContext;
  readonly #kinds: ReadonlyMap<InlineCall, number>;

  constructor(context: InlineContext, kinds: ReadonlyMap<InlineCall, number>) {
    this.#context = context;
    this.#kinds = kinds;
  }

  enter(): void {}

  leave(): void {}

  release(): void {}

  site(call: InlineCall, { behind, generic }: InlineSite): void {
    const { c } = this.#context;
    const helper = this.#context.helperOf(call);
    if (helper === undefined) {
      generic();
      return;
    }
    const done = c.block();
    const real = c.block();
    callHelper(this.#context, call, this.#kinds.get(call)!, helper, real, behind);
    c.br(done).end();
    generic();
    c.end();
  }
}

/** Calls the helper; branches to `real` if that has done nothing. */
export function callHelper(
  { c, x, ic, isVerified, isCounted, ran }: InlineContext,
  call: InlineCall,
  kind: number,
  helper: number,
  real: Label,
  behind: bigint,
): void {
  const retired = c.local(I32);
  c.local_get(isVerified).i32_eqz().br_if(real, 'unlikely');
  c.i64_const(BigInt.asIntN(64, behind));
  if (kind !== HOOK.PC) c.local_get(x[A0]!).local_get(x[A1]!);
  c.call(helper).local_tee(retired).i32_eqz().br_if(real, 'unlikely');
  c.i32_const(0)
    .i64_load(X + 8 * T0)
    .local_set(x[T0]!);
  // Without a live context the stub does not write t1.
  c.i32_const(0)
    .i64_load(X + 8 * T1)
    .local_get(x[T1]!);
  c.local_get(retired)
    .i32_const(BEHIND_OFF / 4 + 1)
    .i32_ne();
  c.select().local_set(x[T1]!);
  c.local_get(ic).local_get(retired).i32_sub().local_set(ic);
  if (isCounted)
    for (const end of [BEHIND_OFF, BEHIND_OTHER, retOf(kind)]) {
      c.local_get(retired)
        .i32_const(end / 4 + 1)
        .i32_eq()
        .if_();
      countStub(ran, call, kind, end);
      c.end();
    }
  c.release(retired);
}

/** The stub ran up to displacement `end` and, from wherever that is, its `ret`. */
export function countStub(ran: InlineContext['ran'], call: InlineCall, kind: number, end: number): void {
  const ret = retOf(kind);
  if (end === ret) ran(call, 0, ret + 4);
  else {
    ran(call, 0, end);
    ran(call, ret, ret + 4);
  }
}

/** The same where all registers are in the window; pushes the helper's result. */
export function callInWindow(c: CodeWriter, kind: number, helper: number): void {
  for (const register of kind === HOOK.PC ? [RA] : [RA, A0, A1]) c.i32_const(0).i64_load(X + 8 * register);
  c.call(helper);
}
