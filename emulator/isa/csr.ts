// Lookup of CSRs by number and name; the rows are in csr-table.ts.

import type { CsrRow } from './csr-row.ts';
import { CSRS, type CsrRule } from './csr-table.ts';

export type { CsrGuard, CsrRow } from './csr-row.ts';
export { CSRS, type CsrRule };

const BY_NUMBER = new Map(CSRS.map(row => [row.number, row]));
const BY_NAME = new Map(CSRS.map(row => [row.name, row]));

export const csrNumbered = (number: number): CsrRow<CsrRule> | undefined => BY_NUMBER.get(number);

/** The row of a register that is known to exist. */
export function csrNamed(name: string): CsrRow<CsrRule> {
  const row = BY_NAME.get(name);
  if (row === undefined) throw new Error(`unknown csr ${name}`);
  return row;
}
