// The byte layout of the hart window: every field of the running hart at a constant address of
// linear memory, so that emitted WebAssembly addresses it with immediate offsets
// (docs/architecture.md, "Memory of the host"). Ordered by frequency of access: registers, then the
// fields used in every quantum, then CSRs, then the TLBs. Invariant: only `emulator/hart` and
// `emulator/engine` write here while a hart runs.

import { CSRS, type CsrRow, csrNamed } from '../isa/csr.ts';

/** First byte of the window. Offsets below are absolute because the window starts at 0. */
export const WINDOW = 0;
/** Bytes of one window; another hart is run by copying its saved window here. */
export const WINDOW_BYTES = 0x4_0000;

/** x0..x31, i64 each; x0 stays zero. */
export const X = 0x000;
/** The target of writes to x0. */
export const SINK = 0x100;
/** i64: address of the next instruction; valid whenever no engine is inside `run`. */
export const PC = 0x108;
/** i32: instructions left in this quantum. */
export const IC = 0x110;
/** i32: length of this quantum; retired so far in it = QUANTUM - IC. */
export const QUANTUM = 0x114;
/** i64: instret when the quantum began. */
export const INSTRET = 0x118;
/** i32: the reason why the engine returned; see `engine/engine.ts`. */
export const EXIT = 0x120;
/** i32: U = 0, S = 1, M = 3 (Priv §1.2). */
export const PRIV = 0x124;
/** i32: translation view of instruction fetches: U = 0, S = 1, M = 3. */
export const FETCH_VIEW = 0x128;
/**
 * i32: view of loads and stores, by effective privilege (MPRV applied): U = 0, S = 1, S with SUM =
 * 2, M = 3.
 */
export const DATA_VIEW = 0x12c;
/** i32: cause of the trap that a slow path found; bit 31 = interrupt. */
export const TRAP_CAUSE = 0x130;
/** i32: nonzero if interrupts must be checked before the next instruction. */
export const RECHECK = 0x134;
/** i64: tval of that trap. */
export const TRAP_TVAL = 0x138;
/** i64: physical address of the LR reservation, all ones = none. */
export const RESERVATION = 0x140;
/**
 * i64: argument and result of slow-path imports (i64 values never cross the boundary as BigInt).
 */
export const SLOW_ARG = 0x148;
export const SLOW_VALUE = 0x150;
/**
 * i32: fflags (5 bits) and frm (3 bits), stored separately because every FP instruction uses the
 * first.
 */
export const FFLAGS = 0x158;
export const FRM = 0x15c;
/** i32: hart id. */
export const HARTID = 0x160;
/**
 * i32, for the machine's inlined calls and gates of counts: a host address that the machine derives
 * from its state, 0 = none.
 */
export const MACHINE_POINTER = 0x164;
/**
 * i64 each: operands and result of `fpHelper`; see softfloat.ts. Flags are accumulated in FFLAGS.
 */
export const FP_A = 0x168;
export const FP_B = 0x170;
export const FP_C = 0x178;
export const FP_RESULT = 0x180;
/**
 * i32: rounding mode of the helper call, 0..4 (already resolved when the instruction says
 * "dynamic").
 */
export const FP_RM = 0x188;
/** i32: nonzero while the hart waits: 1 in `wfi` or stopped, WAITING_SUSPENDED by the SBI. */
export const WAITING = 0x18c;
export const WAITING_SUSPENDED = 2;
/**
 * i64: changes whenever an address translation may have changed (sfence.vma, satp, PMP, MXR,
 * restore).
 */
export const EPOCH = 0x190;
/**
 * i64: exceptions taken. Each spends one unit of IC without retiring: mcycle counts it, minstret
 * does not.
 */
export const EXCEPTIONS = 0x198;
/**
 * i32 each: the range that superpages cover, half-open, in units of 2 MiB of the low 48 bits of va.
 */
export const LARGE_FIRST = 0x1a4;
export const LARGE_END = 0x1a8;
/**
 * i32 each: the method to serve a miss of U and S views, and of M, without the hart: WALK_NONE,
 * WALK_BARE (va is pa), or the host address of the root table of Sv39. Derived from satp and PMP by
 * mmu.ts, used by engine/access/refill.ts.
 */
export const WALK = 0x1ac;
export const WALK_M = 0x1b0;
export const WALK_NONE = 0;
export const WALK_BARE = 1;
/** i64, for the machine's inlined calls: a count for statistics. */
export const MACHINE_COUNT = 0x1b8;

/**
 * The table of leaf PTEs that the last walk in WebAssembly read: i64 va >> 21, -1 = none; i32 its
 * host address. Every flush of translations forgets it.
 */
export const LEAF_TAG = 0x1c0;
export const LEAF_TABLE = 0x1c8;
/**
 * For the `time` CSR. i64: virtual time when the quantum began; i32: units of it for one tick, 0 =
 * only the port knows the time, because mtime was set.
 */
export const TIME = 0x1d0;
export const TIME_TICK = 0x1d8;

/** f0..f31, i64 bit patterns (NaN-boxed singles, Unpriv "F" §NaN boxing). */
export const F = 0x200;

/** Storage of the CSRs, one i64 per row of the table that has a slot, in table order. */
export const CSR = 0x300;
/** Offset of a CSR's storage. */
export const csrAt = (row: CsrRow): number => CSR + 8 * row.slot!;
const at = (name: string): number => csrAt(csrNamed(name));
/**
 * FS = 0 in bits 14:13 makes every F and D instruction illegal. SD is computed on reads, never
 * stored.
 */
export const MSTATUS = at('mstatus');
export const MEDELEG = at('medeleg');
export const MIDELEG = at('mideleg');
export const MIE = at('mie');
/**
 * Low half: bits written by software or by the built-in SBI. High half: the wires (CLINT, PLIC,
 * stimecmp); mip = their union.
 */
export const MIP = at('mip');
export const MTVEC = at('mtvec');
export const MEPC = at('mepc');
export const MCAUSE = at('mcause');
export const MTVAL = at('mtval');
export const MCOUNTEREN = at('mcounteren');
export const MCOUNTINHIBIT = at('mcountinhibit');
export const MENVCFG = at('menvcfg');
export const STVEC = at('stvec');
export const SEPC = at('sepc');
export const SCAUSE = at('scause');
export const STVAL = at('stval');
export const SCOUNTEREN = at('scounteren');
export const SATP = at('satp');
/**
 * Difference of the counter and its count; the counter itself while it has no source
 * (csr-counters.ts).
 */
export const MCYCLE = at('mcycle');
export const MINSTRET = at('minstret');
export const STIMECMP = at('stimecmp');
export const SENVCFG = at('senvcfg');
/** pmpcfg0 and pmpcfg2: 16 bytes, one per entry. */
export const PMPCFG = at('pmpcfg0');
/** pmpaddr0..15. */
export const PMPADDR = at('pmpaddr0');
export const CSR_END = CSR + 8 * CSRS.filter(row => row.slot !== undefined).length;

/**
 * Number of entries and bytes of one TLB table for loads or stores. A page that shares its place
 * with another one that is in use ends a warm region at each of its accesses; interpreters have
 * some megabytes of objects. With twice as many Python was 8 % faster, and fork and exec were 4 %
 * slower, when each flush still cleared them all.
 */
export const TLB_ENTRIES = 1024;
export const TLB_ENTRY_BYTES = 16;
export const TLB_BYTES = TLB_ENTRIES * TLB_ENTRY_BYTES;
/** Mask of the place of an address's entry in such a table, which is in its bits from 12 on. */
export const TLB_MASK = TLB_BYTES - TLB_ENTRY_BYTES;
/** Entries that are cleared, or copied, together, and the place of their number in an address. */
export const TLB_GROUP_ENTRIES = TLB_ENTRIES / 32;
export const TLB_GROUP_SHIFT = 12 + Math.log2(TLB_GROUP_ENTRIES);
/**
 * The same for fetches. A page of code that shares its place with another one is fetched by the
 * host, and its regions do not run; kernels have thousands of pages of code.
 */
export const EXEC_ENTRIES = 1024;
export const EXEC_BYTES = EXEC_ENTRIES * TLB_ENTRY_BYTES;
export const VIEWS = 4;

/**
 * An i32 for each TLB table, at kind * VIEWS + view: a bit for each group with other entries than
 * when the hart became active; in a saved window, for each that may hold entries. Kinds: read 0,
 * write 1, exec 2.
 */
export const TLB_USED = 0xf80;
/**
 * Read table of view v at TLB_READ + v * TLB_BYTES, and so on. Entry: { i64 tag, i32 addend, i32
 * spare }. An entry whose tag has TLB_SLOW set never matches the fast test; it caches the
 * translation of a page that must be accessed slowly (MMIO, stores to pages that hold translated
 * code): `spare` is then the physical page number.
 */
export const TLB_READ = 0x1000;
export const TLB_WRITE = TLB_READ + VIEWS * TLB_BYTES;
/**
 * Exec entry: { i64 tag = page va, i32 decoded page (host address, 0 = none yet), i32 physical page
 * number }.
 */
export const TLB_EXEC = TLB_WRITE + VIEWS * TLB_BYTES;
/** Mask of the place of an address's exec entry in its table, which is in its bits 12 to 21. */
export const EXEC_MASK = EXEC_BYTES - TLB_ENTRY_BYTES;
/** Offset in the window of the exec entry of an address, by its low half. */
export const execEntryOf = (view: number, lo: number): number =>
  TLB_EXEC + view * EXEC_BYTES + ((lo >>> 8) & EXEC_MASK);
/** Above the three bits by which the fast test detects misalignment. */
export const TLB_SLOW = 0x800;
