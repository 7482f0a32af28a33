/*
 * The fork-server pattern of fuzzers, on Linux: open, size and map once; then every child only
 * enables, runs one test case, and exits, which makes the descriptor ready for the next child. The
 * area is shared memory, so the parent reads what the child left.
 *
 *     kcovbox run --dialect linux guest-programs/fork-server-kcov.c [-- CHILDREN]
 */
#include <err.h>
#include <fcntl.h>
#include <linux/kcov.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS (64UL << 10)

/* The test cases: calls that take different paths through the kernel. */
static void run_case(int n)
{
    int pair[2];

    if (n % 3 == 0)
        (void)!read(-1, NULL, 0);
    else if (n % 3 == 1)
        (void)!pipe(pair);
    else
        (void)getpid();
}

int main(int argc, char **argv)
{
    int children = argc > 1 ? atoi(argv[1]) : 6;
    int fd = open("/sys/kernel/debug/kcov", O_RDWR);

    if (fd == -1)
        err(1, "open");
    if (ioctl(fd, KCOV_INIT_TRACE, WORDS))
        err(1, "KCOV_INIT_TRACE");
    unsigned long *area = mmap(NULL, WORDS * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (area == MAP_FAILED)
        err(1, "mmap");

    for (int n = 0; n < children; n++) {
        pid_t child = fork();
        if (child == -1)
            err(1, "fork");
        if (child == 0) {
            if (ioctl(fd, KCOV_ENABLE, KCOV_TRACE_PC))
                _exit(2);
            __atomic_store_n(&area[0], 0, __ATOMIC_RELAXED);
            run_case(n);
            /* Sampled here, so that the records of _exit do not count. */
            _exit(__atomic_load_n(&area[0], __ATOMIC_RELAXED) ? 0 : 3);
        }
        int status;
        if (waitpid(child, &status, 0) == -1 || status != 0)
            errx(1, "child %d: status 0x%x", n, status);
        printf("case %d: first 0x%lx\n", n % 3, area[1]);
    }
    return 0;
}
