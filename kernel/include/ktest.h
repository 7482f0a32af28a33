/*
 * ktest.h: tests inside the kernel, in the shape of KUnit.
 *
 *     KTEST(list_keeps_order)
 *     {
 *         struct list head = LIST_INIT(head);
 *         EXPECT_TRUE(test, list_empty(&head));
 *     }
 *
 * The linker collects the tests of *_test.c; the suite of a test is the name of its file.
 * `kcovbox ktest` runs each in a process of its own, so a test may sleep, and its coverage is its
 * own. Only kernels with the configuration fragment ktest contain tests.
 *
 * EXPECT_* notes a failure and goes on, ASSERT_* returns from the test function.
 */
#pragma once
#include "types.h"

struct ktest {
    const char *name, *file;
    void (*run)(struct ktest *test);
    int failures;        /* of the run */
    const char *skipped; /* the reason, or 0 */
};

void ktest_fail(struct ktest *test, const char *file, int line, const char *what, i64 a, i64 b);

#ifdef CONFIG_KTEST
#define KTEST(id)                                                                                  \
    static void ktest_##id(struct ktest *test);                                                    \
    static struct ktest ktest_of_##id = {.name = #id, .file = __FILE_NAME__, .run = ktest_##id};   \
    static struct ktest *const ktest_row_##id                                                      \
        __attribute__((used, section(".ktests"), aligned(8))) = &ktest_of_##id;                    \
    static void ktest_##id(struct ktest *test)
#else
#define KTEST(id) static __attribute__((unused)) void ktest_##id(struct ktest *test)
#endif

#define KTEST_COMPARE(test, a, op, b, otherwise)                                                   \
    do {                                                                                           \
        i64 left_ = (i64)(a), right_ = (i64)(b);                                                   \
        if (!(left_ op right_)) {                                                                  \
            ktest_fail(test, __FILE_NAME__, __LINE__, #a " " #op " " #b, left_, right_);           \
            otherwise;                                                                             \
        }                                                                                          \
    } while (0)

#define EXPECT_EQ(test, a, b) KTEST_COMPARE(test, a, ==, b, (void)0)
#define EXPECT_NE(test, a, b) KTEST_COMPARE(test, a, !=, b, (void)0)
#define EXPECT_TRUE(test, a)  KTEST_COMPARE(test, !!(a), ==, true, (void)0)
#define EXPECT_FALSE(test, a) KTEST_COMPARE(test, !!(a), ==, false, (void)0)
#define ASSERT_EQ(test, a, b) KTEST_COMPARE(test, a, ==, b, return)
#define ASSERT_TRUE(test, a)  KTEST_COMPARE(test, !!(a), ==, true, return)
#define ASSERT_NE(test, a, b) KTEST_COMPARE(test, a, !=, b, return)
#define KTEST_SKIP(test, why)                                                                      \
    do {                                                                                           \
        (test)->skipped = (why);                                                                   \
        return;                                                                                    \
    } while (0)
