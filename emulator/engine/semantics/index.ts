// The table of all rules; its type demands one for every row of the ISA table.

import { ATOMIC } from './amo.ts';
import { BITS } from './bits.ts';
import { CARRYLESS } from './carryless.ts';
import { CACHE_BLOCKS } from './cbo.ts';
import { DOUBLE, SINGLE } from './fp.ts';
import { INTEGER, MULTIPLY } from './int.ts';
import type { Semantics } from './ops.ts';
import { HALF, ZFA } from './zf.ts';

export const SEMANTICS: Semantics = {
  ...INTEGER,
  ...MULTIPLY,
  ...ATOMIC,
  ...BITS,
  ...CARRYLESS,
  ...SINGLE,
  ...DOUBLE,
  ...ZFA,
  ...HALF,
  ...CACHE_BLOCKS,
};
