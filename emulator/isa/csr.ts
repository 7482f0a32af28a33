// Control and status registers of RV64 with M, S and U: one row each (Priv ch. 2 "CSR listing"). Pure data; what a write
// does beyond storing is in `emulator/hart`.
//
// WARL by row: a write keeps the old value where `writable` has 0 bits. Fields whose legal values are not a mask
// (mstatus.MPP, satp.MODE, mtvec.MODE, pmpcfg with L) are legalised by the hart.
//
// Divergence: counters 3-31 exist and are constant zero; the CSRs of PMP entries 16-63 do not exist, as in QEMU; there are no triggers, so tselect reads zero and tdata1-3 too.

/** Where the value lives. */
export type CsrKind =
  /** In its own slot. */
  | 'stored'
  /** Always `reset`; writes change nothing. */
  | 'constant'
  /** Bits of another register, see `of`, `readable`. */
  | 'view'
  /** Computed by the hart from its state (counters, interrupt lines, fcsr). */
  | 'live';

/** An extra condition for access besides the privilege in the number. */
export type CsrGuard =
  /** Illegal while mstatus.FS is Off (Priv §3.1.6.6). */
  | 'fs'
  /** Governed by mcounteren and scounteren (Priv §3.1.11, §4.1.5). */
  | 'counter'
  /** Illegal in S-mode while mstatus.TVM is set (Priv §3.1.6.5). */
  | 'tvm'
  /** Illegal in S-mode unless menvcfg.STCE and mcounteren.TM are set (Sstc). */
  | 'sstc';

export interface CsrRow {
  readonly name: string;
  readonly number: number;
  /** Lowest privilege: 0 = U, 1 = S, 3 = M; bits 9:8 of the number. */
  readonly priv: 0 | 1 | 3;
  /** Bits 11:10 of the number are 11: any write is an illegal instruction. */
  readonly readOnly: boolean;
  readonly kind: CsrKind;
  /** Bits that a write can change. */
  readonly writable: bigint;
  /** Value at reset; of a `constant`, its value for ever. */
  readonly reset: bigint;
  /** The register that a view shows, and which of its bits. */
  readonly of: string | undefined;
  readonly readable: bigint;
  readonly guard: CsrGuard | undefined;
  readonly section: string;
}

interface Extra {
  readonly writable?: bigint;
  readonly reset?: bigint;
  readonly of?: string;
  readonly readable?: bigint;
  readonly guard?: CsrGuard;
}

const ALL_BITS = (1n << 64n) - 1n;

function csr(number: number, name: string, kind: CsrKind, section: string, extra: Extra = {}): CsrRow {
  const readOnly = number >>> 10 === 3;
  const fixed = readOnly || kind === 'constant';
  return {
    name,
    number,
    priv: ((number >>> 8) & 3) as 0 | 1 | 3,
    readOnly,
    kind,
    writable: extra.writable ?? (fixed ? 0n : ALL_BITS),
    reset: extra.reset ?? 0n,
    of: extra.of,
    readable: extra.readable ?? ALL_BITS,
    guard: extra.guard,
    section,
  };
}

// mstatus (Priv §3.1.6), the bits that exist on this hart.
export const MSTATUS_SIE = 1n << 1n;
export const MSTATUS_MIE = 1n << 3n;
export const MSTATUS_SPIE = 1n << 5n;
export const MSTATUS_MPIE = 1n << 7n;
export const MSTATUS_SPP = 1n << 8n;
export const MSTATUS_MPP = 3n << 11n;
export const MSTATUS_FS = 3n << 13n;
export const MSTATUS_MPRV = 1n << 17n;
export const MSTATUS_SUM = 1n << 18n;
export const MSTATUS_MXR = 1n << 19n;
export const MSTATUS_TVM = 1n << 20n;
export const MSTATUS_TW = 1n << 21n;
export const MSTATUS_TSR = 1n << 22n;
export const MSTATUS_UXL = 3n << 32n;
export const MSTATUS_SXL = 3n << 34n;
/** Set exactly when FS is Dirty; computed, never stored. */
export const MSTATUS_SD = 1n << 63n;

const SSTATUS_WRITABLE = MSTATUS_SIE | MSTATUS_SPIE | MSTATUS_SPP | MSTATUS_FS | MSTATUS_SUM | MSTATUS_MXR;
const MSTATUS_WRITABLE =
  SSTATUS_WRITABLE |
  MSTATUS_MIE |
  MSTATUS_MPIE |
  MSTATUS_MPP |
  MSTATUS_MPRV |
  MSTATUS_TVM |
  MSTATUS_TW |
  MSTATUS_TSR;
/** UXL and SXL are constant 2: XLEN is 64 everywhere. */
const MSTATUS_RESET = (2n << 32n) | (2n << 34n);

// Interrupts (Priv §3.1.9).
export const MIP_SSIP = 1n << 1n;
export const MIP_MSIP = 1n << 3n;
export const MIP_STIP = 1n << 5n;
export const MIP_MTIP = 1n << 7n;
export const MIP_SEIP = 1n << 9n;
export const MIP_MEIP = 1n << 11n;
const S_INTERRUPTS = MIP_SSIP | MIP_STIP | MIP_SEIP;
const ALL_INTERRUPTS = S_INTERRUPTS | MIP_MSIP | MIP_MTIP | MIP_MEIP;

/** Exceptions 0-9 (without the M-mode call, which cannot be delegated) and the three page faults (Priv §3.1.8). */
const DELEGABLE = 0xb3ffn;

const letters = (text: string): bigint =>
  [...text].reduce((bits, c) => bits | (1n << BigInt(c.charCodeAt(0) - 0x41)), 0n);
/** MXL = 2 (64 bits); letters as in the ISA string plus S and U (Priv §3.1.1). */
const MISA = (2n << 62n) | letters('IMAFDCSU');

/** Bits 6:5 of each pmpcfg byte are zero (Priv §3.7.1). */
const PMPCFG_WRITABLE = 0x9f9f_9f9f_9f9f_9f9fn;
/** pmpaddr holds bits 55:2 of an address. */
const PMPADDR_WRITABLE = (1n << 54n) - 1n;
export const PMP_ENTRIES = 16;

/** Virtual addresses are sign-extended bit strings; epc has no bit 0 (IALIGN is 16). */
const EPC_WRITABLE = ALL_BITS - 1n;
/** MODE 0 (direct) or 1 (vectored): bit 1 is zero. */
const TVEC_WRITABLE = ALL_BITS - 2n;

/** FIOM, CBIE, CBCFE, CBZE (Priv §3.1.18). */
const ENVCFG_WRITABLE = 0xf1n;

function series(first: number, last: number, row: (index: number) => CsrRow, step = 1): CsrRow[] {
  const rows: CsrRow[] = [];
  for (let index = first; index <= last; index += step) rows.push(row(index));
  return rows;
}

// biome-ignore format: one row, one register
export const CSRS: readonly CsrRow[] = [
  // Unprivileged
  csr(0x001, 'fflags',  'live', 'Unpriv "F" §fcsr', { writable: 0x1fn, guard: 'fs' }),
  csr(0x002, 'frm',     'live', 'Unpriv "F" §fcsr', { writable: 0x7n, guard: 'fs' }),
  csr(0x003, 'fcsr',    'live', 'Unpriv "F" §fcsr', { writable: 0xffn, guard: 'fs' }),
  csr(0xc00, 'cycle',   'live', 'Unpriv "Zicntr"', { guard: 'counter' }),
  csr(0xc01, 'time',    'live', 'Unpriv "Zicntr"', { guard: 'counter' }),
  csr(0xc02, 'instret', 'live', 'Unpriv "Zicntr"', { guard: 'counter' }),
  ...series(3, 31, n => csr(0xc00 + n, `hpmcounter${n}`, 'constant', 'Unpriv "Zihpm"', { guard: 'counter' })),

  // Supervisor
  csr(0x100, 'sstatus',    'view',   'Priv §4.1.1', { of: 'mstatus', writable: SSTATUS_WRITABLE,
                                                      readable: SSTATUS_WRITABLE | MSTATUS_UXL | MSTATUS_SD }),
  csr(0x104, 'sie',        'view',   'Priv §4.1.3', { of: 'mie', writable: S_INTERRUPTS, readable: S_INTERRUPTS }),
  csr(0x105, 'stvec',      'stored', 'Priv §4.1.2', { writable: TVEC_WRITABLE }),
  csr(0x106, 'scounteren', 'stored', 'Priv §4.1.5', { writable: 0xffff_ffffn }),
  csr(0x10a, 'senvcfg',    'stored', 'Priv §4.1.10', { writable: ENVCFG_WRITABLE }),
  csr(0x140, 'sscratch',   'stored', 'Priv §4.1.6'),
  csr(0x141, 'sepc',       'stored', 'Priv §4.1.7', { writable: EPC_WRITABLE }),
  csr(0x142, 'scause',     'stored', 'Priv §4.1.8'),
  csr(0x143, 'stval',      'stored', 'Priv §4.1.9'),
  csr(0x144, 'sip',        'view',   'Priv §4.1.3', { of: 'mip', writable: MIP_SSIP, readable: S_INTERRUPTS }),
  csr(0x14d, 'stimecmp',   'stored', 'Sstc', { guard: 'sstc' }),
  csr(0x180, 'satp',       'stored', 'Priv §4.1.11', { guard: 'tvm' }),

  // Machine information
  csr(0xf11, 'mvendorid',  'constant', 'Priv §3.1.2'),
  csr(0xf12, 'marchid',    'constant', 'Priv §3.1.3'),
  csr(0xf13, 'mimpid',     'constant', 'Priv §3.1.4'),
  csr(0xf14, 'mhartid',    'live',     'Priv §3.1.5'),
  csr(0xf15, 'mconfigptr', 'constant', 'Priv §3.1.17'),

  // Machine trap set-up and handling
  csr(0x300, 'mstatus',    'stored',   'Priv §3.1.6', { writable: MSTATUS_WRITABLE, reset: MSTATUS_RESET }),
  csr(0x301, 'misa',       'constant', 'Priv §3.1.1', { reset: MISA }),
  csr(0x302, 'medeleg',    'stored',   'Priv §3.1.8', { writable: DELEGABLE }),
  csr(0x303, 'mideleg',    'stored',   'Priv §3.1.8', { writable: S_INTERRUPTS }),
  csr(0x304, 'mie',        'stored',   'Priv §3.1.9', { writable: ALL_INTERRUPTS }),
  csr(0x305, 'mtvec',      'stored',   'Priv §3.1.7', { writable: TVEC_WRITABLE }),
  csr(0x306, 'mcounteren', 'stored',   'Priv §3.1.11', { writable: 0xffff_ffffn }),
  csr(0x30a, 'menvcfg',    'stored',   'Priv §3.1.18', { writable: (1n << 63n) | ENVCFG_WRITABLE }),
  csr(0x320, 'mcountinhibit', 'stored', 'Priv §3.1.12', { writable: 5n }),
  csr(0x340, 'mscratch',   'stored',   'Priv §3.1.13'),
  csr(0x341, 'mepc',       'stored',   'Priv §3.1.14', { writable: EPC_WRITABLE }),
  csr(0x342, 'mcause',     'stored',   'Priv §3.1.15'),
  csr(0x343, 'mtval',      'stored',   'Priv §3.1.16'),
  // MTIP, MSIP, MEIP and the PLIC's part of SEIP are lines; SSIP, STIP and the software part of SEIP are stored.
  csr(0x344, 'mip',        'live',     'Priv §3.1.9', { writable: S_INTERRUPTS }),

  // Counters and events
  csr(0xb00, 'mcycle',     'live', 'Priv §3.1.10'),
  csr(0xb02, 'minstret',   'live', 'Priv §3.1.10'),
  ...series(3, 31, n => csr(0xb00 + n, `mhpmcounter${n}`, 'constant', 'Priv §3.1.10')),
  ...series(3, 31, n => csr(0x320 + n, `mhpmevent${n}`, 'constant', 'Priv §3.1.10')),

  // Physical memory protection; on RV64 only even pmpcfg exist
  ...series(0, PMP_ENTRIES / 4 - 2, n =>
    csr(0x3a0 + n, `pmpcfg${n}`, 'stored', 'Priv §3.7.1', { writable: PMPCFG_WRITABLE }), 2),
  ...series(0, PMP_ENTRIES - 1, n =>
    csr(0x3b0 + n, `pmpaddr${n}`, 'stored', 'Priv §3.7.1', { writable: PMPADDR_WRITABLE })),

  // Triggers: none
  csr(0x7a0, 'tselect', 'constant', 'Debug §5.2'),
  csr(0x7a1, 'tdata1',  'constant', 'Debug §5.2'),
  csr(0x7a2, 'tdata2',  'constant', 'Debug §5.2'),
  csr(0x7a3, 'tdata3',  'constant', 'Debug §5.2'),
];

const BY_NUMBER = new Map(CSRS.map(row => [row.number, row]));
const BY_NAME = new Map(CSRS.map(row => [row.name, row]));

export const csrNumbered = (number: number): CsrRow | undefined => BY_NUMBER.get(number);

/** The row of a register that is known to exist. */
export function csrNamed(name: string): CsrRow {
  const row = BY_NAME.get(name);
  if (row === undefined) throw new Error(`no csr is called ${name}`);
  return row;
}
