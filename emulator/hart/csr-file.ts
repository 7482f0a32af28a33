// The CSR file of a hart: permissions, reads and writes (WARL). Registers are the rows of
// emulator/isa/csr-table.ts; behaviour beyond a row's slot and mask is its rule in csr-rules.ts.
// Priv ch. 2 (numbers and access), ch. 3 (M), ch. 10 (S); Unpriv Zicsr, Zicntr, "F". Values travel
// as Int32 halves.

import { CSRS, type CsrGuard, type CsrRow, type CsrRule, csrNamed } from '../isa/csr.ts';
import { STCE_HI, TM } from '../isa/csr-fields.ts';
import { M, U } from './cause.ts';
import { CsrState } from './csr-rule.ts';
import { CSR_RULES, menvcfgFields } from './csr-rules.ts';
import { csrAt, MCOUNTEREN, MENVCFG, MSTATUS, PRIV, SCOUNTEREN } from './layout.ts';
import type { Mmu } from './mmu.ts';
import { FS, TVM } from './mstatus.ts';
import type { HartPorts } from './ports.ts';
import type { State } from './state.ts';

/** One CSR, ready for use. */
interface Access {
  readonly guard: CsrGuard | undefined;
  /** Leaves the value in `file.lo` and `file.hi`. */
  readonly read: () => void;
  /** The value that csrrs and csrrc modify. */
  readonly base: () => void;
  readonly write: (lo: number, hi: number) => void;
}

export class CsrFile extends CsrState {
  readonly #access: (Access | undefined)[] = new Array(4096);

  constructor(state: State, mmu: Mmu, ports: HartPorts) {
    super(state, mmu, ports);
    for (const row of CSRS) {
      if (row.needs === undefined || ports.extensions.has(row.needs)) {
        this.#access[row.number] = accessOf(this, row);
      }
    }
  }

  /** Gives every CSR with storage its value at reset. */
  reset(): void {
    for (const row of CSRS) if (row.slot !== undefined) this.state.set64(csrAt(row), row.reset);
    const fields = menvcfgFields(this.ports.extensions);
    this.state.put(MENVCFG, this.state.get(MENVCFG), this.state.hi(MENVCFG) & fields);
  }

  /**
   * True if the CSR is implemented, the privilege suffices and, for writes, the CSR is writable
   * (Priv §2.1). False = illegal instruction.
   */
  mayAccess(csr: number, write: boolean): boolean {
    const access = this.#access[csr];
    if (!access) return false;
    const priv = this.state.get(PRIV);
    if (priv < ((csr >> 8) & 3)) return false;
    if (write && csr >> 10 === 3) return false;
    return access.guard === undefined || GUARDS[access.guard](this.state, priv, csr);
  }

  /** Reads into `lo` and `hi`. Precondition: `mayAccess`. */
  read(csr: number): void {
    this.#access[csr]!.read();
  }

  /**
   * The value that csrrs and csrrc modify: like `read`, but wires of mip do not leak into its
   * software bits (Priv §3.1.9).
   */
  readForUpdate(csr: number): void {
    this.#access[csr]!.base();
  }

  /** Precondition: `mayAccess(csr, true)`. */
  write(csr: number, lo: number, hi: number): void {
    const access = this.#access[csr]!;
    access.write(lo, hi);
    if (access.guard === 'fs') this.state.set(MSTATUS, this.state.get(MSTATUS) | FS);
  }

  /** For debuggers and tests: the value as M-mode would read it; undefined = not implemented. */
  peek(csr: number): bigint | undefined {
    if (!this.#access[csr]) return undefined;
    this.read(csr);
    return (BigInt(this.hi >>> 0) << 32n) | BigInt(this.lo >>> 0);
  }

  /** Numbers of all implemented CSRs, ascending. */
  implemented(): number[] {
    return this.#access.flatMap((access, number) => (access ? [number] : []));
  }
}

const GUARDS: Readonly<Record<CsrGuard, (s: State, priv: number, csr: number) => boolean>> = {
  fs: s => (s.get(MSTATUS) & FS) !== 0,
  counter: (s, priv, csr) =>
    (priv === M || ((s.get(MCOUNTEREN) >>> (csr & 31)) & 1) === 1) &&
    (priv !== U || ((s.get(SCOUNTEREN) >>> (csr & 31)) & 1) === 1),
  tvm: (s, priv) => priv === M || (s.get(MSTATUS) & TVM) === 0,
  sstc: (s, priv) => priv === M || ((s.hi(MENVCFG) & STCE_HI) !== 0 && (s.get(MCOUNTEREN) & TM) !== 0),
};

function accessOf(file: CsrFile, row: CsrRow<CsrRule>): Access {
  const rule = row.rule === undefined ? {} : CSR_RULES[row.rule];
  const plain = row.of !== undefined ? viewOf(file, row, row.of) : slotOf(file, row);
  const { read, base, write } = rule;
  const readRow = read ? () => read(file, row) : plain.read;
  return {
    guard: row.guard,
    read: readRow,
    base: base ? () => base(file, row) : readRow,
    write: write ? (lo, hi) => write(file, row, lo, hi) : plain.write,
  };
}

const low = (bits: bigint): number => Number(bits & 0xffff_ffffn) | 0;
const high = (bits: bigint): number => Number(bits >> 32n) | 0;

type Plain = Pick<Access, 'read' | 'write'>;

/** The slot under the row's mask; without a slot, always the value at reset. */
function slotOf(file: CsrFile, row: CsrRow): Plain {
  const s = file.state;
  const [maskLo, maskHi] = [low(row.writable), high(row.writable)];
  if (row.slot === undefined) {
    const [lo, hi] = [low(row.reset), high(row.reset)];
    return { read: () => file.value(lo, hi), write: () => {} };
  }
  const at = csrAt(row);
  return {
    read: () => file.value(s.get(at), s.hi(at)),
    write: (lo, hi) => s.put(at, (s.get(at) & ~maskLo) | (lo & maskLo), (s.hi(at) & ~maskHi) | (hi & maskHi)),
  };
}

/** Bits of another register; writes follow the rule of that register. */
function viewOf(file: CsrFile, row: CsrRow, of: string): Plain {
  const target = csrNamed(of).number;
  const [shownLo, shownHi] = [low(row.readable), high(row.readable)];
  const [maskLo, maskHi] = [low(row.writable), high(row.writable)];
  return {
    read: () => {
      file.read(target);
      file.value(file.lo & shownLo, file.hi & shownHi);
    },
    write: (lo, hi) => {
      file.read(target);
      file.write(target, (file.lo & ~maskLo) | (lo & maskLo), (file.hi & ~maskHi) | (hi & maskHi));
    },
  };
}
