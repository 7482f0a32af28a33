/*
 * The fuzzer's agent: executes programs of system calls that the host writes into its memory, with
 * kcov enabled. fuzz/executor/layout.ts repeats the addresses below and the words of words.h.
 *
 * The agent prepares the process in which every program starts, writes MARK_READY to /dev/marker,
 * where the host takes its snapshot, executes one program and writes MARK_DONE. So a program never
 * sees the traces of another one. Between the marks no C library is used: a program may have
 * unmapped, closed or limited anything.
 *
 * With -DTHREADS the process has a second thread with a kcov of its own, for programs whose calls
 * race (fuzz/executor/threads.ts). It sleeps until OP_GO wakes it, says that it is there with
 * MARK_GO, and makes its calls when the host has set `may_go`. The last one writes MARK_DONE.
 *
 * A second process owns the remote descriptor of kcov and waits; the agent, its child, inherits its
 * common handle, so deferred work of the program's calls is recorded there.
 *
 * With -DOTHER_LINUX it is the first process of a Linux that is not kcovbox's own kernel
 * (guest-programs/fuzz/other-linux.h). There is no /dev/marker, and the host does not know where
 * that kernel keeps the mode of kcov: the agent chooses it.
 *
 * With -DKCOVBOX_HARNESS what is tested is code of the user's own (guest-programs/fuzz/harness.h).
 */
#ifdef KCOVBOX_HARNESS
#pragma clang attribute push(__attribute__((no_sanitize("coverage"))), apply_to = function)
#endif
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/kcov.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "words.h"
#ifdef OTHER_LINUX
#include "other-linux.h"
#endif

#define CONTROL     0x10000000UL /* program, slots and results */
#define ARENA       0x20000000UL /* memory to which arguments point */
#define ARENA_BYTES 0x20000UL
#define AREA        0x10100000UL /* kcov's records */
#define EXTRA       0x10300000UL /* kcov's records of deferred work */
#define EXTRA_WORDS 8192UL
#define OTHER       0x10010000UL /* control memory of the second thread; its slots are not used */
#define OTHER_AREA  0x10400000UL /* kcov's records of the second thread */
#define MATCHED     0x1ff0000UL  /* points of a harness that no code has */
#define FD_OTHER    249
#define FD_MARKER   250
#define FD_FAIL     251
#define FD_KCOV     252
#define FD_EXTRA    253
#define TICK_US     10000 /* a call that sleeps is interrupted */

#define control ((struct lane *)CONTROL)
#define other   ((struct lane *)OTHER)
#define area    ((volatile uint64_t *)AREA)
#define extra   ((volatile uint64_t *)EXTRA)

static void end_system(int status);

static void die(const char *what)
{
    printf("fuzz agent: %s: %s\n", what, strerror(errno));
    fflush(stdout);
    end_system(2);
}

/* Out of the way of the descriptors that programs open. */
static bool move_fd(int fd, int to)
{
    return fd >= 0 && dup3(fd, to, O_CLOEXEC) == to && close(fd) == 0;
}

static inline uint64_t call6(uint64_t nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                             uint64_t e, uint64_t f)
{
    register uint64_t a0 asm("a0") = a, a1 asm("a1") = b, a2 asm("a2") = c, a3 asm("a3") = d,
                         a4 asm("a4") = e, a5 asm("a5") = f, a7 asm("a7") = nr;
    asm volatile("ecall"
                 : "+r"(a0)
                 : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5), "r"(a7)
                 : "memory");
    return a0;
}

static void quit(void)
{
    call6(SYS_exit_group, 0, 0, 0, 0, 0, 0);
}

/* Decimal, without the C library. */
static uint64_t put_number(char *text, uint64_t n)
{
    char digits[20];
    uint64_t count = 0, at = 0;
    do
        digits[count++] = (char)('0' + n % 10);
    while (n /= 10);
    while (count)
        text[at++] = digits[--count];
    return at;
}

static void fail_nth(uint64_t n)
{
    char text[24];
    call6(SYS_write, FD_FAIL, (uint64_t)text, put_number(text, n), 0, 0, 0);
}

static void *map(uint64_t at, uint64_t bytes, int flags, int fd)
{
    void *p = mmap((void *)at, bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd, 0);
    if (p == MAP_FAILED)
        die("mmap");
    return p;
}

/* Shared: behind a fork, the host still finds it where it was. */
static void open_control(void)
{
    map(CONTROL, CONTROL_BYTES, MAP_SHARED | MAP_ANONYMOUS, -1);
}

#ifdef KCOVBOX_HARNESS
#include "harness.h"
#else

/* A child ends at once, without its stack, which may be the parent's or none. */
static inline uint64_t call6_forks(uint64_t nr, const uint64_t v[6])
{
    register uint64_t a0 asm("a0") = v[0], a1 asm("a1") = v[1], a2 asm("a2") = v[2],
                         a3 asm("a3") = v[3], a4 asm("a4") = v[4], a5 asm("a5") = v[5],
                         a7 asm("a7") = nr;
    asm volatile("ecall\n\t"
                 "bnez a0, 1f\n\t"
                 "li a7, 93\n\t"
                 "ecall\n"
                 "1:"
                 : "+r"(a0), "+r"(a7)
                 : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5)
                 : "memory");
    return a0;
}

static void open_kcov(uint64_t words, uint64_t at, int to)
{
    if (!move_fd(open("/sys/kernel/debug/kcov", O_RDWR), to))
        die("/sys/kernel/debug/kcov");
    if (ioctl(to, KCOV_INIT_TRACE, words))
        die("KCOV_INIT_TRACE");
    map(at, words * 8, MAP_SHARED, to);
}

static void open_extra(void)
{
    struct kcov_remote_arg arg = {
        .trace_mode = KCOV_TRACE_PC, .area_size = EXTRA_WORDS, .common_handle = 1};

    open_kcov(EXTRA_WORDS, EXTRA, FD_EXTRA);
    if (ioctl(FD_EXTRA, KCOV_REMOTE_ENABLE, &arg))
        die("KCOV_REMOTE_ENABLE");
}

static void open_records(void)
{
    open_kcov(AREA_WORDS, AREA, FD_KCOV);
    open_control();
}

static void report_end(pid_t process, int status)
{
    (void)process, (void)status;
}

static void on_tick(int sig)
{
    (void)sig;
}

static void prepare_calls(void)
{
    struct itimerval tick = {{0, TICK_US}, {0, TICK_US}};
    struct sigaction act = {.sa_handler = on_tick};

    if (sigaction(SIGALRM, &act, NULL) || setitimer(ITIMER_REAL, &tick, NULL))
        die("preparation");
}

static void start_records(void)
{
    if (ioctl(FD_KCOV, KCOV_ENABLE, KCOV_TRACE_PC))
        quit();
    area[0] = 0;
}

static void end_calls(void) {}

static inline uint64_t make_call(const struct call *c, const uint64_t v[6])
{
    if (c->flags & CALL_FORKS)
        return call6_forks(c->number, v);
    return call6(c->number, v[0], v[1], v[2], v[3], v[4], v[5]);
}

#endif

static inline void do_call(const struct call *c, struct result *result, volatile uint64_t *records)
{
    uint64_t v[6], value;

    for (int i = 0; i < 6; i++)
        v[i] = c->args[i].is_slot ? control->slots[c->args[i].value] : c->args[i].value;
    if (c->fail_nth)
        fail_nth(c->fail_nth);
    result->begin = records[0];
    result->state = 1;
    value = make_call(c, v);
    result->end = records[0];
    result->value = value;
    result->state = 2;
    if (c->fail_nth)
        fail_nth(0);
    if (c->slot != NO_SLOT && value < -4096UL)
        control->slots[c->slot] = value;
}

static void do_store(const struct store *s)
{
    uint64_t value = control->slots[s->slot];
    for (uint64_t i = 0; i < s->bytes; i++)
        ((volatile uint8_t *)s->address)[i] = (uint8_t)(value >> 8 * i);
}

static void do_load(const struct store *s)
{
    uint64_t value = 0;
    for (uint64_t i = 0; i < s->bytes; i++)
        value |= (uint64_t)((volatile uint8_t *)s->address)[i] << 8 * i;
    control->slots[s->slot] = value;
}

#ifdef OTHER_LINUX

static void mark(enum mark number)
{
    mark_finisher((uint32_t)number);
}

/* Records of the agent itself are behind those that the area counts. */
static void choose_mode(void)
{
    if (control->mode != MODE_CMP)
        return;
    call6(SYS_ioctl, FD_KCOV, KCOV_DISABLE, 0, 0, 0, 0);
    call6(SYS_ioctl, FD_KCOV, KCOV_ENABLE, KCOV_TRACE_CMP, 0, 0, 0);
    area[0] = 0;
}

#else

static void mark(enum mark number)
{
    char digit = (char)('0' + number);
    call6(SYS_write, FD_MARKER, (uint64_t)&digit, 1, 0, 0, 0);
}

static void prepare_system(void) {}

static void open_marker(void)
{
    if (!move_fd(open("/dev/marker", O_WRONLY), FD_MARKER))
        die("/dev/marker");
}

static void end_system(int status)
{
    _exit(status);
}

static void choose_mode(void) {}

#endif

#ifdef THREADS

/* Words that the two threads share; the host sets the last one (fuzz/executor/layout.ts). */
#define awake   ((volatile uint32_t *)&other->slots[0])
#define arrived ((volatile uint32_t *)&other->slots[1])
#define ended   ((volatile uint32_t *)&other->slots[2])
#define may_go  ((volatile uint32_t *)&other->slots[3])
#define ready   ((volatile uint32_t *)&other->slots[4])

/* The host makes turns short between the two marks, so that waiting costs little. */
static void wake_other(void)
{
    mark(MARK_WAKE);
    *awake = 1;
    call6(SYS_futex, (uint64_t)awake, FUTEX_WAKE, 1, 0, 0, 0);
    *arrived = 1;
    while (!*may_go)
        ;
}

/* The other thread, which may sleep in a call, gets the ticks from now on. */
static void end_thread(void)
{
    uint64_t all = -1UL;
    call6(SYS_rt_sigprocmask, SIG_BLOCK, (uint64_t)&all, 0, sizeof(all), 0, 0);
    if (!*awake || __atomic_fetch_add(ended, 1, __ATOMIC_SEQ_CST) == 1)
        mark(MARK_DONE);
    for (;;)
        call6(SYS_ppoll, 0, 0, 0, 0, 0, 0);
}

#else

static void wake_other(void) {}

static void end_thread(void)
{
    mark(MARK_DONE);
    quit();
}

#endif

static void execute(struct lane *own, volatile uint64_t *records)
{
    struct result *result = own->results;
    const uint64_t *at = own->program;

    for (;;) {
        switch (*at++) {
        case OP_GO:
            wake_other();
            break;
        case OP_CALL:
            do_call((const struct call *)at, result++, records);
            at += sizeof(struct call) / 8;
            break;
        case OP_STORE:
            do_store((const struct store *)at);
            at += sizeof(struct store) / 8;
            break;
        case OP_LOAD: /* out of memory that the call before it has filled */
            if (result[-1].value < -4096UL)
                do_load((const struct store *)at);
            at += sizeof(struct store) / 8;
            break;
        default:
            return;
        }
    }
}

static void touch(uint64_t at, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i += 4096)
        *(volatile uint64_t *)(at + i) = 0;
}

/* The files that descriptions name. */
static void make_files(void)
{
    if (mkdir("/tmp/w", 0777) || chdir("/tmp/w") || mkdir("d", 0777) || symlink("f", "l") ||
        mkfifo("p", 0666))
        die("/tmp/w");
    int fd = open("f", O_RDWR | O_CREAT, 0666);
    if (fd < 0 || write(fd, "0123456789abcdef0123456789abcdef", 32) != 32 || close(fd))
        die("/tmp/w/f");
}

#ifdef THREADS

/* A call, so that no page of code or stack is missing at the first one of a program. */
static void warm_up(void)
{
    other->program[0] = OP_CALL;
    *(struct call *)&other->program[1] = (struct call){.number = SYS_getpid, .slot = NO_SLOT};
    execute(other, (volatile uint64_t *)OTHER_AREA);
    other->program[0] = OP_END;
    other->results[0] = (struct result){0};
}

static void *run_other(void *unused)
{
    if (ioctl(FD_OTHER, KCOV_ENABLE, KCOV_TRACE_PC))
        quit();
    warm_up();
    *(volatile uint64_t *)OTHER_AREA = 0;
    *ended = 0;
    while (!*awake)
        call6(SYS_futex, (uint64_t)awake, FUTEX_WAIT, 0, 0, 0, 0);
    while (!*arrived)
        ;
    mark(MARK_GO);
    *ready = 1; /* both threads are in user mode */
    while (!*may_go)
        ;
    execute(other, (volatile uint64_t *)OTHER_AREA);
    end_thread();
    return unused;
}

/* Returns when the other thread sleeps. */
static void begin_other(void)
{
    pthread_t thread;

    open_kcov(AREA_WORDS, OTHER_AREA, FD_OTHER);
    touch(OTHER_AREA, AREA_WORDS * 8);
    map(OTHER, CONTROL_BYTES, MAP_SHARED | MAP_ANONYMOUS, -1);
    touch(OTHER, CONTROL_BYTES);
    *ended = 1;
    if (pthread_create(&thread, NULL, run_other, NULL))
        die("pthread_create");
    while (*ended)
        usleep(1000);
    usleep(10000);
}

#else

static void begin_other(void) {}

#endif

static void be_tested(void)
{
    open_records();
    map(ARENA, ARENA_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    touch(CONTROL, CONTROL_BYTES);
    touch(ARENA, ARENA_BYTES);
    touch(AREA, AREA_WORDS * 8);
    touch(EXTRA, EXTRA_WORDS * 8);
    make_files();
    if (setpgid(0, 0))
        die("preparation");
    prepare_calls();
    for (int std = 0; std < 3; std++)
        if (close(std) || open("/dev/null", O_RDWR) != std)
            die("/dev/null");
    begin_other();
    start_records();
    mark(MARK_READY);
    choose_mode();
    execute(control, area);
    end_calls();
    if (control->settles) {
        struct timespec short_time = {0, 1000};
        call6(SYS_nanosleep, (uint64_t)&short_time, 0, 0, 0, 0, 0);
    }
    end_thread();
}

int main(void)
{
    int status;

    prepare_system();
    setvbuf(stdout, NULL, _IOLBF, 0);
    open_marker();
    move_fd(open("/dev/fail-nth", O_WRONLY), FD_FAIL); /* where the kernel has it */
    open_extra();
    pid_t child = fork();
    if (child < 0)
        die("fork");
    if (child == 0)
        be_tested();
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    report_end(child, status);
    end_system(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

#ifdef KCOVBOX_HARNESS
#pragma clang attribute pop
#endif
