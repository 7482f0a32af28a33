// The numbers of kernel/abi/kcov-device.h: registers of the kcov device and the byte layouts in
// guest RAM that kernel and device share. Names are those of the header without `KCOV_`;
// test/devices/kcov-layout.test.ts compares them all. Engines that record inline need CTX, RECORD
// and HOOK; `KcovDevice.hooks` in kcov.ts has the addresses.

/** Byte offsets of the registers. */
export const REG = {
  ID: 0x000,
  HARTS: 0x008,
  HOOKS: 0x010,
  KVA_OFFSET: 0x018,
  REMOTES: 0x020,
  CURRENT: 0x028,
  ERROR: 0x030,
  ERROR_ADDR: 0x038,
  ARG0: 0x100,
  ARG1: 0x108,
  TRIGGER: 0x200,
  SIZE: 0x1000,
} as const;

/** "kcov" and the version of the layout, low and high word. */
export const ID_VALUE = 0x1_766f_636b;

/** Kinds of hooks: trigger register n, entry n of the hook table. */
export const HOOK = {
  PC: 0,
  CMP1: 1,
  CMP2: 2,
  CMP4: 3,
  CMP8: 4,
  CONST_CMP1: 5,
  CONST_CMP2: 6,
  CONST_CMP4: 7,
  CONST_CMP8: 8,
  SWITCH: 9,
  COUNT: 10,
} as const;

/**
 * Hook table: the addresses, then the places where the hooks find the live context and the device.
 */
export const HOOKS = { LIVE_OFFSET: 80, BASE_VAR: 88, SIZE: 96 } as const;

export const HART = { CURRENT: 0, SIZE: 64 } as const;

/** Byte offsets within a context. */
export const CTX = {
  MODE: 0,
  FLAGS: 4,
  AREA: 8,
  WORDS: 16,
  EDGE_AREA: 24,
  SEEN: 32,
  EDGE_SEEN: 40,
  PREV: 48,
  ARG0: 56,
  ARG1: 64,
  LOST: 72,
  TID: 80,
  PID: 84,
  SYSCALL: 88,
  KIND: 92,
  HANDLE: 96,
  DESCRIPTOR: 104,
  SIZE: 128,
  ALIGN: 64,
} as const;

/** Bits of a context's mode. */
export const RECORD = {
  PC: 1,
  CMP: 2,
  UNIQ_PC: 4,
  UNIQ_EDGE: 8,
  UNIQ_CMP: 16,
  ANY_PC: 13,
  ANY_CMP: 18,
} as const;

export const CTXF = { SWITCH_FREEBSD: 1, DATA_FIRST: 2, LIMITED: 4 } as const;
export const KIND = { TASK: 0, REMOTE_TASK: 1, REMOTE_INTR: 2 } as const;
export const AREA_WORDS_MAX = 0x0fff_ffff;
export const CMP_WORDS = 4;

export const SEEN = {
  BUCKETS_LOG2: 0,
  NODE_WORDS: 4,
  NODES: 8,
  USED: 16,
  BUCKETS: 24,
  POOL: 32,
  SIZE: 64,
  NODE_HEADER: 8,
} as const;

export const REMOTES = { COUNT: 0, HEADER: 64 } as const;
export const REMOTE = {
  STATE: 0,
  SECTIONS: 4,
  SUBSYS: 8,
  ID: 16,
  CONTEXT: 24,
  ENTERED: 32,
  DROPPED: 40,
  SIZE: 64,
  FREE: 0,
  REGISTERED: 1,
  ATTACHED: 2,
  DYING: 3,
} as const;

export const ERR = {
  NONE: 0,
  HARTS: 1,
  CONTEXT: 2,
  AREA: 3,
  SEEN: 4,
  SWITCH: 5,
  HOOKS: 6,
  LIMIT: 7,
} as const;

/** Limits of the work of one hook; beyond them the hook omits the rest and reports ERR.LIMIT. */
export const LIMIT = { SWITCH_CASES: 16384, SEEN_STEPS: 65536 } as const;
