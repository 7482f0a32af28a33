/* Asks /dev/summer for the sum of the arguments. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    uint32_t numbers[64], sum, n = 0;
    int fd = open("/dev/summer", O_RDWR);

    for (int i = 1; i < argc && n < 64; i++)
        numbers[n++] = (uint32_t)strtoul(argv[i], NULL, 0);
    if (fd < 0 || write(fd, numbers, 4 * n) != (ssize_t)(4 * n) ||
        read(fd, &sum, sizeof(sum)) != sizeof(sum)) {
        printf("summer: %s\n", strerror(errno));
        return 1;
    }
    printf("%u\n", sum);
    return 0;
}
