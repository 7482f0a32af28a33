/* POSIX threads: creation, join, mutexes, condition variables, thread-local storage, futexes. */
#define _GNU_SOURCE
#include "check.h"
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define THREADS 33

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int counter, turn;
static __thread int mine = 5;

static void *count_up(void *arg)
{
    for (int i = 0; i < 200; i++) {
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
        if (i % 50 == 0)
            sched_yield();
    }
    mine += (int)(long)arg;
    return (void *)(long)mine;
}

static void many_threads_join(void)
{
    pthread_t t[THREADS];
    void *result;
    counter = 0;
    for (long i = 0; i < THREADS; i++)
        CHECK(pthread_create(&t[i], NULL, count_up, (void *)i) == 0);
    for (long i = 0; i < THREADS; i++) {
        CHECK(pthread_join(t[i], &result) == 0);
        CHECK((long)result == 5 + i);
    }
    CHECK(counter == THREADS * 200);
    CHECK(mine == 5);
}

static void *take_turns(void *arg)
{
    long me = (long)arg;
    for (int round = 0; round < 20; round++) {
        pthread_mutex_lock(&mutex);
        while (turn % 3 != me)
            pthread_cond_wait(&cond, &mutex);
        turn++;
        pthread_cond_broadcast(&cond);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void condition_variables_order_threads(void)
{
    pthread_t t[3];
    turn = 0;
    for (long i = 0; i < 3; i++)
        CHECK(pthread_create(&t[i], NULL, take_turns, (void *)i) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(t[i], NULL) == 0);
    CHECK(turn == 60);
}

static void timed_wait_times_out(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    ts.tv_nsec += 5000000;
    if (ts.tv_nsec >= 1000000000)
        ts.tv_sec++, ts.tv_nsec -= 1000000000;
    pthread_mutex_lock(&mutex);
    int error = pthread_cond_timedwait(&cond, &mutex, &ts);
    pthread_mutex_unlock(&mutex);
    CHECK(error == ETIMEDOUT);
}

static void futex_words_compare_before_sleeping(void)
{
    static int word = 7;
    struct timespec soon = {0, 2000000};
    CHECK(syscall(SYS_futex, &word, FUTEX_WAIT, 8, NULL) == -1 && errno == EAGAIN);
    CHECK(syscall(SYS_futex, &word, FUTEX_WAIT, 7, &soon) == -1 && errno == ETIMEDOUT);
    CHECK(syscall(SYS_futex, &word, FUTEX_WAKE, 1) == 0);
    CHECK(syscall(SYS_futex, (char *)&word + 1, FUTEX_WAKE, 1) == -1 && errno == EINVAL);
    CHECK(syscall(SYS_futex, 8, FUTEX_WAIT, 0, NULL) == -1 && errno == EFAULT);
}

static void futexes_work_between_processes(void)
{
    int status;
    int *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(word != MAP_FAILED);
    pid_t pid = fork();
    if (pid == 0) {
        while (atomic_load((_Atomic int *)word) == 0)
            syscall(SYS_futex, word, FUTEX_WAIT, 0, NULL);
        _exit(word[1]);
    }
    word[1] = 33;
    struct timespec soon = {0, 1000000};
    nanosleep(&soon, NULL);
    atomic_store((_Atomic int *)word, 1);
    syscall(SYS_futex, word, FUTEX_WAKE, 1);
    CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 33);
    munmap(word, 4096);
}

static _Atomic int sleeps;

static void *wait_two_seconds(void *word)
{
    struct timespec limit = {2, 0};
    atomic_store(&sleeps, 1);
    return (void *)(long)(syscall(SYS_futex, word, FUTEX_WAIT, 0, &limit) ? errno : 0);
}

/* A page that a sleeper's futex was in must not become another futex meanwhile. */
static void the_page_of_a_futex_is_not_reused(void)
{
    struct timespec soon = {0, 10000000};
    int *old = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int *new = mmap(NULL, 64 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    long woken = 0;
    pthread_t t;
    void *result;

    CHECK(old != MAP_FAILED && new != MAP_FAILED && *old == 0);
    CHECK(pthread_create(&t, NULL, wait_two_seconds, old) == 0);
    while (!atomic_load(&sleeps))
        sched_yield();
    nanosleep(&soon, NULL);
    CHECK(munmap(old, 4096) == 0);
    for (int i = 0; i < 64; i++) {
        new[i * 1024] = 1;
        woken += syscall(SYS_futex, new + i * 1024, FUTEX_WAKE, 1);
    }
    CHECK(pthread_join(t, &result) == 0 && munmap(new, 64 * 4096) == 0);
    CHECK(woken == 0 && result == (void *)ETIMEDOUT);
}

/* Both addresses are checked before the second word changes. */
static void futex_wake_op_changes_nothing_when_it_fails(void)
{
    static int words[2] = {1, 2};
    unsigned add = FUTEX_OP(FUTEX_OP_ADD, 1, FUTEX_OP_CMP_EQ, 0);

    CHECK(syscall(SYS_futex, words, FUTEX_WAKE_OP, 1, 1, words + 1, add) == 0 && words[1] == 3);
    CHECK(syscall(SYS_futex, 8, FUTEX_WAKE_OP, 1, 1, words + 1, add) == -1 && errno == EFAULT);
    CHECK(syscall(SYS_futex, words, FUTEX_WAKE_OP, 1, 1, (char *)words + 2, add) == -1);
    CHECK(errno == EINVAL && words[0] == 1 && words[1] == 3);
    CHECK(syscall(SYS_futex, words, FUTEX_REQUEUE, 1, 1, (char *)words + 2) == -1);
    CHECK(errno == EINVAL);
}

static void *sleep_forever(void *arg)
{
    (void)arg;
    for (;;)
        pause();
    return NULL;
}

static void exit_group_takes_all_threads(void)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        pthread_t t;
        for (int i = 0; i < 4; i++)
            pthread_create(&t, NULL, sleep_forever, NULL);
        exit(9);
    }
    CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 9);
}

static void *exec_from_thread(void *arg)
{
    execl("/proc/self/exe", "threads", "child", NULL);
    return arg;
}

static void exec_ends_the_other_threads(void)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        pthread_t t;
        pthread_create(&t, NULL, sleep_forever, NULL);
        pthread_create(&t, NULL, exec_from_thread, NULL);
        sleep_forever(NULL);
    }
    CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 17);
}

static void fatal_signal_in_a_thread_kills_the_process(void)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        pthread_t t;
        pthread_create(&t, NULL, sleep_forever, NULL);
        *(volatile int *)8 = 1;
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

static void *float_worker(void *arg)
{
    double x = (double)(long)arg, sum = 0;
    for (int i = 0; i < 2000; i++) {
        sum += x / (i + 1);
        if (i % 500 == 0)
            sched_yield();
    }
    double *out = malloc(sizeof(double));
    *out = sum / x;
    return out;
}

static void floating_point_survives_switches(void)
{
    pthread_t t[6];
    void *a, *first = NULL;
    for (long i = 0; i < 6; i++)
        CHECK(pthread_create(&t[i], NULL, float_worker, (void *)(1L << i)) == 0);
    for (int i = 0; i < 6; i++) {
        CHECK(pthread_join(t[i], &a) == 0);
        if (!first)
            first = a;
        CHECK(*(double *)a == *(double *)first);
    }
}

static atomic_ulong spins;
static atomic_int spinner, stop;

static void *spin(void *arg)
{
    atomic_store(&spinner, (int)syscall(SYS_gettid));
    while (!atomic_load(&stop))
        atomic_fetch_add(&spins, 1);
    return arg;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Does the spinning thread run while this one only polls? */
static int spins_soon(void)
{
    unsigned long before = atomic_load(&spins);
    double start = seconds();
    while (seconds() - start < 1)
        if (atomic_load(&spins) - before > 1000)
            return 1;
    return 0;
}

/* Moves a runnable thread from this hart's queue to another hart, which is asleep. */
static void affinity_moves_a_thread_that_waits(void)
{
    cpu_set_t all, mine, other;
    pthread_t t;
    int harts[2], n = 0;

    CHECK(sched_getaffinity(0, sizeof(all), &all) == 0);
    for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
        if (CPU_ISSET(i, &all))
            harts[n++] = i;
    if (n < 2)
        return;
    CPU_ZERO(&mine);
    CPU_ZERO(&other);
    CPU_SET(harts[0], &mine);
    CPU_SET(harts[1], &other);
    CHECK(sched_setaffinity(0, sizeof(mine), &mine) == 0);
    CHECK(pthread_create(&t, NULL, spin, NULL) == 0);
    while (!atomic_load(&spinner))
        usleep(1000);
    for (int i = 0; i < 10; i++) {
        CHECK(sched_setaffinity(atomic_load(&spinner), sizeof(other), &other) == 0);
        CHECK(spins_soon());
        CHECK(sched_setaffinity(atomic_load(&spinner), sizeof(mine), &mine) == 0);
        CHECK(spins_soon());
    }
    atomic_store(&stop, 1);
    CHECK(pthread_join(t, NULL) == 0 && sched_setaffinity(0, sizeof(all), &all) == 0);
}

static atomic_int word, enough;

static void *alternate(void *arg)
{
    while (!atomic_load(&enough)) {
        for (int i = 0; i < 1000; i++)
            atomic_store(&word, i & 1 ? 0xff : 0x100);
        sched_yield();
    }
    return arg;
}

/* The word is 0xff or 0x100: one that is read byte by byte may be 0x1ff or 0. */
static void futex_words_are_read_at_once(void)
{
    struct timespec now = {0, 0};
    int torn = 0;
    pthread_t t;

    atomic_store(&word, 0xff);
    CHECK(pthread_create(&t, NULL, alternate, NULL) == 0);
    for (int i = 0; i < 10000; i++) {
        torn += syscall(SYS_futex, &word, FUTEX_WAIT, 0x1ff, &now) == 0 || errno != EAGAIN;
        torn += syscall(SYS_futex, &word, FUTEX_WAIT, 0, &now) == 0 || errno != EAGAIN;
    }
    atomic_store(&enough, 1);
    CHECK(pthread_join(t, NULL) == 0 && torn == 0);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return getpid() == (pid_t)syscall(SYS_gettid) ? 17 : 1;
    (void)argv;
    RUN(many_threads_join);
    RUN(condition_variables_order_threads);
    RUN(timed_wait_times_out);
    RUN(futex_words_compare_before_sleeping);
    RUN(futexes_work_between_processes);
    RUN(the_page_of_a_futex_is_not_reused);
    RUN(futex_wake_op_changes_nothing_when_it_fails);
    RUN(exit_group_takes_all_threads);
    RUN_ON_KERNEL(exec_ends_the_other_threads);
    RUN(fatal_signal_in_a_thread_kills_the_process);
    RUN(floating_point_survives_switches);
    RUN(futex_words_are_read_at_once);
    RUN(affinity_moves_a_thread_that_waits);
    DONE();
}
