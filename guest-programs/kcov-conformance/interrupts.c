/*
 * Interrupts never leak into a trace. A one-shot timer is armed, some instructions are spent, and
 * then one system call is traced; the delay is varied so that, over all rounds, the timer interrupt
 * hits every instruction of the call. The records must be the same in every round.
 *
 *     kcovbox run guest-programs/kcov-conformance/interrupts.c [-- ROUNDS]
 */
#define DIALECT_OPENBSD
#include "dialect.h"
#include <sys/timerfd.h>

#define WORDS 8192UL

/* Three instructions per turn, which has no factor in common with the 100 of a tick. */
static void spend(word turns)
{
    __asm__ volatile("1: addi %0, %0, -1\n nop\n bgtz %0, 1b" : "+r"(turns));
}

static void arm(int timer, long ns)
{
    struct itimerspec when = {.it_value = {0, ns}};
    if (timerfd_settime(timer, 0, &when, NULL) == -1)
        exit(1);
}

int main(int argc, char **argv)
{
    static word first[WORDS];
    const int rounds = argc > 1 ? atoi(argv[1]) : 4000;
    int fired = 0, fd = kcov_open(), timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);

    if (fd == -1 || timer == -1 || kcov_size(fd, WORDS) == -1)
        return 1;
    word *area = kcov_map(fd, WORDS);
    if (!area || kcov_enable(fd, MODE_PC) == -1)
        return 1;
    for (int i = 0; i < rounds; i++) {
        word expirations = 0;
        arm(timer, 500 + 200 * (i / 100 % 40)); /* spend() takes up to 3 ticks of 100 ns */
        spend(1 + (word)(i % 100));
        STORE(area, 0);
        (void)!read(-1, NULL, 0);
        word n = LOAD(area);
        fired += read(timer, &expirations, sizeof(expirations)) == sizeof(expirations);
        if (i == 10) {
            memcpy(first + 1, area + 1, n * sizeof(word));
            first[0] = n;
        }
        if (i > 10 && (n != first[0] || memcmp(first + 1, area + 1, n * sizeof(word)) != 0)) {
            printf("not ok: round %d: %lu records, %lu at first\n", i, n, first[0]);
            return 1;
        }
    }
    printf("ok: %lu records in each of %d rounds, %d timers fired by then\n", first[0], rounds,
           fired);
    /* Short delays fired before the call ended, long ones did not: the hits moved across it. */
    return fired > 0 && fired < rounds ? 0 : 1;
}
