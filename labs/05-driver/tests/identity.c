#include "../check.h"
#include <fcntl.h>
#include <sys/ioctl.h>

#define EDU_ID 0x80044502u

static void the_device_names_itself(void)
{
    int fd = open("/dev/edu", O_RDWR);
    unsigned id = 0;

    CHECK(fd >= 0);
    CHECK(ioctl(fd, EDU_ID, &id) == 0 && id == 0x010000ed);
}

static void other_requests_are_refused(void)
{
    int fd = open("/dev/edu", O_RDWR);
    unsigned value = 0;

    CHECK(ioctl(fd, 0xc0044563u, &value) == -1 && errno == ENOTTY);
    CHECK(ioctl(fd, EDU_ID, (void *)8) == -1 && errno == EFAULT);
}

int main(void)
{
    RUN(the_device_names_itself);
    RUN(other_requests_are_refused);
    DONE();
}
