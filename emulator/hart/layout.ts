// The byte layout of the hart window: every field of the running hart at a constant address of linear memory,
// so that emitted WebAssembly addresses it with immediate offsets (docs/architecture.md, "Memory of the host").
// Ordered by temperature: registers, then what every quantum touches, then CSRs, then the TLBs.
// Invariant: only `emulator/hart` and `emulator/engine` write here while a hart runs.

/** First byte of the window. Offsets below are absolute because the window starts at 0. */
export const WINDOW = 0;
/** Bytes of one window; another hart is run by copying its saved window here. */
export const WINDOW_BYTES = 0x1_0000;

/** x0..x31, i64 each; x0 stays zero. */
export const X = 0x000;
/** Where writes to x0 go. */
export const SINK = 0x100;
/** i64: address of the next instruction; valid whenever no engine is inside `run`. */
export const PC = 0x108;
/** i32: instructions left in this quantum. */
export const IC = 0x110;
/** i32: length of this quantum; retired so far in it = QUANTUM - IC. */
export const QUANTUM = 0x114;
/** i64: instret when the quantum began. */
export const INSTRET = 0x118;
/** i32: why the engine returned; see `engine/engine.ts`. */
export const EXIT = 0x120;
/** i32: U = 0, S = 1, M = 3 (Priv §1.2). */
export const PRIV = 0x124;
/** i32: translation view of instruction fetches: U = 0, S = 1, M = 3. */
export const FETCH_VIEW = 0x128;
/** i32: translation view of loads and stores: U = 0, S = 1, S with SUM = 2, M or MPRV = 3. */
export const DATA_VIEW = 0x12c;
/** i32: cause of the trap that a slow path found; bit 31 = interrupt. */
export const TRAP_CAUSE = 0x130;
/** i32: nonzero when interrupts must be examined before the next instruction. */
export const RECHECK = 0x134;
/** i64: tval of that trap. */
export const TRAP_TVAL = 0x138;
/** i64: physical address of the LR reservation, all ones = none. */
export const RESERVATION = 0x140;
/** i64: argument and result of slow-path imports (i64 never crosses the border as BigInt). */
export const SLOW_ARG = 0x148;
export const SLOW_VALUE = 0x150;
/** i32: fflags (5 bits) and frm (3 bits), kept apart because every FP instruction touches the first. */
export const FFLAGS = 0x158;
export const FRM = 0x15c;
/** i32: hart id. */
export const HARTID = 0x160;
/** i32: host address of the current kcov context, 0 = none; derived, see devices/kcov.ts. */
export const KCOV_CURRENT = 0x164;

/** f0..f31, i64 bit patterns (NaN-boxed singles, Unpriv "F" §NaN boxing). */
export const F = 0x200;

/** CSRs with storage, i64 each, in the order of `CSR_SLOTS` in csr-file.ts. */
export const CSR = 0x300;
export const CSR_END = 0x800;

/** Number of entries and bytes of one TLB table. */
export const TLB_ENTRIES = 256;
export const TLB_ENTRY_BYTES = 16;
export const TLB_BYTES = TLB_ENTRIES * TLB_ENTRY_BYTES;
export const VIEWS = 4;

/** Read table of view v at TLB_READ + v * TLB_BYTES, and so on. Entry: { i64 tag, i32 addend, i32 spare }. */
export const TLB_READ = 0x1000;
export const TLB_WRITE = TLB_READ + VIEWS * TLB_BYTES;
/** Exec entry: { i64 tag = page va, i32 decoded page (host address, 0 = none yet), i32 physical page number }. */
export const TLB_EXEC = TLB_WRITE + VIEWS * TLB_BYTES;
export const TLB_END = TLB_EXEC + VIEWS * TLB_BYTES;
