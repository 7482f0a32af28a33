// Zicbom, Zicboz and Zicbop: management, zeroing and prefetching of cache blocks (Unpriv, "CMO"
// chapter). Blocks have CACHE_BLOCK_BYTES. A prefetch is a hint in the encoding space of `ori` with
// rd = x0; its rows take precedence over that of `ori`; with Zicbop off the word is that `ori`,
// which also has no effect.

import { CBO, PREFETCH } from './fields.ts';
import { block, rowsOf } from './row.ts';

const insnM = rowsOf('zicbom');
const insnZ = rowsOf('zicboz');
const insnP = rowsOf('zicbop');

// biome-ignore format: the columns are the manual's
export const TABLE_CBO = [
  insnM('cbo.inval',  CBO,      '0000000 00000 ..... 010 00000 0001111', block),
  insnM('cbo.clean',  CBO,      '0000000 00001 ..... 010 00000 0001111', block),
  insnM('cbo.flush',  CBO,      '0000000 00010 ..... 010 00000 0001111', block),
  insnZ('cbo.zero',   CBO,      '0000000 00100 ..... 010 00000 0001111', block),
  insnP('prefetch.i', PREFETCH, '....... 00000 ..... 110 00000 0010011'),
  insnP('prefetch.r', PREFETCH, '....... 00001 ..... 110 00000 0010011'),
  insnP('prefetch.w', PREFETCH, '....... 00011 ..... 110 00000 0010011'),
] as const;
