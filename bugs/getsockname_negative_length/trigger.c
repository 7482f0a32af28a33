#include "../trigger.h"

int main(void)
{
    unsigned char *page =
        mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned char *name = page + 4096 - 512; /* the copy ends at the hole behind */
    int fd = (int)NEED(socket(AF_UNIX, SOCK_STREAM, 0));
    socklen_t length = (socklen_t)-1;
    int changed = 0;
    NEED(munmap(page + 4096, 4096));
    memset(name, 0xa5, 512);
    syscall(SYS_getsockname, fd, name, &length);
    for (int i = 2; i < 512; i++)
        changed += name[i] != 0xa5;
    if (changed)
        WRONG("getsockname with length -1 wrote %d bytes of kernel memory", changed);
    return 0;
}
