/*
 * NetBSD's kcov(4) by example: which kernel code does read(-1, NULL, 0) run?
 *
 *     kcovbox run --dialect netbsd guest-programs/netbsd-kcov.c [-- -m pc|cmp|none]
 *
 * As OpenBSD's, with other names, other errors, and three differences worth knowing: mode "none" is
 * legal (it occupies descriptor and thread, and records nothing); the area of a descriptor survives
 * close as long as it is mapped; and closing an enabled descriptor does not stop recording, which
 * the end of this program shows.
 */
#include <sys/ioccom.h>
#include <sys/ioctl.h>
#include <sys/kcov.h>
#include <sys/mman.h>

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_records(const kcov_int_t *area, uint64_t count, int mode)
{
    for (uint64_t i = 0; i < count; i++) {
        const kcov_int_t *r = area + 1 + i * (mode == KCOV_MODE_TRACE_CMP ? 4 : 1);
        if (mode == KCOV_MODE_TRACE_CMP)
            printf("%p %s%d 0x%lx 0x%lx\n", (void *)r[3], r[0] & 1 ? "const" : "value",
                   8 << (r[0] >> 1), r[1], r[2]);
        else
            printf("%p\n", (void *)r[0]);
    }
}

int main(int argc, char *argv[])
{
    kcov_int_t *area;
    uint64_t count, words = 16 * 1024;
    int fd, c, mode = KCOV_MODE_TRACE_PC;

    while ((c = getopt(argc, argv, "m:")) != -1) {
        if (c != 'm')
            errx(1, "usage: %s [-m pc|cmp|none]", getprogname());
        mode = strcmp(optarg, "cmp") == 0    ? KCOV_MODE_TRACE_CMP
               : strcmp(optarg, "none") == 0 ? KCOV_MODE_NONE
                                             : KCOV_MODE_TRACE_PC;
    }

    if ((fd = open("/dev/kcov", O_RDWR)) == -1)
        err(1, "open /dev/kcov");
    if (ioctl(fd, KCOV_IOC_SETBUFSIZE, &words) == -1)
        err(1, "KCOV_IOC_SETBUFSIZE");
    area = mmap(NULL, words * KCOV_ENTRY_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (area == MAP_FAILED)
        err(1, "mmap");

    if (ioctl(fd, KCOV_IOC_ENABLE, &mode) == -1)
        err(1, "KCOV_IOC_ENABLE");
    area[0] = 0;
    (void)read(-1, NULL, 0);
    count = area[0];
    print_records(area, count, mode);

    /* Still enabled. The last close leaves an orphan that records until this thread exits. */
    close(fd);
    area[0] = 0;
    (void)read(-1, NULL, 0);
    count = area[0];
    fprintf(stderr, "after close: %s\n", count ? "still recording" : "silent");
    return 0;
}
