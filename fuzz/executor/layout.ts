// The memory and the words that host and agent share: guest-programs/fuzz/{agent.c,words.h,xv6.h}
// have the same numbers, and test/fuzz/language.test.ts compares the two.

/**
 * own: a kernel of kcovbox; other: another Linux with KCOV, the agent being its first process;
 * harness: code of the user's own, in the agent; xv6: that kernel, with hooks.
 */
export type TargetKind = 'own' | 'other' | 'harness' | 'xv6';

export const LAYOUT = {
  CONTROL: 0x1000_0000,
  CONTROL_BYTES: 0x8000,
  ARENA: 0x2000_0000,
  ARENA_BYTES: 0x2_0000,
  AREA: 0x1010_0000,
  AREA_WORDS: 65536,
  EXTRA: 0x1030_0000,
  EXTRA_WORDS: 8192,
  OTHER: 0x1001_0000,
  OTHER_AREA: 0x1040_0000,
  MAX_CALLS: 64,
  MAX_SLOTS: 128,
  /** Points of a harness that are at no code: equal bytes of two strings. */
  MATCHED: 0x1ff_0000,
} as const;

/** Of xv6, whose agent has little memory. */
export const XV6 = {
  ARENA: 0x1000,
  ARENA_BYTES: 0x8000,
  /** Status of a machine whose agent sleeps for good. */
  ASLEEP: 0xff60,
} as const;

/** Memory of the agent to which arguments point, in bytes. */
export interface Arena {
  readonly at: number;
  readonly bytes: number;
}

const ARENA: Arena = { at: LAYOUT.ARENA, bytes: LAYOUT.ARENA_BYTES };
const XV6_ARENA: Arena = { at: XV6.ARENA, bytes: XV6.ARENA_BYTES };

export const arenaOf = (kind: TargetKind): Arena => (kind === 'xv6' ? XV6_ARENA : ARENA);

/** Not of the agent: where programs map memory. */
export const VMA_BASE = 0x3000_0000;

/** Numbers that the agent writes to /dev/marker. */
export const MARK = { READY: 1, DONE: 2, WAKE: 3, GO: 4 } as const;

export const OP = { END: 0, CALL: 1, STORE: 2, LOAD: 3, GO: 4 } as const;
export const CALL_FORKS = 1;

/** Byte offsets in the control memory. */
export const CONTROL = {
  SLOTS: 0,
  /** Of the second thread: 1 = it may make its calls. */
  MAY_GO: 8 * 3,
  /** Of the second thread: 1 = it waits for MAY_GO in user mode, as the first one does. */
  READY: 8 * 4,
  RESULTS: 8 * LAYOUT.MAX_SLOTS,
  RESULT_BYTES: 32,
  SETTLES: 8 * LAYOUT.MAX_SLOTS + 32 * LAYOUT.MAX_CALLS,
  /** Of kcov, where the agent chooses it. */
  MODE: 8 * LAYOUT.MAX_SLOTS + 32 * LAYOUT.MAX_CALLS + 8,
  PROGRAM: 8 * LAYOUT.MAX_SLOTS + 32 * LAYOUT.MAX_CALLS + 16,
} as const;
