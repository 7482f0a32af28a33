// RAM for stores by devices. A device's store is reported like any store of host code, with its
// range, and it ends LR reservations on its bytes: an SC must fail if another device wrote in
// between (Unpriv §13.2, "Zalrsc"). A hart's own slow stores do not use this class.

import { Ram } from '../bus/ram.ts';
import { type Hart, layout as L } from '../hart/index.ts';

/** The largest store of an LR/SC pair. */
const GRANULE = 8;

export function dmaPort(ram: Ram, harts: readonly Hart[]): Ram {
  const port = new Ram(ram.memory, ram.hostBase, ram.base, ram.bytes);
  port.onWrite = (pa, bytes) => {
    ram.onWrite(pa, bytes);
    for (const { state } of harts) {
      const hi = state.hi(L.RESERVATION);
      if (hi < 0) continue;
      const at = hi * 2 ** 32 + (state.get(L.RESERVATION) >>> 0);
      const start = at - (at % GRANULE);
      if (pa < start + GRANULE && start < pa + bytes) state.put(L.RESERVATION, -1, -1);
    }
  };
  return port;
}
