// Control and status registers of RV64 with M, S and U: one row each (Priv ch. 2 "CSR listing"). A
// row holds all facts about one register; names, debuggers, the disassembler, the engines' fast
// paths, the storage in the hart's window, docs/csrs.md and the comparison with QEMU derive from
// it. `rule` names behaviour beyond a mask; emulator/hart/csr-rules.ts must define it.
//
// Divergences: PMP entries 16 to 63 do not exist, as on QEMU; there are no triggers: tselect and
// tdata1 to 3 read zero.

import * as F from './csr-fields.ts';
import { type CsrRow, computed, constant, series, stored, view } from './csr-row.ts';

const lo = (bits: number): bigint => BigInt(bits >>> 0);
const hi = (bits: number): bigint => BigInt(bits >>> 0) << 32n;
const WORD = 0xffff_ffffn;

/** MXL = 2 (64 bits); letters as in the ISA string plus S and U (Priv §3.1.1). */
const MISA = [...'IMAFDCSU'].reduce(
  (bits, letter) => bits | (1n << BigInt(letter.charCodeAt(0) - 0x41)),
  2n << 62n,
);
/** Virtual addresses are sign-extended bit strings; epc has no bit 0 (IALIGN is 16). */
const EVEN = ~1n & ((1n << 64n) - 1n);
/** BASE and MODE 0 (direct) or 1 (vectored): bit 1 is zero. */
const TVEC = ~2n & ((1n << 64n) - 1n);
/** Bits 6:5 of each pmpcfg byte are zero (Priv §3.7.1). */
const PMPCFG = 0x9f9f_9f9f_9f9f_9f9fn;
/** Bits 55:2 of an address. */
const PMPADDR = (1n << 54n) - 1n;

const FCSR = 'Unpriv "F"';
const COUNTER = { guard: 'counter' } as const;
const ZIHPM = { needs: 'zihpm' } as const;

// biome-ignore format: one row, one register
const ROWS = [
  // Unprivileged
  computed(0x001, 'fflags', 'fflags', [FCSR, 'accrued exceptions'], { writable: 0x1fn, guard: 'fs' }),
  computed(0x002, 'frm',    'frm',    [FCSR, 'rounding mode'],      { writable: 0x7n, guard: 'fs' }),
  computed(0x003, 'fcsr',   'fcsr',   [FCSR, 'frm and fflags'],     { writable: 0xffn, guard: 'fs' }),
  computed(0xc00, 'cycle',   'counter', ['Unpriv "Zicntr"', 'mcycle'], COUNTER),
  computed(0xc01, 'time',    'time',    ['Unpriv "Zicntr"', 'mtime of the CLINT, 10 MHz'], COUNTER),
  computed(0xc02, 'instret', 'counter', ['Unpriv "Zicntr"', 'minstret'], COUNTER),
  ...series(3, 31, n => computed(0xc00 + n, `hpmcounter${n}`, 'counter', ['Unpriv "Zihpm"', 'the value of its mhpmcounter'], { ...COUNTER, ...ZIHPM })),

  // Supervisor
  view(0x100, 'sstatus', 'mstatus', lo(F.SSTATUS_MASK) | hi(F.UXL_HI | F.SD_HI), lo(F.SSTATUS_MASK),
    ['Priv §10.1.1', 'the part of mstatus that S-mode sees']),
  view(0x104, 'sie', 'mie', lo(F.S_INTERRUPTS), lo(F.S_INTERRUPTS),
    ['Priv §10.1.3', 'the bits of mie that mideleg delegates'], { rule: 'sie' }),
  stored(0x105, 'stvec',      ['Priv §10.1.2', 'trap vector'], { writable: TVEC, rule: 'tvec' }),
  stored(0x106, 'scounteren', ['Priv §10.1.5', 'counters that U-mode may read'], { writable: WORD }),
  stored(0x10a, 'senvcfg',    ['Priv §10.1.10', 'FIOM, CBIE, CBCFE, CBZE for U-mode'], { writable: lo(F.ENVCFG_MASK), rule: 'senvcfg' }),
  stored(0x140, 'sscratch',   ['Priv §10.1.6', 'a word for the trap handler']),
  stored(0x141, 'sepc',       ['Priv §10.1.7', 'pc of the trap'], { writable: EVEN }),
  stored(0x142, 'scause',     ['Priv §10.1.8', 'cause of the trap']),
  stored(0x143, 'stval',      ['Priv §10.1.9', 'address or instruction of the trap']),
  view(0x144, 'sip', 'mip', lo(F.S_INTERRUPTS), lo(F.SSIP),
    ['Priv §10.1.3', 'the bits of mip that mideleg delegates'], { rule: 'sip' }),
  stored(0x14d, 'stimecmp', ['Sstc §2', 'mip.STIP = time >= stimecmp, while menvcfg.STCE is set'],
    { guard: 'sstc', needs: 'sstc', rule: 'stimecmp' }),
  stored(0x180, 'satp', ['Priv §10.1.11', 'Bare, Sv39, Sv48; a write of another mode is ignored'], { guard: 'tvm', rule: 'satp' }),

  // Machine information
  constant(0xf11, 'mvendorid',  ['Priv §3.1.2', 'not implemented']),
  constant(0xf12, 'marchid',    ['Priv §3.1.3', 'not implemented']),
  constant(0xf13, 'mimpid',     ['Priv §3.1.4', 'not implemented']),
  computed(0xf14, 'mhartid', 'mhartid', ['Priv §3.1.5', 'number of the hart']),
  constant(0xf15, 'mconfigptr', ['Priv §3.1.17', 'no configuration structure']),

  // Machine trap set-up and handling
  stored(0x300, 'mstatus',    ['Priv §3.1.6', 'UXL and SXL are 64 bits, MPP = 2 keeps the old value'],
    { writable: lo(F.MSTATUS_MASK), reset: hi(F.XLEN_HI), rule: 'mstatus' }),
  constant(0x301, 'misa',     ['Priv §3.1.1', 'RV64 with A, C, D, F, I, M, S and U'], { reset: MISA }),
  stored(0x302, 'medeleg',    ['Priv §3.1.8', 'exceptions that S-mode takes'], { writable: lo(F.DELEGABLE) }),
  stored(0x303, 'mideleg',    ['Priv §3.1.8', 'interrupts that S-mode takes'], { writable: lo(F.S_INTERRUPTS), rule: 'enables' }),
  stored(0x304, 'mie',        ['Priv §3.1.9', 'interrupts enabled'], { writable: lo(F.ALL_INTERRUPTS), rule: 'enables' }),
  stored(0x305, 'mtvec',      ['Priv §3.1.7', 'trap vector'], { writable: TVEC, rule: 'tvec' }),
  stored(0x306, 'mcounteren', ['Priv §3.1.11', 'counters that S-mode and U-mode may read'], { writable: WORD }),
  // PBMTE and ADUE are set at reset, as on QEMU 8 and later: software that does not know them gets
  // both.
  stored(0x30a, 'menvcfg',    ['Priv §3.1.18', 'STCE, PBMTE, ADUE with sstc, svpbmt, svadu; FIOM, CBIE, CBCFE, CBZE for S-mode'],
    { writable: lo(F.ENVCFG_MASK) | hi(F.STCE_HI | F.PBMTE_HI | F.ADUE_HI), reset: hi(F.PBMTE_HI | F.ADUE_HI), rule: 'menvcfg' }),
  stored(0x320, 'mcountinhibit', ['Priv §3.1.12', 'counters that do not count'], { writable: WORD - lo(F.TM), rule: 'mcountinhibit' }),
  stored(0x340, 'mscratch',   ['Priv §3.1.13', 'a word for the trap handler']),
  stored(0x341, 'mepc',       ['Priv §3.1.14', 'pc of the trap'], { writable: EVEN }),
  stored(0x342, 'mcause',     ['Priv §3.1.15', 'cause of the trap']),
  stored(0x343, 'mtval',      ['Priv §3.1.16', 'address or instruction of the trap']),
  stored(0x344, 'mip',        ['Priv §3.1.9', 'interrupts pending; STIP is read-only with menvcfg.STCE'],
    { writable: lo(F.S_INTERRUPTS), rule: 'mip' }),

  // Counters and events
  stored(0xb00, 'mcycle',   ['Priv §3.1.10', 'instructions and exceptions of the hart'], { rule: 'counter' }),
  stored(0xb02, 'minstret', ['Priv §3.1.10', 'instructions retired by the hart'], { rule: 'counter' }),
  ...series(3, 31, n => stored(0xb00 + n, `mhpmcounter${n}`, ['Priv §3.1.10', 'counts the event in its mhpmevent'], { rule: 'counter', ...ZIHPM })),
  ...series(3, 31, n => stored(0x320 + n, `mhpmevent${n}`, ['Priv §3.1.10', '1 = cycles, 2 = instructions; no other event occurs'], { rule: 'mhpmevent' })),

  // Physical memory protection; on RV64 only even pmpcfg exist
  ...series(0, F.PMP_ENTRIES / 4 - 2, n =>
    stored(0x3a0 + n, `pmpcfg${n}`, ['Priv §3.7.1', 'eight entries, a byte each'], { writable: PMPCFG, rule: 'pmpcfg' }), 2),
  ...series(0, F.PMP_ENTRIES - 1, n =>
    stored(0x3b0 + n, `pmpaddr${n}`, ['Priv §3.7.1', 'bits 55:2 of an address'], { writable: PMPADDR, rule: 'pmpaddr' })),

  // Triggers: none
  constant(0x7a0, 'tselect', ['Debug §5.2', 'no trigger to select']),
  constant(0x7a1, 'tdata1',  ['Debug §5.2', 'type 0: no trigger']),
  constant(0x7a2, 'tdata2',  ['Debug §5.2', 'no trigger']),
  constant(0x7a3, 'tdata3',  ['Debug §5.2', 'no trigger']),
];

/** Names of the rules that emulator/hart/csr-rules.ts defines. */
export type CsrRule = NonNullable<(typeof ROWS)[number]['rule']>;

let words = 0;
export const CSRS: readonly CsrRow<CsrRule>[] = ROWS.map(row =>
  row.slot === undefined ? row : { ...row, slot: words++ },
);
