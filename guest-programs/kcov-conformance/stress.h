/*
 * Threads that open, size, map, enable, disable, close, die and fork at random over shared
 * descriptors, while the following must hold:
 *
 *     - a count never exceeds the capacity of its area, and every record is a kernel address
 *     - mmap and dup of a descriptor may meet its close
 *     - errors are those of the dialect's tables, nothing else
 *     - private memory stays unchanged: canaries catch records written through stale pointers
 *     - a dead thread owns nothing: in the end one thread can enable every descriptor
 *     - memory that was free before is free again
 *
 *     stress [OPERATIONS [SEED [THREADS [remote]]]]
 *
 * With "remote" the threads also attach descriptors to remotes and cause deferred work on behalf of
 * them. Then ownership is not checked at the end: OpenBSD's disable of a remote leaves the caller's
 * own descriptor without an owner that could disable it.
 */
#include "dialect.h"
#include "stress-remote.h"
#include <stdatomic.h>

#define SLOTS        6
#define THREADS_MAX  16
#define CANARY_WORDS 512

/* A descriptor that any thread may use; the lock only covers the three fields. */
static struct slot {
    pthread_mutex_t lock;
    int fd;
    word *area;
    word words;
} slots[SLOTS];

static atomic_long left, done, allowed_errors;
static bool with_remotes;
static const word sizes[] = {512, 1024, 512, 4096};

static word next_random(word *state)
{
    word x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

static void fail(const char *what, word a, word b)
{
    printf("not ok: %s (%lu, %lu)\n", what, a, b);
    fflush(stdout);
    _exit(1);
}

static void expect(int result, const char *what)
{
    static const int allowed[] = {EBUSY, EINVAL, ENXIO, EPERM, ENOENT, ENOBUFS, EEXIST, EBADF};
    if (result != -1)
        return;
    for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
        if (errno == allowed[i]) {
            atomic_fetch_add(&allowed_errors, 1);
            return;
        }
    }
    fail(what, (word)errno, 0);
}

static void work(void)
{
    (void)!read(-1, NULL, 0);
    (void)getppid();
}

static void check_area(const word *area, word words)
{
    word n = LOAD(area);
    if (n > words - 1)
        fail("count exceeds capacity", n, words);
    for (word i = 1; i <= n && i < 40; i++)
        if (LOAD(area + i) != 0 && LOAD(area + i) < 0xffffffff80000000UL)
            fail("record is no kernel address", i, LOAD(area + i));
}

static void open_slot(struct slot *s, word *rng)
{
    word words = sizes[next_random(rng) % 4];
    if (s->fd != -1)
        return;
    s->fd = kcov_open();
    if (s->fd == -1)
        fail("open", (word)errno, 0);
    if (kcov_size(s->fd, words) == -1)
        fail("set size", (word)errno, words);
    s->words = words;
    s->area = kcov_map(s->fd, words);
    if (!s->area)
        fail("map", (word)errno, words);
}

static void close_slot(struct slot *s, bool keep_mapping)
{
    if (s->fd == -1)
        return;
    close(s->fd);
    s->fd = -1;
    if (!keep_mapping)
        munmap(s->area, s->words * 8);
    s->area = NULL; /* a kept mapping lives until the process ends: few of them */
}

static void in_child(struct slot *s)
{
    pid_t child = fork();
    if (child == -1)
        return; /* out of processes for a moment */
    if (child == 0) {
        if (s->fd != -1) {
            expect(kcov_enable(s->fd, MODE_PC), "enable in child");
            work();
        }
        _exit(0);
    }
    int status;
    if (waitpid(child, &status, 0) == child && status != 0)
        fail("child", (word)status, 0);
}

/* Under the slot's lock. True: the thread is to die now. */
static bool operate(struct slot *s, word *rng)
{
    switch (next_random(rng) % 16) {
    case 0:
    case 1:
        open_slot(s, rng);
        break;
    case 2:
        close_slot(s, next_random(rng) % 64 == 0);
        break;
    case 3:
    case 4:
    case 5:
        if (s->fd != -1)
            expect(kcov_enable(s->fd, MODE_PC), "enable");
        break;
    case 6:
    case 7:
        if (s->fd != -1)
            expect(kcov_disable(s->fd, 0), "disable");
        break;
    case 8:
        if (s->area)
            STORE(s->area, 0);
        break;
    case 9:
        if (next_random(rng) % 32 == 0)
            in_child(s);
        break;
    case 10:
        return next_random(rng) % 8 == 0;
    case 11:
        if (s->area && next_random(rng) % 16 == 0) {
            word *again = kcov_map(s->fd, s->words);
            if (again && LOAD(again) > s->words)
                fail("second mapping", LOAD(again), s->words);
            if (again)
                munmap(again, s->words * 8);
        }
        break;
    case 12:
        usleep(1);
        break;
    case 13:
        if (with_remotes && s->fd != -1)
            expect(remote_operation(s->fd, next_random(rng)), "remote");
        break;
    default:
        if (s->area)
            check_area(s->area, s->words);
        break;
    }
    return false;
}

/* Without the lock: the descriptor may be closed, or be another, at any moment. */
static void against_close(struct slot *s, word *rng)
{
    int fd = __atomic_load_n(&s->fd, __ATOMIC_RELAXED);

    if (next_random(rng) % 2) {
        word *area = kcov_map(fd, sizes[next_random(rng) % 4]);
        if (area)
            munmap(area, 4096);
    } else {
        int copy = dup(fd);
        if (copy != -1)
            close(copy);
    }
}

static void *live(void *arg)
{
    word rng = (word)arg;
    word *canary =
        mmap(NULL, CANARY_WORDS * 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (canary == MAP_FAILED)
        fail("canary", (word)errno, 0);
    for (word i = 0; i < CANARY_WORDS; i++)
        canary[i] = rng ^ i;
    const word mark = rng;
    bool dies = false;
    while (!dies && atomic_fetch_sub(&left, 1) > 0) {
        struct slot *s = &slots[next_random(&rng) % SLOTS];
        work();
        if (next_random(&rng) % 4 == 0)
            against_close(s, &rng);
        pthread_mutex_lock(&s->lock);
        dies = operate(s, &rng);
        pthread_mutex_unlock(&s->lock);
        atomic_fetch_add(&done, 1);
    }
    for (word i = 0; i < CANARY_WORDS; i++)
        if (canary[i] != (mark ^ i))
            fail("canary overwritten", i, canary[i]);
    munmap(canary, CANARY_WORDS * 8);
    return NULL;
}

static long free_kib(void)
{
    char line[128];
    long kib = -1;
    FILE *f = fopen("/proc/meminfo", "r");
    if (!f)
        return -1;
    while (fgets(line, sizeof(line), f))
        if (sscanf(line, "MemFree: %ld", &kib) == 1)
            break;
    fclose(f);
    return kib;
}

/* All operations in a child, so that the kernel must clean up everything at its exit. */
static int generation(long operations, word seed, int threads)
{
    pthread_t thread[THREADS_MAX];
    word rng = seed;

    atomic_store(&left, operations);
    for (int i = 0; i < SLOTS; i++) {
        pthread_mutex_init(&slots[i].lock, NULL);
        slots[i].fd = -1;
    }
    for (int i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, live, (void *)next_random(&rng)))
            fail("thread", (word)errno, 0);
    while (atomic_load(&left) > 0)
        for (int i = 0; i < threads; i++) {
            pthread_join(thread[i], NULL);
            if (pthread_create(&thread[i], NULL, live, (void *)next_random(&rng)))
                fail("thread", (word)errno, 0);
        }
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < SLOTS; i++) {
        if (slots[i].fd == -1 || with_remotes)
            continue;
        if (kcov_enable(slots[i].fd, MODE_PC) == -1 || kcov_disable(slots[i].fd, 0) == -1)
            fail("a dead thread still owns a descriptor", (word)i, (word)errno);
    }
    printf("%ld operations, %ld refused\n", atomic_load(&done), atomic_load(&allowed_errors));
    return 0;
}

/* Linux allocates the areas of interrupts at the first REMOTE_ENABLE and keeps them. */
static void enable_a_remote(void)
{
#ifdef DIALECT_LINUX
    pid_t child = fork();
    if (child == 0) {
        int fd = kcov_open();
        _exit(fd == -1 || kcov_size(fd, 512) || kcov_remote(fd, "0,512,0,1"));
    }
    int status = 0;
    if (waitpid(child, &status, 0) == -1 || status != 0)
        fail("the first remote", (word)status, 0);
#endif
}

int main(int argc, char **argv)
{
    long operations = argc > 1 ? atol(argv[1]) : 20000;
    word seed = argc > 2 ? strtoul(argv[2], NULL, 0) : 1;
    int threads = argc > 3 ? atoi(argv[3]) : 4;
    with_remotes = argc > 4;
    if (with_remotes) {
        make_mailboxes();
        enable_a_remote();
    }
    long before = 0, after;

    if (threads < 1 || threads > THREADS_MAX || seed == 0)
        return 2;
    for (int round = 0; round < 2; round++) { /* the first fills the kernel's caches */
        int status = 0;
        before = free_kib();
        fflush(stdout);
        pid_t child = fork();
        if (child == 0)
            exit(generation(operations / 2, seed + (word)round, threads));
        if (waitpid(child, &status, 0) == -1 || status != 0)
            fail("generation", (word)status, (word)round);
    }
    after = free_kib();
    if (before - after > 64)
        fail("memory is lost (KiB)", (word)before, (word)after);
    printf("ok stress\n");
    return 0;
}
