/*
 * Linux's kcov by example, with the modes of the UNIQ series: which kernel code does
 * read(-1, NULL, 0) run?
 *
 *     kcovbox run --dialect linux guest-programs/linux-kcov.c [-- MODE]
 *
 *     0 pc   1 cmp   2 each pc once   4 each edge once   6 both   8 each comparison once
 *
 * Edges go to an area of their own, mapped at the offset that is the length of the first. In modes
 * 2 to 8 a descriptor reports each value only once, so the records of the end of KCOV_ENABLE,
 * removed by setting word 0 to 0, never appear again. Other modes are refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kcov.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define WORDS (64UL << 10)
#define BYTES (WORDS * sizeof(unsigned long))

static void die(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

static unsigned long *map(int fd, long offset)
{
    void *area = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);

    if (area == MAP_FAILED)
        die("mmap");
    return area;
}

static void print_words(const char *what, const unsigned long *area, unsigned long count)
{
    for (unsigned long i = 0; i < count; i++)
        printf("%s 0x%lx\n", what, area[1 + i]);
}

static void print_comparisons(const unsigned long *area, unsigned long count)
{
    for (unsigned long i = 0; i < count; i++) {
        const unsigned long *r = area + 1 + 4 * i;
        printf("cmp 0x%lx %s%d 0x%lx 0x%lx\n", r[3], r[0] & KCOV_CMP_CONST ? "const" : "value",
               8 << ((r[0] & KCOV_CMP_MASK) >> 1), r[1], r[2]);
    }
}

int main(int argc, char **argv)
{
    unsigned long mode = argc > 1 ? strtoul(argv[1], NULL, 0) : KCOV_TRACE_PC;
    unsigned long *area, *edges = NULL, count, edge_count = 0;
    int fd = open("/sys/kernel/debug/kcov", O_RDWR);

    if (fd == -1)
        die("open /sys/kernel/debug/kcov");
    if (ioctl(fd, KCOV_INIT_TRACE, WORDS))
        die("KCOV_INIT_TRACE");
    area = map(fd, 0);
    if (mode > 1 && (mode & KCOV_TRACE_UNIQ_EDGE))
        edges = map(fd, BYTES);

    if (ioctl(fd, KCOV_ENABLE, mode))
        die("KCOV_ENABLE");
    __atomic_store_n(&area[0], 0, __ATOMIC_RELAXED);
    if (edges)
        __atomic_store_n(&edges[0], 0, __ATOMIC_RELAXED);
    read(-1, NULL, 0);
    count = __atomic_load_n(&area[0], __ATOMIC_RELAXED);
    if (edges)
        edge_count = __atomic_load_n(&edges[0], __ATOMIC_RELAXED);
    if (ioctl(fd, KCOV_DISABLE, 0))
        die("KCOV_DISABLE");

    if (mode == KCOV_TRACE_CMP || mode == KCOV_TRACE_UNIQ_CMP)
        print_comparisons(area, count);
    else
        print_words("pc", area, count);
    if (edges)
        print_words("edge", edges, edge_count);
    munmap(area, BYTES);
    if (edges)
        munmap(edges, BYTES);
    close(fd);
    return 0;
}
