/*
 * The protocol of host and agent: the memory of one thread of the agent, which holds the program,
 * its slots and results, and the marks. fuzz/executor/layout.ts has the same numbers.
 */
#ifndef WORDS_H
#define WORDS_H

#include <stdint.h>

#define CONTROL_BYTES 0x8000UL
#define AREA_WORDS    65536UL /* kcov's records */

/* Moments that the host waits for. */
enum mark { MARK_READY = 1, MARK_DONE = 2, MARK_WAKE = 3, MARK_GO = 4 };

/* Of kcov. */
enum { MODE_PC = 1, MODE_CMP = 2 };

/* Operations of a program, each a word followed by its operands. */
enum { OP_END, OP_CALL, OP_STORE, OP_LOAD, OP_GO };
enum { CALL_FORKS = 1, CALL_MAY_FAIL = 2 };
enum { MAX_CALLS = 64, MAX_SLOTS = 128 };
#define NO_SLOT ((uint64_t)-1)

struct value {
    uint64_t is_slot, value;
};
struct call {
    uint64_t number, flags, fail_nth, slot;
    struct value args[6];
};
struct store {
    uint64_t address, bytes, slot;
};
struct result {
    uint64_t begin, end, value, state; /* records of kcov before and behind; 1 begun, 2 done */
};
struct lane {
    uint64_t slots[MAX_SLOTS];
    struct result results[MAX_CALLS];
    uint64_t settles; /* 1: sleep behind the last call, so that deferred work is done */
    uint64_t mode;    /* of kcov, where the agent chooses it */
    uint64_t program[];
};

#endif
