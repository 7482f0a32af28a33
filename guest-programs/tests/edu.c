/* The teaching device: registers, DMA, interrupt and deferred completion through /dev/edu. */
#include "check.h"
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "../../kernel/abi/edu.h"

static int fd;

static void it_is_the_device(void)
{
    unsigned id = 0;

    CHECK(ioctl(fd, EDU_ID, &id) == 0 && id == 0x010000ed);
    CHECK(ioctl(fd, 0x1234, &id) == -1 && errno == ENOTTY);
    CHECK(ioctl(fd, EDU_ID, NULL) == -1 && errno == EFAULT);
}

static void factorials_are_right(void)
{
    for (unsigned n = 0, want = 1; n < 20; want *= ++n) {
        unsigned got = n;
        CHECK(ioctl(fd, EDU_FACTORIAL, &got) == 0 && got == want);
    }
}

static void dma_moves_bytes(void)
{
    char out[EDU_BUFFER_BYTES], in[EDU_BUFFER_BYTES];

    for (int i = 0; i < EDU_BUFFER_BYTES; i++)
        out[i] = (char)(i * 31);
    CHECK(pwrite(fd, out, sizeof(out), 0) == sizeof(out));
    CHECK(pread(fd, in, sizeof(in), 0) == sizeof(in) && !memcmp(in, out, sizeof(in)));
    CHECK(pread(fd, in, 100, 4000) == 96 && !memcmp(in, out + 4000, 96));
    CHECK(pread(fd, in, 1, 4096) == 0 && pwrite(fd, in, 1, 4096) == -1 && errno == ENOSPC);
    CHECK(pwrite(fd, (void *)8, 10, 0) == -1 && errno == EFAULT);
}

static void users_take_turns(void)
{
    int status, bad = 0;

    for (int i = 0; i < 4; i++)
        if (!fork()) {
            for (int j = 0; j < 20; j++) {
                unsigned n = 5;
                if (ioctl(fd, EDU_FACTORIAL, &n) || n != 120)
                    _exit(1);
            }
            _exit(0);
        }
    while (wait(&status) > 0)
        bad += status != 0;
    CHECK(bad == 0);
}

static void idle_devices_are_ready(void)
{
    struct pollfd p = {fd, POLLIN | POLLOUT, 0};

    CHECK(poll(&p, 1, 0) == 1 && p.revents == (POLLIN | POLLOUT));
}

#define RUN_WITH_EDU(test)                                                                         \
    do {                                                                                           \
        if (fd < 0)                                                                                \
            printf("ok %s # skipped: the machine has no edu device\n", #test);                     \
        else                                                                                       \
            RUN(test);                                                                             \
    } while (0)

int main(void)
{
    fd = open("/dev/edu", O_RDWR);
    RUN_WITH_EDU(it_is_the_device);
    RUN_WITH_EDU(factorials_are_right);
    RUN_WITH_EDU(dma_moves_bytes);
    RUN_WITH_EDU(users_take_turns);
    RUN_WITH_EDU(idle_devices_are_ready);
    DONE();
}
