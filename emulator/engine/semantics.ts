// All rules together: the type demands one for every row of the ISA table.

import type { Semantics } from './ops.ts';
import { ATOMIC } from './semantics-amo.ts';
import { BITS } from './semantics-bits.ts';
import { DOUBLE, SINGLE } from './semantics-fp.ts';
import { INTEGER, MULTIPLY } from './semantics-int.ts';

export const SEMANTICS: Semantics = { ...INTEGER, ...MULTIPLY, ...ATOMIC, ...BITS, ...SINGLE, ...DOUBLE };
