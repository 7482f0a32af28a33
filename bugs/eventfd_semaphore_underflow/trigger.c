#include "../trigger.h"
#include <sys/eventfd.h>

int main(void)
{
    int fd = (int)NEED(eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK));
    uint64_t value;
    if (read(fd, &value, sizeof(value)) != -1)
        WRONG("a semaphore of 0 was taken");
    return 0;
}
