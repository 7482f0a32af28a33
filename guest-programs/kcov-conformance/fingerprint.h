/*
 * A fingerprint of kcov's records: for many calls and every mode, their number and a hash of the
 * whole area. Two implementations of recording that print the same lines have written the same
 * bytes.
 */
#include "dialect.h"
#include <sys/stat.h>

#define WORDS 32768UL

static int pipes[2];
static char page[4096];

static void do_read(void)
{
    (void)!read(-1, NULL, 0);
}
static void do_getpid(void)
{
    (void)getppid();
}
static void do_open(void)
{
    (void)!open("/no/such/file", O_RDONLY);
}
static void do_stat(void)
{
    struct stat st;
    (void)!stat("/dev/null", &st);
}
static void do_pipe_write(void)
{
    (void)!write(pipes[1], page, 100);
}
static void do_pipe_read(void)
{
    (void)!read(pipes[0], page, 100);
}
static void do_dup(void)
{
    int fd = dup(pipes[0]);
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    close(fd);
}
static void do_mmap(void)
{
    char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    p[0] = 1; /* page fault */
    munmap(p, 8192);
}
static void do_bad_pointer(void)
{
    (void)!write(pipes[1], BAD_POINTER, 10);
}
static void do_bad_ioctl(void)
{
    (void)!ioctl(0, 0xdeadbeef, 0);
}
static void do_many(void)
{
    for (int i = 0; i < 3000; i++)
        (void)getppid(); /* more than the area holds */
}

static const struct {
    const char *name;
    void (*run)(void);
} calls[] = {
    {"read", do_read},          {"getppid", do_getpid},      {"open", do_open}, {"stat", do_stat},
    {"write", do_pipe_write},   {"read-pipe", do_pipe_read}, {"dup", do_dup},   {"mmap", do_mmap},
    {"efault", do_bad_pointer}, {"ioctl", do_bad_ioctl},     {"many", do_many},
};

static word hash(const word *area, word words)
{
    word h = 0xcbf29ce484222325UL;
    for (word i = 0; i < words; i++)
        h = (h ^ area[i]) * 0x100000001b3UL;
    return h;
}

static void show(int mode)
{
    int fd = kcov_open();
    word *edges = NULL;
#ifdef DIALECT_LINUX
    bool is_cmp = mode == KCOV_TRACE_CMP || mode == KCOV_TRACE_UNIQ_CMP;
#else
    bool is_cmp = mode == MODE_CMP;
#endif
    if (fd == -1 || kcov_size(fd, WORDS) == -1)
        exit(1);
    word *area = kcov_map(fd, WORDS);
#ifdef DIALECT_LINUX
    edges = mmap(NULL, WORDS * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)WORDS * 8);
#endif
    if (!area || edges == MAP_FAILED)
        exit(1);
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        word n, e = 0;
        if (is_cmp && calls[i].run == do_mmap)
            continue;   /* compares physical addresses, which differ between boards */
        calls[i].run(); /* once untraced: the first run fills caches */
        memset(area, 0, WORDS * 8);
        if (edges)
            memset(edges, 0, WORDS * 8); /* page faults here, not while recording */
        if (kcov_enable(fd, mode) == -1)
            exit(2);
        STORE(area, 0);
        if (edges)
            STORE(edges, 0);
        calls[i].run();
        n = LOAD(area);
        if (edges)
            e = LOAD(edges);
        if (kcov_disable(fd, 0) == -1)
            exit(3);
        printf("%d %s %lu %lu %016lx %016lx\n", mode, calls[i].name, n, e, hash(area, WORDS),
               edges ? hash(edges, WORDS) : 0);
    }
    close(fd);
}

int main(void)
{
    if (pipe(pipes) == -1)
        return 1;
    show(MODE_PC);
    show(MODE_CMP);
#ifdef DIALECT_LINUX
    show(KCOV_TRACE_UNIQ_PC);
    show(KCOV_TRACE_UNIQ_EDGE);
    show(KCOV_TRACE_UNIQ_PC | KCOV_TRACE_UNIQ_EDGE);
    show(KCOV_TRACE_UNIQ_CMP);
#endif
    return 0;
}
