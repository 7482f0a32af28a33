/*
 * Remote coverage on OpenBSD: what the kernel does later, in its own threads and interrupts, on
 * behalf of this process.
 *
 *     kcovbox run guest-programs/openbsd-remote-kcov.c
 *
 * KIOREMOTEATTACH turns a descriptor into the collector of this process's timeouts and tasks. From
 * then on KIOENABLE does not trace the caller; a sleep is enough to see the timeout that ends it.
 */
#include <sys/ioctl.h>
#include <sys/kcov.h>
#include <sys/mman.h>

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    struct kio_remote_attach remote = {.subsystem = KCOV_REMOTE_COMMON};
    unsigned long *area, quiet, words = 64 * 1024;
    int fd, mode = KCOV_MODE_TRACE_PC;

    if ((fd = open("/dev/kcov", O_RDWR)) == -1)
        err(1, "open /dev/kcov");
    if (ioctl(fd, KIOSETBUFSIZE, &words) == -1)
        err(1, "KIOSETBUFSIZE");
    area = mmap(NULL, words * sizeof(*area), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (area == MAP_FAILED)
        err(1, "mmap");
    if (ioctl(fd, KIOREMOTEATTACH, &remote) == -1)
        err(1, "KIOREMOTEATTACH");
    if (ioctl(fd, KIOENABLE, &mode) == -1)
        err(1, "KIOENABLE");

    (void)getpid();
    quiet = area[0];
    usleep(1000);
    if (ioctl(fd, KIODISABLE) == -1)
        err(1, "KIODISABLE");
    fprintf(stderr, "own calls: %lu records, deferred work: %lu\n", quiet, area[0] - quiet);
    for (unsigned long i = 0; i < area[0]; i++)
        printf("%p\n", (void *)area[1 + i]);
    return area[0] > quiet ? 0 : 1;
}
