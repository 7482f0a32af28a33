// The semantics of Zicbom, Zicboz and Zicbop (Unpriv, "CMO" chapter). There are no caches:
// management instructions only check permission for the block, prefetches do nothing, and only
// cbo.zero writes. The hart (hart/system.ts) is the full definition; this module handles the case
// of a TLB hit.

import { MENVCFG, PRIV, SENVCFG } from '../../hart/layout.ts';
import { CBCFE, CBIE, CBZE } from '../../isa/csr-fields.ts';
import { CACHE_BLOCK_BYTES } from '../../isa/index.ts';
import type { Ops, Rule } from './ops.ts';

/**
 * i32: not zero if menvcfg and, in U-mode, senvcfg enable the instruction (Priv §3.1.18, §10.1.10).
 */
function permitted(o: Ops, enable: number): void {
  const { c } = o;
  const load = (at: number): void => void c.i32_const(0).i32_load(at);
  load(MENVCFG);
  load(SENVCFG);
  c.i32_const(-1);
  load(PRIV);
  c.i32_eqz().select().i32_and().i32_const(enable).i32_and();
  load(PRIV);
  c.i32_const(1).i32_shr_u().i32_or(); // M is 3, S is 1
}

const manage =
  (enable: number): Rule =>
  o =>
    o.cacheBlock(
      false,
      () => permitted(o, enable),
      () => {},
    );

const zero: Rule = o =>
  o.cacheBlock(
    true,
    () => permitted(o, CBZE),
    host => {
      for (let at = 0; at < CACHE_BLOCK_BYTES; at += 8) o.c.local_get(host).i64_const(0).i64_store(at);
    },
  );

const nothing: Rule = () => {};

export const CACHE_BLOCKS = {
  'cbo.inval': manage(CBIE),
  'cbo.clean': manage(CBCFE),
  'cbo.flush': manage(CBCFE),
  'cbo.zero': zero,
  'prefetch.i': nothing,
  'prefetch.r': nothing,
  'prefetch.w': nothing,
} as const satisfies Record<string, Rule>;
