/* Signals: handlers, masks, restarting, alternate stacks, faults, queues, timers, storms. */
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>

static volatile sig_atomic_t hits, last_signal, last_value, on_alt;
static sigjmp_buf jump;
static char alt_stack[32768];

static void count(int sig)
{
    hits++;
    last_signal = sig;
}

static void set(int sig, void (*fn)(int), int flags)
{
    struct sigaction sa = {.sa_handler = fn, .sa_flags = flags};
    sigaction(sig, &sa, NULL);
}

static void handler_runs_and_returns(void)
{
    double x = 1.5;
    hits = 0;
    set(SIGUSR1, count, 0);
    CHECK(raise(SIGUSR1) == 0);
    CHECK(hits == 1 && last_signal == SIGUSR1 && x * 2 == 3.0);
    set(SIGUSR1, SIG_IGN, 0);
    CHECK(raise(SIGUSR1) == 0 && hits == 1);
}

static void blocked_signals_wait(void)
{
    sigset_t set1, old, pending;
    hits = 0;
    set(SIGUSR2, count, 0);
    sigemptyset(&set1);
    sigaddset(&set1, SIGUSR2);
    CHECK(sigprocmask(SIG_BLOCK, &set1, &old) == 0);
    raise(SIGUSR2);
    raise(SIGUSR2);
    CHECK(hits == 0 && sigpending(&pending) == 0 && sigismember(&pending, SIGUSR2));
    CHECK(sigprocmask(SIG_SETMASK, &old, NULL) == 0);
    CHECK(hits == 1);
}

static void info(int sig, siginfo_t *si, void *context)
{
    (void)sig, (void)context;
    last_value = si->si_value.sival_int;
    hits += si->si_code == SI_QUEUE;
}

static void real_time_signals_queue_with_values(void)
{
    struct sigaction sa = {.sa_sigaction = info, .sa_flags = SA_SIGINFO};
    sigset_t set1, old;
    hits = 0;
    sigaction(SIGRTMIN + 1, &sa, NULL);
    sigemptyset(&set1);
    sigaddset(&set1, SIGRTMIN + 1);
    sigprocmask(SIG_BLOCK, &set1, &old);
    for (int i = 1; i <= 3; i++)
        CHECK(sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = i}) == 0);
    sigprocmask(SIG_SETMASK, &old, NULL);
    CHECK(hits == 3 && last_value == 3);
}

/* Again and again until alarm_after(0), in case the first comes before the call it should disturb.
 */
static void alarm_after(long usec)
{
    struct itimerval it = {{0, usec * 4}, {0, usec}};
    setitimer(ITIMER_REAL, &it, NULL);
}

static void read_is_interrupted_or_restarted(void)
{
    int fds[2];
    char c;
    CHECK(pipe(fds) == 0);
    hits = 0;
    set(SIGALRM, count, 0);
    alarm_after(5000);
    CHECK(read(fds[0], &c, 1) == -1 && errno == EINTR && hits > 0);
    alarm_after(0);
    set(SIGALRM, count, SA_RESTART);
    hits = 0;
    pid_t pid = fork();
    if (pid == 0) {
        struct timespec ts = {0, 30000000};
        nanosleep(&ts, NULL);
        if (write(fds[1], "x", 1) != 1)
            _exit(1);
        _exit(0);
    }
    alarm_after(5000);
    CHECK(read(fds[0], &c, 1) == 1 && c == 'x' && hits > 0);
    alarm_after(0);
    CHECK(waitpid(pid, NULL, 0) == pid);
    close(fds[0]);
    close(fds[1]);
}

static void nanosleep_reports_the_rest(void)
{
    struct timespec ts = {5, 0}, left = {0, 0};
    hits = 0;
    set(SIGALRM, count, SA_RESTART);
    alarm_after(5000);
    CHECK(nanosleep(&ts, &left) == -1 && errno == EINTR);
    alarm_after(0);
    CHECK(left.tv_sec < 5 && hits > 0);
}

static void jump_out(int sig)
{
    char here;
    last_signal = sig;
    on_alt = &here >= alt_stack && &here < alt_stack + sizeof(alt_stack);
    siglongjmp(jump, 1);
}

static void faults_become_signals(void)
{
    set(SIGSEGV, jump_out, 0);
    set(SIGILL, jump_out, 0);
    set(SIGBUS, jump_out, 0);
    set(SIGTRAP, jump_out, 0);
    if (!sigsetjmp(jump, 1))
        *(volatile int *)16 = 1;
    CHECK(last_signal == SIGSEGV);
    if (!sigsetjmp(jump, 1))
        __asm__ volatile(".4byte 0");
    CHECK(last_signal == SIGILL);
    if (!sigsetjmp(jump, 1))
        __asm__ volatile("ebreak");
    CHECK(last_signal == SIGTRAP);
    char *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    last_signal = 0;
    if (!sigsetjmp(jump, 1))
        *(volatile char *)p = 1;
    CHECK(last_signal == SIGSEGV);
    munmap(p, 4096);
}

static void fault_address_is_reported(void);
static void *volatile fault_address;

static void note_address(int sig, siginfo_t *si, void *context)
{
    (void)sig, (void)context;
    fault_address = si->si_addr;
    siglongjmp(jump, 1);
}

static void fault_address_is_reported(void)
{
    struct sigaction sa = {.sa_sigaction = note_address, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &sa, NULL);
    if (!sigsetjmp(jump, 1))
        *(volatile char *)0x123456 = 1;
    CHECK(fault_address == (void *)0x123456);
    set(SIGSEGV, SIG_DFL, 0);
}

static int recurse(int depth)
{
    volatile char big[4096];
    big[depth % 4096] = 1;
    return recurse(depth + 1) + big[0];
}

static void stack_overflow_is_caught_on_the_alternate_stack(void)
{
    stack_t ss = {.ss_sp = alt_stack, .ss_size = sizeof(alt_stack)}, old;
    CHECK(sigaltstack(&ss, NULL) == 0);
    set(SIGSEGV, jump_out, SA_ONSTACK);
    on_alt = 0;
    if (!sigsetjmp(jump, 1))
        recurse(0);
    CHECK(on_alt == 1);
    ss.ss_flags = SS_DISABLE;
    CHECK(sigaltstack(&ss, &old) == 0 && old.ss_sp == alt_stack);
    set(SIGSEGV, SIG_DFL, 0);
}

static void change_register(int sig, siginfo_t *si, void *context)
{
    (void)sig, (void)si;
    ucontext_t *uc = context;
    uc->uc_mcontext.__gregs[REG_PC] += 4;
    uc->uc_mcontext.__gregs[REG_A0] = 77;
}

static void handlers_may_change_the_context(void)
{
    struct sigaction sa = {.sa_sigaction = change_register, .sa_flags = SA_SIGINFO};
    register long a0 __asm__("a0") = 1;
    sigaction(SIGTRAP, &sa, NULL);
    __asm__ volatile(".option push\n.option norvc\nebreak\n.option pop" : "+r"(a0));
    long seen = a0;
    set(SIGTRAP, SIG_DFL, 0);
    CHECK(seen == 77);
}

static stack_t wanted_stack;
static void change_stack(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)info;
    ((ucontext_t *)context)->uc_stack = wanted_stack;
}

/* The stack after a handler that asked for this one in its context. */
static stack_t stack_after(void *sp, int flags, size_t size)
{
    stack_t now;
    wanted_stack = (stack_t){.ss_sp = sp, .ss_flags = flags, .ss_size = size};
    raise(SIGUSR1);
    if (sigaltstack(NULL, &now))
        now.ss_flags = -1;
    return now;
}

/* A stack that sigaltstack would refuse is ignored on return from a handler. */
static void handlers_may_change_the_alternate_stack(void)
{
    struct sigaction sa = {.sa_sigaction = change_stack, .sa_flags = SA_SIGINFO};
    stack_t off = {.ss_flags = SS_DISABLE}, on = {.ss_sp = alt_stack, .ss_size = 16384}, now;

    CHECK(sigaction(SIGUSR1, &sa, NULL) == 0 && sigaltstack(&on, NULL) == 0);
    now = stack_after(alt_stack + 16, 0, 100);
    CHECK(now.ss_sp == alt_stack && now.ss_size == 16384 && now.ss_flags == 0);
    now = stack_after(alt_stack + 16, SS_DISABLE | SS_ONSTACK, 16384);
    CHECK(now.ss_sp == alt_stack && now.ss_flags == 0);
    now = stack_after(alt_stack + 16, 0x40, 16384);
    CHECK(now.ss_sp == alt_stack && now.ss_flags == 0);
    now = stack_after(alt_stack + 16, 0, 8192);
    CHECK(now.ss_sp == alt_stack + 16 && now.ss_size == 8192 && now.ss_flags == 0);
    now = stack_after(alt_stack, SS_DISABLE, 1);
    CHECK(now.ss_flags == SS_DISABLE);
    on.ss_flags = SS_DISABLE | SS_ONSTACK;
    CHECK(sigaltstack(&on, NULL) == -1 && errno == EINVAL && sigaltstack(&off, NULL) == 0);
    set(SIGUSR1, SIG_DFL, 0);
}

static stack_t stack_inside;
static int set_inside;
static void look_at_stack(int sig)
{
    stack_t other = {.ss_sp = alt_stack, .ss_size = 8192, .ss_flags = SS_DISABLE};
    (void)sig;
    sigaltstack(NULL, &stack_inside);
    set_inside = sigaltstack(&other, NULL);
}

/* With SS_AUTODISARM a handler may switch stacks: the setting is gone until it returns. */
static void the_alternate_stack_disarms_itself(void)
{
    stack_t on = {.ss_sp = alt_stack, .ss_size = 16384, .ss_flags = (int)(1u << 31)}, now;
    stack_t off = {.ss_flags = SS_DISABLE};

    CHECK(sigaltstack(&on, NULL) == 0 && sigaltstack(NULL, &now) == 0);
    CHECK(now.ss_flags == on.ss_flags && now.ss_sp == alt_stack);
    set(SIGUSR1, look_at_stack, SA_ONSTACK);
    raise(SIGUSR1);
    CHECK(set_inside == 0 && stack_inside.ss_flags == SS_DISABLE);
    CHECK(sigaltstack(NULL, &now) == 0 && now.ss_sp == alt_stack && now.ss_size == 16384);
    CHECK(now.ss_flags == on.ss_flags && sigaltstack(&off, NULL) == 0);
    set(SIGUSR1, SIG_DFL, 0);
}

static void sigsuspend_and_sigtimedwait(void)
{
    sigset_t block, old, none;
    siginfo_t si;
    struct timespec soon = {0, 3000000};
    set(SIGUSR1, count, 0);
    sigemptyset(&none);
    sigemptyset(&block);
    sigaddset(&block, SIGUSR1);
    sigprocmask(SIG_BLOCK, &block, &old);
    hits = 0;
    raise(SIGUSR1);
    CHECK(sigsuspend(&none) == -1 && errno == EINTR && hits == 1);
    CHECK(sigtimedwait(&block, &si, &soon) == -1 && errno == EAGAIN);
    raise(SIGUSR1);
    CHECK(sigwaitinfo(&block, &si) == SIGUSR1 && si.si_pid == getpid() && hits == 1);
    sigprocmask(SIG_SETMASK, &old, NULL);
}

static void kill_permission_and_errors(void)
{
    CHECK(kill(getpid(), 0) == 0);
    CHECK(kill(NO_PROCESS, 0) == -1 && errno == ESRCH);
    CHECK(kill(getpid(), 99) == -1 && errno == EINVAL);
}

static void storm_of_signals(void)
{
    int status, n = 0;
    hits = 0;
    set(SIGUSR1, count, SA_RESTART);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        for (int i = 0; i < 500; i++)
            kill(parent, SIGUSR1);
        _exit(0);
    }
    while (waitpid(pid, &status, WNOHANG) == 0)
        n++;
    CHECK(WIFEXITED(status) && hits > 0 && hits <= 500 && n >= 0);
    set(SIGUSR1, SIG_DFL, 0);
}

static void *send_to_main(void *arg)
{
    pthread_kill(*(pthread_t *)arg, SIGUSR2);
    return NULL;
}

static void signals_reach_the_chosen_thread(void)
{
    pthread_t me = pthread_self(), t;
    hits = 0;
    set(SIGUSR2, count, 0);
    CHECK(pthread_create(&t, NULL, send_to_main, &me) == 0);
    CHECK(pthread_join(t, NULL) == 0);
    CHECK(hits == 1);
}

int main(void)
{
    RUN(handler_runs_and_returns);
    RUN(blocked_signals_wait);
    RUN(real_time_signals_queue_with_values);
    RUN(read_is_interrupted_or_restarted);
    RUN(nanosleep_reports_the_rest);
    RUN(faults_become_signals);
    RUN(fault_address_is_reported);
    RUN(stack_overflow_is_caught_on_the_alternate_stack);
    RUN(handlers_may_change_the_context);
    RUN(handlers_may_change_the_alternate_stack);
    RUN_ON_KERNEL(the_alternate_stack_disarms_itself);
    RUN(sigsuspend_and_sigtimedwait);
    RUN(kill_permission_and_errors);
    RUN(storm_of_signals);
    RUN(signals_reach_the_chosen_thread);
    DONE();
}
