// The interrupt wires from CLINT and PLIC to the harts' mip.

import type { HartLine, HartLines } from '../bus/device.ts';
import { cause, type Hart } from '../hart/index.ts';

const BITS: Record<HartLine, number> = {
  msip: cause.MSIP,
  mtip: cause.MTIP,
  meip: cause.MEIP,
  seip: cause.SEIP,
};

/** `harts` may be filled in later; a wire to a hart that does not exist yet has no effect. */
export function hartLines(harts: readonly Hart[]): HartLines {
  return { set: (hart, line, level) => harts[hart]?.setLine(BITS[line], level) };
}
