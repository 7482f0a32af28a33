#include <linux/kcov.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES 32

int main(void)
{
    unsigned char message[BYTES];
    int vault = open("/dev/vault", O_WRONLY);

    if (vault < 0)
        return 1;
    for (int i = 0; i < 1000; i++) {
        for (int k = 0; k < BYTES; k++)
            message[k] = (unsigned char)rand();
        if (write(vault, message, BYTES) == BYTES) {
            puts("open");
            return 0;
        }
    }
    return 1;
}
