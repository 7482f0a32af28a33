/*
 * Random system calls against the kernel's own robustness: fuzz [CALLS [SEED]]. Children make the
 * calls, because many do not survive them; the parent starts new ones until the count is reached.
 * Nothing is checked but that the kernel goes on; run it in a kasan or debug kernel. Afterwards the
 * kernel must have about as much free memory as before.
 */
#include "check.h"
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/wait.h>

#define CALLS_PER_CHILD 500

static uint64_t state;
static char buffer[65536] __attribute__((aligned(4096)));

static uint64_t rnd(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static const uint64_t edges[] = {0,
                                 1,
                                 2,
                                 3,
                                 7,
                                 8,
                                 64,
                                 4095,
                                 4096,
                                 4097,
                                 65536,
                                 0x7fffffff,
                                 0x80000000,
                                 0xffffffff,
                                 0x100000000,
                                 0x3fffffffff,
                                 0x4000000000,
                                 0x7fffffffffffffff,
                                 0x8000000000000000,
                                 0xffffffff80200000,
                                 0xffffffffffffffff,
                                 0xfffffffffffff000};
static const char *const paths[] = {"/",
                                    "/tmp",
                                    "/tmp/f",
                                    "/dev/null",
                                    "/dev/zero",
                                    "/proc/self/maps",
                                    "/bin/fuzz",
                                    "/tmp/d/e",
                                    "/dev/tty",
                                    "/proc/self/fd/0",
                                    "",
                                    "/dev/kcov",
                                    "/sys/kernel/debug"};

static uint64_t argument(void)
{
    switch (rnd() % 10) {
    case 0:
        return edges[rnd() % (sizeof(edges) / sizeof(edges[0]))];
    case 1:
    case 2:
        return rnd() % 16; /* a descriptor, a small flag */
    case 3:
        return (uint64_t)buffer + rnd() % sizeof(buffer);
    case 4:
    case 5:
        return (uint64_t)buffer + (rnd() % 16 << 12);
    case 6:
        return (uint64_t)paths[rnd() % (sizeof(paths) / sizeof(paths[0]))];
    case 7:
        return 1UL << rnd() % 64;
    case 8:
        return (uint64_t)-100; /* AT_FDCWD */
    default:
        return rnd() >> rnd() % 64;
    }
}

static int is_excluded(uint64_t nr)
{
    return nr == SYS_exit || nr == SYS_exit_group || nr == SYS_reboot || nr == SYS_kill ||
           nr == SYS_setitimer || nr == SYS_rt_sigprocmask || nr == SYS_rt_sigaction ||
           nr == SYS_rt_sigreturn || nr == SYS_setpriority;
}

static void tick(int sig)
{
    (void)sig;
}

static void child(uint64_t seed, int calls)
{
    struct itimerval often = {{0, 5000}, {0, 5000}};
    struct rlimit few = {30, 30}, small = {256 << 20, 256 << 20}, seconds = {2, 2};
    struct sigaction sa = {.sa_handler = tick};
    state = seed;
    sigaction(SIGALRM, &sa, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    setrlimit(RLIMIT_NPROC, &few);
    setrlimit(RLIMIT_AS, &small);
    setrlimit(RLIMIT_CPU, &seconds);
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; fd++)
        dup2(null, fd);
    if (setuid(1000))
        _exit(1);
    for (size_t i = 0; i < sizeof(buffer); i += 8)
        *(uint64_t *)(buffer + i) = rnd() % 3 ? argument() : 0;
    for (int i = 0; i < calls; i++) {
        uint64_t nr = rnd() % 450;
        if (is_excluded(nr))
            continue;
        pid_t me = getpid();
        syscall((long)nr, argument(), argument(), argument(), argument(), argument(), argument());
        if (getpid() != me)
            _exit(0);
    }
    _exit(0);
}

/* A child that blocked its alarms and sleeps for good is killed after a while. */
static void wait_for(pid_t pid)
{
    int status;
    for (int i = 0; i < 400; i++) {
        if (waitpid(pid, &status, WNOHANG) == pid)
            return;
        usleep(5000);
    }
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
}

static unsigned long free_memory(void)
{
    struct sysinfo s;
    sysinfo(&s);
    return s.freeram >> 10;
}

int main(int argc, char **argv)
{
    long calls = argc > 1 ? atol(argv[1]) : 10000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    unsigned long before = 0;
    for (int sig = 1; sig <= 64; sig++)
        if (sig != SIGCHLD)
            signal(sig, SIG_IGN);
    for (long done = 0, round = 0; done < calls; done += CALLS_PER_CHILD, round++) {
        pid_t pid = fork();
        if (pid == 0)
            child(seed * 0x9e3779b97f4a7c15 + (uint64_t)round * 2654435761 + 1, CALLS_PER_CHILD);
        if (pid > 0)
            wait_for(pid);
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        if (round == 3)
            before = free_memory();
    }
    kill(-1, SIGKILL);
    while (waitpid(-1, NULL, 0) > 0)
        ;
    printf("\nok fuzz: %ld calls, seed %lu, free memory %ld KiB less than early on\n", calls,
           (unsigned long)seed, (long)before - (long)free_memory());
    return 0;
}
