// The view registers: they select the TLB tables of fetches and data accesses, derived from
// privilege, MPRV, MPP and SUM (Priv §3.1.6.3). Because a view stands for the *effective*
// privilege, neither mode switches nor MPRV need a flush.

import { M } from './cause.ts';
import { DATA_VIEW, FETCH_VIEW, MSTATUS, PRIV } from './layout.ts';
import { MPP, MPP_SHIFT, MPRV, SUM } from './mstatus.ts';
import type { State } from './state.ts';

const S_VIEW = 1;
const SUM_VIEW = 2;

/** Call after changes of mstatus or the privilege; true = the data view has changed. */
export function updateDataView(state: State): boolean {
  const mstatus = state.get(MSTATUS);
  let priv = state.get(PRIV);
  if (priv === M && mstatus & MPRV) priv = (mstatus & MPP) >> MPP_SHIFT;
  const view = priv === S_VIEW && mstatus & SUM ? SUM_VIEW : priv;
  const changed = view !== state.get(DATA_VIEW);
  state.set(DATA_VIEW, view);
  return changed;
}

export function setPriv(state: State, priv: number): void {
  state.set(PRIV, priv);
  state.set(FETCH_VIEW, priv);
  updateDataView(state);
}
