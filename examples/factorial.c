/* Uses the teaching device through its driver: ioctl(2) starts the work, an interrupt ends it. */
#include "../kernel/abi/edu.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>

int main(int argc, char **argv)
{
    unsigned n = argc > 1 ? strtoul(argv[1], NULL, 0) : 5, result = n;
    int fd = open("/dev/edu", O_RDWR);

    if (fd == -1 || ioctl(fd, EDU_FACTORIAL, &result) == -1) {
        perror("/dev/edu");
        return 1;
    }
    printf("%u! = %u (modulo 2^32)\n", n, result);
    return 0;
}
