/* Makes every allocation of pipe(2) fail in turn, so that each error path runs. /dev/fail-nth takes
 * the number of the allocation to refuse, and reads as 0 once that has happened. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* 1 if the n-th allocation of pipe(2) was refused; 0 if there are fewer. */
static int refuse(int fd, int n)
{
    char text[16] = "";
    int ends[2], length = snprintf(text, sizeof(text), "%d", n);

    if (write(fd, text, length) != length)
        return 0;
    int error = pipe(ends) == -1 ? errno : 0;
    if (pread(fd, text, sizeof(text) - 1, 0) < 1 || atoi(text) != 0)
        return 0;
    printf("allocation %d refused: %s\n", n, error ? strerror(error) : "pipe succeeds");
    return 1;
}

int main(void)
{
    int n = 1, fd = open("/dev/fail-nth", O_RDWR);

    if (fd == -1) {
        perror("/dev/fail-nth");
        return 1;
    }
    while (refuse(fd, n))
        n++;
    printf("pipe(2) makes %d allocations\n", n - 1);
    return 0;
}
