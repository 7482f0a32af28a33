// mstatus and sstatus (Priv §3.1.6, §10.1.1): the fields, and the rules that a mask does not
// express. Fixed: UXL = SXL = 2 (64 bits), UBE = SBE = MBE = 0 (little-endian), VS = XS = 0. SD is
// derived from FS on reads.

import { FS, MPP, MPP_SHIFT, SD_HI } from '../isa/csr-fields.ts';

export {
  FS,
  MIE_BIT,
  MPIE,
  MPP,
  MPP_SHIFT,
  MPRV,
  MSTATUS_MASK,
  MXR,
  SIE,
  SPIE,
  SPP,
  SSTATUS_MASK,
  SUM,
  TSR,
  TVM,
  TW,
  UXL_HI,
  XLEN_HI,
} from '../isa/csr-fields.ts';

/** SD summarises FS, the only extension state of this hart. */
export const sdHi = (lo: number): number => ((lo & FS) === FS ? SD_HI : 0);

/**
 * The low half after a write of `value` under `mask`; MPP = 2 is reserved and keeps the old field.
 */
export function legalMstatus(old: number, value: number, mask: number): number {
  const legal = (value & MPP) === 2 << MPP_SHIFT ? mask & ~MPP : mask;
  return (old & ~legal) | (value & legal);
}
