/* Prints what /dev/thermo says. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    char text[32];
    int fd = open("/dev/thermo", O_RDONLY);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));

    if (n < 0) {
        printf("thermo: %s\n", strerror(errno));
        return 1;
    }
    printf("%.*s", (int)n, text);
    return 0;
}
