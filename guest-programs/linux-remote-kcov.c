/*
 * Remote coverage on Linux: the work of kernel threads and soft interrupts for a handle.
 *
 *     kcovbox run --dialect linux guest-programs/linux-remote-kcov.c
 *
 * KCOV_REMOTE_ENABLE names the handles: here USB bus 1, and a common handle that this thread hands
 * to all work it schedules. Sections are recorded in private areas of area_size words and appended
 * to ours when they end. /dev/toyusb plays the device, with the descriptors that we write.
 */
#include <err.h>
#include <fcntl.h>
#include <linux/kcov.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define WORDS (64UL << 10)

static const unsigned char mouse[] = {
    18, 1, 0x00, 0x02, 0, 0, 0,  8,    1,  2, 3, 4, 0, 1, 0, 0, 0, 1, /* device */
    9,  2, 34,   0,    1, 1, 0,  0xa0, 50,                            /* configuration */
    9,  4, 0,    0,    1, 3, 1,  2,    0,                             /* interface: HID */
    7,  5, 0x81, 3,    8, 0, 10,                                      /* endpoint: interrupt, in */
};

int main(void)
{
    struct kcov_remote_arg *arg = calloc(1, sizeof(*arg) + sizeof(__u64));
    char status[64] = "";
    int fd = open("/sys/kernel/debug/kcov", O_RDWR);

    if (fd == -1)
        err(1, "open /sys/kernel/debug/kcov");
    if (ioctl(fd, KCOV_INIT_TRACE, WORDS))
        err(1, "KCOV_INIT_TRACE");
    unsigned long *area = mmap(NULL, WORDS * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (area == MAP_FAILED)
        err(1, "mmap");

    arg->trace_mode = KCOV_TRACE_PC;
    arg->area_size = WORDS;
    arg->num_handles = 1;
    arg->handles[0] = kcov_remote_handle(KCOV_SUBSYSTEM_USB, 1);
    arg->common_handle = kcov_remote_handle(KCOV_SUBSYSTEM_COMMON, 0x42);
    if (ioctl(fd, KCOV_REMOTE_ENABLE, arg))
        err(1, "KCOV_REMOTE_ENABLE");

    int bus = open("/dev/toyusb", O_RDWR);
    if (bus == -1)
        err(1, "open /dev/toyusb");
    if (write(bus, mouse, sizeof(mouse)) != sizeof(mouse))
        err(1, "write");
    if (read(bus, status, sizeof(status) - 1) == -1) /* waits for the hub thread */
        err(1, "read");
    usleep(100); /* and for the task that logs the event */

    if (ioctl(fd, KCOV_DISABLE, 0))
        err(1, "KCOV_DISABLE");
    unsigned long n = __atomic_load_n(&area[0], __ATOMIC_RELAXED);
    fprintf(stderr, "bus 1: %s", status);
    for (unsigned long i = 0; i < n; i++)
        printf("0x%lx\n", area[1 + i]);
    return n ? 0 : 1;
}
