/*
 * OpenBSD's kcov(4) by example: which kernel code does read(-1, NULL, 0) run?
 *
 *     kcovbox run guest-programs/openbsd-kcov.c [-- -m pc|cmp] [-n WORDS]
 *
 * 1. open /dev/kcov: every open is a descriptor of its own.
 * 2. KIOSETBUFSIZE gives it an area of WORDS words; mmap shares the area with the kernel.
 * 3. KIOENABLE makes this thread record; word 0 of the area counts the records.
 * 4. The end of KIOENABLE itself was recorded too, so word 0 is set to 0 before the call of
 * interest and read right after it.
 * 5. KIODISABLE lets the descriptor be enabled by any thread again.
 *
 * -m pc prints one address per line: the return address of a hook, i.e. the instruction after the
 * call that the compiler put into each block. -m cmp prints comparisons: type (bit 0: one operand
 * is a constant; above: log2 of the size in bytes), the operands, and the address.
 */
#include <sys/ioctl.h>
#include <sys/kcov.h>
#include <sys/mman.h>

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static __dead void usage(void)
{
    fprintf(stderr, "usage: %s [-m pc|cmp] [-n words]\n", getprogname());
    exit(1);
}

static void print_pcs(const unsigned long *records, unsigned long count)
{
    for (unsigned long i = 0; i < count; i++)
        printf("%p\n", (void *)records[i]);
}

static void print_comparisons(const unsigned long *records, unsigned long count)
{
    for (unsigned long i = 0; i < count; i++, records += 4) {
        const char *kind = records[0] & 1 ? "const" : "value";
        printf("%p %s%d 0x%lx 0x%lx\n", (void *)records[3], kind, 8 << (records[0] >> 1),
               records[1], records[2]);
    }
}

int main(int argc, char *argv[])
{
    unsigned long *area, count, words = 16 * 1024;
    const char *why;
    int fd, c, mode = KCOV_MODE_TRACE_PC;

    while ((c = getopt(argc, argv, "m:n:")) != -1) {
        switch (c) {
        case 'm':
            if (strcmp(optarg, "cmp") == 0)
                mode = KCOV_MODE_TRACE_CMP;
            else if (strcmp(optarg, "pc") != 0)
                usage();
            break;
        case 'n':
            words = strtonum(optarg, 1, 524288, &why);
            if (why != NULL)
                errx(1, "number of words is %s: %s", why, optarg);
            break;
        default:
            usage();
        }
    }

    if ((fd = open("/dev/kcov", O_RDWR)) == -1)
        err(1, "open /dev/kcov");
    if (ioctl(fd, KIOSETBUFSIZE, &words) == -1)
        err(1, "KIOSETBUFSIZE");
    area = mmap(NULL, words * sizeof(*area), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (area == MAP_FAILED)
        err(1, "mmap");

    if (ioctl(fd, KIOENABLE, &mode) == -1)
        err(1, "KIOENABLE");
    area[0] = 0;
    (void)read(-1, NULL, 0);
    count = area[0];
    if (ioctl(fd, KIODISABLE) == -1)
        err(1, "KIODISABLE");

    if (mode == KCOV_MODE_TRACE_PC)
        print_pcs(area + 1, count);
    else
        print_comparisons(area + 1, count);

    if (munmap(area, words * sizeof(*area)) == -1)
        err(1, "munmap");
    close(fd);
    return 0;
}
