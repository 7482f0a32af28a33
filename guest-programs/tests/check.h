/*
 * The frame of a guest test: CHECK(condition) inside functions, RUN(function) in main. Every test
 * prints "ok NAME" or "not ok NAME: file:line: condition"; the exit status is the number of
 * failures.
 */
#pragma once
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* No process and no user has this number: the largest that Linux allows is one less. */
#define NO_PROCESS 4194304

static int check_failures;
static const char *check_failed;

#define CHECK(cond)                                                                                \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            static char text[256];                                                                 \
            snprintf(text, sizeof(text), "%s:%d: %s (errno %d)", strrchr("/" __FILE__, '/') + 1,   \
                     __LINE__, #cond, errno);                                                      \
            check_failed = text;                                                                   \
            return;                                                                                \
        }                                                                                          \
    } while (0)

#define RUN(test)                                                                                  \
    do {                                                                                           \
        check_failed = NULL;                                                                       \
        test();                                                                                    \
        if (check_failed) {                                                                        \
            printf("not ok %s: %s\n", #test, check_failed);                                        \
            check_failures++;                                                                      \
        } else {                                                                                   \
            printf("ok %s\n", #test);                                                              \
        }                                                                                          \
        fflush(stdout);                                                                            \
    } while (0)

/* For features that user-mode emulation lacks, where QEMU_USER is set: skips the test there. */
#define RUN_ON_KERNEL(test)                                                                        \
    do {                                                                                           \
        if (getenv("QEMU_USER"))                                                                   \
            printf("ok %s # skipped: needs a kernel, not user-mode emulation\n", #test);           \
        else                                                                                       \
            RUN(test);                                                                             \
    } while (0)

#define DONE() return check_failures
