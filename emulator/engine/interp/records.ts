// The decoded form of guest code that the interpreter runs: records of 16 bytes, one for each
// half-word of a page, so that arithmetic finds the record of an address and pc need not be stored:
// pc = page va + (record - base) / 8.
//
// Slots of a decoded page: 0..2047 the half-words; 2048 END; 2049 the instruction that straddles
// into the next page, executed with base moved by two slots so that the formula gives its pc; 2051
// the END after it.

/** Bytes of a record; fields below are offsets in it. */
export const RECORD = 16;
/** u16: handler, see handlers.ts. */
export const R_HANDLER = 0;
/** u16 each: window addresses of the registers; rd = x0 is SINK. */
export const R_RD = 2;
export const R_RS1 = 4;
/**
 * For `jalr`, which has neither rs2 nor rs3: bits 1 to 16 and 17 to 32 of its last target, from
 * which the JIT predicts.
 */
export const R_RS2 = 6;
/**
 * i32: immediate; record displacement of near jumps; the word of system and illegal instructions.
 */
export const R_IMM = 8;
/** u16: window address of fs3, or of the slot of a plain CSR. */
export const R_RS3 = 12;
/** u8: rounding mode. CSR instructions: the least privilege, and CSR_EVEN. */
export const R_RM = 14;
export const CSR_EVEN = 0x80;
/**
 * u8: the action when control arrives here by a jump that may close a loop or call (interp.ts,
 * `arrive`): ENTRY_COLD = none; ENTRY_COMPILED = run its region; else the arrivals left until the
 * JIT is called.
 */
export const R_ENTRY = 15;
export const ENTRY_COLD = 0;
export const ENTRY_COMPILED = 255;

export const SLOT_END = 2048;
export const SLOT_STRADDLE = 2049;
export const SLOT_STRADDLE_END = 2051;
/** Offset of `base` while the straddling instruction runs. */
export const STRADDLE_SHIFT = 2 * RECORD;
export const PAGE_BYTES = 2052 * RECORD;

/** Handlers that are not instructions. They count nothing. */
export const H_UNDECODED = 0;
export const H_END = 1;
export const H_STRADDLE = 2;
/** Counts as an instruction that traps. */
export const H_ILLEGAL = 3;
export const H_FIRST_INSN = 4;
