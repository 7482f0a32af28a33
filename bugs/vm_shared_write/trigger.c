#include "../trigger.h"
#include <sys/uio.h>

int main(void)
{
    char new[] = "new", now[4] = "";
    int fd = (int)NEED(open("/file", O_RDWR | O_CREAT, 0644));
    NEED(write(fd, "old", 3));
    close(fd);
    NEED(setuid(1000));
    fd = (int)NEED(open("/file", O_RDONLY));
    char *area = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    struct iovec from = {new, 3}, to = {area, 3};
    process_vm_writev(getpid(), &from, 1, &to, 1, 0);
    NEED(pread(fd, now, 3, 0));
    if (strcmp(now, "old") != 0)
        WRONG("a read-only mapping changed a file of another user");
    return 0;
}
