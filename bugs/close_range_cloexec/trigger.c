#include "../trigger.h"

int main(void)
{
    int fd = (int)NEED(open("/dev/null", O_RDONLY));
    NEED(syscall(SYS_close_range, fd, ~0U, 2 | 4)); /* UNSHARE, CLOEXEC */
    if (fcntl(fd, F_GETFD) != FD_CLOEXEC)
        WRONG("close_range closed a descriptor that it should mark");
    return 0;
}
