/*
 * Extreme loads: many threads that contend, a fork bomb that ends with EAGAIN, storms of signals,
 * and a process that hangs in every way a program can and still dies by SIGKILL.
 */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#define THREADS 33
#define ROUNDS  200
#define NOBODY  4321

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static long counter, whose;

static void *contend(void *arg)
{
    long me = (long)arg;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
        if (i % 16 == 0)
            sched_yield();
    }
    pthread_mutex_lock(&mutex); /* then one after the other, in order */
    while (whose != me)
        pthread_cond_wait(&turn, &mutex);
    whose++;
    pthread_cond_broadcast(&turn);
    pthread_mutex_unlock(&mutex);
    return (void *)(me * me);
}

static void thirty_three_threads_contend_and_take_turns(void)
{
    pthread_t threads[THREADS];
    counter = whose = 0;
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (long i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, contend, (void *)i) == 0);
    for (long i = 0; i < THREADS; i++) {
        void *result;
        CHECK(pthread_join(threads[i], &result) == 0 && result == (void *)(i * i));
    }
    CHECK(counter == THREADS * ROUNDS && whose == THREADS);
    pthread_barrier_destroy(&barrier);
}

/* As a user of its own, so that the limit counts only the bomb. */
static void __attribute__((noreturn)) bomb(void)
{
    struct rlimit few = {24, 24};
    int born = 0, hold[2];
    if (pipe(hold) || setrlimit(RLIMIT_NPROC, &few) || setresuid(NOBODY, NOBODY, NOBODY))
        _exit(100);
    for (;;) {
        pid_t pid = fork();
        if (pid == 0) { /* lives until the bomb goes off */
            char c;
            close(hold[1]);
            _exit(read(hold[0], &c, 1) == 0 ? 7 : 101);
        }
        if (pid < 0)
            break;
        if (++born > 100)
            _exit(102);
    }
    if (errno != EAGAIN)
        _exit(103);
    close(hold[1]);
    for (int status; born > 0; born--)
        if (wait(&status) < 0 || WEXITSTATUS(status) != 7)
            _exit(104);
    pid_t pid = fork(); /* there is room again */
    if (pid == 0)
        _exit(0);
    _exit(pid > 0 && waitpid(pid, NULL, 0) == pid ? 0 : 105);
}

static void a_fork_bomb_ends_with_eagain(void)
{
    int status;
    pid_t pid = fork();
    if (pid == 0)
        bomb();
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
}

static volatile sig_atomic_t caught, nested_most;
static volatile int depth;

static void on_storm(int sig)
{
    (void)sig;
    caught++;
    if (++depth > nested_most)
        nested_most = depth;
    depth--;
}

/* Queued signals all arrive, each once, while a timer and a sibling disturb. */
static void every_queued_signal_of_a_storm_arrives(void)
{
    struct sigaction sa = {.sa_handler = on_storm, .sa_flags = SA_RESTART};
    sigset_t one;
    int status;
    sigaction(SIGRTMIN, &sa, NULL);
    sigemptyset(&one);
    sigaddset(&one, SIGRTMIN);
    caught = 0;
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        for (int i = 0; i < 500; i++)
            while (sigqueue(parent, SIGRTMIN, (union sigval){.sival_int = i}))
                if (errno != EAGAIN)
                    _exit(1);
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    for (int i = 0; i < 1000 && caught < 500; i++)
        usleep(1000);
    CHECK(caught == 500);
}

static void nothing(int sig)
{
    (void)sig;
}

/* Slow calls restart or fail with EINTR, and a pipe loses no byte. */
static void a_pipe_survives_a_storm(void)
{
    struct sigaction sa = {.sa_handler = nothing}; /* no SA_RESTART */
    struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    int fds[2], status;
    long sum = 0, got;
    unsigned char buf[1000];
    CHECK(pipe(fds) == 0);
    sigaction(SIGALRM, &sa, NULL);
    pid_t pid = fork();
    if (pid == 0) {
        setitimer(ITIMER_REAL, &often, NULL);
        memset(buf, 1, sizeof(buf));
        for (int left = 200000; left > 0;) {
            got = write(fds[1], buf, left < 1000 ? (size_t)left : 1000);
            if (got < 0 && errno != EINTR)
                _exit(1);
            left -= got > 0 ? (int)got : 0;
        }
        _exit(0);
    }
    close(fds[1]);
    setitimer(ITIMER_REAL, &often, NULL);
    while ((got = read(fds[0], buf, sizeof(buf))) != 0) {
        CHECK(got > 0 || errno == EINTR);
        for (long i = 0; i < got; i++)
            sum += buf[i];
    }
    setitimer(ITIMER_REAL, &never, NULL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    CHECK(sum == 200000 && status == 0);
    close(fds[0]);
}

/* A timer that asks for a nanosecond leaves time for others. */
static void a_tiny_interval_is_no_denial_of_service(void)
{
    struct itimerval tiny = {{0, 1}, {0, 1}}, never = {{0, 0}, {0, 0}};
    struct sigaction sa = {.sa_handler = nothing, .sa_flags = SA_RESTART};
    struct timespec a, b;
    sigaction(SIGALRM, &sa, NULL);
    setitimer(ITIMER_REAL, &tiny, NULL);
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (volatile int i = 0; i < 100000; i++)
        ;
    clock_gettime(CLOCK_MONOTONIC, &b);
    setitimer(ITIMER_REAL, &never, NULL);
    CHECK(b.tv_sec - a.tv_sec < 60);
}

static void *wait_for_ever(void *arg)
{
    (void)arg;
    for (;;)
        pause();
}

/* The ways to wait: each child must be gone soon after SIGKILL. */
static void __attribute__((noreturn)) hang(int how)
{
    static const char fifo[] = "/tmp/stress-fifo";
    int fds[2];
    char c;
    pthread_t t;
    if (pipe(fds))
        _exit(1);
    switch (how) {
    case 0: /* its child does not execute anything */
        if (vfork() == 0)
            for (;;)
                syscall(SYS_ppoll, NULL, 0, NULL, NULL, 8);
        break;
    case 1:
        mkfifo(fifo, 0600);
        open(fifo, O_RDONLY);
        break;
    case 2:
        if (read(fds[0], &c, 1))
            break;
        break;
    case 3:
        pthread_create(&t, NULL, wait_for_ever, NULL);
        pthread_join(t, NULL);
        break;
    case 4:
        raise(SIGSTOP);
        break;
    default:
        fcntl(fds[1], F_SETFL, 0);
        for (;;)
            if (write(fds[1], &c, 1) < 0)
                break;
    }
    for (;;)
        pause();
}

static void whatever_hangs_dies_by_sigkill(void)
{
    for (int how = 0; how < 6; how++) {
        int status = 0;
        pid_t pid = fork();
        if (pid == 0) {
            setpgid(0, 0);
            hang(how);
        }
        usleep(20000);
        CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid);
        kill(-pid, SIGKILL); /* the vforked child */
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    unlink("/tmp/stress-fifo");
}

/* sendfile between devices has no end of its own: signals end it, and others run meanwhile. */
static void an_endless_copy_can_be_interrupted(void)
{
    struct itimerval soon = {{0, 0}, {0, 20000}};
    struct sigaction sa = {.sa_handler = nothing};
    int zero = open("/dev/zero", O_RDONLY), null = open("/dev/null", O_WRONLY);
    sigaction(SIGALRM, &sa, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
    long n = syscall(SYS_sendfile, null, zero, NULL, 0x7ffff000L);
    CHECK(n > 0 && n < 0x7ffff000L);
    close(zero);
    close(null);
}

static void a_running_program_cannot_be_written(void)
{
    CHECK(open("/proc/self/exe", O_WRONLY) == -1 && errno == ETXTBSY);
    CHECK(truncate("/proc/self/exe", 0) == -1 && errno == ETXTBSY);
}

static void what_is_no_file_is_not_executed(void)
{
    static const char fifo[] = "/tmp/stress-exec";
    CHECK(mkfifo(fifo, 0700) == 0);
    CHECK(execl(fifo, fifo, NULL) == -1 && errno == EACCES); /* and does not wait for a writer */
    CHECK(unlink(fifo) == 0);
    int fd = open("/tmp/stress-text", O_CREAT | O_WRONLY, 0700);
    CHECK(fd >= 0 && execl("/tmp/stress-text", "x", NULL) == -1 && errno == ETXTBSY);
    close(fd);
    unlink("/tmp/stress-text");
}

static void groups_are_signalled_with_permission_only(void)
{
    int status;
    pid_t victim = fork();
    if (victim == 0)
        wait_for_ever(NULL);
    setpgid(victim, victim);
    pid_t pid = fork();
    if (pid == 0) {
        if (setresuid(NOBODY, NOBODY, NOBODY))
            _exit(1);
        _exit(kill(-victim, SIGKILL) == -1 && errno == EPERM ? 0 : 2);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    CHECK(kill((pid_t)0x80000000, 0) == -1 && errno == ESRCH);
    CHECK(kill(-victim, SIGKILL) == 0 && waitpid(victim, &status, 0) == victim);
}

int main(void)
{
    RUN(thirty_three_threads_contend_and_take_turns);
    RUN_ON_KERNEL(a_fork_bomb_ends_with_eagain);
    RUN(every_queued_signal_of_a_storm_arrives);
    RUN(a_pipe_survives_a_storm);
    RUN_ON_KERNEL(a_tiny_interval_is_no_denial_of_service);
    RUN(whatever_hangs_dies_by_sigkill);
    RUN_ON_KERNEL(an_endless_copy_can_be_interrupted);
    RUN_ON_KERNEL(a_running_program_cannot_be_written);
    RUN_ON_KERNEL(what_is_no_file_is_not_executed);
    RUN_ON_KERNEL(groups_are_signalled_with_permission_only);
    DONE();
}
