/*
 * The other half of Linux's kselftest, rewritten: tests and fixtures with variants, each run in a
 * child; ASSERT_* end a test, EXPECT_* note a failure, both may be followed by a block that runs
 * when they fail. TEST_HARNESS_MAIN takes names of tests as arguments, and -l to list them.
 */
#ifndef KCOVBOX_LINUX_KSELFTEST_HARNESS_H
#define KCOVBOX_LINUX_KSELFTEST_HARNESS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stddef.h>
#include <stdint.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>

#include "kselftest.h"

#define TEST_TIMEOUT_DEFAULT 30

struct __test_metadata;

struct kcovbox_variant {
    const char *name;
    const void *data;
    struct kcovbox_variant *next;
};

struct kcovbox_fixture {
    const char *name;
    struct kcovbox_variant *variants;
};

struct __test_metadata {
    const char *name;
    void (*fn)(struct __test_metadata *, const struct kcovbox_variant *);
    struct kcovbox_fixture *fixture;
    int termsig; /* signal that must end it */
    unsigned int timeout;
    int exit_code;
    bool trigger; /* an expectation failed and its block is to run */
    bool aborted;
    char results[256]; /* why it was skipped */
    struct __test_metadata *next;
};

static struct __test_metadata *kcovbox_tests __attribute__((__unused__)),
    **kcovbox_tests_end __attribute__((__unused__)) = &kcovbox_tests;
static struct kcovbox_fixture kcovbox_global __attribute__((__unused__)) = {.name = "global"};

#define TH_LOG(fmt, ...)                                                                           \
    fprintf(stdout, "# %s:%d:%s:" fmt "\n", __FILE__, __LINE__, _metadata->name, ##__VA_ARGS__)

#define SKIP(statement, fmt, ...)                                                                  \
    do {                                                                                           \
        snprintf(_metadata->results, sizeof(_metadata->results), fmt, ##__VA_ARGS__);              \
        printf("#      SKIP      %s\n", _metadata->results);                                       \
        _metadata->exit_code = KSFT_SKIP;                                                          \
        _metadata->trigger = 0;                                                                    \
        statement;                                                                                 \
    } while (0)
#define XFAIL(statement, fmt, ...)                                                                 \
    do {                                                                                           \
        snprintf(_metadata->results, sizeof(_metadata->results), fmt, ##__VA_ARGS__);              \
        printf("#      XFAIL     %s\n", _metadata->results);                                       \
        _metadata->exit_code = KSFT_XFAIL;                                                         \
        _metadata->trigger = 0;                                                                    \
        statement;                                                                                 \
    } while (0)

/* ---- Declaring ---- */

#define KCOVBOX_TEST(id, full, fix, sig, secs, call)                                               \
    static struct __test_metadata kcovbox_test_##id = {                                            \
        .name = full, .fixture = fix, .termsig = sig, .timeout = secs};                            \
    static void kcovbox_run_##id(struct __test_metadata *_metadata,                                \
                                 const struct kcovbox_variant *kcovbox_v)                          \
    {                                                                                              \
        (void)kcovbox_v;                                                                           \
        call;                                                                                      \
    }                                                                                              \
    static void __attribute__((__constructor__)) kcovbox_add_##id(void)                            \
    {                                                                                              \
        kcovbox_test_##id.fn = kcovbox_run_##id;                                                   \
        *kcovbox_tests_end = &kcovbox_test_##id;                                                   \
        kcovbox_tests_end = &kcovbox_test_##id.next;                                               \
    }

#define TEST_SIGNAL(test_name, signal)                                                             \
    static void test_name(struct __test_metadata *_metadata);                                      \
    KCOVBOX_TEST(test_name, #test_name, &kcovbox_global, signal, TEST_TIMEOUT_DEFAULT,             \
                 test_name(_metadata))                                                             \
    static void test_name(struct __test_metadata __attribute__((__unused__)) * _metadata)
#define TEST(test_name) TEST_SIGNAL(test_name, -1)

#define FIXTURE_DATA(fixture_name)    struct kcovbox_fixture_data_##fixture_name
#define FIXTURE_VARIANT(fixture_name) struct kcovbox_fixture_variant_##fixture_name
#define FIXTURE(fixture_name)                                                                      \
    FIXTURE_VARIANT(fixture_name);                                                                 \
    static struct kcovbox_fixture kcovbox_fixture_##fixture_name                                   \
        __attribute__((__unused__)) = {.name = #fixture_name};                                     \
    FIXTURE_DATA(fixture_name)
#define FIXTURE_VARIANT_ADD(fixture_name, variant_name)                                            \
    extern const FIXTURE_VARIANT(fixture_name) kcovbox_##fixture_name##_##variant_name;            \
    static struct kcovbox_variant kcovbox_variant_##fixture_name##_##variant_name = {              \
        .name = #variant_name, .data = &kcovbox_##fixture_name##_##variant_name};                  \
    static void __attribute__((__constructor__)) kcovbox_add_##fixture_name##_##variant_name(void) \
    {                                                                                              \
        struct kcovbox_variant **at = &kcovbox_fixture_##fixture_name.variants;                    \
        while (*at)                                                                                \
            at = &(*at)->next;                                                                     \
        *at = &kcovbox_variant_##fixture_name##_##variant_name;                                    \
    }                                                                                              \
    const FIXTURE_VARIANT(fixture_name) kcovbox_##fixture_name##_##variant_name =
#define FIXTURE_SETUP(fixture_name)                                                                \
    static void fixture_name##_setup(                                                              \
        struct __test_metadata __attribute__((__unused__)) * _metadata,                            \
        FIXTURE_DATA(fixture_name) __attribute__((__unused__)) * self,                             \
        const FIXTURE_VARIANT(fixture_name) __attribute__((__unused__)) * variant)
#define FIXTURE_TEARDOWN(fixture_name)                                                             \
    static void fixture_name##_teardown(                                                           \
        struct __test_metadata __attribute__((__unused__)) * _metadata,                            \
        FIXTURE_DATA(fixture_name) __attribute__((__unused__)) * self,                             \
        const FIXTURE_VARIANT(fixture_name) __attribute__((__unused__)) * variant)
#define FIXTURE_TEARDOWN_PARENT(fixture_name) FIXTURE_TEARDOWN(fixture_name)

#define KCOVBOX_TEST_F(fixture_name, test_name, signal, secs)                                      \
    static void fixture_name##_##test_name(struct __test_metadata *_metadata,                      \
                                           FIXTURE_DATA(fixture_name) * self,                      \
                                           const FIXTURE_VARIANT(fixture_name) * variant);         \
    KCOVBOX_TEST(fixture_name##_##test_name, #test_name, &kcovbox_fixture_##fixture_name, signal,  \
                 secs, {                                                                           \
                     FIXTURE_DATA(fixture_name) self;                                              \
                     memset(&self, 0, sizeof(self));                                               \
                     fixture_name##_setup(_metadata, &self, kcovbox_v->data);                      \
                     if (_metadata->exit_code == KSFT_PASS) {                                      \
                         fixture_name##_##test_name(_metadata, &self, kcovbox_v->data);            \
                         fixture_name##_teardown(_metadata, &self, kcovbox_v->data);               \
                     }                                                                             \
                 })                                                                                \
    static void fixture_name##_##test_name(                                                        \
        struct __test_metadata __attribute__((__unused__)) * _metadata,                            \
        FIXTURE_DATA(fixture_name) __attribute__((__unused__)) * self,                             \
        const FIXTURE_VARIANT(fixture_name) __attribute__((__unused__)) * variant)
#define TEST_F(fixture_name, test_name)                                                            \
    KCOVBOX_TEST_F(fixture_name, test_name, -1, TEST_TIMEOUT_DEFAULT)
#define TEST_F_SIGNAL(fixture_name, test_name, signal)                                             \
    KCOVBOX_TEST_F(fixture_name, test_name, signal, TEST_TIMEOUT_DEFAULT)
#define TEST_F_TIMEOUT(fixture_name, test_name, secs)                                              \
    KCOVBOX_TEST_F(fixture_name, test_name, -1, secs)

/* ---- Expecting ---- */

/* After the optional block: an assertion ends the test, an expectation does not. */
static inline __attribute__((__unused__)) bool kcovbox_bail(bool is_assert,
                                                            struct __test_metadata *t)
{
    if (is_assert)
        exit(t->exit_code);
    return false;
}

#define KCOVBOX_HANDLER(is_assert)                                                                 \
    for (; _metadata->trigger; _metadata->trigger = kcovbox_bail(is_assert, _metadata))

#define KCOVBOX_FAILED()                                                                           \
    do {                                                                                           \
        _metadata->exit_code = KSFT_FAIL;                                                          \
        _metadata->trigger = true;                                                                 \
    } while (0)
#define KCOVBOX_COMPARE(expected, expected_str, seen, seen_str, op, is_assert)                     \
    do {                                                                                           \
        __typeof__(expected) kcovbox_want = (expected);                                            \
        __typeof__(seen) kcovbox_got = (seen);                                                     \
        if (!(kcovbox_want op kcovbox_got)) {                                                      \
            TH_LOG("Expected %s (%lld) %s %s (%lld)", expected_str,                                \
                   (long long)(uintptr_t)kcovbox_want, #op, seen_str,                              \
                   (long long)(uintptr_t)kcovbox_got);                                             \
            KCOVBOX_FAILED();                                                                      \
        }                                                                                          \
    } while (0);                                                                                   \
    KCOVBOX_HANDLER(is_assert)
#define KCOVBOX_COMPARE_STR(expected, seen, op, is_assert)                                         \
    do {                                                                                           \
        const char *kcovbox_want = (expected);                                                     \
        const char *kcovbox_got = (seen);                                                          \
        if (!(strcmp(kcovbox_want, kcovbox_got) op 0)) {                                           \
            TH_LOG("Expected '%s' %s '%s'.", kcovbox_want, #op, kcovbox_got);                      \
            KCOVBOX_FAILED();                                                                      \
        }                                                                                          \
    } while (0);                                                                                   \
    KCOVBOX_HANDLER(is_assert)

#define ASSERT_EQ(e, s)    KCOVBOX_COMPARE(e, #e, s, #s, ==, true)
#define ASSERT_NE(e, s)    KCOVBOX_COMPARE(e, #e, s, #s, !=, true)
#define ASSERT_LT(e, s)    KCOVBOX_COMPARE(e, #e, s, #s, <, true)
#define ASSERT_LE(e, s)    KCOVBOX_COMPARE(e, #e, s, #s, <=, true)
#define ASSERT_GT(e, s)    KCOVBOX_COMPARE(e, #e, s, #s, >, true)
#define ASSERT_GE(e, s)    KCOVBOX_COMPARE(e, #e, s, #s, >=, true)
#define ASSERT_NULL(s)     KCOVBOX_COMPARE((void *)NULL, "NULL", s, #s, ==, true)
#define ASSERT_TRUE(s)     KCOVBOX_COMPARE(0, "0", s, #s, !=, true)
#define ASSERT_FALSE(s)    KCOVBOX_COMPARE(0, "0", s, #s, ==, true)
#define ASSERT_STREQ(e, s) KCOVBOX_COMPARE_STR(e, s, ==, true)
#define ASSERT_STRNE(e, s) KCOVBOX_COMPARE_STR(e, s, !=, true)
#define EXPECT_EQ(e, s)    KCOVBOX_COMPARE(e, #e, s, #s, ==, false)
#define EXPECT_NE(e, s)    KCOVBOX_COMPARE(e, #e, s, #s, !=, false)
#define EXPECT_LT(e, s)    KCOVBOX_COMPARE(e, #e, s, #s, <, false)
#define EXPECT_LE(e, s)    KCOVBOX_COMPARE(e, #e, s, #s, <=, false)
#define EXPECT_GT(e, s)    KCOVBOX_COMPARE(e, #e, s, #s, >, false)
#define EXPECT_GE(e, s)    KCOVBOX_COMPARE(e, #e, s, #s, >=, false)
#define EXPECT_NULL(s)     KCOVBOX_COMPARE((void *)NULL, "NULL", s, #s, ==, false)
#define EXPECT_TRUE(s)     KCOVBOX_COMPARE(0, "0", s, #s, !=, false)
#define EXPECT_FALSE(s)    KCOVBOX_COMPARE(0, "0", s, #s, ==, false)
#define EXPECT_STREQ(e, s) KCOVBOX_COMPARE_STR(e, s, ==, false)
#define EXPECT_STRNE(e, s) KCOVBOX_COMPARE_STR(e, s, !=, false)

/* ---- Running ---- */

/* Exit status of the child, or what stands for an end that was not wanted. */
static inline __attribute__((__unused__)) int
kcovbox_run_test(struct __test_metadata *t, const struct kcovbox_variant *v, const char *full)
{
    int status = 0;

    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(t->timeout);
        t->exit_code = KSFT_PASS;
        t->fn(t, v);
        exit(t->exit_code);
    }
    if (pid == -1 || waitpid(pid, &status, 0) == -1)
        return KSFT_FAIL;
    if (WIFSIGNALED(status) && WTERMSIG(status) == t->termsig)
        return KSFT_PASS;
    if (WIFSIGNALED(status)) {
        printf("# %s: Test %s\n", full,
               WTERMSIG(status) == SIGALRM ? "terminated by timeout"
                                           : "terminated unexpectedly by signal");
        return KSFT_FAIL;
    }
    if (t->termsig != -1) {
        printf("# %s: Test exited normally instead of by signal\n", full);
        return KSFT_FAIL;
    }
    return WEXITSTATUS(status);
}

static inline __attribute__((__unused__)) bool kcovbox_wanted(const char *full, int argc,
                                                              char **argv)
{
    bool any = false;

    for (int i = 1; i < argc; i++) {
        const char *name = argv[i][0] == '-' ? argv[i] + 2 : argv[i];
        any |= argv[i][0] != '-' || argv[i][1] == 'r';
        if (*name && strstr(full, name) && argv[i][1] != 'l')
            return true;
    }
    return !any;
}

static inline __attribute__((__unused__)) int test_harness_run(int argc, char **argv)
{
    static struct kcovbox_variant none = {.name = ""};
    bool only_list = argc > 1 && !strcmp(argv[1], "-l"), failed = false;
    char full[256];
    unsigned int count = 0;

    for (int pass = only_list ? 1 : 0; pass < 2; pass++) {
        if (pass && !only_list) {
            ksft_print_header();
            ksft_set_plan(count);
            printf("# Starting %u tests.\n", count);
        }
        for (struct __test_metadata *t = kcovbox_tests; t; t = t->next) {
            const struct kcovbox_variant *v = t->fixture->variants ? t->fixture->variants : &none;
            for (; v; v = v->next) {
                snprintf(full, sizeof(full), "%s%s%s.%s", t->fixture->name, *v->name ? "." : "",
                         v->name, t->name);
                if (!only_list && !kcovbox_wanted(full, argc, argv))
                    continue;
                if (only_list)
                    printf("%s\n", full);
                if (!pass || only_list) {
                    count++;
                    continue;
                }
                printf("#  RUN           %s ...\n", full);
                int result = kcovbox_run_test(t, v, full);
                printf("#  %13s  %s\n", result == KSFT_PASS || result == KSFT_SKIP ? "OK" : "FAIL",
                       full);
                failed |= result != KSFT_PASS && result != KSFT_SKIP && result != KSFT_XFAIL;
                ksft_test_result_report(result > KSFT_SKIP ? KSFT_FAIL : result, "%s", full);
            }
        }
    }
    if (only_list)
        return KSFT_PASS;
    printf("# %s: %u / %u tests passed.\n", failed ? "FAILED" : "PASSED",
           ksft_cnt.ksft_pass + ksft_cnt.ksft_xskip + ksft_cnt.ksft_xfail, count);
    ksft_print_cnts();
    return failed ? KSFT_FAIL : KSFT_PASS;
}

#define TEST_HARNESS_MAIN                                                                          \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        return test_harness_run(argc, argv);                                                       \
    }

#endif
