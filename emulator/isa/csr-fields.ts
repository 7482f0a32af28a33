// Fields of CSRs that have more than one; only this module has their bits. `_HI` names bits of the
// high half; all others are in the low half. Both are int32, because the hart and the engines work
// on halves.

// mstatus and sstatus (Priv §3.1.6, §10.1.1).
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
/** UXL = 2: 64 bits in U-mode. */
export const UXL_HI = 0x2;
/** SXL = UXL = 2. */
export const XLEN_HI = 0xa;
/** Set exactly when FS is Dirty; computed on reads, never stored. */
export const SD_HI = 0x8000_0000 | 0;

export const SSTATUS_MASK = SIE | SPIE | SPP | FS | SUM | MXR;
export const MSTATUS_MASK = SSTATUS_MASK | MIE_BIT | MPIE | MPP | MPRV | TVM | TW | TSR;

// Interrupts in mip, mie and mideleg (Priv §3.1.9).
export const SSIP = 1 << 1;
export const MSIP = 1 << 3;
export const STIP = 1 << 5;
export const MTIP = 1 << 7;
export const SEIP = 1 << 9;
export const MEIP = 1 << 11;
export const S_INTERRUPTS = SSIP | STIP | SEIP;
export const ALL_INTERRUPTS = S_INTERRUPTS | MSIP | MTIP | MEIP;

/**
 * medeleg: exceptions 0 to 9, 12, 13 and 15; a call from M-mode cannot be delegated (Priv §3.1.8).
 */
export const DELEGABLE = 0xb3ff;

// menvcfg and senvcfg (Priv §3.1.18, §10.1.10).
/** Fences order devices, too. Every fence is total here, so the bit changes nothing. */
export const FIOM = 1;
/** cbo.inval: 0 illegal, 1 flushes, 3 invalidates; 2 is reserved (CMO §2.4). */
export const CBIE = 3 << 4;
export const CBIE_RESERVED = 2 << 4;
/** cbo.clean and cbo.flush are legal. */
export const CBCFE = 1 << 6;
/** cbo.zero is legal. */
export const CBZE = 1 << 7;
export const ENVCFG_MASK = FIOM | CBIE | CBCFE | CBZE;
/** S-mode has stimecmp (Sstc). */
export const STCE_HI = 0x8000_0000 | 0;
/** Leaf PTEs may have a memory type in bits 62:61 (Svpbmt). */
export const PBMTE_HI = 1 << 30;
/** The hart sets A and D in PTEs (Svadu); clear: it raises a page fault instead (Svade). */
export const ADUE_HI = 1 << 29;

/** mcounteren, scounteren: time. */
export const TM = 2;

/** satp.MODE. */
export const SATP_BARE = 0;
export const SATP_SV39 = 8;
export const SATP_SV48 = 9;

/** Entries of the PMP; each has a byte in pmpcfg and one pmpaddr. */
export const PMP_ENTRIES = 16;
