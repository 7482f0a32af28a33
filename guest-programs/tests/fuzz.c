/*
 * Random system calls against the kernel's own robustness, as process 1:
 *
 *     fuzz [CALLS [SEED [WORKERS]]]        init=/bin/fuzz ... -- 10000000 1 3
 *
 * Worker processes make the calls (fuzz-calls.h) and small sequences of them (fuzz-acts.h) with
 * threads, forks, signals, descriptors of every kind and addresses that are not theirs; many die of
 * it. This process starts new ones until the count is reached. From time to time it kills all; then
 * every process must be gone and all memory free again. The results of calls are not checked: the
 * kernel must survive, and a kasan, ubsan or debug kernel must have nothing to report.
 */
#include "fuzz.h"
#include "memory-use.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/xattr.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

static void random_act(struct fuzzer *f);

#include "fuzz-acts.h"

#define ROUNDS_PER_CHECK 64
#define IDLE_CHECKS_MAX  20
#define CALLS_PER_WORKER 500
#define PATIENCE_MS      300
#define PLAUSIBLE_CALLS  1000000 /* between two looks of process 1 */
#define NOBODY           1000

static struct shared *map_shared(void)
{
    int fd = open(SHARED_FILE, O_RDWR | O_CREAT, 0666);
    if (fd < 0 || ftruncate(fd, sizeof(struct shared)))
        return NULL;
    void *at = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return at == MAP_FAILED ? NULL : at;
}

/* The worker */

static void tick(int sig)
{
    (void)sig;
}

static void set_limit(int which, rlim_t value)
{
    struct rlimit limit = {value, value};
    setrlimit(which, &limit);
}

static void open_descriptors(struct fuzzer *f)
{
    static const char *const nodes[] = {
        "/dev/null",  "/dev/zero",   "/dev/full",    "/dev/random",     "/dev/edu", "/dev/toyusb",
        "/dev/vhci0", "/dev/sysctl", "/dev/kcov",    "/proc/self/maps", "/tmp",     "/proc/self",
        "/tmp/f",     "/dev/vda",    "/dev/console", "/dev/hwrng"};
    int pair[2];
    close_range(0, 300, 0);
    open("/dev/null", O_RDWR);
    int fail = open("/dev/fail-nth", O_RDWR);
    if (fail >= 0)
        dup2(fail, FAIL_FD);
    for (int i = 0; i < 12; i++) {
        const char *name = CHOOSE(f, nodes);
        bool quiet = !strcmp(name, "/dev/console"); /* its output is the log */
        if (open(name, (quiet ? O_RDONLY | O_NOCTTY : O_RDWR) | O_NONBLOCK) < 0)
            open(name, O_RDONLY);
    }
    for (int i = 0; i < 3; i++)
        if (once_in(f, 2) ? socketpair(AF_UNIX, pick(f, 2) ? SOCK_STREAM : SOCK_DGRAM, 0, pair)
                          : pipe(pair))
            return;
    raw(SYS_epoll_create1, 0, 0, 0, 0, 0, 0);
    raw(SYS_kqueue1, 0, 0, 0, 0, 0, 0);
    raw(SYS_eventfd2, 3, 0, 0, 0, 0, 0);
    raw(SYS_timerfd_create, 1, 0, 0, 0, 0, 0);
}

static void fill_memory(struct fuzzer *f)
{
    mmap(ARENA, ARENA_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
         -1, 0);
    for (size_t i = 0; i < BUFFER_BYTES; i += 8)
        *(uint64_t *)(fuzz_buffer + i) = rnd(f) % 3 ? any_value(f) : 0;
}

static void __attribute__((noreturn)) worker(uint64_t seed, long calls, int slot)
{
    static const int caught[] = {SIGALRM, SIGUSR1, SIGPIPE, SIGIO, 34, 35, 36};
    struct itimerval often = {{0, 5000}, {0, 5000}};
    struct fuzzer f = {.state = seed | 1, .slot = slot, .pid = getpid()};
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int sig = 1; sig <= 64; sig++) {
        uint64_t action[3] = {once_in(&f, 3)}; /* SIG_DFL, SIG_IGN */
        RAW4(SYS_rt_sigaction, sig, action, 0, 8);
    }
    for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++) {
        struct sigaction sa = {.sa_handler = tick, .sa_flags = once_in(&f, 2) ? SA_ONSTACK : 0};
        sigaction(caught[i], &sa, NULL);
    }
    setsid();
    set_limit(RLIMIT_NPROC, 40);
    set_limit(RLIMIT_AS, 256 << 20);
    set_limit(RLIMIT_CPU, 2);
    set_limit(RLIMIT_FSIZE, 1 << 20);
    open_descriptors(&f);
    set_limit(RLIMIT_NOFILE, FDS_MAX);
    setitimer(ITIMER_REAL, &often, NULL);
    if (!once_in(&f, 4) && (setgid(NOBODY) || setuid(NOBODY)))
        _exit(1);
    if (chdir("/tmp"))
        _exit(2);
    fill_memory(&f);
    while (calls-- > 0 && shared->calls < shared->limit) {
        if (once_in(&f, 30))
            random_act(&f);
        else
            random_call(&f);
    }
    _exit(0);
}

/* Process 1 */

struct slot {
    pid_t pid;
    uint64_t progress, since_ms;
};
static struct slot slots[WORKERS_MAX];
static int last_status, last_errno; /* of a worker; of a fork */

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Workers may have unmounted it, or mounted something else there. */
static void mount_fresh(const char *type, const char *where)
{
    while (umount2(where, MNT_DETACH) == 0)
        ;
    mount(type, where, type, 0, NULL);
}

static void mount_again(void)
{
    mount_fresh("devtmpfs", "/dev");
    mount_fresh("proc", "/proc");
    mount_fresh("debugfs", "/sys/kernel/debug");
}

/* Workers may have taken the terminal or stopped its output. */
static void open_console(void)
{
    close_range(0, 2, 0);
    int fd = open("/dev/console", O_RDWR | O_NOCTTY);
    dup(fd);
    dup(fd);
    ioctl(fd, 0x540a /* TCXONC */, 1 /* TCOON */);
}

static void say(const char *text)
{
    if (write(1, text, strlen(text)) < 0)
        open_console();
}

static void __attribute__((noreturn)) finish(int failures)
{
    fflush(stdout);
    exit(failures);
}

static void start(int i, uint64_t seed)
{
    pid_t pid = fork();
    if (pid == 0)
        worker(seed, CALLS_PER_WORKER, i);
    if (pid < 0)
        last_errno = errno;
    slots[i] = (struct slot){pid > 0 ? pid : 0, shared->progress[i], now_ms()};
}

/* Reaps zombies; kills a worker that makes no progress because it waits forever. */
static void look_after(int workers)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        for (int i = 0; i < workers; i++)
            if (slots[i].pid == pid) {
                slots[i].pid = 0;
                last_status = status;
            }
    for (int i = 0; i < workers; i++) {
        struct slot *s = &slots[i];
        if (!s->pid)
            continue;
        if (s->progress != shared->progress[i])
            *s = (struct slot){s->pid, shared->progress[i], now_ms()};
        else if (now_ms() - s->since_ms > PATIENCE_MS)
            kill(s->pid, SIGKILL);
    }
}

/* Kills all other processes. One that does not die within seconds never will. */
static void kill_all(void)
{
    uint64_t start_ms = now_ms();
    pid_t pid;
    do {
        kill(-1, SIGKILL);
        while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
            ;
        if (pid == 0)
            usleep(1000);
    } while (pid == 0 && now_ms() - start_ms < 20000);
    memset(slots, 0, sizeof(slots));
    if (pid == 0) {
        mount_again();
        open_console();
        if (write(open("/dev/provoke", O_WRONLY), "show-tasks", 10) != 10)
            printf("# a debug kernel would show them\n");
        printf("not ok fuzz: processes that cannot be killed\n");
        finish(1);
    }
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st, (void)type;
    if (where->level > 0)
        remove(path);
    return 0;
}

/* Removes the files of /tmp with its file system, or below it if a worker has removed that.
 */
static void remove_files(void)
{
    while (umount2("/tmp", MNT_DETACH) == 0)
        ;
    nftw("/tmp", remove_one, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    mount_fresh("tmpfs", "/tmp");
    chmod("/tmp", 01777);
}

/* Workers that are root may have changed those of process 1, which every worker inherits. */
static void restore_limits(void)
{
    static struct rlimit sound[RLIM_NLIMITS];
    static bool known;
    for (int i = 0; i < RLIM_NLIMITS; i++)
        if (known)
            setrlimit(i, &sound[i]);
        else
            getrlimit(i, &sound[i]);
    known = true;
}

/* Removes data that outlives the workers: segments, attributes of permanent files, our nice. */
static void forget_what_stays(void)
{
    struct shmid_ds ds;
    int highest = shmctl(0, SHM_INFO, (struct shmid_ds *)fuzz_buffer);
    for (int i = 0; i <= highest; i++) {
        int id = shmctl(i, SHM_STAT, &ds);
        if (id >= 0)
            shmctl(id, IPC_RMID, NULL);
    }
    for (size_t i = 0; i < sizeof(attribute_names) / sizeof(attribute_names[0]); i++) {
        removexattr("/", attribute_names[i]);
        removexattr("/tmp", attribute_names[i]);
    }
    setpriority(PRIO_PROCESS, 0, 0);
}

/* Act "disk" damages the first part of the disk, where its structure is. */
static void repair_disk(void)
{
    static char sound[65536];
    static ssize_t size;
    int fd = open("/dev/vda", O_RDWR);
    if (fd < 0)
        return;
    if (!size)
        size = pread(fd, sound, sizeof(sound), 0);
    else if (pwrite(fd, sound, (size_t)size, 0) != size)
        say("# the disk cannot be written\n");
    close(fd);
}

static void prepare_files(void)
{
    /* Workers may have moved or covered /tmp; without it none of them begins. */
    while (umount2("/tmp", MNT_DETACH) == 0)
        ;
    chmod("/", 0755);
    if (mkdir("/tmp", 0777) && chdir("/tmp")) {
        unlink("/tmp");
        mkdir("/tmp", 0777);
    }
    chdir("/");
    chmod("/tmp", 0777);
    chmod("/sys/kernel/debug", 0755);
    chmod("/sys/kernel/debug/kcov", 0666);
    chmod("/dev/kcov", 0666);
    repair_disk();
    forget_what_stays();
    chmod("/dev/vhci0", 0666);
    chmod("/dev/toyusb", 0666);
    mkdir("/tmp/d", 0777);
    close(open("/tmp/f", O_CREAT | O_RDWR, 0666));
    symlink("f", "/tmp/l");
    mkfifo("/tmp/fifo", 0666);
    chmod("/tmp/d", 0777);
}

/* Appends the sizes of kernel objects of which there are more than at the first call. */
static void describe_objects(char *line, size_t size, const struct memory_use *now)
{
    static struct memory_use early;
    if (!early.free_kib)
        early = *now;
    for (int i = 0; i < SIZES; i++)
        if (now->objects[i] > early.objects[i])
            snprintf(line + strlen(line), size - strlen(line), ", %ld of %ld bytes",
                     now->objects[i] - early.objects[i], now->bytes[i]);
}

/* Stops the world; gives the free memory in KiB. */
static long check(long baseline)
{
    char line[400];
    kill_all();
    restore_limits();
    mount_again();
    open_console();
    remove_files();
    struct memory_use use = memory_use();
    long free_kib = use.free_kib;
    snprintf(line, sizeof(line), "# %lu calls, %ld KiB free, %ld less than early on",
             (unsigned long)shared->calls, free_kib, baseline ? baseline - free_kib : 0);
    describe_objects(line, sizeof(line), &use);
    say(strcat(line, "\n"));
    static uint64_t calls_before;
    static int idle;
    idle = shared->calls == calls_before ? idle + 1 : 0;
    calls_before = shared->calls;
    if (idle == IDLE_CHECKS_MAX) {
        snprintf(line, sizeof(line),
                 "not ok fuzz: the workers make no calls any more; wait status %#x, errno of fork "
                 "%d\n",
                 (unsigned)last_status, last_errno);
        say(line);
        finish(1);
    }
    prepare_files();
    return free_kib;
}

/* Workers scribble over everything that they can write, these counters too. */
static uint64_t calls_so_far(uint64_t limit)
{
    static uint64_t believed;
    if (shared->calls - believed > PLAUSIBLE_CALLS)
        shared->calls = believed;
    believed = shared->calls;
    shared->limit = limit;
    return believed;
}

/* Prints the calls that never succeeded, so that nobody overestimates the fuzzer's reach. */
static void print_reach(void)
{
    int good = 0, tried = 0;
    printf("# never succeeded:");
    for (int nr = 0; nr < NR_MAX; nr++) {
        bool known = false;
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
            known = known || rows[i].nr == nr;
        tried += shared->tried[nr] > 0;
        good += shared->good[nr] > 0;
        if (known && !shared->good[nr])
            printf(" %d", nr);
    }
    printf("\n# %d numbers tried, %d have succeeded\n", tried, good);
}

int main(int argc, char **argv)
{
    shared = map_shared();
    if (!shared)
        return 2;
    if (argc > 4 && !strcmp(argv[1], "child"))
        worker(strtoull(argv[2], NULL, 0), atol(argv[3]), atoi(argv[4]) % WORKERS_MAX);
    if (getpid() != 1) {
        printf("fuzz: must be the first process of a kernel that may come to harm\n");
        return 2;
    }
    uint64_t calls = argc > 1 ? strtoull(argv[1], NULL, 0) : 10000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    int workers = argc > 3 ? atoi(argv[3]) : 2;
    if (workers < 1 || workers > WORKERS_MAX)
        workers = 2;
    for (int sig = 1; sig <= 64; sig++) {
        uint64_t ignore[3] = {1 /* SIG_IGN */};
        if (sig != SIGCHLD)
            RAW4(SYS_rt_sigaction, sig, ignore, 0, 8);
    }
    chmod(SHARED_FILE, 0666);
    memset(shared, 0, sizeof(*shared));
    shared->limit = calls;
    long baseline = 0, left = 0;
    restore_limits();
    mount_again();
    prepare_files();
    for (uint64_t round = 0; calls_so_far(calls) < calls;) {
        for (int i = 0; i < workers; i++)
            if (!slots[i].pid)
                start(i, (seed * 0x9e3779b97f4a7c15 + ++round) * 0xbf58476d1ce4e5b9);
        usleep(2000);
        look_after(workers);
        if (round % ROUNDS_PER_CHECK < (uint64_t)workers && round > ROUNDS_PER_CHECK) {
            left = check(baseline);
            if (!baseline)
                baseline = left;
            round += (uint64_t)workers;
        }
    }
    left = check(baseline);
    print_reach();
    printf("ok fuzz: %lu calls, seed %lu, %d workers, free memory %ld KiB less than early on\n",
           (unsigned long)shared->calls, (unsigned long)seed, workers,
           baseline ? baseline - left : 0);
    finish(0);
}
