// Bits of mstatus and sstatus (Priv §3.1.6, §10.1.1) and their write rules.
// Fixed: UXL = SXL = 2 (64 bits), UBE = SBE = MBE = 0 (little-endian), VS = XS = 0. SD is derived from FS on reads.

export const SIE = 1 << 1;
export const MIE_BIT = 1 << 3;
export const SPIE = 1 << 5;
export const MPIE = 1 << 7;
export const SPP = 1 << 8;
export const MPP = 3 << 11;
export const MPP_SHIFT = 11;
export const FS = 3 << 13;
export const MPRV = 1 << 17;
export const SUM = 1 << 18;
export const MXR = 1 << 19;
export const TVM = 1 << 20;
export const TW = 1 << 21;
export const TSR = 1 << 22;
/** High half: SXL and UXL both say 64. */
export const XLEN_HI = 0xa;
/** High half as sstatus shows it. */
export const UXL_HI = 0x2;
export const SD_HI = 0x8000_0000 | 0;

export const SSTATUS_MASK = SIE | SPIE | SPP | FS | SUM | MXR;
export const MSTATUS_MASK = SSTATUS_MASK | MIE_BIT | MPIE | MPP | MPRV | TVM | TW | TSR;

/** SD summarises FS, the only extension state that we have. */
export const sdHi = (lo: number): number => ((lo & FS) === FS ? SD_HI : 0);

/** The low half after a write of `value` under `mask`; MPP = 2 is reserved and leaves the field as it was. */
export function legalMstatus(old: number, value: number, mask: number): number {
  const legal = (value & MPP) === 2 << MPP_SHIFT ? mask & ~MPP : mask;
  return (old & ~legal) | (value & legal);
}
