/* Has /dev/ring add up bytes, several times. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    uint8_t bytes[900];
    uint32_t sum = 0;
    int fd = open("/dev/ring", O_RDWR);

    memset(bytes, 1, sizeof(bytes));
    for (int i = 0; i < 4; i++) {
        if (fd < 0 || write(fd, bytes, sizeof(bytes)) != sizeof(bytes) ||
            read(fd, &sum, sizeof(sum)) != sizeof(sum)) {
            printf("ring: %s\n", strerror(errno));
            return 1;
        }
        printf("%u\n", sum);
    }
    return 0;
}
