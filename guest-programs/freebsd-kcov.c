/*
 * FreeBSD's kcov(4) by example: which kernel code does read(-1, NULL, 0) run?
 *
 *     kcovbox run --dialect freebsd guest-programs/freebsd-kcov.c [-- -m pc|cmp]
 *
 * Arguments are ints by value, modes start at 0, and mmap accepts only the whole area, so the
 * number of words must be a multiple of a page. Records of switch statements follow the real
 * kernel, not its manual: operand with bit 0 set, case value, no constant bit.
 */
#include <sys/param.h>
#include <sys/ioctl.h>
#include <sys/kcov.h>
#include <sys/mman.h>

#include <machine/atomic.h>

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS (32 * PAGE_SIZE / KCOV_ENTRY_SIZE)

static void print_comparison(const uint64_t *r)
{
    printf("%p %s%d 0x%lx 0x%lx\n", (void *)r[3], r[0] & KCOV_CMP_CONST ? "const" : "value",
           8 << KCOV_CMP_GET_SIZE(r[0]), r[1], r[2]);
}

int main(int argc, char *argv[])
{
    uint64_t *area, count;
    int fd, c, mode = KCOV_MODE_TRACE_PC;

    while ((c = getopt(argc, argv, "m:")) != -1) {
        if (c != 'm')
            errx(1, "usage: %s [-m pc|cmp]", getprogname());
        mode = strcmp(optarg, "cmp") == 0 ? KCOV_MODE_TRACE_CMP : KCOV_MODE_TRACE_PC;
    }

    if ((fd = open("/dev/kcov", O_RDWR)) == -1)
        err(1, "open /dev/kcov");
    if (ioctl(fd, KIOSETBUFSIZE, WORDS) == -1)
        err(1, "KIOSETBUFSIZE");
    area = mmap(NULL, WORDS * KCOV_ENTRY_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (area == MAP_FAILED)
        err(1, "mmap");

    if (ioctl(fd, KIOENABLE, mode) == -1)
        err(1, "KIOENABLE");
    atomic_store_64(&area[0], 0);
    (void)read(-1, NULL, 0);
    count = atomic_load_64(&area[0]);
    if (ioctl(fd, KIODISABLE, 0) == -1)
        err(1, "KIODISABLE");

    for (uint64_t i = 0; i < count; i++) {
        if (mode == KCOV_MODE_TRACE_CMP)
            print_comparison(&area[1 + 4 * i]);
        else
            printf("%p\n", (void *)area[1 + i]);
    }
    munmap(area, WORDS * KCOV_ENTRY_SIZE);
    close(fd);
    return 0;
}
