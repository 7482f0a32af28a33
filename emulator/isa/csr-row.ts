// One row of the CSR table: number, name, access conditions, storage, writable bits, and the hart's
// rule for reads and writes if a mask does not suffice.

import type { OptionalExtension } from './extensions.ts';

/** An extra condition for access besides the privilege in the number. */
export type CsrGuard =
  /** Illegal while mstatus.FS is Off; a write makes FS Dirty (Priv §3.1.6.6). */
  | 'fs'
  /** Governed by mcounteren and scounteren (Priv §3.1.11, §10.1.5). */
  | 'counter'
  /** Illegal in S-mode while mstatus.TVM is set (Priv §3.1.6.5). */
  | 'tvm'
  /** Illegal in S-mode unless menvcfg.STCE and mcounteren.TM are set (Sstc §2). */
  | 'sstc';

export interface CsrRow<Rule extends string = string> {
  readonly name: string;
  readonly number: number;
  /** Lowest privilege: 0 = U, 1 = S, 3 = M; bits 9:8 of the number. */
  readonly priv: 0 | 1 | 3;
  /** Bits 11:10 of the number are 11: any write is an illegal instruction. */
  readonly readOnly: boolean;
  /** Index among the 64-bit words of CSR storage, in table order; undefined = it has none. */
  readonly slot: number | undefined;
  /** The register whose bits in `readable` a view shows. */
  readonly of: string | undefined;
  readonly readable: bigint;
  /** Bits that a write can change (WARL): the others keep their value. */
  readonly writable: bigint;
  /** Value at reset; for a register without storage, its constant value. */
  readonly reset: bigint;
  readonly guard: CsrGuard | undefined;
  /** The register exists only with this extension. */
  readonly needs: OptionalExtension | undefined;
  /** Key of `CSR_RULES` in emulator/hart: behaviour of reads and writes beyond slot and mask. */
  readonly rule: Rule | undefined;
  /** The manual's section, and the meaning of the register. */
  readonly section: string;
  readonly doc: string;
}

export interface CsrExtra<Rule extends string> {
  readonly writable?: bigint;
  readonly reset?: bigint;
  readonly guard?: CsrGuard;
  readonly needs?: OptionalExtension;
  readonly rule?: Rule;
}

const ALL_BITS = (1n << 64n) - 1n;
/** Marks a row with storage; csr-table.ts counts them. */
const HAS_SLOT = 0;

type Storage = Pick<CsrRow, 'slot' | 'of' | 'readable' | 'writable'>;

function row<R extends string>(
  number: number,
  name: string,
  [section, doc]: readonly [string, string],
  storage: Storage,
  extra: CsrExtra<R>,
): CsrRow<R> {
  return {
    name,
    number,
    priv: ((number >>> 8) & 3) as 0 | 1 | 3,
    readOnly: number >>> 10 === 3,
    ...storage,
    writable: extra.writable ?? storage.writable,
    reset: extra.reset ?? 0n,
    guard: extra.guard,
    needs: extra.needs,
    rule: extra.rule,
    section,
    doc,
  };
}

type About = readonly [section: string, doc: string];

/** A register with its own 64 bits of storage. */
export const stored = <const R extends string = never>(
  number: number,
  name: string,
  about: About,
  extra: CsrExtra<R> = {},
): CsrRow<R> =>
  row(number, name, about, { slot: HAS_SLOT, of: undefined, readable: ALL_BITS, writable: ALL_BITS }, extra);

/** A register that always reads the same; writes change nothing. */
export const constant = <const R extends string = never>(
  number: number,
  name: string,
  about: About,
  extra: CsrExtra<R> = {},
): CsrRow<R> =>
  row(number, name, about, { slot: undefined, of: undefined, readable: ALL_BITS, writable: 0n }, extra);

/** Bits of another register. */
export const view = <const R extends string = never>(
  number: number,
  name: string,
  of: string,
  readable: bigint,
  writable: bigint,
  about: About,
  extra: CsrExtra<R> = {},
): CsrRow<R> => row(number, name, about, { slot: undefined, of, readable, writable }, extra);

/** A register whose value the rule computes. */
export const computed = <const R extends string>(
  number: number,
  name: string,
  rule: R,
  about: About,
  extra: Omit<CsrExtra<R>, 'rule'> = {},
): CsrRow<R> => constant(number, name, about, { ...extra, rule });

/** Rows for the indices `first` to `last`. */
export function series<T>(first: number, last: number, make: (index: number) => T, step = 1): T[] {
  const rows: T[] = [];
  for (let index = first; index <= last; index += step) rows.push(make(index));
  return rows;
}
