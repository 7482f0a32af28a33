/*
 * Acts: sequences of related calls that reach states which single random calls do not, each with
 * random parts. Included by fuzz.c.
 */
#pragma once
#include "fuzz-calls.h"
#include <sched.h>
#include <sys/mount.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define C(nr, ...) CN((nr), ##__VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define CN(nr, a, b, c, d, e, g, ...)                                                              \
    counted(f, (nr), (uint64_t)(a), (uint64_t)(b), (uint64_t)(c), (uint64_t)(d), (uint64_t)(e),    \
            (uint64_t)(g))

static void some_calls(struct fuzzer *f, uint64_t most)
{
    for (uint64_t n = pick(f, most + 1); n; n--)
        random_call(f);
}

/* In a fork of the worker: some calls, perhaps another fork, and the end. */
static void __attribute__((noreturn)) live_and_exit(struct fuzzer *f)
{
    f->pid = (int)RAW0(SYS_getpid);
    f->depth++;
    rnd(f);
    f->state ^= (uint64_t)f->pid << 32;
    for (uint64_t n = pick(f, 30); n; n--) {
        if (once_in(f, 8))
            random_act(f);
        else
            random_call(f);
    }
    for (;;)
        C(SYS_exit_group, pick(f, 256));
}

static void act_fork(struct fuzzer *f)
{
    if (f->depth < 3 && C(SYS_clone, once_in(f, 8) ? pick(f, 65) : SIGCHLD) == 0)
        live_and_exit(f);
    if (once_in(f, 2))
        C(SYS_wait4, (uint64_t)-1, fuzz_buffer, WNOHANG);
}

/* Parent and child share memory and the stack until the child executes or ends. */
static void act_vfork(struct fuzzer *f)
{
    const char *path = any_path(f);
    uint64_t argv = 0, code = pick(f, 300);
    long pid = C(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD);
    if (pid == 0) {
        raw(SYS_execve, (uint64_t)path, (uint64_t)&argv, 0, 0, 0, 0);
        raw(code & 1 ? SYS_exit : SYS_exit_group, code, 0, 0, 0, 0, 0);
    }
}

static int brief_thread(void *arg)
{
    struct fuzzer mine = *(struct fuzzer *)arg;
    mine.state ^= (uint64_t)RAW0(SYS_gettid) * 0x9e3779b97f4a7c15;
    some_calls(&mine, 40);
    return 0;
}

/* A short-lived thread; its exit clears a word and wakes a futex at a random address. */
static void act_thread(struct fuzzer *f)
{
    static char stacks[8][16384] __attribute__((aligned(16)));
    static struct fuzzer theirs[8];
    uint64_t i = pick(f, 8);
    unsigned flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                     CLONE_SYSVSEM | CLONE_CHILD_CLEARTID;
    if (once_in(f, 4))
        flags = CLONE_VM | SIGCHLD; /* a process with the same memory */
    if (f->depth)
        return;
    theirs[i] = *f;
    clone(brief_thread, stacks[i] + sizeof(stacks[i]), (int)flags, &theirs[i], NULL, NULL,
          (int *)futex_word(f));
    f->state += i;
    counted(f, SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

/* The fuzzer again, with its text damaged, or a script that names a strange interpreter. */
static void act_exec(struct fuzzer *f)
{
    static const char *const heads[] = {"#!/tmp/x",      "#!",      "#!/proc/self/exe child",
                                        "#!  /dev/null", "\177ELF", ""};
    char *copy = fuzz_buffer + 32768;
    const char *argv[] = {"fuzz", "child", NULL};
    long in = C(SYS_openat, AT_FDCWD, "/proc/self/exe", O_RDONLY);
    long out = C(SYS_openat, AT_FDCWD, "/tmp/x", O_CREAT | O_TRUNC | O_WRONLY, 0777);
    long n = RAW3(SYS_read, in, copy, 8192);
    for (uint64_t i = 1 + pick(f, 4); n > 0 && i; i--)
        copy[pick(f, once_in(f, 2) ? 64 : 600)] = (char)rnd(f);
    if (once_in(f, 3)) {
        const char *head = CHOOSE(f, heads);
        strcpy(copy, head);
    }
    C(SYS_write, out, copy, n);
    C(SYS_sendfile, out, in, 0, 1 << 20);
    C(SYS_close, in);
    C(SYS_close, out);
    if (f->depth < 3 && C(SYS_clone, SIGCHLD) == 0) {
        C(SYS_execve, "/tmp/x", argv, argv + 2);
        live_and_exit(f);
    }
}

/* The worker goes on as a new program in the same process. */
static void act_start_over(struct fuzzer *f)
{
    char words[3][24];
    const char *argv[] = {"fuzz", "child", words[0], words[1], words[2], NULL};
    uint64_t numbers[] = {rnd(f), 50, (uint64_t)f->slot};
    for (int i = 0; i < 3; i++)
        snprintf(words[i], sizeof(words[i]), "%lu", (unsigned long)numbers[i]);
    if (!f->depth && once_in(f, 4))
        C(SYS_execve, "/proc/self/exe", argv, argv + 5);
}

/* Every personality's requests are tried: the wrong ones are tests of another kind. */
static void kcov_start(struct fuzzer *f, long fd, uint64_t words)
{
    uint64_t mode = pick(f, 6), bytes = words * 8, *remote = place(f);
    C(SYS_ioctl, fd, 0x80086301, words);
    C(SYS_ioctl, fd, 0x80084b01, &words);
    C(SYS_ioctl, fd, 0x20046304, words);
    if (!once_in(f, 4)) {
        long map = C(SYS_mmap, value_of_kind(f, 'M'), bytes, 3, MAP_SHARED, fd, 0);
        if (once_in(f, 4))
            C(SYS_munmap, map, bytes);
    }
    remote[0] = pick(f, 4) | 64UL << 32; /* struct kcov_remote_arg, kcov_ioc_remote_attach */
    remote[1] = pick(f, 4);
    remote[2] = once_in(f, 2) ? 0 : pick(f, 8);
    remote[3] = once_in(f, 4) ? any_value(f) : 1UL << 56 | pick(f, 4);
    if (once_in(f, 3))
        C(SYS_ioctl, fd, once_in(f, 2) ? 0x40186366 : 0x80104b0a, remote);
    C(SYS_ioctl, fd, 0x6364, mode);
    C(SYS_ioctl, fd, 0x80044b02, &mode);
    C(SYS_ioctl, fd, 0x20046302, mode);
}

static void kcov_stop(struct fuzzer *f, long fd)
{
    C(SYS_ioctl, fd, 0x6365, 0);
    C(SYS_ioctl, fd, 0x20004b03, 0);
    C(SYS_ioctl, fd, 0x20006303, 0);
    C(SYS_ioctl, fd, 0x20004b0b, 0);
}

static void act_kcov(struct fuzzer *f)
{
    long fd = C(SYS_openat, AT_FDCWD, "/dev/kcov", O_RDWR);
    if (fd < 0)
        fd = C(SYS_openat, AT_FDCWD, "/sys/kernel/debug/kcov", O_RDWR);
    if (fd < 0)
        return;
    kcov_start(f, fd, once_in(f, 8) ? any_value(f) : 2 + pick(f, 2000));
    some_calls(f, 10);
    if (once_in(f, 4))
        act_fork(f);
    if (once_in(f, 2))
        kcov_stop(f, fd);
    if (!once_in(f, 3))
        C(SYS_close, fd);
}

/* A shared mapping of a file that becomes shorter below it. */
static void act_map_file(struct fuzzer *f)
{
    char *at = (char *)ARENA + pick(f, ARENA_PAGES - 8) * PAGE;
    long fd = C(SYS_openat, AT_FDCWD, any_path(f), O_RDWR | O_CREAT, 0600);
    uint64_t flags = MAP_FIXED | (once_in(f, 2) ? MAP_SHARED : MAP_PRIVATE);
    C(SYS_ftruncate, fd, pick(f, 9 * PAGE));
    C(SYS_mmap, at, pick(f, 9) * PAGE, pick(f, 8), flags, fd, pick(f, 4) * PAGE);
    C(SYS_write, fd, at, pick(f, 9 * PAGE));
    C(SYS_ftruncate, fd, pick(f, 4 * PAGE));
    C(SYS_read, fd, at + pick(f, 5 * PAGE), pick(f, 2 * PAGE));
    C(SYS_mremap, at, pick(f, 9) * PAGE, pick(f, 9) * PAGE, pick(f, 4), value_of_kind(f, 'M'));
    C(SYS_close, fd);
}

/* Sockets travel through sockets, perhaps through themselves. */
static void act_pass_sockets(struct fuzzer *f)
{
    int *fds = place(f);
    C(SYS_socketpair, AF_UNIX, value_of_kind(f, 'T'), 0, fds);
    struct msghdr *m = (struct msghdr *)message(f);
    for (uint64_t n = 1 + pick(f, 4); n; n--)
        C(SYS_sendmsg, fds[0], m, 0);
    if (once_in(f, 2))
        C(SYS_close, fds[0]);
    if (once_in(f, 2))
        C(SYS_recvmsg, fds[1], message(f), MSG_DONTWAIT);
    if (!once_in(f, 4))
        C(SYS_close, fds[1]);
}

/* A server and its clients, some of which close early. */
static void act_connect(struct fuzzer *f)
{
    uint64_t type = value_of_kind(f, 'T') | SOCK_NONBLOCK, at = socket_address(f);
    long server = C(SYS_socket, AF_UNIX, type, 0), client[3], accepted;
    C(SYS_unlinkat, AT_FDCWD, ((struct sockaddr_un *)at)->sun_path, 0);
    C(SYS_bind, server, at, sizeof(struct sockaddr_un));
    C(SYS_listen, server, pick(f, 4));
    for (int i = 0; i < 3; i++) {
        client[i] = C(SYS_socket, AF_UNIX, type, 0);
        C(SYS_connect, client[i], at, sizeof(struct sockaddr_un));
        C(SYS_sendmsg, client[i], message(f), 0);
    }
    if (once_in(f, 4))
        C(SYS_close, server);
    accepted = C(SYS_accept4, server, fuzz_buffer, 0, SOCK_NONBLOCK);
    C(SYS_getsockopt, client[0], 1, pick(f, 20), fuzz_buffer, small_number(f));
    C(SYS_close, client[pick(f, 3)]);
    some_calls(f, 3);
    C(SYS_recvmsg, accepted, message(f), MSG_DONTWAIT);
    for (int i = 0; i < 3; i++)
        C(SYS_close, client[i]);
    C(SYS_close, accepted);
    if (!once_in(f, 4))
        C(SYS_close, server);
}

/* Queues that watch queues. */
static void act_watch(struct fuzzer *f)
{
    uint64_t *event = place(f);
    long a = C(SYS_epoll_create1, 0), b = C(SYS_epoll_create1, 0), k = C(SYS_kqueue1, 0);
    event[0] = pick(f, 32) | (once_in(f, 2) ? 1UL << 31 : 0);
    C(SYS_epoll_ctl, a, 1, pick(f, 24), event);
    C(SYS_epoll_ctl, a, 1, b, event);
    C(SYS_epoll_ctl, b, 1, once_in(f, 2) ? a : (long)pick(f, 24), event);
    event[0] = once_in(f, 2) ? (uint64_t)k : pick(f, 24); /* struct kevent: ident, filter, flags */
    event[1] = (uint64_t)(uint16_t)-(int)pick(f, 10) | (rnd(f) & 0x1ff) << 16;
    event[2] = event[3] = pick(f, 100);
    C(SYS_kevent, once_in(f, 2) ? k : (long)pick(f, 24), event, 1, fuzz_buffer, 4, place(f));
    some_calls(f, 4);
    C(SYS_epoll_pwait, a, fuzz_buffer, 8, pick(f, 2));
    C(SYS_close, once_in(f, 2) ? a : b);
    C(SYS_close, k);
}

/* All registers, also sp, gp and tp, are garbage when the program traps. */
static void act_wild_registers(struct fuzzer *f)
{
    uint64_t *r = (uint64_t *)fuzz_buffer, how = pick(f, 6);
    if (f->depth > 2 || C(SYS_clone, SIGCHLD) != 0)
        return;
    for (int i = 0; i < 32; i++)
        r[i] = once_in(f, 3) ? rnd(f) : any_value(f);
    r[17] = once_in(f, 4) ? SYS_rt_sigreturn : pick(f, NR_MAX);
    if (r[17] == SYS_reboot || is_kill(r[17]))
        r[17] = SYS_getpid;
    if (once_in(f, 2))
        r[2] = (uint64_t)fuzz_buffer + pick(f, BUFFER_BYTES); /* a frame for sigreturn */
    r[1] = how == 0 ? edge(f) : (uint64_t)fuzz_buffer;
    __asm__ volatile("mv t6, %0\n"
                     "mv t5, %1\n"
                     "ld ra, 8(t6)\n ld sp, 16(t6)\n ld gp, 24(t6)\n ld tp, 32(t6)\n"
                     "ld a0, 80(t6)\n ld a1, 88(t6)\n ld a2, 96(t6)\n ld a3, 104(t6)\n"
                     "ld a4, 112(t6)\n ld a5, 120(t6)\n ld a6, 128(t6)\n ld a7, 136(t6)\n"
                     "ld s0, 64(t6)\n ld s1, 72(t6)\n"
                     "beqz t5, 1f\n addi t5, t5, -1\n beqz t5, 2f\n addi t5, t5, -1\n"
                     "beqz t5, 3f\n addi t5, t5, -1\n beqz t5, 4f\n"
                     "ecall\n ebreak\n"
                     "1: jr ra\n"
                     "2: .word 0\n"
                     "3: ld a0, 0(a1)\n sd a0, 0(sp)\n ecall\n"
                     "4: csrr a0, sstatus\n wfi\n"
                     :
                     : "r"(r), "r"(how)
                     : "memory");
    for (;;)
        RAW1(SYS_exit_group, 0);
}

/* Signals to ourselves while handlers run on small, overlapping or missing stacks. */
static void act_signal_storm(struct fuzzer *f)
{
    stack_t *ss = place(f);
    *ss = (stack_t){.ss_sp = (void *)buffer(f), .ss_size = 2048 + pick(f, 8192)};
    C(SYS_sigaltstack, ss, 0);
    for (uint64_t n = pick(f, 20); n; n--) {
        C(once_in(f, 2) ? SYS_kill : SYS_tkill, f->pid, SIGUSR1);
        if (once_in(f, 4))
            C(SYS_rt_sigqueueinfo, f->pid, SIGRTMIN + pick(f, 3), fuzz_buffer);
    }
}

/* A damaged disk, mounted. Only root can. */
static void act_disk(struct fuzzer *f)
{
    long fd = C(SYS_openat, AT_FDCWD, "/dev/vda", O_RDWR);
    if (fd < 0)
        return;
    for (uint64_t n = pick(f, 5); n; n--) {
        uint64_t *at = place(f);
        at[0] = any_value(f);
        C(SYS_pwrite64, fd, at, 1 + pick(f, 8), pick(f, once_in(f, 2) ? 4096 : 65536));
    }
    C(SYS_close, fd);
    C(SYS_mkdirat, AT_FDCWD, "/tmp/m", 0777);
    C(SYS_mount, "/dev/vda", "/tmp/m", "minfs", 0, 0);
    for (uint64_t n = pick(f, 12); n; n--) {
        static const char *const names[] = {"/tmp/m/a", "/tmp/m/b", "/tmp/m/c", "/tmp/m"};
        const char *name = CHOOSE(f, names);
        long file =
            C(SYS_openat, AT_FDCWD, name, once_in(f, 2) ? O_RDWR | O_CREAT : O_RDONLY, 0600);
        C(SYS_write, file, fuzz_buffer, pick(f, 30000));
        C(SYS_lseek, file, pick(f, 1 << 20), 0);
        C(SYS_read, file, fuzz_buffer, pick(f, 30000));
        C(SYS_getdents64, file, fuzz_buffer, 4096);
        C(SYS_close, file);
        if (once_in(f, 3))
            C(SYS_unlinkat, AT_FDCWD, name, 0);
    }
    C(SYS_umount2, "/tmp/m", 0);
}

static void act_timers(struct fuzzer *f)
{
    long fd = C(SYS_timerfd_create, 1, 0);
    for (uint64_t n = pick(f, 5); n; n--)
        C(SYS_timerfd_settime, fd, 0, short_time(f), 0);
    C(SYS_setitimer, 0, fuzz_buffer, 0);
    C(SYS_nanosleep, short_time(f), 0);
    struct timespec *often = place(f); /* microseconds here: the alarms shall go on */
    often[0] = often[1] = (struct timespec){0, 5000};
    C(SYS_setitimer, 0, often, 0);
    if (once_in(f, 2))
        C(SYS_close, fd);
}

/* A segment that others find by its key, perhaps removed while it is attached. */
static void act_segment(struct fuzzer *f)
{
    static const int flags[] = {0, 0, SHM_RDONLY, SHM_RND, SHM_REMAP, SHM_EXEC};
    long at = 0, id = C(SYS_shmget, pick(f, 4), pick(f, 40000), IPC_CREAT | 0600 | pick(f, 0200));
    for (uint64_t n = 1 + pick(f, 3); n; n--)
        at = C(SYS_shmat, id, once_in(f, 2) ? 0 : address(f), CHOOSE(f, flags));
    C(SYS_read, 3 + pick(f, 8), at, size(f));
    some_calls(f, 4);
    C(SYS_munmap, at + (long)(pick(f, 3) * PAGE), (1 + pick(f, 2)) * PAGE);
    C(SYS_shmctl, id, pick(f, 16), buffer(f));
    if (!once_in(f, 4))
        C(SYS_shmdt, at);
    if (!once_in(f, 4))
        C(SYS_shmctl, id, IPC_RMID);
}

/* The leader ends first, or everything at once, or by a signal. */
static void act_end(struct fuzzer *f)
{
    static const int ways[] = {SYS_exit, SYS_exit_group, SYS_exit_group, SYS_kill};
    int way = CHOOSE(f, ways);
    if (once_in(f, 10))
        counted(f, way, way == SYS_kill ? (uint64_t)f->pid : 0, SIGKILL, 0, 0, 0, 0);
}

/* A pseudo-terminal, perhaps as controlling terminal of a new session, which may be hung up. */
static void act_terminal(struct fuzzer *f)
{
    uint32_t *number = place(f);
    long master = C(SYS_openat, AT_FDCWD, "/dev/ptmx", O_RDWR | (once_in(f, 2) ? O_NONBLOCK : 0));
    *number = 0;
    if (!once_in(f, 8))
        C(SYS_ioctl, master, 0x40045431, number); /* TIOCSPTLCK */
    if (once_in(f, 4))
        C(SYS_setsid);
    long slave = C(SYS_ioctl, master, 0x5441, O_RDWR | (once_in(f, 2) ? O_NONBLOCK : 0));
    if (once_in(f, 2))
        C(SYS_ioctl, slave, 0x540e, pick(f, 2)); /* TIOCSCTTY */
    for (uint64_t n = pick(f, 12); n; n--) {
        long end = once_in(f, 2) ? master : slave;
        switch (pick(f, 5)) {
        case 0:
            C(SYS_write, end, buffer(f), size(f));
            break;
        case 1:
            C(SYS_read, end, buffer(f), size(f));
            break;
        case 2:
            C(SYS_ioctl, end, ioctl_request(f), once_in(f, 2) ? pick(f, 4) : small_number(f));
            break;
        case 3:
            C(SYS_fcntl, end, F_SETFL, once_in(f, 2) ? O_NONBLOCK : 0);
            break;
        default:
            some_calls(f, 2);
        }
    }
    if (!once_in(f, 3))
        C(SYS_close, master);
    if (!once_in(f, 3))
        C(SYS_close, slave);
}

static void (*const acts[])(struct fuzzer *) = {
    act_fork,       act_fork, act_vfork,    act_thread,   act_thread,       act_exec,
    act_start_over, act_kcov, act_kcov,     act_map_file, act_watch,        act_pass_sockets,
    act_connect,    act_disk, act_disk,     act_timers,   act_signal_storm, act_wild_registers,
    act_segment,    act_end,  act_terminal, act_terminal,
};

static void random_act(struct fuzzer *f)
{
    CHOOSE(f, acts)(f);
}
