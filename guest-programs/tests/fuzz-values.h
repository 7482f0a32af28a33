/*
 * Arguments for random system calls, by kind. Most are plausible, because a call that fails at its
 * first check tests nothing behind it; the rest is hostile. Included by fuzz.c.
 *
 *   f descriptor   D directory descriptor   P path    b buffer     s size      i small number
 *   o offset       F open flags             m mode    M address    L length    r protection
 *   g mmap flags   p process id             S signal  v iovecs     c count     a socket address
 *   A its length   t short time             e event   z signal set h message   u futex word
 *   q ioctl        k clock                  w wait options         n pointer to a small number
 *   N attribute name
 *   U socket family   T socket type          R 24   0 zero   8 eight   x anything
 */
#pragma once
#include "fuzz.h"
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

static char fuzz_buffer[BUFFER_BYTES] __attribute__((aligned(4096)));

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
                                 0x3ffffff000,
                                 0x4000000000,
                                 0x7fffffffffffffff,
                                 0x8000000000000000,
                                 0xffffffc080000000, /* kernel addresses */
                                 0xffffffff80200000,
                                 0xffffffffffffffff,
                                 0xfffffffffffff000};

static const char *const fuzz_paths[] = {
    "/",
    "/tmp",
    "/tmp/f",
    "/tmp/g",
    "/tmp/d",
    "/tmp/d/e",
    "/tmp/d/../f",
    "/tmp/l",
    "/tmp/fifo",
    "/tmp/sock",
    "f",
    "g",
    "d",
    ".",
    "..",
    "",
    "/dev",
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/tty",
    "/dev/edu",
    "/dev/fd/3",
    "/dev/kcov",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/pts/0",
    "/dev/pts/1",
    "/dev/pts/ptmx",
    "/dev/stdin",
    "/sys/kernel/debug",
    "/sys/kernel/debug/kcov",
    "/proc",
    "/proc/1/status",
    "/proc/self",
    "/proc/1/fd",
    "/proc/meminfo",
    "/proc/mounts",
    "/proc/stat",
    "/proc/self/maps",
    "/proc/self/stat",
    "/proc/self/status",
    "/proc/self/environ",
    "/proc/self/fd",
    "/proc/self/fd/4",
    "/proc/self/fd/9",
    "/proc/self/exe",
    "/proc/self/cwd/f",
    "/proc/self/root/tmp",
    "/fuzz-nobody",
    "/tmp/m",
    "/tmp/m/a",
    "/tmp/m/b",
    "/tmp/this-name-is-longer-than-most-names-but-not-too-long-for-a-file-system-of-today",
};

static const char *const attribute_names[] = {"user.a",     "user.b", "user.c",  "trusted.a",
                                              "security.a", "user.",  "other.a", ""};

static const char *any_path(struct fuzzer *f)
{
    return CHOOSE(f, fuzz_paths);
}

static uint64_t edge(struct fuzzer *f)
{
    return CHOOSE(f, edges);
}

/* An address for the kernel to access: mostly mapped, sometimes not, sometimes the kernel's. */
static uint64_t buffer(struct fuzzer *f)
{
    switch (pick(f, 16)) {
    case 0:
        return edge(f);
    case 1:
        return (uint64_t)ARENA + pick(f, ARENA_PAGES) * PAGE + PAGE - pick(f, 64);
    case 2:
    case 3:
    case 4:
        return (uint64_t)ARENA + pick(f, ARENA_PAGES * PAGE);
    case 5:
    case 6:
        return (uint64_t)ARENA + pick(f, ARENA_PAGES) * PAGE;
    case 7:
        return (uint64_t)fuzz_buffer + BUFFER_BYTES - pick(f, 200);
    case 8:
        return (uint64_t)fuzz_buffer + pick(f, BUFFER_BYTES);
    default:
        return (uint64_t)fuzz_buffer + pick(f, BUFFER_BYTES / 64) * 64;
    }
}

static uint64_t size(struct fuzzer *f)
{
    switch (pick(f, 16)) {
    case 0:
        return once_in(f, 3) ? edge(f) : pick(f, 8);
    case 1:
        return pick(f, once_in(f, 8) ? 1 << 20 : 1 << 14);
    case 2:
    case 3:
    case 4:
        return pick(f, 4097);
    default:
        return pick(f, 200);
    }
}

static uint64_t any_value(struct fuzzer *f)
{
    switch (pick(f, 10)) {
    case 0:
        return edge(f);
    case 1:
    case 2:
        return pick(f, 16);
    case 3:
    case 4:
        return buffer(f);
    case 5:
        return (uint64_t)any_path(f);
    case 6:
        return 1UL << pick(f, 64);
    case 7:
        return (uint64_t)AT_FDCWD;
    default:
        return rnd(f) >> pick(f, 64);
    }
}

/* A place of 128 bytes in the buffer for a structure that the kernel shall read. */
static void *place(struct fuzzer *f)
{
    return fuzz_buffer + pick(f, BUFFER_BYTES / 128) * 128;
}

static uint64_t iovecs(struct fuzzer *f)
{
    struct iovec *v = place(f);
    for (int i = 0; i < 8; i++)
        v[i] = (struct iovec){(void *)buffer(f), size(f)};
    return (uint64_t)v;
}

static uint64_t socket_address(struct fuzzer *f)
{
    static const char *const names[] = {"/tmp/sock", "/tmp/sock2", "sock", "", "/tmp/f"};
    struct sockaddr_un *at = place(f);
    at->sun_family = once_in(f, 16) ? (sa_family_t)rnd(f) : AF_UNIX;
    strcpy(at->sun_path, CHOOSE(f, names));
    if (once_in(f, 4)) {
        at->sun_path[0] = 0; /* a name outside the file system */
        strcpy(at->sun_path + 1, "abstract");
    }
    return (uint64_t)at;
}

static uint64_t message(struct fuzzer *f)
{
    struct msghdr *m = place(f);
    uint64_t *control = place(f);
    *m = (struct msghdr){.msg_iov = (struct iovec *)iovecs(f),
                         .msg_iovlen = once_in(f, 20) ? rnd(f) : pick(f, 9)};
    if (once_in(f, 8)) {
        m->msg_name = (void *)socket_address(f);
        m->msg_namelen = (socklen_t)pick(f, 130);
    }
    if (once_in(f, 2)) { /* descriptors in the message */
        struct cmsghdr *head = (struct cmsghdr *)control;
        uint64_t n = 1 + pick(f, 8);
        *head = (struct cmsghdr){.cmsg_len = CMSG_LEN(n * 4),
                                 .cmsg_level = SOL_SOCKET,
                                 .cmsg_type = once_in(f, 10) ? (int)pick(f, 4) : SCM_RIGHTS};
        if (once_in(f, 16))
            head->cmsg_len = rnd(f) >> pick(f, 64);
        for (uint64_t i = 0; i < n; i++)
            ((int *)CMSG_DATA(head))[i] = (int)pick(f, FDS_MAX / 2);
        m->msg_control = control;
        m->msg_controllen = once_in(f, 16) ? size(f) : CMSG_SPACE(n * 4);
    }
    return (uint64_t)m;
}

static uint64_t short_time(struct fuzzer *f)
{
    struct timespec *t = place(f);
    *t = (struct timespec){0, (long)pick(f, 3000000)};
    if (once_in(f, 8))
        *t = (struct timespec){(long)any_value(f), (long)any_value(f)};
    t[1] = (struct timespec){0, (long)pick(f, 5000000)}; /* itimerspec, two times of utimensat */
    return once_in(f, 10) ? 0 : (uint64_t)t;
}

static uint64_t process(struct fuzzer *f)
{
    switch (pick(f, 8)) {
    case 0:
        return (uint64_t)RAW0(SYS_getppid);
    case 1:
        return (uint64_t)f->pid + 1 + pick(f, 4);
    case 2:
        return (uint64_t)(-f->pid);
    case 3:
        return edge(f);
    case 4:
        return 0;
    case 5:
        return (uint64_t)RAW0(SYS_gettid);
    default:
        return (uint64_t)f->pid;
    }
}

static uint64_t ioctl_request(struct fuzzer *f)
{
    static const uint32_t known[] = {
        0x5401,     0x5402,     0x5403,     0x5404,     0x5405,     0x5409,     0x540a,
        0x540b,     0x540c,     0x540d,     0x540e,     0x540f,     0x5410,     0x5411,
        0x5413,     0x5414,     0x541b,     0x5420,     0x5421,     0x5422,     0x5429,
        0x5441,     0x5441,     0x80045430, 0x40045431, 0x40045431, 0x40045436, 0x80045438,
        0x80045439, 0x5450,     0x5451,     0x1260,     0x80081272, 0x1268,     0xc0044501,
        0x80044502, 0x80086301, 0x00006364, 0x00006365, 0xc0086366, 0x80084b01, 0x80044b02,
        0x20004b03, 0x20046302, 0x20006303, 0x20046304, 0x4004667e, 0x4004667f, 0x8004667d,
        0x8008a,
    };
    static const char letters[] = "cKETUfV";
    if (!once_in(f, 4))
        return CHOOSE(f, known);
    uint64_t direction = pick(f, 8), bytes = once_in(f, 3) ? pick(f, 128) : 1UL << pick(f, 8);
    return direction << 29 | bytes << 16 | (uint64_t)CHOOSE(f, letters) << 8 | pick(f, 24);
}

static uint64_t address(struct fuzzer *f)
{
    switch (pick(f, 16)) {
    case 0:
        return edge(f);
    case 1:
        return buffer(f);
    case 2:
        return 0;
    default:
        return (uint64_t)ARENA + pick(f, ARENA_PAGES) * PAGE;
    }
}

static uint64_t futex_word(struct fuzzer *f)
{
    return once_in(f, 8) ? buffer(f) : (uint64_t)fuzz_buffer + pick(f, 8) * 4;
}

static uint64_t small_number(struct fuzzer *f)
{
    uint64_t *at = place(f);
    at[0] = once_in(f, 4) ? any_value(f) : pick(f, 64);
    at[1] = any_value(f);
    at[2] = any_value(f);
    return once_in(f, 8) ? buffer(f) : (uint64_t)at;
}

static uint64_t open_flags(struct fuzzer *f)
{
    static const int flags[] = {O_CREAT,   O_EXCL,      O_TRUNC,    O_APPEND, O_NONBLOCK,
                                O_CLOEXEC, O_DIRECTORY, O_NOFOLLOW, O_PATH,   O_TMPFILE,
                                O_NOCTTY,  O_CREAT,     O_CREAT};
    uint64_t value = pick(f, 3);
    for (uint64_t n = pick(f, 4); n; n--)
        value |= (uint64_t)CHOOSE(f, flags);
    return once_in(f, 32) ? rnd(f) : value;
}

static uint64_t mmap_flags(struct fuzzer *f)
{
    uint64_t value = once_in(f, 2) ? MAP_PRIVATE : MAP_SHARED;
    if (!once_in(f, 3))
        value |= MAP_ANONYMOUS;
    if (!once_in(f, 4))
        value |= MAP_FIXED;
    if (once_in(f, 8))
        value |= 1UL << pick(f, 24);
    return value;
}

static uint64_t value_of_kind(struct fuzzer *f, char kind)
{
    switch (kind) {
    case 'f':
        return once_in(f, 32) ? any_value(f) : pick(f, once_in(f, 2) ? 24 : FDS_MAX);
    case 'D':
        return once_in(f, 3) ? pick(f, 24) : (uint64_t)AT_FDCWD;
    case 'P':
        return once_in(f, 24) ? buffer(f) : (uint64_t)any_path(f);
    case 'N':
        return once_in(f, 24) ? buffer(f) : (uint64_t)CHOOSE(f, attribute_names);
    case 'b':
        return buffer(f);
    case 's':
        return size(f);
    case 'i':
        return once_in(f, 16) ? any_value(f) : pick(f, 10);
    case 'o':
        return once_in(f, 4) ? edge(f) : pick(f, 20000);
    case 'F':
        return open_flags(f);
    case 'm':
        return once_in(f, 8) ? rnd(f) : 0600 | (rnd(f) & 0177);
    case 'M':
        return address(f);
    case 'L':
        return once_in(f, 16) ? edge(f) : (1 + pick(f, once_in(f, 4) ? 64 : 8)) * PAGE;
    case 'r':
        return once_in(f, 16) ? rnd(f) : pick(f, 8);
    case 'g':
        return mmap_flags(f);
    case 'p':
        return process(f);
    case 'S':
        return once_in(f, 3) ? SIGUSR1 : pick(f, 66);
    case 'v':
        return once_in(f, 16) ? buffer(f) : iovecs(f);
    case 'c':
        return once_in(f, 16) ? edge(f) : pick(f, 9);
    case 'a':
        return once_in(f, 16) ? buffer(f) : socket_address(f);
    case 'A':
        return once_in(f, 4) ? pick(f, 200) : sizeof(struct sockaddr_un);
    case 't':
        return short_time(f);
    case 'h':
        return once_in(f, 16) ? buffer(f) : message(f);
    case 'u':
        return futex_word(f);
    case 'q':
        return ioctl_request(f);
    case 'e':
    case 'n':
    case 'z':
        return small_number(f);
    case 'k': /* some name a process's time: ~number << 3 */
        return once_in(f, 8)   ? any_value(f)
               : once_in(f, 3) ? ~(once_in(f, 2) ? 0 : process(f)) << 3 | pick(f, 8)
                               : pick(f, 12);
    case 'w':
        return once_in(f, 8) ? rnd(f) : WNOHANG | (rnd(f) & 15);
    case 'U':
        return once_in(f, 16) ? pick(f, 48) : AF_UNIX;
    case 'T':
        return (once_in(f, 16) ? pick(f, 12)
                : pick(f, 2)   ? SOCK_STREAM
                               : SOCK_DGRAM) |
               (once_in(f, 2) ? SOCK_NONBLOCK : 0);
    case 'R':
        return 24; /* struct robust_list_head */
    case '0':
        return 0;
    case '8':
        return 8;
    default:
        return any_value(f);
    }
}
