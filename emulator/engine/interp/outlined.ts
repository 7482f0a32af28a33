// Handlers outside of the interpreter's function, in one of their own: (rec, ic, base, dataView,
// page) -> ic, negative when control went elsewhere.
//
// The problem: V8 allocates registers well only in functions of up to 8192 virtual registers
// (kTopTierVirtualRegistersLimit). The interpreter's function was once larger, and everything it
// interprets took a quarter longer. The trick: what kernels hardly ever execute, and what costs
// much more than a call, is outside; the time for compiling grows faster than the size, too. The
// proof that it is small enough: a limit in test/engine/interp-size.test.ts.

import { rowNamed } from '../../isa/index.ts';
import { I32, I64, type Label, type ModuleBuilder } from '../../wasm/module.ts';
import { SEMANTICS } from '../semantics/index.ts';
import { HANDLERS, type Handler } from './handlers.ts';
import { InterpOps } from './ops.ts';
import { H_FIRST_INSN, R_HANDLER } from './records.ts';
import type { SlowCalls } from './slow.ts';

const EXTENSIONS: ReadonlySet<string> = new Set(['f', 'd', 'zfa', 'zfhmin', 'zbc', 'zicbom', 'zicboz']);

/** Loads and stores of floating-point registers are inside: kernels switch contexts with them. */
export function isOutlined({ name }: Handler): boolean {
  const { ext, mem } = rowNamed(name);
  return EXTENSIONS.has(ext) && mem.kind !== 'load' && mem.kind !== 'store';
}

/** Writes the function; answers with its index. */
export function addOutlined(
  m: ModuleBuilder,
  slow: SlowCalls,
  ram: { readonly hostBase: number; readonly base: number },
): number {
  const f = m.func([I32, I32, I32, I32, I64], [I32], 'outlined');
  const { code: c } = f;
  const [rec, ic, base, dataView, page] = f.params;
  const own = c.scope();
  // No handler here jumps, so these are never used.
  const unused = { isReturn: own.local(I32), fetchView: own.local(I32), target: own.local(I64) };
  const out = c.block();
  const o = new InterpOps(
    c,
    { rec, ic, base, dataView, page, ...unused },
    { arrive: out, next: out, lookup: out, redirect: out },
    slow,
    ram,
  );
  const outlined = HANDLERS.filter(isOutlined);
  const none = c.block();
  const blocks: Label[] = Array.from({ length: H_FIRST_INSN + HANDLERS.length }, () => none);
  for (const { id } of outlined.toReversed()) blocks[id] = c.block();
  c.local_get(rec).i32_load16_u(R_HANDLER).br_table(blocks, none);
  for (const handler of outlined) {
    c.end();
    o.begin(handler);
    SEMANTICS[handler.name](o);
    o.advance();
    o.endRule();
  }
  c.end().unreachable();
  c.end();
  c.local_get(ic);
  own.release();
  return f.index;
}
