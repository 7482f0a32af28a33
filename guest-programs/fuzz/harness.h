/*
 * The agent for a program of the user's own: each call of a program is one call of
 * LLVMFuzzerTestOneInput, and the records are those of the hooks that clang puts into that code
 * (-fsanitize-coverage=trace-pc,trace-cmp). They have kcov's form, so the host reads them as it
 * reads those of a kernel. The kernel does not record.
 */
#ifndef HARNESS_H
#define HARNESS_H

#define MATCH_MAX 64  /* bytes of a comparison of strings that give points */
#define STRINGS   499 /* of the code, whose points are told apart */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);

static bool is_recording; /* the C library compares strings before there is an area */

/*
 * The last point of each process, in memory that all of them have; no record of deferred work comes
 * so far. Processes whose numbers differ by LASTS share one.
 */
#define LASTS            64
#define last_of(process) extra[EXTRA_WORDS - 1 - (uint64_t)(process) % LASTS]
static volatile uint64_t *last_point; /* of this process */
static pid_t agent;                   /* the process that makes the calls */

static inline bool is_recorded(void)
{
    return is_recording;
}

static inline void note_point(uint64_t point)
{
    *last_point = point;
}

#include "hooks.h"

/*
 * Comparisons of strings, whose code has no hooks. The number of equal bytes at the start is a
 * point of its own, at an address that no code has, so that each further byte is progress.
 * Strings of the code have points of their own: a table of words is searched in one place.
 */
static void compared(const uint8_t *a, const uint8_t *b, size_t n, uint64_t place)
{
    size_t equal = 0;
    while (equal < n && equal < MATCH_MAX && a[equal] == b[equal])
        equal++;
    uint64_t fixed = (uint64_t)b < MATCHED ? (uint64_t)b : (uint64_t)a < MATCHED ? (uint64_t)a : 0;
    add_point(MATCHED + 2 * (fixed % STRINGS * (MATCH_MAX + 1) + equal));
    for (size_t at = 0, bytes; at < n && at < MATCH_MAX; at += bytes) {
        uint64_t log2 = n - at >= 8 ? 3 : n - at >= 4 ? 2 : n - at >= 2 ? 1 : 0, x = 0, y = 0;
        bytes = 1UL << log2;
        for (size_t i = bytes; i-- > 0;)
            x = x << 8 | a[at + i], y = y << 8 | b[at + i];
        add_cmp(CMP_SIZE(log2), x, y, place);
    }
}

static size_t shorter(const char *a, const char *b, size_t most)
{
    size_t n = 0;
    while (n < most && a[n] && b[n])
        n++;
    return n < most ? n + 1 : n;
}

int __real_memcmp(const void *a, const void *b, size_t n);
int __real_strcmp(const char *a, const char *b);
int __real_strncmp(const char *a, const char *b, size_t n);

int __wrap_memcmp(const void *a, const void *b, size_t n)
{
    compared(a, b, n, PLACE);
    return __real_memcmp(a, b, n);
}

int __wrap_bcmp(const void *a, const void *b, size_t n)
{
    compared(a, b, n, PLACE);
    return __real_memcmp(a, b, n);
}

int __wrap_strcmp(const char *a, const char *b)
{
    compared((const uint8_t *)a, (const uint8_t *)b, shorter(a, b, MATCH_MAX), PLACE);
    return __real_strcmp(a, b);
}

int __wrap_strncmp(const char *a, const char *b, size_t n)
{
    compared((const uint8_t *)a, (const uint8_t *)b, shorter(a, b, n), PLACE);
    return __real_strncmp(a, b, n);
}

/* Not getpid(3), which code under test may replace. */
static pid_t own_number(void)
{
    return (pid_t)call6(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

static const struct {
    int number;
    const char *name;
} signals[] = {
    {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGILL, "SIGILL"},
    {SIGFPE, "SIGFPE"},   {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"},
};

/*
 * A process that the code under test has forked has ended. Its crash is one of the whole: its
 * parent ends by the same signal, up to the agent, of which the agent's parent says why.
 */
static void saw_end(pid_t process, int number)
{
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        if (!is_recording || signals[i].number != number)
            continue;
        sigset_t only;
        sigemptyset(&only);
        sigaddset(&only, number);
        *last_point = last_of(process);
        signal(number, SIG_DFL);
        sigprocmask(SIG_UNBLOCK, &only, NULL);
        call6(SYS_kill, (uint64_t)own_number(), (uint64_t)number, 0, 0, 0, 0);
    }
}

static void saw_status(pid_t process, int status)
{
    if (process > 0 && WIFSIGNALED(status))
        saw_end(process, WTERMSIG(status));
}

pid_t __real_fork(void);
pid_t __real_wait4(pid_t process, int *status, int options, struct rusage *usage);
int __real_waitid(idtype_t type, id_t id, siginfo_t *info, int options);

pid_t __wrap_fork(void)
{
    pid_t process = __real_fork();
    if (process == 0 && last_point) {
        uint64_t last = *last_point;
        last_point = &last_of(own_number());
        *last_point = last;
    }
    return process;
}

pid_t __wrap_wait4(pid_t process, int *status, int options, struct rusage *usage)
{
    int own = 0;
    pid_t ended = __real_wait4(process, &own, options, usage);
    saw_status(ended, own);
    if (status && ended > 0)
        *status = own;
    return ended;
}

pid_t __wrap_wait3(int *status, int options, struct rusage *usage)
{
    return __wrap_wait4(-1, status, options, usage);
}

pid_t __wrap_waitpid(pid_t process, int *status, int options)
{
    return __wrap_wait4(process, status, options, NULL);
}

pid_t __wrap_wait(int *status)
{
    return __wrap_wait4(-1, status, 0, NULL);
}

int __wrap_waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
    siginfo_t own = {0};
    int err = __real_waitid(type, id, &own, options);
    if (err == 0 && (own.si_code == CLD_KILLED || own.si_code == CLD_DUMPED))
        saw_end(own.si_pid, own.si_status);
    if (info && err == 0)
        *info = own;
    return err;
}

/*
 * The parent says why the process ended: code under test may have its own handlers, block signals,
 * or have closed all descriptors. The title of the crash has the last point: abort(3) itself is the
 * same code for all.
 */
static void report_end(pid_t process, int status)
{
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        if (WIFSIGNALED(status) && signals[i].number == WTERMSIG(status))
            printf("harness: %s behind 0x%lx\n", signals[i].name, last_of(process));
    fflush(stdout);
}

/* In the parent, which keeps this memory until the host has read it. */
static void open_extra(void)
{
    map(EXTRA, EXTRA_WORDS * 8, MAP_SHARED | MAP_ANONYMOUS, -1);
    map(AREA, AREA_WORDS * 8, MAP_SHARED | MAP_ANONYMOUS, -1);
    open_control();
}

static void open_records(void) {}

static void prepare_calls(void)
{
    static char *names[] = {"harness", NULL}, **argv = names;
    int argc = 1;

    if (LLVMFuzzerInitialize)
        LLVMFuzzerInitialize(&argc, &argv);
}

static void start_records(void)
{
    area[0] = 0;
    agent = own_number();
    last_point = &last_of(agent);
    is_recording = true;
}

static inline uint64_t make_call(const struct call *c, const uint64_t v[6])
{
    (void)c;
    uint64_t value = (uint64_t)(int64_t)LLVMFuzzerTestOneInput((const uint8_t *)v[0], v[1]);
    if (own_number() != agent) /* a process that the code has forked */
        quit();
    return value;
}

/* Processes that have ended and for which nobody has waited. */
static void end_calls(void)
{
    pid_t ended;
    int status = 0;
    while ((ended = __real_wait4(-1, &status, WNOHANG, NULL)) > 0)
        saw_status(ended, status);
}

#endif
