/*
 * Behaviour beyond the conformance tables: the contents of the area. One test per behaviour, each
 * in a process of its own; a test states the differences between the dialects.
 * Prints one line per test and "N tests, M failed".
 *
 *     behaviour [-b] [NAME]     -b: also the count and a hash of every area that the test left
 */
#include "dialect.h"
#include <signal.h>

#define WORDS        8192UL /* a multiple of a page in every dialect */
#define KERNEL_FIRST 0xffffffff80000000UL

static const char *self; /* path of this program, for exec */

#define REQUIRE(cond)                                                                              \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            printf("  %s:%d: %s (errno %d)\n", __func__, __LINE__, #cond, errno);                  \
            fflush(stdout);                                                                        \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

struct kcov {
    int fd;
    word *area;
};

/* The areas of this test; show_areas() prints them at its end. */
static struct {
    word *area, words;
} left[16];
static int made;

static int forget(void *p, size_t bytes)
{
    for (int i = 0; i < made; i++)
        if (left[i].area == p)
            left[i].area = NULL;
    return munmap(p, bytes);
}
#define munmap forget

static struct kcov ready(word words)
{
    struct kcov k = {.fd = kcov_open()};
    REQUIRE(k.fd != -1);
    REQUIRE(kcov_size(k.fd, words) == 0);
    k.area = kcov_map(k.fd, words);
    REQUIRE(k.area != NULL);
    if (made < 16) {
        left[made].area = k.area;
        left[made++].words = words;
    }
    return k;
}

/* Hashes first: if this thread is still traced, the system call that prints is recorded too. */
static void show_areas(const char *name)
{
    word hash[16], count[16];

    for (int i = 0; i < made; i++) {
        hash[i] = 0xcbf29ce484222325UL;
        count[i] = left[i].area ? LOAD(left[i].area) : 0;
        for (word w = 0; left[i].area && w < left[i].words; w++)
            hash[i] = (hash[i] ^ LOAD(left[i].area + w)) * 0x100000001b3UL;
    }
    for (int i = 0; i < made; i++)
        if (left[i].area)
            printf("  %s area %d: %lu %016lx\n", name, i, count[i], hash[i]);
    fflush(stdout);
}

/* The calls that are traced; some of each need a comparison. */
static void work(void)
{
    (void)!read(-1, NULL, 0);
    (void)getppid();
}

static void *enable_and_work(void *arg)
{
    struct kcov *k = arg;
    REQUIRE(kcov_enable(k->fd, MODE_PC) == 0);
    work();
    return NULL;
}

/* ---- Recording ---- */

static void pcs_are_kernel_addresses(void)
{
    struct kcov k = ready(WORDS);
    REQUIRE(kcov_enable(k.fd, MODE_PC) == 0);
    STORE(k.area, 0);
    work();
    word n = LOAD(k.area);
    REQUIRE(n > 5 && n < WORDS);
    for (word i = 1; i <= n; i++)
        REQUIRE(k.area[i] > KERNEL_FIRST);
    REQUIRE(kcov_disable(k.fd, 0) == 0);
}

static void comparisons_are_well_formed(void)
{
    struct kcov k = ready(WORDS);
    REQUIRE(kcov_enable(k.fd, MODE_CMP) == 0);
    STORE(k.area, 0);
    work();
    word n = LOAD(k.area);
    REQUIRE(n > 0 && n <= (WORDS - 1) / 4);
    for (word i = 0; i < n; i++) {
        const word *r = k.area + 1 + 4 * i;
        word bits = 8UL << (r[0] >> 1);
        REQUIRE(r[0] < 8);
        REQUIRE(bits == 64 || (r[1] >> bits == 0 && r[2] >> bits == 0));
        REQUIRE(r[3] > KERNEL_FIRST);
    }
}

static void the_same_call_gives_the_same_records(void)
{
    static word first[WORDS];
    struct kcov k = ready(WORDS);
    REQUIRE(kcov_enable(k.fd, MODE_PC) == 0);
    for (int round = 0; round < 5; round++) {
        STORE(k.area, 0);
        (void)!read(-1, NULL, 0);
        word n = LOAD(k.area); /* from here on page faults append to the area */
        if (round == 1)
            memcpy(first + 1, k.area + 1, (first[0] = n) * sizeof(word));
        else if (round > 1)
            REQUIRE(n == first[0] && memcmp(first + 1, k.area + 1, n * sizeof(word)) == 0);
    }
}

static void a_full_area_drops_silently(void)
{
    for (int mode = 0; mode < 2; mode++) {
        struct kcov k = ready(512);
        REQUIRE(kcov_enable(k.fd, mode ? MODE_CMP : MODE_PC) == 0);
        for (int i = 0; i < 200; i++)
            work();
        REQUIRE(LOAD(k.area) == (mode ? 127 : 511));
        word last = k.area[511];
        work();
        REQUIRE(LOAD(k.area) == (mode ? 127 : 511) && k.area[511] == last);
        REQUIRE(mode == 0 || k.area[509] == 0); /* words that no whole record fits stay untouched */
        REQUIRE(kcov_disable(k.fd, 0) == 0);
        close(k.fd);
    }
}

static void enable_appends_and_never_clears(void)
{
    struct kcov k = ready(WORDS);
    REQUIRE(kcov_enable(k.fd, MODE_PC) == 0);
    STORE(k.area, 0);
    work();
    REQUIRE(kcov_disable(k.fd, 0) == 0);
    word n = LOAD(k.area), head = k.area[1];
    REQUIRE(n > 0);
    REQUIRE(LOAD(k.area) == n); /* silent once disabled */
    work();
    REQUIRE(LOAD(k.area) == n);
    REQUIRE(kcov_enable(k.fd, MODE_PC) == 0);
    work();
    REQUIRE(LOAD(k.area) > n && k.area[1] == head);
}

static void hostile_counts_never_write_outside(void)
{
    static const word counts[] = {~0UL,      ~0UL - 1,  ~0UL >> 1, 1UL << 63,  (1UL << 62) - 1,
                                  1UL << 62, 1UL << 61, 1UL << 32, 0xffffffff, 0x7fffffff,
                                  512,       511,       513,       100000};
    for (int mode = 0; mode < 2; mode++) {
        for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
            struct kcov k = ready(512);
            for (int w = 1; w < 512; w++)
                k.area[w] = 0x5a5a5a5a5a5a5a5aUL;
            STORE(k.area, counts[i]);
            REQUIRE(kcov_enable(k.fd, mode ? MODE_CMP : MODE_PC) == 0);
            work();
            REQUIRE(kcov_disable(k.fd, 0) == 0);
            REQUIRE(LOAD(k.area) == counts[i]);
            for (int w = 1; w < 512; w++)
                REQUIRE(k.area[w] == 0x5a5a5a5a5a5a5a5aUL);
            munmap(k.area, 4096);
            close(k.fd);
        }
    }
}

static void two_mappings_show_the_same(void)
{
    struct kcov k = ready(512);
    word *other = kcov_map(k.fd, 512);
    REQUIRE(other != NULL && other != k.area);
    STORE(k.area + 100, 42);
    REQUIRE(LOAD(other + 100) == 42);
    REQUIRE(kcov_enable(k.fd, MODE_PC) == 0);
    work();
    REQUIRE(LOAD(other) == LOAD(k.area) && LOAD(other) > 0);
}

/* ---- Ownership and lifetime ---- */

static void close_while_enabled(void)
{
    struct kcov k = ready(WORDS);
    REQUIRE(kcov_enable(k.fd, MODE_PC) == 0);
#ifdef DIALECT_LINUX
    /* The mapping holds the file, so only unmapping and closing both release it. */
#endif
    REQUIRE(close(k.fd) == 0);
    STORE(k.area, 0);
    work();
#if defined(DIALECT_NETBSD) || defined(DIALECT_LINUX)
    REQUIRE(LOAD(k.area) > 0);
#else
    REQUIRE(LOAD(k.area) == 0);
#endif
    STORE(k.area + 300, 7); /* the area lives as long as the mapping */
    REQUIRE(LOAD(k.area + 300) == 7);
    struct kcov next = {.fd = kcov_open()};
    REQUIRE(kcov_size(next.fd, 512) == 0);
    REQUIRE(kcov_enable(next.fd, MODE_PC) == -1); /* busy until this thread exits */
}

static void threads_pass_a_descriptor_on(void)
{
    struct kcov k = ready(WORDS);
    pthread_t t;
    for (int i = 0; i < 20; i++) {
        STORE(k.area, 0);
        REQUIRE(pthread_create(&t, NULL, enable_and_work, &k) == 0);
        REQUIRE(pthread_join(t, NULL) == 0);
        word n = LOAD(k.area);
        REQUIRE(n > 0);
        work(); /* this thread is not traced */
        REQUIRE(LOAD(k.area) == n);
    }
    REQUIRE(kcov_enable(k.fd, MODE_PC) == 0);
}

static void a_child_is_not_traced(void)
{
    struct kcov k = ready(WORDS);
    REQUIRE(kcov_enable(k.fd, MODE_PC) == 0);
    int pair[2];
    char byte;
    REQUIRE(pipe(pair) == 0);
    pid_t child = fork();
    if (child == 0) {
        usleep(20000); /* on another hart the parent may still be on its way into read(2) */
        STORE(k.area, 0);
        for (int i = 0; i < 50; i++)
            work();
        /* The parent sleeps in read(2): records that appear now are not this thread's. */
        word seen = LOAD(k.area);
        _exit(write(pair[1], &seen, 1) == 1 && seen < 50 ? 0 : 1);
    }
    REQUIRE(read(pair[0], &byte, 1) == 1);
    int status;
    REQUIRE(waitpid(child, &status, 0) == child && status == 0);
}

static void a_child_may_enable_what_the_parent_did_not(void)
{
    struct kcov k = ready(WORDS);
    for (int i = 0; i < 3; i++) {
        STORE(k.area, 0);
        pid_t child = fork();
        if (child == 0) {
            REQUIRE(kcov_enable(k.fd, MODE_PC) == 0);
            work();
            _exit(0);
        }
        int status;
        REQUIRE(waitpid(child, &status, 0) == child && status == 0);
        REQUIRE(LOAD(k.area) > 0);
    }
}

/* The child enables and becomes another program, which is still traced into the parent's mapping.
 */
static void exec_keeps_tracing(void)
{
    struct kcov k = ready(262144);
    pid_t child = fork();
    if (child == 0) {
        REQUIRE(kcov_enable(k.fd, MODE_PC) == 0);
        execl(self, self, "exec", (char *)NULL);
        _exit(9);
    }
    int status;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    REQUIRE(LOAD(k.area) > 1000);
}

static void dup_is_the_same_descriptor(void)
{
    struct kcov k = ready(WORDS);
    int copy = dup(k.fd);
    REQUIRE(copy != -1 && close(k.fd) == 0);
    REQUIRE(kcov_enable(copy, MODE_PC) == 0);
    work();
    REQUIRE(LOAD(k.area) > 0);
    REQUIRE(kcov_disable(copy, 0) == 0);
}

static void sleeping_does_not_lose_the_thread(void)
{
    struct kcov k = ready(WORDS);
    REQUIRE(kcov_enable(k.fd, MODE_PC) == 0);
    usleep(2000);
    STORE(k.area, 0);
    work();
    REQUIRE(LOAD(k.area) > 0);
}

/* A hundred times the same call under timer interrupts gives a hundred times the same records. */
static volatile sig_atomic_t ticks;

static void on_alarm(int signo)
{
    (void)signo;
    ticks++;
}

static void interrupts_leave_nothing(void)
{
    struct kcov k = ready(WORDS);
    word want = 0;
    REQUIRE(kcov_enable(k.fd, MODE_PC) == 0);
    for (int i = 0; i < 3000; i++) {
        STORE(k.area, 0);
        (void)!read(-1, NULL, 0);
        word n = LOAD(k.area);
        if (i == 10)
            want = n;
        if (i > 10)
            REQUIRE(n == want);
    }
}

static void signals_are_traced_like_calls(void)
{
    struct kcov k = ready(WORDS);
    signal(SIGALRM, on_alarm);
    REQUIRE(kcov_enable(k.fd, MODE_PC) == 0);
    STORE(k.area, 0);
    raise(SIGALRM);
    REQUIRE(ticks == 1);
    REQUIRE(LOAD(k.area) > 0);
}

#include "behaviour-own.h"

#define TEST(fn) {#fn, fn}
static const struct {
    const char *name;
    void (*run)(void);
} tests[] = {TEST(pcs_are_kernel_addresses),
             TEST(comparisons_are_well_formed),
             TEST(the_same_call_gives_the_same_records),
             TEST(a_full_area_drops_silently),
             TEST(enable_appends_and_never_clears),
             TEST(hostile_counts_never_write_outside),
             TEST(two_mappings_show_the_same),
             TEST(close_while_enabled),
             TEST(threads_pass_a_descriptor_on),
             TEST(a_child_is_not_traced),
             TEST(a_child_may_enable_what_the_parent_did_not),
             TEST(exec_keeps_tracing),
             TEST(dup_is_the_same_descriptor),
             TEST(sleeping_does_not_lose_the_thread),
             TEST(interrupts_leave_nothing),
             TEST(signals_are_traced_like_calls),
             OWN_TESTS};

int main(int argc, char **argv)
{
    static char path[256];
    int failed = 0;
    const int count = (int)(sizeof(tests) / sizeof(tests[0]));

    if (argc > 1 && !strcmp(argv[1], "exec"))
        return getppid() > 0 ? 0 : 1;
    bool shows = argc > 1 && !strcmp(argv[1], "-b");
    argc -= shows;
    argv += shows;
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    self = length > 0 ? path : argv[0];
    for (int i = 0; i < count; i++) {
        int status = 0;
        if (argc > 1 && strcmp(argv[1], tests[i].name) != 0)
            continue;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            tests[i].run();
            if (shows)
                show_areas(tests[i].name);
            _exit(0);
        }
        waitpid(child, &status, 0);
        printf("%s %s\n", status ? "not ok" : "ok", tests[i].name);
        failed += status != 0;
    }
    printf("%d tests, %d failed\n", count, failed);
    return failed != 0;
}
