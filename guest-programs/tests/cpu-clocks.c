/* Clocks of CPU time: of processes and threads, one's own and others', read, waited for, timed by.
 */
#define _GNU_SOURCE
#include "check.h"
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

/* The kernel's encoding: ~number, whether it is a thread, and what is counted. */
enum { PROF, VIRT, SCHED, PER_THREAD = 4 };
#define CLOCK_OF(number, kind) ((clockid_t)((~(unsigned)(number) << 3) | (kind)))

static long ns_of(clockid_t clock)
{
    struct timespec ts;

    return syscall(SYS_clock_gettime, clock, &ts) ? -errno : ts.tv_sec * 1000000000L + ts.tv_nsec;
}

static void work_until(clockid_t clock, long ns)
{
    while (ns_of(clock) < ns)
        for (volatile int work = 0; work < 20000; work++)
            ;
}

static void own_clocks_count_work(void)
{
    clockid_t process, thread;

    CHECK(clock_getcpuclockid(0, &process) == 0 && process < 0);
    CHECK(pthread_getcpuclockid(pthread_self(), &thread) == 0 && thread < 0);
    long a = ns_of(process), b = ns_of(thread), c = ns_of(CLOCK_OF(0, SCHED | PER_THREAD));
    CHECK(a > 0 && b > 0 && c >= b);
    work_until(CLOCK_THREAD_CPUTIME_ID, b + 20000000);
    CHECK(ns_of(process) >= a + 20000000 && ns_of(thread) >= b + 20000000);
    b = ns_of(thread);
    CHECK(ns_of(CLOCK_PROCESS_CPUTIME_ID) >= b);
    CHECK(ns_of(CLOCK_OF(getpid(), PROF)) > 0 && ns_of(CLOCK_OF(getpid(), VIRT)) >= 0);
    a = ns_of(process);
    CHECK(usleep(200000) == 0 && ns_of(process) < a + 150000000);
}

static void clocks_need_somebody(void)
{
    struct timespec ts = {0, 0};
    clockid_t id;

    CHECK(ns_of(CLOCK_OF(NO_PROCESS, SCHED)) == -EINVAL);
    CHECK(ns_of(CLOCK_OF(NO_PROCESS, SCHED | PER_THREAD)) == -EINVAL);
    CHECK(clock_getcpuclockid(NO_PROCESS, &id) == ESRCH);
    CHECK(clock_getres(CLOCK_OF(0, SCHED), &ts) == 0 && ts.tv_sec == 0 && ts.tv_nsec == 1);
    CHECK(clock_getres(CLOCK_OF(NO_PROCESS, SCHED), &ts) == -1 && errno == EINVAL);
    CHECK(clock_settime(CLOCK_OF(0, SCHED), &ts) == -1 && errno == EPERM);
    CHECK(clock_settime(CLOCK_PROCESS_CPUTIME_ID, &ts) == -1 && errno == EINVAL);
}

static void clocks_of_others_are_read(void)
{
    clockid_t id;
    int go[2], status;
    char c;

    CHECK(pipe(go) == 0);
    pid_t pid = fork();
    if (!pid) {
        close(go[1]);
        work_until(CLOCK_PROCESS_CPUTIME_ID, 30000000);
        _exit(read(go[0], &c, 1) != 0);
    }
    CHECK(clock_getcpuclockid(pid, &id) == 0);
    while (ns_of(id) < 30000000 && ns_of(id) >= 0)
        usleep(5000);
    CHECK(ns_of(id) >= 30000000);
    CHECK(ns_of(CLOCK_OF(pid, SCHED | PER_THREAD)) == -EINVAL); /* no thread of ours */
    close(go[0]), close(go[1]);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0 && ns_of(id) == -EINVAL);
}

static void *works(void *ns)
{
    long end = (long)ns;

    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    work_until(CLOCK_THREAD_CPUTIME_ID, end);
    pause();
    return NULL;
}

static void clocks_of_other_threads_are_read(void)
{
    pthread_t thread;
    clockid_t id;

    CHECK(pthread_create(&thread, NULL, works, (void *)20000000L) == 0);
    CHECK(pthread_getcpuclockid(thread, &id) == 0);
    while (ns_of(id) < 20000000 && ns_of(id) >= 0)
        usleep(5000);
    CHECK(ns_of(id) >= 20000000 && ns_of(CLOCK_PROCESS_CPUTIME_ID) >= 20000000);
    CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, NULL) == 0);
    for (int i = 0; i < 100 && ns_of(id) >= 0; i++)
        usleep(1000);
    CHECK(ns_of(id) == -EINVAL);
}

static volatile sig_atomic_t fired;
static void on_timer(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)context;
    fired += info->si_code == SI_TIMER && info->si_value.sival_int == 77;
}

static timer_t timer_on(clockid_t clock)
{
    struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    timer_t id;

    ev.sigev_value.sival_int = 77;
    fired = 0;
    return timer_create(clock, &ev, &id) ? (timer_t)-1 : id;
}

static void one_timer(clockid_t clock)
{
    struct itimerspec every = {{0, 20000000}, {0, 20000000}}, now, off = {0};
    long start;
    timer_t id = timer_on(clock);

    CHECK(id != (timer_t)-1 && timer_gettime(id, &now) == 0 && !now.it_value.tv_nsec);
    start = ns_of(clock); /* before the timer starts: a host may stop the machine in between */
    CHECK(timer_settime(id, 0, &every, NULL) == 0 && timer_gettime(id, &now) == 0);
    CHECK(now.it_interval.tv_nsec == 20000000 && now.it_value.tv_nsec > 0);
    CHECK(now.it_value.tv_nsec <= 20000000);
    work_until(clock, start + 15000000);
    for (int i = 0; i < 100 && fired < 3; i++)
        work_until(clock, ns_of(clock) + 5000000);
    CHECK(fired >= 3 && ns_of(clock) >= start + 55000000);
    CHECK(timer_settime(id, 0, &off, &now) == 0 && now.it_interval.tv_nsec == 20000000);
    CHECK(timer_gettime(id, &now) == 0 && !now.it_value.tv_nsec && !now.it_interval.tv_nsec);
    every = (struct itimerspec){.it_value = {0, 1}}; /* long past */
    fired = 0;
    CHECK(timer_settime(id, TIMER_ABSTIME, &every, NULL) == 0);
    for (int i = 0; i < 100 && !fired; i++)
        work_until(clock, ns_of(clock) + 2000000);
    CHECK(fired == 1 && timer_delete(id) == 0);
}

static void timers_count_work(void)
{
    static const clockid_t clocks[] = {CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID,
                                       CLOCK_OF(0, SCHED), CLOCK_OF(0, VIRT)};
    struct sigaction action = {.sa_sigaction = on_timer, .sa_flags = SA_SIGINFO | SA_RESTART};

    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    for (int i = 0; i < 4 && !check_failed; i++)
        one_timer(clocks[i]);
}

static void timers_wait_for_others(void)
{
    struct itimerspec soon = {.it_value = {0, 20000000}}, now;
    clockid_t clock;
    int status;
    pid_t pid = fork();

    if (!pid)
        work_until(CLOCK_PROCESS_CPUTIME_ID, LONG_MAX); /* until it is killed */
    CHECK(clock_getcpuclockid(pid, &clock) == 0);
    timer_t id = timer_on(clock);
    CHECK(id != (timer_t)-1 && timer_settime(id, 0, &soon, NULL) == 0);
    for (int i = 0; i < 500 && !fired; i++)
        usleep(5000);
    CHECK(fired == 1 && ns_of(clock) >= 20000000);
    soon.it_value.tv_sec = 1000;
    CHECK(timer_settime(id, 0, &soon, NULL) == 0);
    CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid);
    CHECK(timer_gettime(id, &now) == 0 && timer_settime(id, 0, &soon, NULL) == -1);
    CHECK(errno == ESRCH && timer_delete(id) == 0 && timer_on(clock) == (timer_t)-1);
    CHECK(errno == EINVAL);
}

static void on_alarm(int sig)
{
    (void)sig;
}

static int sleep_on(clockid_t clock, int flags, long ns, struct timespec *left)
{
    struct timespec ts = {ns / 1000000000, ns % 1000000000};

    return syscall(SYS_clock_nanosleep, clock, flags, &ts, left) ? errno : 0;
}

static void sleeping_takes_the_work_of_others(void)
{
    struct timespec left = {0, 0};
    struct itimerval soon = {.it_value = {0, 30000}};
    pthread_t thread;
    long start = ns_of(CLOCK_PROCESS_CPUTIME_ID);

    CHECK(sleep_on(CLOCK_THREAD_CPUTIME_ID, 0, 1000, NULL) == EOPNOTSUPP);
    CHECK(sleep_on(CLOCK_OF(0, SCHED | PER_THREAD), 0, 1000, NULL) == EINVAL);
    CHECK(sleep_on(CLOCK_OF(NO_PROCESS, SCHED), 0, 1000, NULL) == EINVAL);
    CHECK(sleep_on(CLOCK_MONOTONIC_RAW, 0, 1000, NULL) == EOPNOTSUPP);
    CHECK(sleep_on(99, 0, 1000, NULL) == EINVAL);
    signal(SIGALRM, on_alarm);
    CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
    CHECK(sleep_on(CLOCK_PROCESS_CPUTIME_ID, 0, 5000000000, &left) == EINTR);
    CHECK(left.tv_sec == 4 && left.tv_nsec > 0);
    CHECK(pthread_create(&thread, NULL, works, (void *)LONG_MAX) == 0);
    start = ns_of(CLOCK_PROCESS_CPUTIME_ID);
    CHECK(sleep_on(CLOCK_PROCESS_CPUTIME_ID, 0, 20000000, NULL) == 0);
    CHECK(ns_of(CLOCK_PROCESS_CPUTIME_ID) >= start + 20000000);
    CHECK(sleep_on(CLOCK_OF(getpid(), SCHED), TIMER_ABSTIME, 1, NULL) == 0);
    CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, NULL) == 0);
}

int main(void)
{
    RUN(own_clocks_count_work);
    RUN(clocks_need_somebody);
    RUN(clocks_of_others_are_read);
    RUN(clocks_of_other_threads_are_read);
    RUN(timers_count_work);
    RUN(timers_wait_for_others);
    RUN(sleeping_takes_the_work_of_others);
    DONE();
}
