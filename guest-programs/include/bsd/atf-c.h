/*
 * ATF's C interface, rewritten in one header: test cases, requirements, expectations, and a main()
 * that behaves as a test program of ATF:
 *
 *     prog -l                                 the cases with their metadata
 *     prog [-r FILE] [-v NAME=VALUE]... CASE[:body|:cleanup]
 *                                             one case, in place; its result goes to FILE or stdout
 *     prog                                    all cases, each in a child of its own, one line each
 *
 * Exit status of one case: 0 for passed, skipped and expected failures, 1 for failed. Metadata is
 * for the caller of the program (as in ATF, where a runner enforces require.* and timeouts).
 *
 * Divergence: a real program without a case only complains. This one acts as the runner, because
 * the guest has none: it compares the end of each child with the expected one, runs the cleanups,
 * and exits with status 1 when a case failed.
 */
#ifndef KCOVBOX_BSD_ATF_C_H
#define KCOVBOX_BSD_ATF_C_H

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <regex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define KCOVBOX_ATF_VARS 16

typedef struct atf_tc {
    const char *name;
    void (*head)(struct atf_tc *);
    void (*body)(const struct atf_tc *);
    void (*cleanup)(const struct atf_tc *);
    struct atf_tc *next;
    const char *keys[KCOVBOX_ATF_VARS];
    char values[KCOVBOX_ATF_VARS][128];
    int vars;
} atf_tc_t;

typedef struct atf_tp {
    atf_tc_t *first, **last;
} atf_tp_t;

typedef struct kcovbox_atf_error *atf_error_t;
#define atf_no_error()    ((atf_error_t)0)
#define atf_is_error(err) ((err) != (atf_error_t)0)

/* How the running case is expected to end. */
enum kcovbox_atf_expect {
    KCOVBOX_ATF_PASS,
    KCOVBOX_ATF_FAIL,
    KCOVBOX_ATF_EXIT,
    KCOVBOX_ATF_SIGNAL,
    KCOVBOX_ATF_DEATH,
    KCOVBOX_ATF_TIMEOUT
};

struct kcovbox_atf_state {
    enum kcovbox_atf_expect expect;
    int expect_code; /* exit status or signal, -1 = any */
    char expect_why[256];
    unsigned int failures, expected_failures;
};

/* The state is shared with the child that runs a case, so that its end can be judged. */
static struct kcovbox_atf_state kcovbox_atf_own __attribute__((__unused__));
static struct kcovbox_atf_state *kcovbox_atf_now __attribute__((__unused__)) = &kcovbox_atf_own;
static const char *kcovbox_atf_result_file __attribute__((__unused__));
static const char *kcovbox_atf_config[KCOVBOX_ATF_VARS] __attribute__((__unused__));
static int kcovbox_atf_configs __attribute__((__unused__));

#define KCOVBOX_ATF_UNUSED    static __attribute__((__unused__))
#define KCOVBOX_ATF_FMT(f, a) __attribute__((__format__(__printf__, f, a)))

KCOVBOX_ATF_UNUSED void kcovbox_atf_result(const char *word, const char *why)
{
    FILE *out = stdout;

    if (kcovbox_atf_result_file && strcmp(kcovbox_atf_result_file, "/dev/stdout") != 0)
        out = fopen(kcovbox_atf_result_file, "w");
    if (!out)
        out = stderr;
    if (why && *why)
        fprintf(out, "%s: %s\n", word, why);
    else
        fprintf(out, "%s\n", word);
    if (out == stdout || out == stderr)
        fflush(out);
    else
        fclose(out);
}

KCOVBOX_ATF_UNUSED __attribute__((__noreturn__)) void kcovbox_atf_end(int status, const char *word,
                                                                      const char *why)
{
    kcovbox_atf_result(word, why);
    exit(status);
}

KCOVBOX_ATF_UNUSED __attribute__((__noreturn__)) void kcovbox_atf_vfail(const char *fmt, va_list ap)
{
    char why[512];

    vsnprintf(why, sizeof(why), fmt, ap);
    if (kcovbox_atf_now->expect == KCOVBOX_ATF_FAIL) {
        char both[800];
        snprintf(both, sizeof(both), "%s: %s", kcovbox_atf_now->expect_why, why);
        kcovbox_atf_end(0, "expected_failure", both);
    }
    kcovbox_atf_end(1, "failed", why);
}

KCOVBOX_ATF_UNUSED
__attribute__((__noreturn__)) KCOVBOX_ATF_FMT(1, 2) void atf_tc_fail(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    kcovbox_atf_vfail(fmt, ap);
}

KCOVBOX_ATF_UNUSED KCOVBOX_ATF_FMT(1, 2) void atf_tc_fail_nonfatal(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    fprintf(stderr, "*** ");
    vfprintf(stderr, fmt, ap);
    fprintf(stderr, "\n");
    va_end(ap);
    if (kcovbox_atf_now->expect == KCOVBOX_ATF_FAIL)
        kcovbox_atf_now->expected_failures++;
    else
        kcovbox_atf_now->failures++;
}

KCOVBOX_ATF_UNUSED
__attribute__((__noreturn__)) KCOVBOX_ATF_FMT(1, 2) void atf_tc_skip(const char *fmt, ...)
{
    char why[512];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(why, sizeof(why), fmt, ap);
    va_end(ap);
    kcovbox_atf_end(0, "skipped", why);
}

/* The body has returned, or called atf_tc_pass(). */
KCOVBOX_ATF_UNUSED __attribute__((__noreturn__)) void atf_tc_pass(void)
{
    char why[64];

    if (kcovbox_atf_now->failures) {
        snprintf(why, sizeof(why), "%u checks failed; see output for more details",
                 kcovbox_atf_now->failures);
        kcovbox_atf_end(1, "failed", why);
    }
    if (kcovbox_atf_now->expect == KCOVBOX_ATF_FAIL && kcovbox_atf_now->expected_failures)
        kcovbox_atf_end(0, "expected_failure", kcovbox_atf_now->expect_why);
    if (kcovbox_atf_now->expect != KCOVBOX_ATF_PASS)
        kcovbox_atf_end(1, "failed", "Test case was expected to end otherwise, but it passed");
    kcovbox_atf_end(0, "passed", NULL);
}

#define KCOVBOX_ATF_EXPECT(kind, code, fmt)                                                        \
    do {                                                                                           \
        va_list ap;                                                                                \
        va_start(ap, fmt);                                                                         \
        vsnprintf(kcovbox_atf_now->expect_why, sizeof(kcovbox_atf_now->expect_why), fmt, ap);      \
        va_end(ap);                                                                                \
        kcovbox_atf_now->expect = (kind);                                                          \
        kcovbox_atf_now->expect_code = (code);                                                     \
    } while (0)

KCOVBOX_ATF_UNUSED void atf_tc_expect_pass(void)
{
    if (kcovbox_atf_now->expect == KCOVBOX_ATF_FAIL && !kcovbox_atf_now->expected_failures)
        kcovbox_atf_end(1, "failed", "Test case was expecting a failure but none were raised");
    kcovbox_atf_now->expect = KCOVBOX_ATF_PASS;
}

KCOVBOX_ATF_UNUSED KCOVBOX_ATF_FMT(1, 2) void atf_tc_expect_fail(const char *fmt, ...)
{
    KCOVBOX_ATF_EXPECT(KCOVBOX_ATF_FAIL, 0, fmt);
}

/* These three record the expectation at once: the process may end before it could report. */
KCOVBOX_ATF_UNUSED KCOVBOX_ATF_FMT(2, 3) void atf_tc_expect_exit(int status, const char *fmt, ...)
{
    char word[32] = "expected_exit";

    KCOVBOX_ATF_EXPECT(KCOVBOX_ATF_EXIT, status, fmt);
    if (status != -1)
        snprintf(word, sizeof(word), "expected_exit(%d)", status);
    kcovbox_atf_result(word, kcovbox_atf_now->expect_why);
}

KCOVBOX_ATF_UNUSED KCOVBOX_ATF_FMT(2, 3) void atf_tc_expect_signal(int signo, const char *fmt, ...)
{
    char word[32] = "expected_signal";

    KCOVBOX_ATF_EXPECT(KCOVBOX_ATF_SIGNAL, signo, fmt);
    if (signo != -1)
        snprintf(word, sizeof(word), "expected_signal(%d)", signo);
    kcovbox_atf_result(word, kcovbox_atf_now->expect_why);
}

KCOVBOX_ATF_UNUSED KCOVBOX_ATF_FMT(1, 2) void atf_tc_expect_death(const char *fmt, ...)
{
    KCOVBOX_ATF_EXPECT(KCOVBOX_ATF_DEATH, -1, fmt);
    kcovbox_atf_result("expected_death", kcovbox_atf_now->expect_why);
}

KCOVBOX_ATF_UNUSED KCOVBOX_ATF_FMT(1, 2) void atf_tc_expect_timeout(const char *fmt, ...)
{
    KCOVBOX_ATF_EXPECT(KCOVBOX_ATF_TIMEOUT, -1, fmt);
    kcovbox_atf_result("expected_timeout", kcovbox_atf_now->expect_why);
}

KCOVBOX_ATF_UNUSED KCOVBOX_ATF_FMT(3, 4) atf_error_t
    atf_tc_set_md_var(atf_tc_t *tc, const char *key, const char *fmt, ...)
{
    va_list ap;

    if (tc->vars < KCOVBOX_ATF_VARS) {
        va_start(ap, fmt);
        vsnprintf(tc->values[tc->vars], sizeof(tc->values[0]), fmt, ap);
        va_end(ap);
        tc->keys[tc->vars++] = key;
    }
    return atf_no_error();
}

KCOVBOX_ATF_UNUSED const char *atf_tc_get_md_var(const atf_tc_t *tc, const char *key)
{
    for (int i = 0; i < tc->vars; i++)
        if (!strcmp(tc->keys[i], key))
            return tc->values[i];
    return !strcmp(key, "ident") ? tc->name : "";
}

#define atf_tc_get_ident(tc) ((tc)->name)
KCOVBOX_ATF_UNUSED bool atf_tc_has_md_var(const atf_tc_t *tc, const char *key)
{
    for (int i = 0; i < tc->vars; i++)
        if (!strcmp(tc->keys[i], key))
            return true;
    return !strcmp(key, "ident") || (!strcmp(key, "has.cleanup") && tc->cleanup);
}

/* ---- Configuration: -v NAME=VALUE ---- */

KCOVBOX_ATF_UNUSED const char *kcovbox_atf_config_of(const char *name)
{
    size_t length = strlen(name);

    for (int i = 0; i < kcovbox_atf_configs; i++)
        if (!strncmp(kcovbox_atf_config[i], name, length) && kcovbox_atf_config[i][length] == '=')
            return kcovbox_atf_config[i] + length + 1;
    return NULL;
}

KCOVBOX_ATF_UNUSED bool atf_tc_has_config_var(const atf_tc_t *tc, const char *name)
{
    (void)tc;
    return kcovbox_atf_config_of(name) != NULL;
}

KCOVBOX_ATF_UNUSED const char *atf_tc_get_config_var_wd(const atf_tc_t *tc, const char *name,
                                                        const char *otherwise)
{
    const char *value = kcovbox_atf_config_of(name);

    (void)tc;
    return value ? value : otherwise;
}

KCOVBOX_ATF_UNUSED const char *atf_tc_get_config_var(const atf_tc_t *tc, const char *name)
{
    const char *value = atf_tc_get_config_var_wd(tc, name, NULL);

    if (!value)
        atf_tc_fail("no configuration variable %s", name);
    return value;
}

KCOVBOX_ATF_UNUSED bool atf_tc_get_config_var_as_bool(const atf_tc_t *tc, const char *name)
{
    const char *value = atf_tc_get_config_var(tc, name);
    return !strcasecmp(value, "yes") || !strcasecmp(value, "true");
}

KCOVBOX_ATF_UNUSED bool atf_tc_get_config_var_as_bool_wd(const atf_tc_t *tc, const char *name,
                                                         bool otherwise)
{
    return atf_tc_has_config_var(tc, name) ? atf_tc_get_config_var_as_bool(tc, name) : otherwise;
}

KCOVBOX_ATF_UNUSED long atf_tc_get_config_var_as_long(const atf_tc_t *tc, const char *name)
{
    return strtol(atf_tc_get_config_var(tc, name), NULL, 10);
}

KCOVBOX_ATF_UNUSED long atf_tc_get_config_var_as_long_wd(const atf_tc_t *tc, const char *name,
                                                         long otherwise)
{
    return atf_tc_has_config_var(tc, name) ? atf_tc_get_config_var_as_long(tc, name) : otherwise;
}

#define atf_tc_get_ident(tc) ((tc)->name)

/* Skips the case when the program is not on PATH, as atf_require_prog does. */
KCOVBOX_ATF_UNUSED void atf_tc_require_prog(const char *prog)
{
    char path[512];
    const char *dirs = getenv("PATH");

    if (*prog == '/') {
        if (access(prog, X_OK) == 0)
            return;
        atf_tc_skip("The required program %s could not be found", prog);
    }
    for (const char *at = dirs ? dirs : "/bin:/sbin"; *at;) {
        size_t length = strcspn(at, ":");
        snprintf(path, sizeof(path), "%.*s/%s", (int)length, at, prog);
        if (access(path, X_OK) == 0)
            return;
        at += length + (at[length] == ':');
    }
    atf_tc_skip("The required program %s could not be found in the PATH", prog);
}

/* ---- Declaring cases ---- */

#define KCOVBOX_ATF_TC(id, head_fn, cleanup_fn)                                                    \
    static void kcovbox_atf_body_##id(const atf_tc_t *);                                           \
    static atf_tc_t kcovbox_atf_tc_##id = {                                                        \
        .name = #id, .head = head_fn, .body = kcovbox_atf_body_##id, .cleanup = cleanup_fn}

#define ATF_TC_WITHOUT_HEAD(id) KCOVBOX_ATF_TC(id, NULL, NULL)
#define ATF_TC(id)                                                                                 \
    static void kcovbox_atf_head_##id(atf_tc_t *);                                                 \
    KCOVBOX_ATF_TC(id, kcovbox_atf_head_##id, NULL)
#define ATF_TC_WITH_CLEANUP(id)                                                                    \
    static void kcovbox_atf_head_##id(atf_tc_t *);                                                 \
    static void kcovbox_atf_cleanup_##id(const atf_tc_t *);                                        \
    KCOVBOX_ATF_TC(id, kcovbox_atf_head_##id, kcovbox_atf_cleanup_##id)
#define ATF_TC_HEAD(id, tc)                                                                        \
    static void kcovbox_atf_head_##id(atf_tc_t *tc __attribute__((__unused__)))
#define ATF_TC_BODY(id, tc)                                                                        \
    static void kcovbox_atf_body_##id(const atf_tc_t *tc __attribute__((__unused__)))
#define ATF_TC_CLEANUP(id, tc)                                                                     \
    static void kcovbox_atf_cleanup_##id(const atf_tc_t *tc __attribute__((__unused__)))
#define ATF_TC_NAME(id)         (kcovbox_atf_tc_##id)
#define ATF_TC_HEAD_NAME(id)    (kcovbox_atf_head_##id)
#define ATF_TC_BODY_NAME(id)    (kcovbox_atf_body_##id)
#define ATF_TC_CLEANUP_NAME(id) (kcovbox_atf_cleanup_##id)

KCOVBOX_ATF_UNUSED atf_error_t atf_tp_add_tc(atf_tp_t *tp, atf_tc_t *tc)
{
    *tp->last = tc;
    tp->last = &tc->next;
    return atf_no_error();
}

#define ATF_TP_ADD_TC(tp, id)                                                                      \
    do {                                                                                           \
        atf_error_t kcovbox_error = atf_tp_add_tc(tp, &kcovbox_atf_tc_##id);                       \
        if (atf_is_error(kcovbox_error))                                                           \
            return kcovbox_error;                                                                  \
    } while (0)
#define ATF_TP_ADD_TCS(tp)                                                                         \
    static atf_error_t kcovbox_atf_add(atf_tp_t *);                                                \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        return kcovbox_atf_main(argc, argv, kcovbox_atf_add);                                      \
    }                                                                                              \
    static atf_error_t kcovbox_atf_add(atf_tp_t *tp __attribute__((__unused__)))

/* ---- Requirements: REQUIRE ends the case, CHECK notes the failure and goes on ---- */

#define KCOVBOX_ATF_AT  "%s:%d: "
#define KCOVBOX_ATF_POS __FILE__, __LINE__

#define KCOVBOX_ATF_TEST(fail, expr, ...)                                                          \
    do {                                                                                           \
        if (!(expr))                                                                               \
            fail(__VA_ARGS__);                                                                     \
    } while (0)
#define ATF_REQUIRE(expr)                                                                          \
    KCOVBOX_ATF_TEST(atf_tc_fail, expr, KCOVBOX_ATF_AT "%s not met", KCOVBOX_ATF_POS, #expr)
#define ATF_CHECK(expr)                                                                            \
    KCOVBOX_ATF_TEST(atf_tc_fail_nonfatal, expr, KCOVBOX_ATF_AT "%s not met", KCOVBOX_ATF_POS,     \
                     #expr)
#define ATF_REQUIRE_MSG(expr, fmt, ...)                                                            \
    KCOVBOX_ATF_TEST(atf_tc_fail, expr, KCOVBOX_ATF_AT fmt, KCOVBOX_ATF_POS, ##__VA_ARGS__)
#define ATF_CHECK_MSG(expr, fmt, ...)                                                              \
    KCOVBOX_ATF_TEST(atf_tc_fail_nonfatal, expr, KCOVBOX_ATF_AT fmt, KCOVBOX_ATF_POS, ##__VA_ARGS__)
#define ATF_REQUIRE_EQ(want, got) ATF_REQUIRE_MSG((want) == (got), "%s != %s", #want, #got)
#define ATF_CHECK_EQ(want, got)   ATF_CHECK_MSG((want) == (got), "%s != %s", #want, #got)
#define ATF_REQUIRE_EQ_MSG(want, got, fmt, ...)                                                    \
    ATF_REQUIRE_MSG((want) == (got), "%s != %s: " fmt, #want, #got, ##__VA_ARGS__)
#define ATF_CHECK_EQ_MSG(want, got, fmt, ...)                                                      \
    ATF_CHECK_MSG((want) == (got), "%s != %s: " fmt, #want, #got, ##__VA_ARGS__)
#define ATF_REQUIRE_INTEQ(want, got)                                                               \
    ATF_REQUIRE_MSG((intmax_t)(want) == (intmax_t)(got), "%s != %s (%jd != %jd)", #want, #got,     \
                    (intmax_t)(want), (intmax_t)(got))
#define ATF_CHECK_INTEQ(want, got)                                                                 \
    ATF_CHECK_MSG((intmax_t)(want) == (intmax_t)(got), "%s != %s (%jd != %jd)", #want, #got,       \
                  (intmax_t)(want), (intmax_t)(got))
#define ATF_REQUIRE_STREQ(want, got)                                                               \
    ATF_REQUIRE_MSG(!strcmp(want, got), "%s != %s (%s != %s)", #want, #got, want, got)
#define ATF_CHECK_STREQ(want, got)                                                                 \
    ATF_CHECK_MSG(!strcmp(want, got), "%s != %s (%s != %s)", #want, #got, want, got)
#define ATF_REQUIRE_STREQ_MSG(want, got, fmt, ...)                                                 \
    ATF_REQUIRE_MSG(!strcmp(want, got), "%s != %s: " fmt, #want, #got, ##__VA_ARGS__)
#define ATF_CHECK_STREQ_MSG(want, got, fmt, ...)                                                   \
    ATF_CHECK_MSG(!strcmp(want, got), "%s != %s: " fmt, #want, #got, ##__VA_ARGS__)
#define ATF_REQUIRE_MATCH(regexp, string)                                                          \
    ATF_REQUIRE_MSG(kcovbox_atf_matches(regexp, string), "'%s' not matched in '%s'", regexp, string)
#define ATF_CHECK_MATCH(regexp, string)                                                            \
    ATF_CHECK_MSG(kcovbox_atf_matches(regexp, string), "'%s' not matched in '%s'", regexp, string)
#define ATF_REQUIRE_ERRNO(want, expr) KCOVBOX_ATF_ERRNO(atf_tc_fail, want, expr)
#define ATF_CHECK_ERRNO(want, expr)   KCOVBOX_ATF_ERRNO(atf_tc_fail_nonfatal, want, expr)
/* The expression must hold and errno be as wanted after it; the order matters. */
#define KCOVBOX_ATF_ERRNO(fail, want, expr)                                                        \
    do {                                                                                           \
        if (!(expr))                                                                               \
            fail(KCOVBOX_ATF_AT "Expected true value in %s", KCOVBOX_ATF_POS, #expr);              \
        else if (errno != (want))                                                                  \
            fail(KCOVBOX_ATF_AT "Expected errno %d, got %d, in %s", KCOVBOX_ATF_POS, (want),       \
                 errno, #expr);                                                                    \
    } while (0)

KCOVBOX_ATF_UNUSED bool kcovbox_atf_matches(const char *pattern, const char *text)
{
    regex_t re;

    if (regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB))
        return false;
    bool is_match = regexec(&re, text, 0, NULL, 0) == 0;
    regfree(&re);
    return is_match;
}

/* ---- Running ---- */

KCOVBOX_ATF_UNUSED __attribute__((__noreturn__)) void kcovbox_atf_run_body(atf_tc_t *tc)
{
    if (tc->head)
        tc->head(tc);
    tc->body(tc);
    atf_tc_pass();
}

/* Compares the end of a child with the case's expectation. NULL: they agree. */
KCOVBOX_ATF_UNUSED const char *kcovbox_atf_judge(int status)
{
    const struct kcovbox_atf_state *now = kcovbox_atf_now;
    static char why[160];
    bool exited = WIFEXITED(status);
    int code = exited ? WEXITSTATUS(status) : WTERMSIG(status);
    bool any = now->expect_code == -1;

    if (now->expect == KCOVBOX_ATF_DEATH)
        return NULL;
    if (now->expect == KCOVBOX_ATF_EXIT && exited && (any || code == now->expect_code))
        return NULL;
    if (now->expect == KCOVBOX_ATF_SIGNAL && !exited && (any || code == now->expect_code))
        return NULL;
    if (exited && code == 0 && now->expect <= KCOVBOX_ATF_FAIL)
        return NULL;
    if (exited && code == 1)
        return "";
    snprintf(why, sizeof(why), "%s %d", exited ? "exited with status" : "killed by signal", code);
    return why;
}

/* One case in a child; its cleanup in another. True when it did not fail. */
KCOVBOX_ATF_UNUSED bool kcovbox_atf_run_child(atf_tc_t *tc)
{
    int status = 0;

    memset(kcovbox_atf_now, 0, sizeof(*kcovbox_atf_now));
    printf("%s: ", tc->name);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        kcovbox_atf_run_body(tc);
    if (pid == -1 || waitpid(pid, &status, 0) == -1) {
        printf("failed: %s\n", strerror(errno));
        return false;
    }
    const char *why = kcovbox_atf_judge(status);
    if (why && *why)
        printf("failed: %s\n", why);
    fflush(stdout);
    if (tc->cleanup && (pid = fork()) == 0) {
        tc->cleanup(tc);
        exit(0);
    }
    if (tc->cleanup && pid > 0)
        waitpid(pid, &status, 0);
    return !why;
}

KCOVBOX_ATF_UNUSED int kcovbox_atf_list(atf_tp_t *tp)
{
    printf("Content-Type: application/X-atf-tp; version=\"1\"\n\n");
    for (atf_tc_t *tc = tp->first; tc; tc = tc->next) {
        if (tc->head)
            tc->head(tc);
        printf("ident: %s\n", tc->name);
        for (int i = 0; i < tc->vars; i++)
            printf("%s: %s\n", tc->keys[i], tc->values[i]);
        if (tc->cleanup)
            printf("has.cleanup: true\n");
        if (tc->next)
            printf("\n");
    }
    return 0;
}

KCOVBOX_ATF_UNUSED int kcovbox_atf_run_all(atf_tp_t *tp)
{
    int failed = 0;
    void *shared = mmap(NULL, sizeof(*kcovbox_atf_now), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (shared != MAP_FAILED)
        kcovbox_atf_now = shared;
    for (atf_tc_t *tc = tp->first; tc; tc = tc->next)
        failed += !kcovbox_atf_run_child(tc);
    return failed != 0;
}

/* NAME, NAME:body or NAME:cleanup, in this process. */
KCOVBOX_ATF_UNUSED int kcovbox_atf_run_one(atf_tp_t *tp, const char *self, const char *name)
{
    const char *part = strchr(name, ':');
    size_t length = part ? (size_t)(part - name) : strlen(name);
    atf_tc_t *tc = tp->first;

    while (tc && (strlen(tc->name) != length || strncmp(tc->name, name, length) != 0))
        tc = tc->next;
    if (!tc || (part && strcmp(part, ":body") && strcmp(part, ":cleanup"))) {
        fprintf(stderr, "%s: ERROR: Unknown test case `%s'\n", self, name);
        return 1;
    }
    if (!part || strcmp(part, ":cleanup") != 0)
        kcovbox_atf_run_body(tc);
    if (tc->head)
        tc->head(tc);
    if (tc->cleanup)
        tc->cleanup(tc);
    return 0;
}

KCOVBOX_ATF_UNUSED int kcovbox_atf_main(int argc, char **argv, atf_error_t (*add)(atf_tp_t *))
{
    atf_tp_t tp = {.last = &tp.first};
    bool only_list = false;
    int c;

    while ((c = getopt(argc, argv, "lr:s:v:")) != -1) {
        if (c == 'l')
            only_list = true;
        else if (c == 'r')
            kcovbox_atf_result_file = optarg;
        else if (c == 'v' && strchr(optarg, '=') && kcovbox_atf_configs < KCOVBOX_ATF_VARS)
            kcovbox_atf_config[kcovbox_atf_configs++] = optarg;
        else if (c == '?' || c == 'v')
            return 1;
    }
    if (atf_is_error(add(&tp)))
        return 1;
    if (only_list)
        return kcovbox_atf_list(&tp);
    if (optind == argc)
        return kcovbox_atf_run_all(&tp);
    if (optind + 1 < argc) {
        fprintf(stderr, "%s: ERROR: Cannot provide more than one test case name\n", argv[0]);
        return 1;
    }
    return kcovbox_atf_run_one(&tp, argv[0], argv[optind]);
}

#include "atf-utils.h"

#endif
