/* Remote coverage of a driver: OpenBSD's kcov collects what an interrupt handler and a kernel
 * thread do for this process while it asks the teaching device for a factorial. */
#include "../kernel/abi/edu.h"

#include <sys/ioctl.h>
#include <sys/kcov.h>
#include <sys/mman.h>

#include <err.h>
#include <fcntl.h>
#include <stdio.h>

int main(void)
{
    struct kio_remote_attach remote = {.subsystem = KCOV_REMOTE_COMMON};
    unsigned long words = 4096;
    unsigned n = 6;
    int mode = KCOV_MODE_TRACE_PC;
    int edu = open("/dev/edu", O_RDWR), kcov = open("/dev/kcov", O_RDWR);

    if (edu == -1 || kcov == -1)
        err(1, "open");
    if (ioctl(kcov, KIOSETBUFSIZE, &words) == -1)
        err(1, "KIOSETBUFSIZE");
    unsigned long *buffer = mmap(NULL, words * 8, PROT_READ | PROT_WRITE, MAP_SHARED, kcov, 0);
    if (buffer == MAP_FAILED)
        err(1, "mmap");
    if (ioctl(kcov, KIOREMOTEATTACH, &remote) == -1 || ioctl(kcov, KIOENABLE, &mode) == -1)
        err(1, "remote coverage");

    if (ioctl(edu, EDU_FACTORIAL, &n) == -1)
        err(1, "EDU_FACTORIAL");
    ioctl(kcov, KIODISABLE); /* waits until no section is open */
    printf("6! = %u; %lu records of work on our behalf\n", n, buffer[0]);
    return 0;
}
