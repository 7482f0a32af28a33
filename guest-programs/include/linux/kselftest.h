/*
 * The reporting half of Linux's kselftest, rewritten: results as TAP 13 lines, counters, and exits
 * with the status that a runner understands.
 */
#ifndef KCOVBOX_LINUX_KSELFTEST_H
#define KCOVBOX_LINUX_KSELFTEST_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KSFT_PASS  0
#define KSFT_FAIL  1
#define KSFT_XFAIL 2
#define KSFT_XPASS 3
#define KSFT_SKIP  4

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#endif
#ifndef __maybe_unused
#define __maybe_unused __attribute__((__unused__))
#endif

#define KCOVBOX_KSFT          static inline __attribute__((__unused__))
#define KCOVBOX_KSFT_FMT(a)   __attribute__((__format__(__printf__, a, a + 1)))
#define KCOVBOX_KSFT_NORETURN __attribute__((__noreturn__))

struct ksft_count {
    unsigned int ksft_pass, ksft_fail, ksft_xfail, ksft_xpass, ksft_xskip, ksft_error;
};
static struct ksft_count ksft_cnt __attribute__((__unused__));
static unsigned int ksft_plan __attribute__((__unused__));

KCOVBOX_KSFT unsigned int ksft_test_num(void)
{
    return ksft_cnt.ksft_pass + ksft_cnt.ksft_fail + ksft_cnt.ksft_xfail + ksft_cnt.ksft_xpass +
           ksft_cnt.ksft_xskip + ksft_cnt.ksft_error;
}

#define KCOVBOX_KSFT_COUNTER(what, field)                                                          \
    KCOVBOX_KSFT void ksft_inc_##what##_cnt(void)                                                  \
    {                                                                                              \
        ksft_cnt.field++;                                                                          \
    }                                                                                              \
    KCOVBOX_KSFT int ksft_get_##what##_cnt(void)                                                   \
    {                                                                                              \
        return (int)ksft_cnt.field;                                                                \
    }
KCOVBOX_KSFT_COUNTER(pass, ksft_pass)
KCOVBOX_KSFT_COUNTER(fail, ksft_fail)
KCOVBOX_KSFT_COUNTER(xfail, ksft_xfail)
KCOVBOX_KSFT_COUNTER(xpass, ksft_xpass)
KCOVBOX_KSFT_COUNTER(xskip, ksft_xskip)
KCOVBOX_KSFT_COUNTER(error, ksft_error)

KCOVBOX_KSFT void ksft_print_header(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!getenv("KSFT_TAP_LEVEL"))
        printf("TAP version 13\n");
}

KCOVBOX_KSFT void ksft_set_plan(unsigned int plan)
{
    ksft_plan = plan;
    printf("1..%u\n", plan);
}

KCOVBOX_KSFT void ksft_print_cnts(void)
{
    if (ksft_plan != ksft_test_num())
        printf("# Planned tests != run tests (%u != %u)\n", ksft_plan, ksft_test_num());
    printf("# Totals: pass:%u fail:%u xfail:%u xpass:%u skip:%u error:%u\n", ksft_cnt.ksft_pass,
           ksft_cnt.ksft_fail, ksft_cnt.ksft_xfail, ksft_cnt.ksft_xpass, ksft_cnt.ksft_xskip,
           ksft_cnt.ksft_error);
}

KCOVBOX_KSFT KCOVBOX_KSFT_FMT(1) void ksft_print_msg(const char *fmt, ...)
{
    int saved = errno;
    va_list ap;

    va_start(ap, fmt);
    printf("# ");
    errno = saved;
    vprintf(fmt, ap);
    va_end(ap);
}

KCOVBOX_KSFT void ksft_perror(const char *what)
{
    ksft_print_msg("%s: %s (%d)\n", what, strerror(errno), errno);
}

/* "ok N " or "not ok N ", a directive, and what the caller says. */
KCOVBOX_KSFT void kcovbox_ksft_line(const char *start, const char *directive, const char *fmt,
                                    va_list ap)
{
    int saved = errno;

    printf("%s %u %s", start, ksft_test_num(), directive);
    errno = saved;
    vprintf(fmt, ap);
}

#define KCOVBOX_KSFT_RESULT(name, field, start, directive)                                         \
    KCOVBOX_KSFT KCOVBOX_KSFT_FMT(1) void ksft_test_result_##name(const char *fmt, ...)            \
    {                                                                                              \
        va_list ap;                                                                                \
        ksft_cnt.field++;                                                                          \
        va_start(ap, fmt);                                                                         \
        kcovbox_ksft_line(start, directive, fmt, ap);                                              \
        va_end(ap);                                                                                \
    }
KCOVBOX_KSFT_RESULT(pass, ksft_pass, "ok", "")
KCOVBOX_KSFT_RESULT(fail, ksft_fail, "not ok", "")
KCOVBOX_KSFT_RESULT(xfail, ksft_xfail, "ok", "# XFAIL ")
KCOVBOX_KSFT_RESULT(xpass, ksft_xpass, "ok", "# XPASS ")
KCOVBOX_KSFT_RESULT(skip, ksft_xskip, "ok", "# SKIP ")
KCOVBOX_KSFT_RESULT(error, ksft_error, "not ok", "# error ")

#define ksft_test_result(condition, fmt, ...)                                                      \
    do {                                                                                           \
        if (condition)                                                                             \
            ksft_test_result_pass(fmt, ##__VA_ARGS__);                                             \
        else                                                                                       \
            ksft_test_result_fail(fmt, ##__VA_ARGS__);                                             \
    } while (0)

#define ksft_test_result_report(result, fmt, ...)                                                  \
    do {                                                                                           \
        switch (result) {                                                                          \
        case KSFT_PASS:                                                                            \
            ksft_test_result_pass(fmt "\n", ##__VA_ARGS__);                                        \
            break;                                                                                 \
        case KSFT_FAIL:                                                                            \
            ksft_test_result_fail(fmt "\n", ##__VA_ARGS__);                                        \
            break;                                                                                 \
        case KSFT_XFAIL:                                                                           \
            ksft_test_result_xfail(fmt "\n", ##__VA_ARGS__);                                       \
            break;                                                                                 \
        case KSFT_XPASS:                                                                           \
            ksft_test_result_xpass(fmt "\n", ##__VA_ARGS__);                                       \
            break;                                                                                 \
        case KSFT_SKIP:                                                                            \
            ksft_test_result_skip(fmt "\n", ##__VA_ARGS__);                                        \
            break;                                                                                 \
        }                                                                                          \
    } while (0)

KCOVBOX_KSFT KCOVBOX_KSFT_NORETURN void ksft_exit_pass(void)
{
    ksft_print_cnts();
    exit(KSFT_PASS);
}

KCOVBOX_KSFT KCOVBOX_KSFT_NORETURN void ksft_exit_fail(void)
{
    ksft_print_cnts();
    exit(KSFT_FAIL);
}

#define ksft_exit(condition)                                                                       \
    do {                                                                                           \
        if (condition)                                                                             \
            ksft_exit_pass();                                                                      \
        else                                                                                       \
            ksft_exit_fail();                                                                      \
    } while (0)
#define ksft_finished()                                                                            \
    ksft_exit(ksft_plan == ksft_cnt.ksft_pass + ksft_cnt.ksft_xfail + ksft_cnt.ksft_xskip)

KCOVBOX_KSFT KCOVBOX_KSFT_NORETURN KCOVBOX_KSFT_FMT(1) void ksft_exit_fail_msg(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    printf("Bail out! ");
    vprintf(fmt, ap);
    va_end(ap);
    ksft_print_cnts();
    exit(KSFT_FAIL);
}

KCOVBOX_KSFT KCOVBOX_KSFT_NORETURN void ksft_exit_fail_perror(const char *what)
{
    ksft_exit_fail_msg("%s: %s (%d)\n", what, strerror(errno), errno);
}

/* Before a plan: the whole program is skipped; after it: the test that would be next. */
KCOVBOX_KSFT KCOVBOX_KSFT_NORETURN KCOVBOX_KSFT_FMT(1) void ksft_exit_skip(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    if (ksft_plan || ksft_test_num()) {
        ksft_cnt.ksft_xskip++;
        printf("ok %u # SKIP ", ksft_test_num());
    } else {
        printf("1..0 # SKIP ");
    }
    vprintf(fmt, ap);
    va_end(ap);
    if (ksft_plan || ksft_test_num() > 1)
        ksft_print_cnts();
    exit(KSFT_SKIP);
}

#endif
