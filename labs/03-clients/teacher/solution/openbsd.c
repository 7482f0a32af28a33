#include <sys/ioctl.h>
#include <sys/kcov.h>
#include <sys/mman.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    long call = argc > 1 ? strtol(argv[1], NULL, 10) : 63;
    unsigned long words = 16384, count;
    volatile unsigned long *area;
    int mode = KCOV_MODE_TRACE_PC;
    int fd = open("/dev/kcov", O_RDWR);

    if (fd == -1 || ioctl(fd, KIOSETBUFSIZE, &words) == -1)
        return 1;
    area = mmap(NULL, words * sizeof(*area), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (area == MAP_FAILED || ioctl(fd, KIOENABLE, &mode) == -1)
        return 1;
    area[0] = 0;
    syscall(call, -1, 0, 0);
    count = area[0];
    if (ioctl(fd, KIODISABLE) == -1)
        return 1;
    for (unsigned long i = 0; i < count; i++)
        printf("0x%lx\n", area[1 + i]);
    return 0;
}
