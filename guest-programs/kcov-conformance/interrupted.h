/*
 * A program whose calls the host interrupts at any instruction: traces the same few calls over and
 * over, and compares the records of each round with those of the first ones. Prints "GO" when the
 * references are known; ends when a record differs, or after ROUNDS.
 *
 *     interrupted ROUNDS pc|cmp
 */
#include "dialect.h"
#include <sys/stat.h>

#define WORDS (64UL << 10)
#define CALLS (sizeof(calls) / sizeof(calls[0]))

static int pipes[2];
static char byte;

static void call_read(void)
{
    (void)!read(-1, NULL, 0);
}
static void call_pipe(void)
{
    (void)!write(pipes[1], &byte, 1);
    (void)!read(pipes[0], &byte, 1);
}
static void call_dup(void)
{
    close(dup(pipes[0]));
}

static void (*const calls[])(void) = {call_read, call_pipe, call_dup};
static word want[sizeof(calls) / sizeof(calls[0])][4096];

/* True when the records are those of the first rounds. */
static bool same(const word *area, size_t call, word n, word length)
{
    const word *ref = want[call];
    bool equal = ref[0] == n;

    for (word i = 1; equal && i <= n * length; i++)
        equal = area[i] == ref[i];
    return equal;
}

int main(int argc, char **argv)
{
    const long rounds = argc > 1 ? atol(argv[1]) : 1000;
    const bool cmp = argc > 2 && !strcmp(argv[2], "cmp");
    const word length = cmp ? 4 : 1;
    int fd = kcov_open();

    if (fd == -1 || pipe(pipes) == -1 || kcov_size(fd, WORDS) == -1)
        return 1;
    word *area = kcov_map(fd, WORDS);
    if (!area)
        return 1;
    for (word i = 0; i < WORDS; i++)
        STORE(area + i, 0); /* takes the page faults before tracing, which would record them */
    if (kcov_enable(fd, cmp ? MODE_CMP : MODE_PC) == -1)
        return 1;
    for (long round = 0; round < rounds; round++) {
        for (size_t call = 0; call < CALLS; call++) {
            STORE(area, 0);
            calls[call]();
            word n = LOAD(area);
            if (n * length >= 4095)
                return 2;
            if (round < 4)
                memcpy(want[call] + 1, area + 1, (want[call][0] = n) * length * 8);
            else if (!same(area, call, n, length)) {
                printf("not ok: round %ld, call %zu: %lu records, %lu at first\n", round, call, n,
                       want[call][0]);
                return 1;
            }
        }
        if (round == 8)
            (void)!write(1, "GO\n", 3);
    }
    printf("ok: %lu, %lu and %lu records\n", want[0][0], want[1][0], want[2][0]);
    return 0;
}
