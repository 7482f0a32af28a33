// The registers of a hart as the rules of its CSRs see them, and the form of a rule. Values travel
// as Int32 halves.

import type { CsrRow } from '../isa/csr.ts';
import { STCE_HI } from '../isa/csr-fields.ts';
import { MENVCFG } from './layout.ts';
import type { Mmu } from './mmu.ts';
import type { HartPorts } from './ports.ts';
import type { State } from './state.ts';

export class CsrState {
  /** Halves of the last value read. */
  lo = 0;
  hi = 0;
  /** Set by writes that may change translations or views; the engine must leave compiled code. */
  changedView = false;
  readonly state: State;
  readonly mmu: Mmu;
  readonly ports: HartPorts;

  constructor(state: State, mmu: Mmu, ports: HartPorts) {
    this.state = state;
    this.mmu = mmu;
    this.ports = ports;
  }

  /** Sstc: true if stimecmp drives mip.STIP. */
  get hasStimecmp(): boolean {
    return (this.state.hi(MENVCFG) & STCE_HI) !== 0;
  }

  value(lo: number, hi: number): void {
    this.lo = lo;
    this.hi = hi;
  }
}

/** Behaviour of a CSR that replaces its row's plain read, write, or both. */
export interface Rule {
  /** Leaves the value in `csrs.lo` and `csrs.hi`. */
  readonly read?: (csrs: CsrState, row: CsrRow) => void;
  /** Value that csrrs and csrrc modify, if it differs from the one that reads return. */
  readonly base?: (csrs: CsrState, row: CsrRow) => void;
  readonly write?: (csrs: CsrState, row: CsrRow, lo: number, hi: number) => void;
}
