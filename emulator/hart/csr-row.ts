// The shape of a row of the CSR file, and what several families of rows share.

import { M, U } from './cause.ts';
import type { CsrFile } from './csr-file.ts';
import { MCOUNTEREN, SCOUNTEREN } from './layout.ts';

export interface CsrRow {
  /** Leaves the value in `file.lo` and `file.hi`. */
  readonly read: () => void;
  /** Value that set/clear instructions modify, when it is not what reads show. */
  readonly base?: () => void;
  readonly write?: (lo: number, hi: number) => void;
  /** Beyond the number's privilege: TVM, counter enables. */
  readonly allowed?: (priv: number) => boolean;
  /** Needs FS; writes make it dirty. */
  readonly fp?: boolean;
}

export type Rows = (CsrRow | undefined)[];

export const constant = (file: CsrFile, lo: number, hi: number): CsrRow => ({
  read: () => file.value(lo, hi),
});

/** May a U- or S-mode read of counter `index` pass the enables (Priv §3.1.11, §10.1.5)? */
export function counterEnabled(file: CsrFile, index: number, priv: number): boolean {
  const s = file.state;
  if (priv < M && ((s.get(MCOUNTEREN) >>> index) & 1) === 0) return false;
  return priv !== U || ((s.get(SCOUNTEREN) >>> index) & 1) === 1;
}
