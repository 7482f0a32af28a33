/* Nice values and scheduling policies: permissions, inheritance, and where they are reported. */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define NOBODY    29999 /* a user without rights */
#define POLICY(p) ((p) & ~SCHED_RESET_ON_FORK)

/* Runs a function in a child, where it may do what it likes; 0 when it returned 0. */
static int in_child(int (*fn)(void))
{
    int status;
    pid_t pid = fork();

    if (!pid)
        _exit(fn());
    return waitpid(pid, &status, 0) == pid ? status : -1;
}

static int raw_get(int which, int who)
{
    return (int)syscall(SYS_getpriority, which, who);
}

static int set_fails(int which, int who, int nice, int error)
{
    errno = 0;
    return setpriority(which, who, nice) == -1 && errno == error;
}

static int is_set_and_clamped(void)
{
    if (raw_get(PRIO_PROCESS, 0) != 20 || setpriority(PRIO_PROCESS, 0, 7))
        return 1;
    if (raw_get(PRIO_PROCESS, 0) != 13 || raw_get(PRIO_PROCESS, getpid()) != 13)
        return 2;
    if (setpriority(PRIO_PROCESS, 0, 1000) || getpriority(PRIO_PROCESS, 0) != 19)
        return 3;
    return 0;
}

static int is_set_and_clamped_below(void)
{
    return setpriority(PRIO_PROCESS, 0, -1000) || raw_get(PRIO_PROCESS, 0) != 40;
}

static void nice_values_are_kept(void)
{
    CHECK(in_child(is_set_and_clamped) == 0);
    if (!getuid())
        CHECK(in_child(is_set_and_clamped_below) == 0);
    CHECK(raw_get(PRIO_PROCESS, 0) == 20);
}

static void nice_values_need_somebody(void)
{
    CHECK(raw_get(3, 0) == -1 && errno == EINVAL && raw_get(-1, 0) == -1 && errno == EINVAL);
    CHECK(set_fails(3, 0, 0, EINVAL) && set_fails(-1, 0, 0, EINVAL));
    for (int which = PRIO_PROCESS; which <= PRIO_USER; which++) {
        CHECK(raw_get(which, NO_PROCESS) == -1 && errno == ESRCH);
        CHECK(set_fails(which, NO_PROCESS, 5, ESRCH));
    }
    CHECK(raw_get(PRIO_PROCESS, -5) == -1 && errno == ESRCH);
}

static int group_answers_for_all(void)
{
    int status, go[2], there[2];
    char c;

    if (setpgid(0, 0) || pipe(go) || pipe(there))
        return 1;
    pid_t pid = fork();
    if (!pid) {
        close(go[1]);
        _exit(write(there[1], "t", 1) + read(go[0], &c, 1) == 1 ? getpriority(PRIO_PROCESS, 0)
                                                                : 99);
    }
    if (read(there[0], &c, 1) != 1)
        return 9;
    if (setpriority(PRIO_PROCESS, pid, 4) || raw_get(PRIO_PROCESS, pid) != 16)
        return 2;
    if (setpriority(PRIO_PGRP, getpid(), 11) || raw_get(PRIO_PROCESS, 0) != 9)
        return 3;
    if (setpriority(PRIO_PROCESS, 0, 13) || raw_get(PRIO_PGRP, 0) != 9) /* the best of them */
        return 4;
    close(go[0]), close(go[1]), close(there[0]), close(there[1]);
    return waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 11 ? 0 : 5;
}

static int user_answers_for_all(void)
{
    if (setresuid(NOBODY, NOBODY, NOBODY))
        return 1;
    if (raw_get(PRIO_USER, 0) != 20 || setpriority(PRIO_USER, 0, 6))
        return 2;
    return raw_get(PRIO_USER, NOBODY) == 14 && raw_get(PRIO_PROCESS, 0) == 14 ? 0 : 3;
}

static void nice_values_of_many(void)
{
    CHECK(in_child(group_answers_for_all) == 0);
    if (!getuid())
        CHECK(in_child(user_answers_for_all) == 0);
}

static int unprivileged(void)
{
    if (setresuid(NOBODY, NOBODY, NOBODY) || setpriority(PRIO_PROCESS, 0, 5))
        return 1;
    if (!set_fails(PRIO_PROCESS, 0, 4, EACCES) || setpriority(PRIO_PROCESS, 0, 5))
        return 2;
    if (!set_fails(PRIO_PROCESS, getppid(), 5, EPERM) || raw_get(PRIO_PROCESS, getppid()) < 0)
        return 3;
    return raw_get(PRIO_PROCESS, 0) == 15 ? 0 : 4;
}

static int with_a_limit(void)
{
    struct rlimit limit = {22, 22}; /* as good as -2 */

    if (setrlimit(RLIMIT_NICE, &limit) || setresuid(NOBODY, NOBODY, NOBODY))
        return 1;
    if (setpriority(PRIO_PROCESS, 0, -2) || !set_fails(PRIO_PROCESS, 0, -3, EACCES))
        return 2;
    return raw_get(PRIO_PROCESS, 0) == 22 ? 0 : 3;
}

static void better_ones_are_for_the_superuser(void)
{
    CHECK(in_child(unprivileged) == 0);
}

static void a_limit_allows_better_ones(void)
{
    CHECK(in_child(with_a_limit) == 0);
}

/* A field of /proc/PID/stat, counted from 1 as in proc(5); from the third on. */
static long stat_field(pid_t pid, int field)
{
    char path[40], line[1024];
    FILE *f;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    if (!(f = fopen(path, "r")) || !fgets(line, sizeof(line), f))
        return -999;
    fclose(f);
    char *at = strrchr(line, ')');
    for (int i = 2; at && i < field; i++)
        at = strchr(at + 1, ' ');
    return at ? strtol(at, NULL, 10) : -999;
}

static int child_inherits(void)
{
    int go[2], good;
    char c;

    if (setpriority(PRIO_PROCESS, 0, 8) || pipe(go))
        return 1;
    pid_t pid = fork();
    if (!pid) {
        close(go[1]);
        _exit(read(go[0], &c, 1) == 0 ? 0 : 1);
    }
    good =
        raw_get(PRIO_PROCESS, pid) == 12 && stat_field(pid, 18) == 28 && stat_field(pid, 19) == 8;
    close(go[0]), close(go[1]);
    waitpid(pid, NULL, 0);
    return good ? 0 : 2;
}

static void nice_values_are_inherited_and_shown(void)
{
    CHECK(in_child(child_inherits) == 0);
}

/* Works on the first hart until a moment comes. */
static pid_t start_worker(int nice, const struct timespec *end)
{
    struct timespec now;
    cpu_set_t all, one;
    pid_t pid = fork();

    if (pid)
        return pid;
    sched_getaffinity(0, sizeof(all), &all);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    sched_setaffinity(0, sizeof(one), &one);
    setpriority(PRIO_PROCESS, 0, nice);
    do {
        for (volatile int work = 0; work < 10000; work++)
            ;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec < end->tv_sec || (now.tv_sec == end->tv_sec && now.tv_nsec < end->tv_nsec));
    _exit(0);
}

static long used_us(pid_t pid)
{
    struct rusage ru;

    return wait4(pid, NULL, 0, &ru) == pid ? ru.ru_utime.tv_sec * 1000000L + ru.ru_utime.tv_usec
                                           : -1;
}

/* Whether the one with the higher nice value had clearly less of a third of a second. */
static int nicer_had_less(void)
{
    struct timespec end;

    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += 300000000;
    if (end.tv_nsec >= 1000000000)
        end.tv_sec++, end.tv_nsec -= 1000000000;
    pid_t nice = start_worker(19, &end), other = start_worker(0, &end);
    long little = used_us(nice), much = used_us(other);
    return little >= 0 && much > 3 * little;
}

static void the_nicer_one_gets_less(void)
{
    int tries = 0;

    while (tries < 6 && !nicer_had_less()) /* an emulator's harts may pause for a while */
        tries++;
    CHECK(tries < 6);
}

static int set_policy(pid_t pid, int policy, int priority)
{
    return syscall(SYS_sched_setscheduler, pid, policy, &priority) ? errno : 0;
}

static int priority_of(pid_t pid)
{
    int priority = -1;

    return syscall(SYS_sched_getparam, pid, &priority) ? -errno : priority;
}

static void policies_need_somebody(void)
{
    CHECK(sched_getscheduler(-1) == -1 && errno == EINVAL);
    CHECK(sched_getscheduler(NOBODY) == -1 && errno == ESRCH);
    CHECK(priority_of(-1) == -EINVAL && priority_of(NOBODY) == -ESRCH && priority_of(0) == 0);
    CHECK(syscall(SYS_sched_getparam, 0, NULL) == -1 && errno == EINVAL);
    CHECK(syscall(SYS_sched_setparam, 0, NULL) == -1 && errno == EINVAL);
    CHECK(syscall(SYS_sched_setparam, -1, &(int){0}) == -1 && errno == EINVAL);
    CHECK(syscall(SYS_sched_setparam, NOBODY, &(int){0}) == -1 && errno == ESRCH);
    CHECK(set_policy(-1, SCHED_OTHER, 0) == EINVAL && set_policy(NOBODY, SCHED_OTHER, 0) == ESRCH);
    CHECK(set_policy(0, -1, 0) == EINVAL && set_policy(0, 4, 0) == EINVAL);
    CHECK(set_policy(0, 77, 0) == EINVAL && set_policy(0, SCHED_OTHER, 1) == EINVAL);
    CHECK(set_policy(0, SCHED_FIFO, 0) == EINVAL && set_policy(0, SCHED_FIFO, 100) == EINVAL);
    CHECK(set_policy(0, SCHED_RR, -1) == EINVAL && set_policy(0, 6, 0) == EINVAL);
    CHECK(syscall(SYS_sched_setparam, 0, &(int){1}) == -1 && errno == EINVAL);
}

static void policies_have_ranges(void)
{
    CHECK(sched_get_priority_max(SCHED_FIFO) == 99 && sched_get_priority_min(SCHED_RR) == 1);
    CHECK(sched_get_priority_max(SCHED_BATCH) == 0 && sched_get_priority_min(SCHED_IDLE) == 0);
    CHECK(sched_get_priority_max(4) == -1 && errno == EINVAL);
    CHECK(sched_get_priority_min(-1) == -1 && errno == EINVAL);
}

static int fair_policies(void)
{
    if (set_policy(0, SCHED_BATCH, 0) || sched_getscheduler(0) != SCHED_BATCH)
        return 1;
    if (set_policy(0, SCHED_IDLE, 0) || sched_getscheduler(getpid()) != SCHED_IDLE)
        return 2;
    if (set_policy(0, SCHED_OTHER | SCHED_RESET_ON_FORK, 0))
        return 3;
    if (sched_getscheduler(0) != (SCHED_OTHER | SCHED_RESET_ON_FORK))
        return 4;
    return 0;
}

static int without_rights(void)
{
    if (setresuid(NOBODY, NOBODY, NOBODY) || set_policy(0, SCHED_FIFO, 1) != EPERM)
        return 1;
    if (set_policy(getppid(), SCHED_OTHER, 0) != EPERM || set_policy(0, SCHED_BATCH, 0))
        return 2;
    if (set_policy(0, SCHED_IDLE, 0) || set_policy(0, SCHED_OTHER, 0) != EPERM)
        return 3;
    return set_policy(0, SCHED_IDLE | SCHED_RESET_ON_FORK, 0) ||
                   set_policy(0, SCHED_IDLE, 0) != EPERM
               ? 4
               : 0;
}

static int policy_of_child(void)
{
    return sched_getscheduler(0) == SCHED_OTHER && raw_get(PRIO_PROCESS, 0) == 20 ? 0 : 1;
}

static int real_time(void)
{
    if (set_policy(0, SCHED_RR | SCHED_RESET_ON_FORK, 3) || priority_of(0) != 3)
        return 1;
    if (POLICY(sched_getscheduler(0)) != SCHED_RR || in_child(policy_of_child))
        return 2;
    if (syscall(SYS_sched_setparam, 0, &(int){9}) || priority_of(0) != 9)
        return 3;
    return set_policy(0, SCHED_FIFO, 1) || sched_getscheduler(0) != SCHED_FIFO ? 4 : 0;
}

static void policies_are_kept(void)
{
    CHECK(in_child(fair_policies) == 0);
    CHECK(getuid() || in_child(without_rights) == 0);
    CHECK(getuid() || in_child(real_time) == 0);
    CHECK(sched_getscheduler(0) == SCHED_OTHER);
}

int main(void)
{
    setpriority(PRIO_PROCESS, 0, 0); /* our parent may be nice */
    RUN(nice_values_are_kept);
    RUN(nice_values_need_somebody);
    RUN(nice_values_of_many);
    if (getuid())
        printf("ok better_ones_are_for_the_superuser # skipped: needs root\n");
    else
        RUN(better_ones_are_for_the_superuser);
    RUN_ON_KERNEL(a_limit_allows_better_ones); /* a host may not let us raise limits */
    RUN(nice_values_are_inherited_and_shown);
    RUN(the_nicer_one_gets_less);
    RUN(policies_need_somebody);
    RUN(policies_have_ranges);
    RUN(policies_are_kept);
    DONE();
}
