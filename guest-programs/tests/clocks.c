/* Time, limits, identity and the other small calls. */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>

static long elapsed_ns(const struct timespec *a, const struct timespec *b)
{
    return (b->tv_sec - a->tv_sec) * 1000000000L + b->tv_nsec - a->tv_nsec;
}

static void clocks_advance(void)
{
    struct timespec a, b;
    CHECK(clock_gettime(CLOCK_MONOTONIC, &a) == 0);
    for (volatile int i = 0; i < 10000; i++)
        ;
    CHECK(clock_gettime(CLOCK_MONOTONIC, &b) == 0 && elapsed_ns(&a, &b) > 0);
    CHECK(clock_gettime(99, &a) == -1 && errno == EINVAL);
    CHECK(clock_getres(CLOCK_MONOTONIC, &a) == 0 && a.tv_sec == 0);
}

static void sleeping_takes_at_least_as_long(void)
{
    struct timespec a, b, ts = {0, 3000000};
    clock_gettime(CLOCK_MONOTONIC, &a);
    CHECK(nanosleep(&ts, NULL) == 0);
    clock_gettime(CLOCK_MONOTONIC, &b);
    CHECK(elapsed_ns(&a, &b) >= 3000000);
    b.tv_nsec += 2000000;
    if (b.tv_nsec >= 1000000000)
        b.tv_sec++, b.tv_nsec -= 1000000000;
    CHECK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &b, NULL) == 0);
    clock_gettime(CLOCK_MONOTONIC, &a);
    CHECK(elapsed_ns(&b, &a) >= 0);
}

static void bad_sleeps_are_refused(void)
{
    struct timespec bad = {0, 1000000000}, zero = {0, 0};
    CHECK(nanosleep(&bad, NULL) == -1 && errno == EINVAL);
    CHECK(nanosleep((void *)8, NULL) == -1 && errno == EFAULT);
    CHECK(nanosleep(&zero, NULL) == 0);
    CHECK(sleep(0) == 0);
}

static void usage_grows_with_work(void)
{
    struct rusage ru;
    struct tms t;
    CHECK(getrusage(RUSAGE_SELF, &ru) == 0 && ru.ru_minflt > 0);
    CHECK(getrusage(55, &ru) == -1 && errno == EINVAL);
    CHECK(times(&t) != (clock_t)-1);
}

static void limits(void)
{
    struct rlimit r;
    CHECK(getrlimit(RLIMIT_STACK, &r) == 0 && r.rlim_cur >= (1 << 20));
    CHECK(getrlimit(99, &r) == -1 && errno == EINVAL);
    CHECK(getrlimit(RLIMIT_NOFILE, &r) == 0);
    r.rlim_cur = r.rlim_max + 1;
    CHECK(r.rlim_max == RLIM_INFINITY || (setrlimit(RLIMIT_NOFILE, &r) == -1 && errno == EINVAL));
}

/* In a child: a user may see and set its own limits, not those of root. */
static int is_kept_from_others(void)
{
    struct rlimit r;
    pid_t parent = getppid();

    if (setresgid(29999, 29999, 29999) || setresuid(29999, 29999, 29999))
        return 1;
    if (prlimit(getpid(), RLIMIT_NOFILE, NULL, &r) || prlimit(getpid(), RLIMIT_NOFILE, &r, NULL))
        return 2;
    if (prlimit(parent, RLIMIT_NOFILE, NULL, &r) != -1 || errno != EPERM)
        return 3;
    return prlimit(parent, RLIMIT_NOFILE, &r, NULL) != -1 || errno != EPERM ? 4 : 0;
}

static void limits_of_others_need_permission(void)
{
    int status;
    pid_t pid = fork();

    if (!pid)
        _exit(is_kept_from_others());
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static void names(void)
{
    struct utsname u;
    char name[16];
    CHECK(uname(&u) == 0 && strcmp(u.machine, "riscv64") == 0 && strcmp(u.sysname, "Linux") == 0);
    CHECK(prctl(PR_SET_NAME, "a-rather-long-thread-name") == 0);
    CHECK(prctl(PR_GET_NAME, name) == 0 && strcmp(name, "a-rather-long-t") == 0);
}

static void random_bytes_differ(void)
{
    unsigned char a[16], b[16];
    CHECK(getrandom(a, sizeof(a), 0) == sizeof(a) && getrandom(b, sizeof(b), 0) == sizeof(b));
    CHECK(memcmp(a, b, sizeof(a)) != 0);
    CHECK(getrandom(a, 4, 0x100) == -1 && errno == EINVAL);
}

static void identity(void)
{
    uid_t r, e, s;
    CHECK(getresuid(&r, &e, &s) == 0 && r == getuid() && e == geteuid());
    CHECK(getpid() == (pid_t)syscall(SYS_gettid));
    CHECK(getpgid(0) == getpgrp() && getsid(0) >= 0);
    CHECK(getpgid(NO_PROCESS) == -1 && errno == ESRCH);
}

static void unknown_calls_are_enosys(void)
{
    CHECK(syscall(9999) == -1 && errno == ENOSYS);
    CHECK(syscall(-1) == -1 && errno == ENOSYS);
}

/* The counters of a line of /proc/self/status; -1 without that line. */
static long status_line(const char *name)
{
    char line[256];
    long n = -1;
    FILE *f = fopen("/proc/self/status", "r");

    while (f && fgets(line, sizeof(line), f))
        if (!strncmp(line, name, strlen(name)))
            n = atol(line + strlen(name));
    if (f)
        fclose(f);
    return n;
}

static int is_more(const struct rusage *a, const struct rusage *b)
{
    return a->ru_nvcsw > b->ru_nvcsw && a->ru_nivcsw > b->ru_nivcsw;
}

/*
 * Waits, then competes for one hart with a child: both kinds of switches grow, of the child too. On
 * a slow machine some sleeps are over before they begin.
 */
static void switches_are_counted(void)
{
    struct rusage before, after, child, children;
    cpu_set_t all, one;
    long status;

    CHECK(getrusage(RUSAGE_THREAD, &before) == 0 && getrusage(RUSAGE_CHILDREN, &children) == 0);
    status = status_line("voluntary_ctxt_switches:");
    CHECK(status >= 0 && status_line("nonvoluntary_ctxt_switches:") >= 0);
    CHECK(sched_getaffinity(0, sizeof(all), &all) == 0);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    CHECK(sched_setaffinity(0, sizeof(one), &one) == 0);
    pid_t pid = fork();
    for (int i = 0; i < 20; i++) {
        usleep(1000);
        for (volatile int work = 0; work < 300000; work++)
            ;
        sched_yield();
    }
    if (!pid)
        _exit(0);
    CHECK(wait4(pid, NULL, 0, &child) == pid);
    CHECK(sched_setaffinity(0, sizeof(all), &all) == 0);
    CHECK(getrusage(RUSAGE_THREAD, &after) == 0 && is_more(&after, &before));
    CHECK(after.ru_nvcsw >= before.ru_nvcsw + 10 && child.ru_nvcsw >= 10 && child.ru_nivcsw > 0);
    CHECK(status_line("voluntary_ctxt_switches:") >= status + 10);
    CHECK(getrusage(RUSAGE_CHILDREN, &after) == 0 && is_more(&after, &children));
    CHECK(getrusage(RUSAGE_SELF, &after) == 0 && is_more(&after, &before));
}

static void scheduling(void)
{
    cpu_set_t set;
    CHECK(sched_yield() == 0);
    CHECK(sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) >= 1);
}

static void a_thread_moves_to_the_hart_it_asks_for(void)
{
    cpu_set_t all, one;
    CHECK(sched_getaffinity(0, sizeof(all), &all) == 0);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < CPU_SETSIZE; i++) {
            if (!CPU_ISSET(i, &all))
                continue;
            CPU_ZERO(&one);
            CPU_SET(i, &one);
            CHECK(sched_setaffinity(0, sizeof(one), &one) == 0);
            CHECK(sched_getcpu() == i || getenv("QEMU_USER"));
        }
    CHECK(sched_setaffinity(0, sizeof(all), &all) == 0);
    CPU_ZERO(&one);
    CHECK(sched_setaffinity(0, sizeof(one), &one) == -1 && errno == EINVAL);
}

static volatile sig_atomic_t profiled;
static void on_profile(int sig)
{
    (void)sig;
    profiled++;
}

/* A timer of CPU time does not run while we sleep. */
static void cpu_timers_count_work(void)
{
    static const int which[] = {ITIMER_PROF, ITIMER_VIRTUAL}, sig[] = {SIGPROF, SIGVTALRM};

    for (int i = 0; i < 2; i++) {
        struct itimerval it = {{0, 20000}, {0, 20000}}, now, off = {0};
        clock_t start;

        signal(sig[i], on_profile);
        profiled = 0;
        CHECK(setitimer(which[i], &it, NULL) == 0 && usleep(100000) == 0 && profiled == 0);
        for (start = clock(); clock() - start < CLOCKS_PER_SEC / 4 && profiled < 3;)
            for (volatile int work = 0; work < 100000; work++)
                ;
        CHECK(profiled >= 3 && getitimer(which[i], &now) == 0);
        CHECK(now.it_interval.tv_usec == 20000 && now.it_value.tv_usec <= 21000);
        CHECK(setitimer(which[i], &off, &now) == 0 && now.it_interval.tv_usec == 20000);
        CHECK(getitimer(which[i], &now) == 0 && now.it_value.tv_usec == 0);
        signal(sig[i], SIG_DFL);
    }
    CHECK(getitimer((__itimer_which_t)3, &(struct itimerval){0}) == -1 && errno == EINVAL);
}

int main(void)
{
    RUN(clocks_advance);
    RUN(sleeping_takes_at_least_as_long);
    RUN(bad_sleeps_are_refused);
    RUN(usage_grows_with_work);
    RUN(cpu_timers_count_work);
    RUN(limits);
    if (!getuid())
        RUN_ON_KERNEL(limits_of_others_need_permission);
    RUN(names);
    RUN(random_bytes_differ);
    RUN(identity);
    RUN(unknown_calls_are_enosys);
    RUN(switches_are_counted);
    RUN(scheduling);
    RUN(a_thread_moves_to_the_hart_it_asks_for);
    DONE();
}
