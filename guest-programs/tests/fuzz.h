/*
 * Shared by the parts of the system-call fuzzer: the counters that all its processes see, one
 * fuzzing thread's state, and random choices.
 */
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>

#define NR_MAX       480
#define WORKERS_MAX  8
#define ARENA        ((char *)0x1000000000)
#define ARENA_PAGES  64
#define PAGE         4096UL
#define BUFFER_BYTES 65536
#define SHARED_FILE  "/fuzz.shared"
#define FAIL_FD      200 /* each worker's /dev/fail-nth */
#define FDS_MAX      64 /* RLIMIT_NOFILE of a worker: a random small number is often a descriptor */

/* In a file that every worker maps, also after it executed the fuzzer again. */
struct shared {
    uint64_t calls, limit;
    uint64_t tried[NR_MAX], good[NR_MAX]; /* by number */
    uint64_t acts[32];
    uint64_t progress[WORKERS_MAX];
};

/* One thread that makes calls. */
struct fuzzer {
    uint64_t state; /* of the random numbers */
    int slot;       /* its worker's place in progress[] */
    int depth;      /* of forks below the worker */
    int pid;
};

static struct shared *shared;

static inline uint64_t rnd(struct fuzzer *f)
{
    f->state ^= f->state << 13;
    f->state ^= f->state >> 7;
    f->state ^= f->state << 17;
    return f->state;
}

/* One of n. */
static inline uint64_t pick(struct fuzzer *f, uint64_t n)
{
    return (rnd(f) >> 8) % n;
}

/* True once in n times. */
static inline bool once_in(struct fuzzer *f, uint64_t n)
{
    return pick(f, n) == 0;
}

#define CHOOSE(f, array) ((array)[pick((f), sizeof(array) / sizeof((array)[0]))])

/* A system call without libc: errno and the thread pointer stay out of it. */
static inline long raw(long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                       uint64_t g)
{
    register uint64_t a0 __asm__("a0") = a;
    register uint64_t a1 __asm__("a1") = b;
    register uint64_t a2 __asm__("a2") = c;
    register uint64_t a3 __asm__("a3") = d;
    register uint64_t a4 __asm__("a4") = e;
    register uint64_t a5 __asm__("a5") = g;
    register long a7 __asm__("a7") = nr;
    __asm__ volatile("ecall"
                     : "+r"(a0)
                     : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5), "r"(a7)
                     : "memory");
    return (long)a0;
}

#define RAW0(nr)          raw((nr), 0, 0, 0, 0, 0, 0)
#define RAW1(nr, a)       raw((nr), (uint64_t)(a), 0, 0, 0, 0, 0)
#define RAW2(nr, a, b)    raw((nr), (uint64_t)(a), (uint64_t)(b), 0, 0, 0, 0)
#define RAW3(nr, a, b, c) raw((nr), (uint64_t)(a), (uint64_t)(b), (uint64_t)(c), 0, 0, 0)
#define RAW4(nr, a, b, c, d)                                                                       \
    raw((nr), (uint64_t)(a), (uint64_t)(b), (uint64_t)(c), (uint64_t)(d), 0, 0)

/* The parts, in the order in which fuzz.c includes them: fuzz-values.h, fuzz-calls.h, fuzz-acts.h.
 */
