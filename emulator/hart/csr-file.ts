// The CSR file: who may touch which CSR, what a read shows and what a write keeps (WARL), one row per CSR or family.
// Priv ch. 2 (numbers and access), ch. 3 (M), ch. 10 (S); Unpriv Zicsr, Zicntr, "F". Values travel as Int32 halves.
// Divergences: misa is read-only; performance counters 3..31 and their selectors are read-only zero; the trigger CSRs (tselect,
// tdata1..3) read zero, type 0 = no trigger; VS does not exist.

import type { CsrRow } from './csr-row.ts';
import { rowsOf } from './csr-rows.ts';
import { MSTATUS, PRIV } from './layout.ts';
import type { Mmu } from './mmu.ts';
import { FS } from './mstatus.ts';
import type { HartPorts } from './ports.ts';
import type { State } from './state.ts';

export class CsrFile {
  /** Halves of the last value read. */
  lo = 0;
  hi = 0;
  /** Set by writes after which translations or views may be different; the engine must leave compiled code. */
  changedView = false;
  readonly state: State;
  readonly mmu: Mmu;
  readonly ports: HartPorts;
  readonly #rows: readonly (CsrRow | undefined)[];

  constructor(state: State, mmu: Mmu, ports: HartPorts) {
    this.state = state;
    this.mmu = mmu;
    this.ports = ports;
    this.#rows = rowsOf(this);
  }

  /** Is the CSR implemented, privileged and, when written, writable (Priv §2.1)? False = illegal instruction. */
  mayAccess(csr: number, write: boolean): boolean {
    const row = this.#rows[csr];
    if (!row) return false;
    const priv = this.state.get(PRIV);
    if (priv < ((csr >> 8) & 3)) return false;
    if (write && csr >> 10 === 3) return false;
    if (row.fp && (this.state.get(MSTATUS) & FS) === 0) return false;
    return !row.allowed || row.allowed(priv);
  }

  /** Reads into `lo` and `hi`. Precondition: `mayAccess`. */
  read(csr: number): void {
    this.hi = 0;
    this.#rows[csr]!.read();
  }

  /** What csrrs and csrrc modify: like `read`, but wires of mip do not leak into its software bits (Priv §3.1.9). */
  readForUpdate(csr: number): void {
    const row = this.#rows[csr]!;
    this.hi = 0;
    if (row.base) row.base();
    else row.read();
  }

  /** Precondition: `mayAccess(csr, true)`. */
  write(csr: number, lo: number, hi: number): void {
    const row = this.#rows[csr]!;
    row.write?.(lo, hi);
    if (row.fp) this.dirtyFs();
  }

  dirtyFs(): void {
    this.state.set(MSTATUS, this.state.get(MSTATUS) | FS);
  }

  value(lo: number, hi: number): void {
    this.lo = lo;
    this.hi = hi;
  }

  /** For debuggers and tests: the value as M-mode would read it; undefined = not implemented. */
  peek(csr: number): bigint | undefined {
    if (!this.#rows[csr]) return undefined;
    this.read(csr);
    return (BigInt(this.hi >>> 0) << 32n) | BigInt(this.lo >>> 0);
  }

  /** Numbers of all implemented CSRs, ascending. */
  implemented(): number[] {
    return this.#rows.flatMap((row, number) => (row ? [number] : []));
  }
}
