#include <linux/kcov.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EDU_FACTORIAL 0xc0044501u

int main(int argc, char **argv)
{
    unsigned int n = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) % 13 : 5;
    int fd = open("/dev/edu", O_RDWR);

    return fd < 0 || ioctl(fd, EDU_FACTORIAL, &n) != 0;
}
